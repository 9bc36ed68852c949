/** Finds the days that are due by the clock. Days are in UTC, like QuestDB's partitions. */

import { bug } from '../../../store/limits/bug.ts'

export const dayMs = 86_400_000

/** Start of the first kept day: this many whole days before today. Epoch milliseconds. */
export function horizonMs(nowMs: number, days: number): number {
  return (Math.floor(nowMs / dayMs) - days) * dayMs
}

/** Delays the horizon by a margin, which covers readings in flight and clocks that are slightly wrong. */
export class DelayedHorizon {
  readonly #marginMs: number
  #pending: { horizonMs: number; sinceMs: number } | undefined
  #steadyMs = Number.NEGATIVE_INFINITY

  constructor(marginMs: number) {
    this.#marginMs = marginMs
  }

  /** The latest horizon that was not undercut for the margin; -Infinity without one. `monotonicMs` never decreases. */
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

/** Checks that the horizon passes the days one by one. A clock that steps passes several at once. */
export class ObservedHorizon {
  #lastMs: number | undefined
  #fromMs = Number.NEGATIVE_INFINITY

  /** Horizon since which this holds: the present one at the start, and after a step of more than a day or backwards. */
  from(horizonMs: number): number {
    const isStep = this.#lastMs === undefined || horizonMs < this.#lastMs || horizonMs > this.#lastMs + dayMs
    if (isStep) this.#fromMs = horizonMs
    this.#lastMs = horizonMs
    return this.#fromMs
  }
}

/** The clock at one moment. Epoch milliseconds. */
export interface ClockHorizon {
  horizonMs: number
  /** Delayed by the margin. */
  steadyMs: number
  /** Since this horizon, the clock has passed the days one by one. */
  watchedFromMs: number
}

export interface ClockHorizonOptions {
  days: number
  nowMs: () => number
  /** Never decreases. */
  monotonicMs: () => number
  marginMs: number
}

/** Call the result more often than once a margin, because it observes the clock. */
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
