/** The status that a spool's thread reports to its owner. */

export interface SpoolStatus {
  /** QuestDB shows all rows before this offset. */
  applied: number
  /** No row before this offset is sent again, by this process or a later one. */
  committable: number
  /** All records that this process has sent, or sends again, are at or after this offset. */
  kept: number
  /** The next group to be fetched. */
  next: number
  /** Range of the topic at the last fetch. */
  range: { start: number; end: number }
  /** The table contained every row before this offset as of this transaction. Undefined before QuestDB's first answer. */
  sequenced: { txn: number; offset: number } | undefined
  /** Dead letters in files: all rejected rows before `committable`, unless they were removed from there. */
  letters: number
  /** True when a part of the spool is damaged and therefore missing from `applied`. */
  isDamaged: boolean
  /** Invalid groups, and groups that the topic had deleted too early. */
  damagedGroups: number
  lostGroups: number
  /** End of the topic, if before fetched or committed offsets. */
  endsAt: number | undefined
  /** Why nothing is fetched at present. */
  issue: string | undefined
}

export type SpoolMessage =
  | { kind: 'status'; status: SpoolStatus }
  /** The last message. `mayHaveSentLate`: QuestDB may still accept rows of an abandoned request. */
  | { kind: 'closed'; mayHaveSentLate: boolean }
