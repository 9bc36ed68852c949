/**
 * What is to be done with the hourly view, and through which transaction it is valid, by what is seen of it now and then. QuestDB
 * says to which transaction of the table a view is up to date, but it may drop a refresh without a word.
 */

/** What QuestDB says of the view at one moment. */
export interface ViewState {
  readonly status: string
  /** Why it is invalid. */
  readonly reason: string
  /** The table's transaction up to which the view is up to date; -1 while it is built. */
  readonly refreshedTxn: number
  /** The table's newest, and the newest that shows. */
  readonly sequencedTxn: number
  readonly appliedTxn: number
  /** It is made from our query, and not from that of another version. */
  readonly isOurs: boolean
  /** Everything that was refreshed shows. */
  readonly isApplied: boolean
  readonly isSuspended: boolean
}

/** `rebuild` drops the view, if there is one, and creates it again. */
export type ViewAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'rebuild'; readonly reason: string }

export interface ViewWatchOptions {
  /** How often the view is refreshed, at most; what is newer comes from the readings. */
  readonly refreshEveryMs: number
  /** Queries that were planned with the view have ended so long after. */
  readonly graceMs: number
  readonly monotonicMs: () => number
}

const none: ViewAction = { kind: 'none' }
/** A rebuild that did not help is tried again after a pause that grows from the one to the other. */
const rebuildPauseMsMin = 10_000
const rebuildPauseMsMax = 3_600_000
/** A view that is not refreshed for so long, although it is asked for, is rebuilt. */
const stuckMs = 3_600_000
/** A refresh is followed by a pause of so many times its length, to leave the processor to others. */
const pausePerRefresh = 9

export class ViewWatch {
  readonly #options: ViewWatchOptions
  #validThroughTxn: number | undefined
  #validUntilMs = Number.NEGATIVE_INFINITY
  /** Only from this transaction on: the one that the table had when we first checked. What came before, others have sent. */
  #neededTxn: number | undefined
  #suspicion: string | undefined
  #refreshedTxn = -1
  #refreshAtMs = Number.NEGATIVE_INFINITY
  /** The first and the last refresh that was asked for since one was done. */
  #asked: { firstMs: number; lastMs: number } | undefined
  #rebuildAtMs = Number.NEGATIVE_INFINITY
  #rebuildPauseMs = rebuildPauseMsMin

  constructor(options: ViewWatchOptions) {
    this.#options = options
  }

  /** The table's transaction up to which the view has all readings; undefined while it must not be used. */
  get validThroughTxn(): number | undefined {
    return this.#validThroughTxn
  }

  /** It is not valid until it is checked again. */
  invalidate(): void {
    if (this.#validThroughTxn !== undefined) this.#validUntilMs = this.#options.monotonicMs()
    this.#validThroughTxn = undefined
  }

  /** Others may have planned queries with the view up to this moment, and do no longer. */
  usedUntilNow(): void {
    this.#validUntilMs = this.#options.monotonicMs()
  }

  /** It may hold rows that the table no longer has: it is rebuilt. */
  markSuspect(reason: string): void {
    this.#suspicion = reason
    this.invalidate()
  }

  /** What to do, by what is seen; undefined when there is no view. */
  check(seen: ViewState | undefined): ViewAction {
    const fault = this.#suspicion ?? this.#faultOf(seen)
    if (seen === undefined || fault !== undefined) return this.#rebuild(fault ?? 'there is none')
    this.#validate(seen)
    return this.#refresh(seen)
  }

  #faultOf(seen: ViewState | undefined): string | undefined {
    if (seen === undefined) return undefined
    if (seen.status === 'invalid') return `it is invalid: ${seen.reason}`
    if (!seen.isOurs) return 'it was made by another version'
    if (seen.isSuspended) return 'it is suspended'
    // A table that was lost in part, or is another one.
    const { refreshedTxn, sequencedTxn } = seen
    if (refreshedTxn > sequencedTxn || sequencedTxn < (this.#neededTxn ?? 0)) return 'its table has gone back'
    const isStuck = this.#asked !== undefined && this.#options.monotonicMs() - this.#asked.firstMs > stuckMs
    return isStuck ? 'it is not refreshed' : undefined
  }

  #rebuild(reason: string): ViewAction {
    // A table that has gone back goes on, and soon looks as if nothing had been.
    this.markSuspect(reason)
    const nowMs = this.#options.monotonicMs()
    if (nowMs < Math.max(this.#rebuildAtMs, this.#validUntilMs + this.#options.graceMs)) return none
    this.#rebuildAtMs = nowMs + this.#rebuildPauseMs
    this.#rebuildPauseMs = Math.min(this.#rebuildPauseMs * 2, rebuildPauseMsMax)
    this.#suspicion = undefined
    this.#neededTxn = undefined
    this.#refreshedTxn = -1
    this.#asked = undefined
    return { kind: 'rebuild', reason }
  }

  #validate({ refreshedTxn, sequencedTxn, isApplied }: ViewState): void {
    this.#neededTxn ??= sequencedTxn
    if (refreshedTxn < this.#neededTxn) this.invalidate()
    else if (isApplied) {
      this.#validThroughTxn = refreshedTxn
      this.#rebuildPauseMs = rebuildPauseMsMin
    }
  }

  #refresh({ status, refreshedTxn, appliedTxn }: ViewState): ViewAction {
    const nowMs = this.#options.monotonicMs()
    if (refreshedTxn > this.#refreshedTxn) {
      const tookMs = nowMs - (this.#asked?.lastMs ?? nowMs)
      this.#refreshAtMs = Math.max(this.#refreshAtMs, nowMs + tookMs * pausePerRefresh)
      this.#refreshedTxn = refreshedTxn
      this.#asked = undefined
    }
    if (status !== 'valid' || refreshedTxn >= appliedTxn || nowMs < this.#refreshAtMs) return none
    this.#refreshAtMs = nowMs + this.#options.refreshEveryMs
    this.#asked = { firstMs: this.#asked?.firstMs ?? nowMs, lastMs: nowMs }
    return { kind: 'refresh' }
  }
}
