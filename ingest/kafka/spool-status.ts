/** What the thread of a spool tells its owner. */

export interface SpoolStatus {
  /** QuestDB shows all rows before this offset. */
  applied: number
  /** No row before this offset is sent again, by this process or a later one. */
  committable: number
  /** All that this process has sent, or sends again, stands at this offset or behind it. */
  kept: number
  /** The next group to be fetched. */
  next: number
  /** Where the topic begins and ends, as of the last fetch. */
  range: { start: number; end: number }
  /** Every row before this offset came into the table up to this transaction; undefined before the first answer of QuestDB. */
  sequenced: { txn: number; offset: number } | undefined
  /** Dead letters that are in files: of all rows before `committable` that QuestDB refused, unless they were taken from there. */
  letters: number
  /** Whether something of the spool is damaged: what stands there is missing from `applied`. */
  isDamaged: boolean
  /** Groups that were no groups, and that the topic had removed too early. */
  damagedGroups: number
  lostGroups: number
  /** Where the topic ends, when that is before what was fetched or committed. */
  endsAt: number | undefined
  /** Why nothing is fetched at present. */
  issue: string | undefined
}

export type SpoolMessage =
  | { kind: 'status'; status: SpoolStatus }
  /** The last one. `mayHaveSentLate`: QuestDB may yet take rows of a request that was left. */
  | { kind: 'closed'; mayHaveSentLate: boolean }
