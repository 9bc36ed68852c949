/** Declares the parts of a backup, its progress and its failures. */

import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import type { DataDirectory } from '../../store/data-directory.ts'
import type { Log } from '../../store/log.ts'
import type { Store } from '../../store/store.ts'
import type { RowsOf } from './erased.ts'

/** A failed backup or restore. The message is one sentence for the operator. */
export class BackupError extends Error {
  override name = 'BackupError'
}

export interface BackupParts {
  directory: Pick<DataDirectory, 'path' | 'journal' | 'pointsJournal' | 'questdb' | 'secrets'>
  store: Pick<Store, 'questdb' | 'connectPostgres' | 'versions'>
  ingest: Record<RowsOf, Pick<Ingest | PointsIngest, 'files' | 'status'>>
  /** The journal refuses writes with less free space, so a backup ends at twice as much. */
  reserveBytes: number
  version: string
  log: Log
}

export interface BackupRun {
  /** Aborts the backup and removes its files. */
  signal: AbortSignal
  /** Waiting for the end of QuestDB's checkpoint mode is aborted, too. */
  closing: AbortSignal
  onStep: (step: string) => void
  bytes: BigInt64Array
}
