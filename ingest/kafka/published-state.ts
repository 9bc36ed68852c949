/** The published state of a topic's forwarder, as far as readers of the topic in other processes depend on it. */

/** Channel for published states and confirmed erasures. */
export const publishedChannel = 'barograph_replica'

export interface PublishedState {
  /**
   * Increases with each takeover of the replica. Published before the first request, which begins to send uncommitted records
   * again.
   */
  readonly tenure: number
  /**
   * How often this process has sent uncommitted or kept records again since its takeover: QuestDB may have lost applied rows, or
   * received an older row after a newer one.
   */
  readonly losses: number
  /** No row before this offset is sent again, by this process or a later one. */
  readonly committed: number
  /** QuestDB shows all rows before this offset. */
  readonly applied: number
  /** QuestDB had shown the rows before it at the takeover, and no loss was found since. */
  readonly appliedBefore?: number | undefined
  /**
   * The table contained every row before this offset as of this transaction, including rows sent again. Undefined before
   * QuestDB's first answer.
   */
  readonly sequenced?: { readonly txn: number; readonly offset: number } | undefined
  /** Why the replica must be replaced by a copy of another one. */
  readonly lost?: string | null
  /** Difference found by the last comparison. */
  readonly differs?: string | null
}
