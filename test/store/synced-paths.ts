/** Records the files and folders that are synced while a test runs, in order. */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { TestHooks } from '../support/databases.ts'

export function recordSyncs(t: TestHooks): string[] {
  const synced: string[] = []
  const { fsyncSync } = fs
  fs.fsyncSync = descriptor => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`))
    fsyncSync(descriptor)
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.fsyncSync = fsyncSync
    syncBuiltinESMExports()
  })
  return synced
}
