/**
 * Finds permanent changes in a series of daily levels: the split with the largest cumulative sum of deviations (CUSUM),
 * tested with the long-run variance of the residuals under AR(1):
 *   max|S_k| / (σ·√n),  σ² = s²·(1 + a)/(1 − a),
 * against 1.63, the 1 % point of the largest distance of a Brownian bridge (Kolmogorov's distribution). The residuals are
 * taken from the split instead of the mean, so that a step does not look like memory (Juhl and Xiao 2009). Each half is
 * then split again by binary segmentation (Vostrikova 1981). Afterwards each split is placed and tested once more between
 * its neighbours (Bai 1997).
 *
 * A level that comes back ends near its beginning, so in the middle of a window its sum has no large distance. Without a
 * split, the two indexes between which the sum changes most are tried, by Kuiper's statistic, and tested like all others.
 */

import { correctedMemory } from '../correlation/autocorrelation.ts'
import { centredProducts } from '../correlation/centred-products.ts'
import { dayMeans, hourOfDayRemoved } from '../decomposition/deseasonalise.ts'
import { hampelClean } from '../quality/hampel.ts'
import { momentsOf } from '../summary/moments.ts'

/** A split separates the days before it from the rest. */
export interface ChangePoint {
  /** The first day of the new level, an index as in `DailyLevels`. */
  readonly day: number
  /** Means of the levels up to the neighbouring changes. */
  readonly before: number
  readonly after: number
  readonly daysBefore: number
  readonly daysAfter: number
  /** Statistic of the test, above the critical value. */
  readonly statistic: number
  /** Daily change of a level that changes from this day to the last one. `after` is then its last value. */
  readonly perDay: number | null
}

const criticalValue = 1.63
/**
 * The value is above 2.001, the 1 % point of the range of a Brownian bridge (Kuiper 1960). The tests together find at
 * most 2 % by chance.
 */
const criticalRange = 2.5
/** The shortest level. */
const segmentDaysMin = 5
/** With fewer days, the long-run variance is unknown. */
const splitDaysMin = 20
const changesMax = 5

/** Fewer days cannot be tested. */
export const changeDaysMin = splitDaysMin

/**
 * Ascending by day; at most the five with the largest statistics. `withEpisodes` includes levels that come back. A
 * level that changes along a line replaces the steps from that day on where it fits better than they do (by Schwarz's
 * criterion, 1978).
 */
export function changePoints({ days, means }: DailyLevels, withEpisodes = true): ChangePoint[] {
  const found = refined({ days, means }, splitsOf({ days, means }, 0, days.length, withEpisodes))
  const ramp = found.length === 0 ? undefined : rampOf({ days, means }, found)
  const splits = ramp === undefined ? found : found.filter(({ at }) => at <= ramp.at - segmentDaysMin)
  const end = ramp?.at ?? days.length
  const kept = splits
    .toSorted((one, other) => other.statistic - one.statistic)
    .slice(0, changesMax)
    .toSorted((one, other) => one.at - other.at)
  const steps = kept.map(({ at, statistic }, place): ChangePoint => {
    const from = kept[place - 1]?.at ?? 0
    const to = kept[place + 1]?.at ?? end
    return {
      day: days[at] as number,
      before: meanOf(means, from, at),
      after: meanOf(means, at, to),
      daysBefore: at - from,
      daysAfter: to - at,
      statistic,
      perDay: null,
    }
  })
  if (ramp === undefined) return steps
  const from = kept.at(-1)?.at ?? 0
  const { at, perDay, before } = ramp
  const after = before + perDay * ((days.at(-1) as number) - (days[at] as number))
  const statistic = Math.max(...found.map(one => one.statistic))
  return [
    ...steps,
    { day: days[at] as number, before, after, daysBefore: at - from, daysAfter: days.length - at, statistic, perDay },
  ]
}

interface Ramp {
  /** The last index of the level before. */
  readonly at: number
  readonly before: number
  readonly perDay: number
}

/** The best-fitting level with a line from some day on, if it fits better than the steps. */
function rampOf({ days, means }: DailyLevels, steps: readonly Split[]): Ramp | undefined {
  const count = days.length
  const bounds = [0, ...steps.map(({ at }) => at), count]
  const stepSquares = bounds
    .slice(1)
    .reduce((sum, to, part) => sum + squaresAbout(means, bounds[part] as number, to), 0)
  let best: (Ramp & { readonly squares: number }) | undefined
  for (let at = segmentDaysMin; at <= count - segmentDaysMin; at++) {
    const rises = days.map(day => Math.max(0, day - (days[at] as number)))
    const { xMean, yMean, xx, yy, xy } = centredProducts(rises, means)
    const squares = yy - (xy * xy) / xx
    if (best !== undefined && squares >= best.squares) continue
    best = { at, squares, perDay: xy / xx, before: yMean - (xy / xx) * xMean }
  }
  // Terms: a level and a break for each step, or a level, a slope and a break.
  const criterion = (squares: number, terms: number) => count * Math.log(squares / count) + terms * Math.log(count)
  const isBetter = best !== undefined && criterion(best.squares, 3) < criterion(stepSquares, 1 + 2 * steps.length)
  return isBetter ? best : undefined
}

function squaresAbout(values: Float64Array, from: number, to: number): number {
  const mean = meanOf(values, from, to)
  let sum = 0
  for (let place = from; place < to; place++) sum += ((values[place] as number) - mean) ** 2
  return sum
}

const refinementsMax = 5

/** Drops splits that only existed because their neighbours were slightly misplaced. */
function refined(levels: DailyLevels, splits: readonly Split[]): Split[] {
  let before = [...splits]
  for (let round = 0; round < refinementsMax; round++) {
    const after = [...before]
    for (let place = 0; place < after.length; ) {
      const from = after[place - 1]?.at ?? 0
      const to = after[place + 1]?.at ?? levels.days.length
      const split = largestSplit(levels, from, to)
      if (split === undefined || split.statistic < criticalValue) after.splice(place, 1)
      else after[place++] = split
    }
    if (after.length === before.length && after.every(({ at }, place) => at === before[place]?.at)) return after
    before = after
  }
  return before
}

interface Split {
  /** The first index of the new level. */
  readonly at: number
  readonly statistic: number
}

function splitsOf(levels: DailyLevels, from: number, to: number, withEpisodes: boolean): Split[] {
  if (to - from < splitDaysMin) return []
  const split = largestSplit(levels, from, to)
  if (split === undefined || split.statistic < criticalValue) {
    return withEpisodes ? episodeOf(levels, from, to) : []
  }
  const parts = (begin: number, end: number) => splitsOf(levels, begin, end, withEpisodes)
  return [...parts(from, split.at), split, ...parts(split.at, to)]
}

/** A level that has come back: splits at its beginning and its end, and splits around them. */
function episodeOf(levels: DailyLevels, from: number, to: number): Split[] {
  const { means } = levels
  const mean = meanOf(means, from, to)
  let sum = 0
  let [least, most] = [
    { at: -1, sum: Number.POSITIVE_INFINITY },
    { at: -1, sum: Number.NEGATIVE_INFINITY },
  ]
  for (let at = from + 1; at <= to - segmentDaysMin; at++) {
    sum += (means[at - 1] as number) - mean
    if (at - from < segmentDaysMin) continue
    if (sum < least.sum) least = { at, sum }
    if (sum > most.sum) most = { at, sum }
  }
  const [begin, end] = [Math.min(least.at, most.at), Math.max(least.at, most.at)]
  if (begin < 0 || end - begin < segmentDaysMin) return []
  const deviation = longRunDeviation(levels, [from, begin, end, to])
  const statistic = (most.sum - least.sum) / (deviation * Math.sqrt(to - from))
  if (!(deviation > 0) || statistic < criticalRange) return []
  const [one, other] = [begin, end].map(at => ({ at, statistic })) as [Split, Split]
  const parts = (first: number, last: number) => splitsOf(levels, first, last, true)
  return [...parts(from, begin), one, ...parts(begin, end), other, ...parts(end, to)]
}

function largestSplit(levels: DailyLevels, from: number, to: number): Split | undefined {
  const { means } = levels
  const mean = meanOf(means, from, to)
  let sum = 0
  let largest = 0
  let at = -1
  for (let place = from; place < to - segmentDaysMin; place++) {
    sum += (means[place] as number) - mean
    const isFar = place + 1 - from >= segmentDaysMin
    if (isFar && Math.abs(sum) > largest) {
      largest = Math.abs(sum)
      at = place + 1
    }
  }
  if (at < 0) return undefined
  const deviation = longRunDeviation(levels, [from, at, to])
  return deviation > 0 ? { at, statistic: largest / (deviation * Math.sqrt(to - from)) } : undefined
}

/**
 * Deviation of the residuals about the means between `bounds`, ascending, and at least a hundredth of the largest
 * shift, so that a step without noise is found. 0 when all of them are equal but for rounding.
 */
function longRunDeviation({ days, means }: DailyLevels, bounds: readonly number[]): number {
  const levels = bounds.slice(1).map((to, part) => meanOf(means, bounds[part] as number, to))
  const [from, to] = [bounds[0] as number, bounds.at(-1) as number]
  let squares = 0
  let products = 0
  let pairs = 0
  let part = 0
  let before = 0
  for (let place = from; place < to; place++) {
    if (place === bounds[part + 1]) part++
    const residual = (means[place] as number) - (levels[part] as number)
    squares += residual ** 2
    // Only adjacent days count.
    if (place > from && days[place] === (days[place - 1] as number) + 1) {
      products += before * residual
      pairs++
    }
    before = residual
  }
  const count = to - from
  const variance = squares / count
  const shift = Math.max(...levels.slice(1).map((level, at) => Math.abs(level - (levels[at] as number))))
  if (!(shift > 1e-12 * Math.max(...levels.map(Math.abs)))) return 0
  const memory = pairs === 0 || variance === 0 ? 0 : correctedMemory(products / pairs / variance, count)
  const bounded = Math.min(memoryMax, Math.max(0, memory))
  return Math.max(shift / 100, Math.sqrt((variance * (1 + bounded)) / (1 - bounded)))
}

/** Beyond it a level wanders, which cannot be distinguished from steps. */
const memoryMax = 0.97

function meanOf(values: Float64Array, from: number, to: number): number {
  let sum = 0
  for (let place = from; place < to; place++) sum += values[place] as number
  return sum / (to - from)
}

export interface DailyLevels {
  /** Indexes of the days, ascending. The first day of the series is 0. */
  readonly days: Float64Array
  readonly means: Float64Array
}

/** Days as in `dayMeans`. `hourly`: NaN where missing; `localHours`: 0 … 23 for each cell. */
export function dailyLevels(hourly: Float64Array, localHours: Uint8Array): DailyLevels {
  // A few wild hours in a month would otherwise shift the means of their days.
  const clean = hampelClean(hourly)
  const { numbers, means } = dayMeans(hourOfDayRemoved(clean, localHours))
  // Back to the unit's level: users know 21 °C, not 0.3 K above the mean.
  const { mean } = momentsOf(clean)
  return { days: numbers, means: means.map(one => one + mean) }
}
