/** Start data, commands and reports of the forwarder's thread. */

import type { MessagePort } from 'node:worker_threads'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import type { TableDescription } from '../table.ts'
import type { ForwarderStatus } from './forwarder-status.ts'

export interface ForwarderThreadData<Source> {
  table: TableDescription
  /** Data from which the thread opens its source of groups. */
  source: Source
  revisions: Int32Array
  /** Receives SentEvent. */
  sentPort: MessagePort
  requestBytes: number
  connectionCount: number
  paceMs: number
  quiesceMs: number
  /** A request is aborted when it makes no progress for this long. */
  requestIdleMs: number
}

export interface ForwarderStart {
  questdb: QuestdbHttp
  /** Applied rows are on QuestDB's disk. */
  isSynced: boolean
  /** Numbers of a series and one of its custom series, alternating. */
  customSeries: Uint32Array
  /**
   * Identifies the journal in QuestDB; without it QuestDB stores no positions. `from`: QuestDB lacks the records from here on.
   */
  place: { id: string; from: number | undefined } | undefined
  /** How long applied segments are kept for a QuestDB without sync, and the size limit of these segments. */
  keepMs: number
  keepBytesMax: number
}

/**
 * `start` comes once QuestDB is reachable and its commit mode is known. `erase` is answered with `erased`, `lettersRemoved` with
 * `lettersGone`, and `hold` with `held`, unless `release` comes first. `stop` with `isAborted` does not wait for requests in
 * flight.
 */
export type ForwarderCommand =
  | ({ kind: 'start' } & ForwarderStart)
  | { kind: 'lettersRemoved'; id: number; ids: number[] }
  | { kind: 'erase'; id: number; seriesNumbers: number[]; before: number }
  | { kind: 'hold' }
  | { kind: 'release' }
  | { kind: 'pause'; isPaused: boolean }
  | { kind: 'rewind'; position: number; reason: string }
  | { kind: 'stop'; isAborted: boolean }
export type ForwarderMessage =
  | { kind: 'status'; status: ForwarderStatus }
  | { kind: 'fileIssue'; issue: string }
  | { kind: 'erased'; id: number; damaged: string[] }
  | { kind: 'lettersGone'; id: number }
  | { kind: 'held' }
  | { kind: 'log'; level: 'info' | 'warn' | 'error'; fields: object; text: string }
  | { kind: 'stopped' }
