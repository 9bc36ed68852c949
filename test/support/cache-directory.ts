/** The cache of the user who runs the tests, so that QuestDB is fetched once and not by every test. */

import { homedir } from 'node:os'
import { join } from 'node:path'

export function testCacheDirectory(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'barograph')
}
