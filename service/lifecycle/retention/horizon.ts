/** Which days are due to expire, by the clock. Days are those of UTC, as QuestDB's partitions are. */

import { bug } from '../../../store/limits/bug.ts'

export const dayMs = 86_400_000

/** The start of the first day that is kept: so many whole days before today. Epoch milliseconds. */
export function horizonMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / dayMs) - days) * dayMs
}

/**
 * The horizon, a margin later: what was checked just before it passed has been stored by then, and a clock that is wrong for
 * less than the margin makes nothing expire.
 */
export class DelayedHorizon {
  readonly #marginMs: number
  #pending: { horizonMs: number; sinceMs: number } | undefined
  #steadyMs = Number.NEGATIVE_INFINITY

  constructor(marginMs: number) {
    this.#marginMs = marginMs
  }

  /** The latest horizon that was not undercut for the margin; -Infinity when there is none. `monotonicMs` never falls. */
  at(horizonMs: number, monotonicMs: number): number {
    const { sinceMs } = this.#pending ?? { sinceMs: monotonicMs }
    if (monotonicMs < sinceMs) throw bug(`the monotonic clock is at ${monotonicMs}, and was at ${sinceMs}`)
    const isBack = this.#pending !== undefined && horizonMs < this.#pending.horizonMs
    if (this.#pending === undefined || isBack) this.#pending = { horizonMs, sinceMs: monotonicMs }
    if (monotonicMs - this.#pending.sinceMs >= this.#marginMs) {
      this.#steadyMs = this.#pending.horizonMs
      if (horizonMs > this.#steadyMs) this.#pending = { horizonMs, sinceMs: monotonicMs }
    }
    if (horizonMs < this.#steadyMs) this.#steadyMs = Number.NEGATIVE_INFINITY
    if (this.#steadyMs > horizonMs) throw bug(`the horizon is ${horizonMs}, and ${this.#steadyMs} a margin ago`)
    return this.#steadyMs
  }
}

/** Sees that the horizon passes the days one by one: a clock that steps, or has not been watched for days, passes several at once. */
export class ObservedHorizon {
  #lastMs: number | undefined
  #fromMs = Number.NEGATIVE_INFINITY

  /** The horizon since which that is so: this one, at the start and after a step of more than a day or back. */
  from(horizonMs: number): number {
    const isStep = this.#lastMs === undefined || horizonMs < this.#lastMs || horizonMs > this.#lastMs + dayMs
    if (isStep) this.#fromMs = horizonMs
    this.#lastMs = horizonMs
    return this.#fromMs
  }
}

/** What the clock says at one moment. Epoch milliseconds. */
export interface ClockHorizon {
  /** As of now. */
  horizonMs: number
  /** A margin later. */
  steadyMs: number
  /** Since it was there the clock has passed the days one by one. */
  watchedFromMs: number
}

export interface ClockHorizonOptions {
  days: number
  nowMs: () => number
  /** Never falls. */
  monotonicMs: () => number
  marginMs: number
}

/** To be called more often than the margin is long, for the clock is watched by it. */
export function createClockHorizon({ days, nowMs, monotonicMs, marginMs }: ClockHorizonOptions): () => ClockHorizon {
  const steady = new DelayedHorizon(marginMs)
  const watched = new ObservedHorizon()
  return () => {
    const nowHorizonMs = horizonMs(nowMs(), days)
    return {
      horizonMs: nowHorizonMs,
      steadyMs: steady.at(nowHorizonMs, monotonicMs()),
      watchedFromMs: watched.from(nowHorizonMs),
    }
  }
}
