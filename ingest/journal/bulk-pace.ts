/**
 * How fast bulk data is appended while single readings come in: as a congestion control does, it slows down when one of them has
 * waited for too long, and goes faster little by little otherwise. Without single readings there is no limit.
 */

/** The rate changes at most once in this time. */
const windowMs = 50
/** Without a single reading, or without bulk data, for so long, all begins anew. */
const idleMs = 1000
/** A wait that is not too long. */
const waitMaxMs = 10
/** Nor is one of so many times the median, which a slow disk may have raised. */
const mediansMax = 8
const medianStepMs = 0.05
const increase = 1.05
const decrease = 0.7
/** Some 40,000 readings a second: a backlog must end as well. */
const bytesPerMsMin = 2000
const bytesPerMsFirst = 4000
/** So that a rate that nothing has needed for long is left soon. */
const bytesPerMsMax = 25_000

/** All times are of a clock that never steps, milliseconds. */
export class BulkPace {
  #bytesPerMs = bytesPerMsFirst
  /** When the next bulk data may be appended. */
  #dueMs = Number.NEGATIVE_INFINITY
  #lastWaitMs = Number.NEGATIVE_INFINITY
  /** Follows the median of all waits, by steps of one size in either direction. */
  #medianMs = 0
  #windowStartMs = 0
  #longestMs = 0
  #bytes = 0

  /** The first single reading of a group has waited for so long. */
  waited(waitMs: number, nowMs: number): void {
    this.#medianMs = Math.max(0, this.#medianMs + (waitMs > this.#medianMs ? medianStepMs : -medianStepMs))
    this.#longestMs = Math.max(this.#longestMs, waitMs)
    this.#lastWaitMs = nowMs
    if (nowMs - this.#windowStartMs >= windowMs) this.#adjust(nowMs)
  }

  /** How long bulk data has to wait. */
  delayMs(nowMs: number): number {
    if (nowMs - this.#lastWaitMs >= idleMs) return 0
    if (nowMs - this.#dueMs >= idleMs) this.#bytesPerMs = bytesPerMsFirst
    return Math.max(0, this.#dueMs - nowMs)
  }

  appended(bytes: number, nowMs: number): void {
    this.#bytes += bytes
    // What had no limit, or came late, leaves nothing to wait for.
    const isLimited = nowMs - this.#lastWaitMs < idleMs
    this.#dueMs = isLimited ? Math.max(nowMs, this.#dueMs) + bytes / this.#bytesPerMs : nowMs
  }

  #adjust(nowMs: number): void {
    const isTooLong = this.#longestMs > Math.max(waitMaxMs, this.#medianMs * mediansMax)
    if (!isTooLong) this.#bytesPerMs = Math.min(bytesPerMsMax, this.#bytesPerMs * increase)
    // Not for a wait that bulk data is not known to have caused.
    else if (this.#bytes > 0) this.#bytesPerMs = Math.max(bytesPerMsMin, this.#bytesPerMs * decrease)
    this.#windowStartMs = nowMs
    this.#longestMs = 0
    this.#bytes = 0
  }
}
