/** The status of the forwarder. */

import { readCheckpoint } from '../journal/checkpoint.ts'
import type { Disk } from '../journal/disk.ts'
import { oldestReceiptUs } from '../journal/group.ts'
import type { JournalMedium } from '../journal/medium.ts'
import { SegmentReader } from '../journal/segment-reader.ts'
import { listSegments } from '../journal/segments.ts'
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
  /** Why QuestDB accepts nothing at present. */
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
