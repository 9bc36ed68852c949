/** Where programs and code are kept that every data directory of a user shares. */

import { homedir } from 'node:os'
import { join } from 'node:path'

export function cacheDirectoryOf(environment: Readonly<Record<string, string | undefined>>): string {
  // An empty variable is one that is not set.
  return join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'barograph')
}
