/** Which days have expired, by the clock. Days are those of UTC, as QuestDB's partitions are. */

export const dayMs = 86_400_000

/** The start of the first day that is kept: so many whole days before today. Epoch milliseconds. */
export function horizonMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / dayMs) - days) * dayMs
}

/**
 * The horizon, a margin later: what was checked just before it passed has been stored by then, and a clock that is wrong for
 * less than the margin makes nothing expire.
 */
export class SteadyHorizon {
  readonly #marginMs: number
  #pending: { horizonMs: number; sinceMs: number } | undefined
  #steadyMs = Number.NEGATIVE_INFINITY

  constructor(marginMs: number) {
    this.#marginMs = marginMs
  }

  /** The latest horizon that was not undercut for the margin; -Infinity when there is none. `monotonicMs` never falls. */
  at(horizonMs: number, monotonicMs: number): number {
    const isBack = this.#pending !== undefined && horizonMs < this.#pending.horizonMs
    if (this.#pending === undefined || isBack) this.#pending = { horizonMs, sinceMs: monotonicMs }
    if (monotonicMs - this.#pending.sinceMs >= this.#marginMs) {
      this.#steadyMs = this.#pending.horizonMs
      if (horizonMs > this.#steadyMs) this.#pending = { horizonMs, sinceMs: monotonicMs }
    }
    if (horizonMs < this.#steadyMs) this.#steadyMs = Number.NEGATIVE_INFINITY
    return this.#steadyMs
  }
}
