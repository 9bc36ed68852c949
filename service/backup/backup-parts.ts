/** What a backup is made of, and how it is followed and ended. */

import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import type { DataDirectory } from '../../store/data-directory.ts'
import type { Log } from '../../store/log.ts'
import type { Store } from '../../store/store.ts'
import type { RowsOf } from './erased.ts'

export interface BackupParts {
  directory: Pick<DataDirectory, 'path' | 'journal' | 'pointsJournal' | 'questdb' | 'secrets'>
  store: Pick<Store, 'questdb' | 'connectPostgres' | 'versions'>
  ingest: Record<RowsOf, Pick<Ingest | PointsIngest, 'files' | 'status'>>
  /** The journal takes nothing with less free space, so a backup ends with twice as much. */
  reserveBytes: number
  /** Of the service. */
  version: string
  log: Log
}

export interface BackupRun {
  /** Ends it, wherever it is; what was written goes. */
  signal: AbortSignal
  /** Also ends waiting for QuestDB to leave its checkpoint mode. */
  closing: AbortSignal
  onStep: (step: string) => void
  /** Counts the bytes that are copied. */
  bytes: BigInt64Array
}
