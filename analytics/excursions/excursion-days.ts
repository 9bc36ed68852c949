/** Daily sums of excursions. */

export interface TimeRange {
  readonly startMs: number
  /** Not included. */
  readonly endMs: number
}

export interface DayOfExcursions {
  /** Number of excursions that begin on the day. */
  readonly count: number
  /** The longest part of an excursion within the day. */
  readonly longestMs: number
  readonly lengthMs: number
  /** The distance from the threshold over time, in the unit of the values times milliseconds. */
  readonly distanceMs: number
  /** Time without a known value. */
  readonly silenceMs: number
  readonly coveredMs: number
}

type Sums = { -readonly [Name in keyof DayOfExcursions]: number }

export class ExcursionDays {
  readonly #days: readonly TimeRange[]
  readonly #sums: Sums[]
  /** Stretches are added in the order of time, so earlier days are complete. */
  #first = 0

  constructor(days: readonly TimeRange[]) {
    this.#days = days
    this.#sums = days.map(() => {
      return { count: 0, longestMs: 0, lengthMs: 0, distanceMs: 0, silenceMs: 0, coveredMs: 0 }
    })
  }

  /** `distance` is measured from the threshold, NaN outside of an excursion. */
  addHeld(fromMs: number, toMs: number, distance: number): void {
    this.#split(fromMs, toMs, (sums, lengthMs) => {
      sums.coveredMs += lengthMs
      if (Number.isNaN(distance)) return
      sums.lengthMs += lengthMs
      sums.distanceMs += distance * lengthMs
    })
  }

  addSilence(fromMs: number, toMs: number): void {
    this.#split(fromMs, toMs, (sums, lengthMs) => {
      sums.silenceMs += lengthMs
    })
  }

  addEpisode({ startMs, endMs }: TimeRange): void {
    for (const [at, day] of this.#days.entries()) {
      const sums = this.#sums[at] as Sums
      if (startMs >= day.startMs && startMs < day.endMs) sums.count++
      sums.longestMs = Math.max(sums.longestMs, Math.min(endMs, day.endMs) - Math.max(startMs, day.startMs))
    }
  }

  all(): readonly DayOfExcursions[] {
    return this.#sums
  }

  #split(fromMs: number, toMs: number, add: (sums: Sums, lengthMs: number) => void): void {
    for (let at = this.#first; at < this.#days.length; at++) {
      const { startMs, endMs } = this.#days[at] as TimeRange
      if (startMs >= toMs) return
      if (endMs <= fromMs) {
        this.#first = at + 1
        continue
      }
      const lengthMs = Math.min(toMs, endMs) - Math.max(fromMs, startMs)
      if (lengthMs > 0) add(this.#sums[at] as Sums, lengthMs)
    }
  }
}
