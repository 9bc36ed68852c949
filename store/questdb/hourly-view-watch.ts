/**
 * Decides how to maintain the hourly view, and through which transaction it is valid, from periodic observations. QuestDB reports
 * the transaction up to which a view is current, but may silently drop a refresh.
 */

/** State of the view in QuestDB at one time. */
export interface ViewState {
  readonly status: string
  /** Reason why it is invalid. */
  readonly reason: string
  /** Transaction of the table up to which the view is current; -1 while it is built. */
  readonly refreshedTxn: number
  /** Newest transaction of the table, and its newest visible one. */
  readonly sequencedTxn: number
  readonly appliedTxn: number
  /** The view has our current query, not one of another version. */
  readonly isOurs: boolean
  /** All refreshed rows are visible. */
  readonly isApplied: boolean
  readonly isSuspended: boolean
}

/** `rebuild` drops the view, if it exists, and creates it again. */
export type ViewAction =
  | { readonly kind: 'none' }
  | { readonly kind: 'refresh' }
  | { readonly kind: 'rebuild'; readonly reason: string }

export interface ViewWatchOptions {
  /** Minimum interval between refreshes. Newer rows come from the readings. */
  readonly refreshEveryMs: number
  /** Queries that were planned with the view have ended after this time. */
  readonly graceMs: number
  readonly monotonicMs: () => number
}

const none: ViewAction = { kind: 'none' }
/** A rebuild without success is retried after a pause that grows from the minimum to the maximum. */
const rebuildPauseMsMin = 10_000
const rebuildPauseMsMax = 3_600_000
/** A view without a requested refresh for this long is rebuilt. */
const stuckMs = 3_600_000
/** Each refresh is followed by a pause of this many times its length, which leaves the processor to others. */
const pausePerRefresh = 9

export class ViewWatch {
  readonly #options: ViewWatchOptions
  #validThroughTxn: number | undefined
  #validUntilMs = Number.NEGATIVE_INFINITY
  /** The table's transaction at the first check. The view is required from this one on: other services sent earlier ones. */
  #neededTxn: number | undefined
  #suspicion: string | undefined
  #refreshedTxn = -1
  #refreshAtMs = Number.NEGATIVE_INFINITY
  /** The first and the last request since a completed refresh. */
  #asked: { firstMs: number; lastMs: number } | undefined
  #rebuildAtMs = Number.NEGATIVE_INFINITY
  #rebuildPauseMs = rebuildPauseMsMin

  constructor(options: ViewWatchOptions) {
    this.#options = options
  }

  /** Transaction of the table through which the view has all readings. Undefined while it must not be used. */
  get validThroughTxn(): number | undefined {
    return this.#validThroughTxn
  }

  /** The view is invalid until the next check. */
  invalidate(): void {
    if (this.#validThroughTxn !== undefined) this.#validUntilMs = this.#options.monotonicMs()
    this.#validThroughTxn = undefined
  }

  /** Other processes may have planned queries with the view until now, but not afterwards. */
  usedUntilNow(): void {
    this.#validUntilMs = this.#options.monotonicMs()
  }

  /** The view may contain rows that the table has lost, so it is rebuilt. */
  markSuspect(reason: string): void {
    this.#suspicion = reason
    this.invalidate()
  }

  /** Returns the action for the observed state. The state is undefined without a view. */
  check(seen: ViewState | undefined): ViewAction {
    const fault = this.#suspicion ?? this.#faultOf(seen)
    if (seen === undefined || fault !== undefined) return this.#rebuild(fault ?? 'it is missing')
    this.#validate(seen)
    return this.#refresh(seen)
  }

  #faultOf(seen: ViewState | undefined): string | undefined {
    if (seen === undefined) return undefined
    if (seen.status === 'invalid') return `it is invalid: ${seen.reason}`
    if (!seen.isOurs) return 'it was made by another version'
    if (seen.isSuspended) return 'it is suspended'
    // The table was lost in part or replaced.
    const { refreshedTxn, sequencedTxn } = seen
    if (refreshedTxn > sequencedTxn || sequencedTxn < (this.#neededTxn ?? 0)) return 'its table has lost transactions'
    const isStuck = this.#asked !== undefined && this.#options.monotonicMs() - this.#asked.firstMs > stuckMs
    return isStuck ? 'it is not refreshed' : undefined
  }

  #rebuild(reason: string): ViewAction {
    // A table that was set back grows again, and its loss would soon be invisible.
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
