/** The status of the forwarder, and the start data, commands and reports of its thread. */

import type { MessagePort } from 'node:worker_threads'
import type { QuestdbHttp } from '../../store/questdb/client/questdb-address.ts'
import { type Disk, openDisk } from '../journal/disk.ts'
import { oldestReceiptUs } from '../journal/group.ts'
import type { JournalMedium } from '../journal/medium.ts'
import { recoverJournal } from '../journal/recovery.ts'
import { SegmentReader } from '../journal/segment-reader.ts'
import { listSegments, readCheckpoint } from '../journal/segments.ts'
import { readStamps } from '../journal/stamp-file.ts'
import type { TableDescription } from '../table.ts'
import { letterNames } from './dead-letters.ts'

export interface ForwarderStatus {
  /** Rows that QuestDB has accepted since the start. */
  rows: number
  /** Positions in the journal. */
  live: number
  backfill: number
  applied: number
  /** The applied position stored in QuestDB, for a topic as an offset: nothing after it is committed. Undefined while unknown. */
  recorded: number | undefined
  /** Start of the oldest segment. */
  start: number
  /** Number of applied records since the beginning of the journal. */
  appliedOrdinal: number
  /** Receipt time of the oldest reading that is not applied. Undefined when all are. */
  pendingSinceUs: number | undefined
  deadLetters: number
  suspended: boolean
  damagedBytes: number
  /** Reason why QuestDB accepts nothing at present. */
  issue: string | undefined
  /** Fault of the journal's files, which is retried. */
  fileIssue: string | undefined
  /** Rows applied by QuestDB are on its disk, so that the journal need not keep them. */
  isSynced: boolean
}

/** Status of a forwarder that has not started, with the reason. */
export function statusBefore(issue: string): ForwarderStatus {
  return {
    rows: 0,
    live: 0,
    backfill: 0,
    applied: 0,
    recorded: undefined,
    start: 0,
    appliedOrdinal: 0,
    pendingSinceUs: undefined,
    deadLetters: 0,
    suspended: false,
    damagedBytes: 0,
    issue,
    fileIssue: undefined,
    isSynced: false,
  }
}

/** The status before QuestDB is reachable. */
export function statusAtStart(disk: Disk, end: JournalMedium['end']): ForwarderStatus {
  const { position } = end
  const applied = readCheckpoint(disk, position)
  const reader = new SegmentReader(disk)
  const { groups } = reader.read(applied, position)
  reader.close()
  return {
    ...statusBefore('QuestDB is starting'),
    live: applied,
    backfill: applied,
    applied,
    recorded: applied,
    start: listSegments(disk)[0] ?? position,
    appliedOrdinal: groups[0]?.firstOrdinal ?? end.ordinal,
    pendingSinceUs: oldestReceiptUs(groups),
    deadLetters: letterNames(disk).length,
  }
}

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
  /** The time for which applied segments are kept for a QuestDB without sync, and the size limit of these segments. */
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

/** Their number, and the highest stamp of each class, as in `StampState`. Cuts off a torn tail. */
export function unappliedRecords(directory: string): { count: number; highestUs: readonly number[] } {
  const disk = openDisk(directory)
  const { end } = recoverJournal(disk)
  const { highestUs } = readStamps(disk, end.lastStampUs)
  return { count: end.ordinal - statusAtStart(disk, end).appliedOrdinal, highestUs }
}
