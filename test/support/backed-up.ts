/** The parts of a service that a backup is made of, without the service. */

import type { BackupParts, BackupRun } from '../../backup/backup-parts.ts'
import { openParts } from './admin.ts'
import { silentLog, startDatabases, type TestHooks } from './databases.ts'

export async function startBackedUp(t: TestHooks) {
  const { directory, store } = await startDatabases(t)
  await store.questdb.ready
  const { ingest, pointsIngest, devices, journal, pointsJournal } = await openParts(t, store)
  for (const path of [ingest, pointsIngest]) path.startForwarding(store.questdb.address.http, true)
  const parts: BackupParts = {
    directory: { ...directory, journal, pointsJournal },
    store,
    ingest: { readings: ingest, points: pointsIngest },
    reserveBytes: 0,
    version: '0.1.0',
    log: silentLog,
  }
  const { signal } = new AbortController()
  const bytes = new BigInt64Array(new SharedArrayBuffer(8))
  const run: BackupRun = { signal, closing: signal, onStep: () => undefined, bytes }
  return { directory, store, devices, parts, run }
}
