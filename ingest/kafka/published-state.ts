/** What the process that forwards a topic publishes, as far as readers of the topic in other processes depend on it. */

/** Notified when a state is published, or an erase confirmed. */
export const publishedChannel = 'barograph_replica'

export interface PublishedState {
  /**
   * Rises with each process that takes the replica over. Published before its first request, with which it begins to send again what
   * was not committed.
   */
  readonly tenure: number
  /**
   * How often this process has sent again what is not committed, or is kept, since it took the replica over: QuestDB may have lost what
   * it had applied, or got an older row behind a newer one.
   */
  readonly losses: number
  /** No row before this offset is sent again, by this process or a later one. */
  readonly committed: number
  /** QuestDB shows all rows before this offset. */
  readonly applied: number
  /** It had shown those before this one when the process took the replica over, and is not found to have lost any since. */
  readonly appliedBefore?: number | undefined
  /**
   * Every row before this offset came into the table up to this transaction, also those that this process has sent again. Undefined
   * before the first answer of QuestDB.
   */
  readonly sequenced?: { readonly txn: number; readonly offset: number } | undefined
  /** The reason why the replica has to be a new copy of another one before it is in use. */
  readonly lost?: string | null
  /** The difference that the last comparison found. */
  readonly differs?: string | null
}
