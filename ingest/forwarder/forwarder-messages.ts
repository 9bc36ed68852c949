/** What the forwarder's thread is started with, told, and tells. */

import type { MessagePort } from 'node:worker_threads'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import type { TableDescription } from '../table.ts'
import type { ForwarderStatus } from './forwarder-status.ts'

export interface ForwarderThreadData<Source> {
  table: TableDescription
  /** What the thread opens the source of its groups with. */
  source: Source
  revisions: Int32Array
  /** Takes SentEvent. */
  sentPort: MessagePort
  requestBytes: number
  connectionCount: number
  paceMs: number
  quiesceMs: number
  /** A request is aborted when nothing of it has moved for so long. */
  requestIdleMs: number
}

export interface ForwarderStart {
  questdb: QuestdbHttp
  /** What it has applied is on its disk. */
  isSynced: boolean
  /** The number of each series that has custom ones, and of one of those, in turns. */
  customSeries: Uint32Array
  /** What QuestDB knows the journal by; without it QuestDB keeps no positions of it. `from`: QuestDB lacks what stands from here on. */
  place: { id: string; from: number | undefined } | undefined
  /** How long applied segments are kept for a QuestDB that does not sync what it applies, and how much at most. */
  keepMs: number
  keepBytesMax: number
}

/**
 * `start` comes once QuestDB is there and we know whether it syncs what it applies. `erase` is answered with `erased`,
 * `lettersRemoved` with `lettersGone`, and `hold` with `held`, unless `release` comes first. `stop` with `isAborted` waits for no request in flight.
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
