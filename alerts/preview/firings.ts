/** When a pair fires, of the effects of its observations. */

import type { Effect } from '../core/transition.ts'

/** Of one pair; more than somebody looks at. */
const intervalsMax = 500

export interface FiringRange {
  readonly fromMs: number
  readonly toMs: number
}

export class Firings {
  readonly #range: FiringRange
  #openMs = Number.NaN
  count = 0
  longestMs = 0
  /** When each began, within the range: of all of them. */
  readonly beginsMs: number[] = []
  /** The newest ones, within the range; the end is NaN of one that goes on. */
  readonly intervals: { fromMs: number; toMs: number }[] = []

  constructor(range: FiringRange) {
    this.#range = range
  }

  take(effects: readonly Effect[]): void {
    for (const { kind, atMs } of effects) {
      if (kind === 'fired') this.#openMs = atMs
      if (kind !== 'resolved') continue
      this.#add(this.#openMs, atMs)
      this.#openMs = Number.NaN
    }
  }

  /** No observation comes any more. */
  end(): void {
    if (!Number.isNaN(this.#openMs)) this.#add(this.#openMs, Number.NaN)
    this.#openMs = Number.NaN
  }

  #add(firedMs: number, resolvedMs: number): void {
    const { fromMs, toMs } = this.#range
    if (resolvedMs <= fromMs || firedMs >= toMs) return
    const interval = { fromMs: Math.max(firedMs, fromMs), toMs: resolvedMs }
    this.count++
    this.beginsMs.push(interval.fromMs)
    this.longestMs = Math.max(this.longestMs, (Number.isNaN(resolvedMs) ? toMs : resolvedMs) - interval.fromMs)
    this.intervals.push(interval)
    if (this.intervals.length > intervalsMax) this.intervals.shift()
  }
}
