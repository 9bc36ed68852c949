/**
 * Adapts the rate of bulk data to single readings, like congestion control: it slows down when a single reading has waited too
 * long, and speeds up gradually otherwise. Without single readings there is no limit.
 */

/** Minimum interval between changes of the rate. */
const windowMs = 50
/** After this long without single readings, or without bulk data, the pace is reset. */
const idleMs = 1000
/** An acceptable wait. */
const waitMaxMs = 10
/** Acceptable multiple of the median wait, which a slow disk may raise. */
const mediansMax = 8
const medianStepMs = 0.05
const increase = 1.05
const decrease = 0.7
/** Some 40,000 readings a second: a backlog must end as well. */
const bytesPerMsMin = 2000
const bytesPerMsFirst = 4000
/** An upper limit, so that an unused high rate is soon reduced. */
const bytesPerMsMax = 25_000

/** All times are from a monotonic clock, in milliseconds. */
export class BulkPace {
  #bytesPerMs = bytesPerMsFirst
  /** Time at which the next bulk data may be appended. */
  #dueMs = Number.NEGATIVE_INFINITY
  #lastWaitMs = Number.NEGATIVE_INFINITY
  /** Follows the median of all waits, by steps of one size in either direction. */
  #medianMs = 0
  #windowStartMs = 0
  #longestMs = 0
  #bytes = 0

  /** The first single reading of a group has waited this long. */
  waited(waitMs: number, nowMs: number): void {
    this.#medianMs = Math.max(0, this.#medianMs + (waitMs > this.#medianMs ? medianStepMs : -medianStepMs))
    this.#longestMs = Math.max(this.#longestMs, waitMs)
    this.#lastWaitMs = nowMs
    if (nowMs - this.#windowStartMs >= windowMs) this.#adjust(nowMs)
  }

  /** Milliseconds that bulk data has to wait. */
  delayMs(nowMs: number): number {
    if (nowMs - this.#lastWaitMs >= idleMs) return 0
    if (nowMs - this.#dueMs >= idleMs) this.#bytesPerMs = bytesPerMsFirst
    return Math.max(0, this.#dueMs - nowMs)
  }

  appended(bytes: number, nowMs: number): void {
    this.#bytes += bytes
    // Unlimited or late data causes no further wait.
    const isLimited = nowMs - this.#lastWaitMs < idleMs
    this.#dueMs = isLimited ? Math.max(nowMs, this.#dueMs) + bytes / this.#bytesPerMs : nowMs
  }

  #adjust(nowMs: number): void {
    const isTooLong = this.#longestMs > Math.max(waitMaxMs, this.#medianMs * mediansMax)
    if (!isTooLong) this.#bytesPerMs = Math.min(bytesPerMsMax, this.#bytesPerMs * increase)
    // Slows down only for a wait that bulk data may have caused.
    else if (this.#bytes > 0) this.#bytesPerMs = Math.max(bytesPerMsMin, this.#bytesPerMs * decrease)
    this.#windowStartMs = nowMs
    this.#longestMs = 0
    this.#bytes = 0
  }
}
