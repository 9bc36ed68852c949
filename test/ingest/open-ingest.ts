/** The way in of readings, on a journal in a folder of its own, closed when the test ends. */

import { type ForwardingIngest, type IngestOptions, openIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { silentLog, type TestHooks, temporaryFolder } from '../support/databases.ts'

export function openTestIngest(t: TestHooks, options: Partial<IngestOptions> = {}): ForwardingIngest {
  const ingest = openIngest({
    directory: temporaryFolder(t),
    journalBytesMax: 1024 ** 3,
    reserveBytes: 0,
    keepMs: 0,
    log: silentLog,
    clock: createWallClock({ nowMs: Date.now }),
    onFatal: error => {
      throw error
    },
    ...options,
  })
  t.teardown(() => ingest.close())
  return ingest
}
