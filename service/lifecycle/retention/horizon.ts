/** Finds the days that are due by the clock, in UTC as QuestDB's partitions, and the time from which on readings are accepted. */

import type pg from 'pg'
import { type ChangeFeed, noFeed } from '../../../auth/nodes/change-feed.ts'
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

interface ClockHorizonOptions {
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

export interface AcceptedFrom {
  /** Epoch milliseconds; -Infinity if readings do not expire. */
  ms(): number
  /** Raised bound, independent of the clock; -Infinity if it was never raised. Epoch milliseconds. */
  raisedMs(): number
  /** True if readings expire, or did with earlier settings. */
  isLimited(): boolean
  /** Refuses all readings before this, for any later clock and settings. Durable and at every node when it resolves. */
  raise(ms: number): Promise<void>
}

interface AcceptedFromOptions {
  pool: pg.Pool
  days: number | undefined
  nowMs: () => number
  feed?: ChangeFeed
}

const stepMs = 4_000

export async function openAcceptedFrom(options: AcceptedFromOptions): Promise<AcceptedFrom> {
  const { pool, days, nowMs, feed = noFeed } = options
  let raisedMs = Number.NEGATIVE_INFINITY
  async function reload(): Promise<void> {
    const { rows } = await pool.query<{ accepted_from: Date }>('SELECT accepted_from FROM retention')
    raisedMs = Math.max(raisedMs, rows[0]?.accepted_from.getTime() ?? raisedMs)
  }
  feed.onChange('accepted-from', reload)
  await reload()
  return {
    ms: () => (days === undefined ? raisedMs : Math.max(raisedMs, horizonMs(nowMs(), days))),
    raisedMs: () => raisedMs,
    isLimited: () => days !== undefined || raisedMs > Number.NEGATIVE_INFINITY,
    async raise(ms) {
      if (ms <= raisedMs) return
      const text = `INSERT INTO retention (accepted_from) VALUES ($1) ON CONFLICT (is_only)
        DO UPDATE SET accepted_from = greatest(retention.accepted_from, excluded.accepted_from)`
      await feed.commit({ pool, stepMs }, async transaction => {
        feed.note(transaction, 'accepted-from')
        await transaction.query(text, [new Date(ms)])
      })
      // Another call may have raised it further meanwhile.
      raisedMs = Math.max(raisedMs, ms)
      await feed.settle()
    },
  }
}
