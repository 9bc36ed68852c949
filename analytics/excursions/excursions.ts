/**
 * Excursions of a value beyond its thresholds, with their lengths and distances. A value holds up to the next one, but
 * not beyond G, the longest interval that is not a gap: during a silence it is unknown.
 */

import type { Samples } from '../present.ts'
import { type GapThresholds, StretchCursor } from '../reliability/cadence.ts'

export interface ExcursionOptions extends TimeRange {
  /** Null for none; at least one of the two is set. */
  readonly above: number | null
  readonly below: number | null
  /** An excursion counts when a reading this long after its first one is still beyond. */
  readonly forMs: number
  /** Empty while the interval of the device is unknown. */
  readonly gaps: GapThresholds
  /** The days cover the range. */
  readonly days: readonly TimeRange[]
}

type Direction = 'above' | 'below'

export interface Excursion {
  readonly direction: Direction
  /** Time of its first reading, or the start of the range. */
  readonly startMs: number
  /**
   * Time of the first reading back or beyond on the other side, or the beginning of a silence. The end of the range
   * when it continues there.
   */
  readonly endMs: number
  readonly isOngoing: boolean
  /** The distance from the threshold over time, in the unit of the values times milliseconds. */
  readonly distanceMs: number
  /** The value farthest from the threshold, within the range. */
  readonly extreme: number
  /** The silence that ended it, as far as it is within the range; 0 when a reading did. */
  readonly silenceMs: number
}

/** Used while the interval of the device is unknown. */
const unknownGapMs = 3_600_000

/** Readings from one up to another one (not included), all on the same side and without a silence. */
interface Run {
  readonly from: number
  readonly to: number
  readonly side: Direction | undefined
}

/**
 * `timesMs` ascend and include readings before the range, because the last of them may hold at its start. Values are
 * never NaN. Oldest first.
 */
export function findExcursions(
  samples: Samples,
  options: ExcursionOptions,
): { readonly episodes: readonly Excursion[]; readonly days: readonly DayOfExcursions[] } {
  const { startMs, endMs } = options
  const { timesMs } = samples
  const untilMs = holdsUntil(timesMs, options)
  const days = new ExcursionDays(options.days)
  const episodes: Excursion[] = []
  days.addSilence(startMs, Math.min(timesMs[0] ?? endMs, endMs))
  for (let from = 0; from < timesMs.length; ) {
    const run = runFrom(from, samples, untilMs, options)
    const { to, side } = run
    const counts = side !== undefined && (timesMs[to - 1] as number) - (timesMs[from] as number) >= options.forMs
    addHeld(days, run, samples, untilMs, counts ? (options[side] as number) : Number.NaN)
    days.addSilence(untilMs[to - 1] as number, timesMs[to] ?? endMs)
    const episode = counts ? episodeOf(run, samples, untilMs, options) : undefined
    if (episode !== undefined) episodes.push(episode)
    from = to
  }
  for (const episode of episodes) days.addEpisode(episode)
  return { episodes, days: days.all() }
}

/** `threshold` is NaN outside of an excursion. */
function addHeld(
  days: ExcursionDays,
  { from, to }: Run,
  { timesMs, values }: Samples,
  untilMs: Float64Array,
  threshold: number,
): void {
  for (let at = from; at < to; at++) {
    days.addHeld(timesMs[at] as number, untilMs[at] as number, Math.abs((values[at] as number) - threshold))
  }
}

/** The end of each value's validity; `endMs` limits the last one. */
export function holdsUntil(
  timesMs: Float64Array,
  { gaps, endMs }: Pick<ExcursionOptions, 'gaps' | 'endMs'>,
): Float64Array {
  const cursor = new StretchCursor(gaps)
  return timesMs.map((timeMs, at) => {
    const gapMs = cursor.at(timeMs)?.gapMs ?? unknownGapMs
    return Math.min(timesMs[at + 1] ?? Math.max(endMs, timeMs), timeMs + gapMs)
  })
}

function runFrom(from: number, { timesMs, values }: Samples, untilMs: Float64Array, options: ExcursionOptions): Run {
  const side = sideOf(values[from] as number, options)
  let to = from + 1
  while (to < timesMs.length && timesMs[to] === untilMs[to - 1] && sideOf(values[to] as number, options) === side) to++
  return { from, to, side }
}

function sideOf(value: number, { above, below }: ExcursionOptions): Direction | undefined {
  if (above !== null && thresholdSide('above', value, above, 0) === 'beyond') return 'above'
  return below !== null && thresholdSide('below', value, below, 0) === 'beyond' ? 'below' : undefined
}

/** Undefined when it ended before the range, or began after it. */
function episodeOf(
  { from, to, side: direction = 'above' }: Run,
  { timesMs, values }: Samples,
  untilMs: Float64Array,
  options: ExcursionOptions,
): Excursion | undefined {
  const startMs = Math.max(timesMs[from] as number, options.startMs)
  const endMs = Math.min(untilMs[to - 1] as number, options.endMs)
  if (startMs >= endMs) return undefined
  const threshold = options[direction] as number
  let distanceMs = 0
  let extreme = threshold
  for (let at = from; at < to; at++) {
    const value = values[at] as number
    const heldMs = Math.min(untilMs[at] as number, endMs) - Math.max(timesMs[at] as number, startMs)
    if (heldMs <= 0) continue
    const distance = Math.abs(value - threshold)
    distanceMs += distance * heldMs
    if (distance > Math.abs(extreme - threshold)) extreme = value
  }
  const nextMs = Math.min(timesMs[to] ?? options.endMs, options.endMs)
  const silenceMs = Math.max(0, nextMs - endMs)
  const isOngoing = endMs === options.endMs
  return { direction, startMs, endMs, isOngoing, distanceMs, extreme, silenceMs }
}

/** Daily sums of excursions. */

export interface TimeRange {
  readonly startMs: number
  /** The end is not part of the range. */
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

class ExcursionDays {
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

/** The side of a threshold on which a value is, for alerts, their previews and excursions. */

export type ThresholdSide = 'beyond' | 'between' | 'back'

/** `between`: no longer beyond the threshold, but still within the hysteresis. */
export function thresholdSide(
  direction: 'above' | 'below',
  value: number,
  threshold: number,
  hysteresis: number,
): ThresholdSide {
  // Differences of decimals are not exact: the sums are rounded as in decimal arithmetic.
  const isBeyond = direction === 'above' ? value > threshold : value < threshold
  if (isBeyond) return 'beyond'
  const isBack = direction === 'above' ? value <= threshold - hysteresis : value >= threshold + hysteresis
  return isBack ? 'back' : 'between'
}
