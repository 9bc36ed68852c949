/** Journals in folders of their own, closed when the test ends. */

import { type IngestOptions, openIngest, openPointsIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { closing, silentLog, type TestHooks, temporaryFolder } from '../support/databases.ts'

export function openTestIngest(t: TestHooks, options: Partial<IngestOptions> = {}) {
  return closing(t, openIngest({ ...optionsOf(t), ...options }))
}

export function openTestPointsIngest(t: TestHooks, options: Partial<IngestOptions> = {}) {
  return closing(t, openPointsIngest({ ...optionsOf(t), ...options }))
}

function optionsOf(t: TestHooks): IngestOptions {
  return {
    directory: temporaryFolder(t),
    journalBytesMax: 1024 ** 3,
    reserveBytes: 0,
    keepMs: 0,
    log: silentLog,
    clock: createWallClock({ nowMs: Date.now }),
    onFatal: error => {
      throw error
    },
  }
}
