/** Finds the cache directory that all data directories of a user share. */

import { homedir } from 'node:os'
import { join } from 'node:path'

export function cacheDirectoryOf(environment: Readonly<Record<string, string | undefined>>): string {
  // An empty variable counts as unset.
  return join(environment['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'barograph')
}
