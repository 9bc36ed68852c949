/** The status of the forwarder. */

import { readCheckpoint } from '../journal/checkpoint.ts'
import type { Disk } from '../journal/disk.ts'
import { oldestReceiptUs } from '../journal/group.ts'
import type { JournalMedium } from '../journal/medium.ts'
import { SegmentReader } from '../journal/segment-reader.ts'
import { listSegments } from '../journal/segments.ts'
import { letterNames } from './dead-letters.ts'

export interface ForwarderStatus {
  /** Rows that QuestDB has taken since the start. */
  rows: number
  /** Positions in the journal. */
  live: number
  backfill: number
  applied: number
  /** The same as QuestDB itself says, of a topic as an offset: nothing behind it is committed. Undefined until that is known. */
  recorded: number | undefined
  /** Where the oldest segment starts. */
  start: number
  /** Records of the journal, counted from its beginning, that are applied. */
  appliedOrdinal: number
  /** Receipt time of the oldest reading that is not applied, or undefined when all are. */
  pendingSinceUs: number | undefined
  deadLetters: number
  suspended: boolean
  damagedBytes: number
  /** Why QuestDB takes nothing at present. */
  issue: string | undefined
  /** What is wrong with the files of the journal, and is tried again. */
  fileIssue: string | undefined
  /** What QuestDB has applied is on its disk, so that the journal need not keep it. */
  isSynced: boolean
}

/** Of a forwarder that has not begun, for this reason. */
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

/** What can be said before QuestDB is there. */
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
