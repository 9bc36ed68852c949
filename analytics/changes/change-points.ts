/**
 * Where a series of daily levels changes for good: the split at which the cumulative sum of the deviations is largest
 * (CUSUM), tested with the long-run variance of what is left behind the split, as AR(1) has it:
 *   max|S_k| / (σ·√n),  σ² = s²·(1 + a)/(1 − a),
 * against 1.63, the 1 % point of the largest distance of a Brownian bridge (Kolmogorov's distribution). The residuals of
 * the split, not of the mean, so that a step does not pass for memory (Juhl and Xiao 2009). Then each half again: binary
 * segmentation (Vostrikova 1981), after which each split is placed and tested once more between its neighbours (Bai 1997).
 * A level that comes back ends near where it began, and in the middle of a window its sum has no large distance: where no split is
 * found, the two places between which the sum changes most are tried, by Kuiper's statistic. Each is then tested as all others.
 */

import { centredProducts } from '../correlation/centred-products.ts'
import { correctedMemory } from '../correlation/effective-count.ts'
import type { DailyLevels } from './daily-levels.ts'

/** A split is of the days before it and from it on. */
export interface ChangePoint {
  /** The first day of the new level, a place as in `DailyLevels`. */
  readonly day: number
  /** Means of the levels up to the neighbouring changes. */
  readonly before: number
  readonly after: number
  readonly daysBefore: number
  readonly daysAfter: number
  /** Of the test, above the critical value. */
  readonly statistic: number
  /** Change a day of a level that changes from this day to the last one. `after` is then its end. */
  readonly perDay: number | null
}

const criticalValue = 1.63
/** Above 2.001, the 1 % point of the range of a Brownian bridge (Kuiper 1960): the tests together find 2 % by chance at most. */
const criticalRange = 2.5
/** A level lasts so long at least. */
const segmentDaysMin = 5
/** With fewer, the long-run variance is not known. */
const splitDaysMin = 20
const changesMax = 5

/** Fewer days than this have no test. */
export const changeDaysMin = splitDaysMin

/**
 * Ascending by day; the five of the largest statistic where there are more. `withEpisodes`: also levels that come back. Where a
 * level that has been changing along a line since some day fits better than steps do (by Schwarz's criterion, 1978), it takes
 * the place of the steps from that day on.
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
  /** The last place of the level before. */
  readonly at: number
  readonly before: number
  readonly perDay: number
}

/** The level with a line from some day on that fits best, where it fits better than the steps. */
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
  // A level and a break for each step; a level, a slope and a break.
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

/** One that its neighbours have made, by standing a little off, is gone when they stand right. */
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
  /** The first place of the new level. */
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

/** A level that has come back: its beginning and its end, and splits of what is around them. */
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
 * Of the residuals about the means between `bounds`, ascending, and a hundredth of the largest shift at least: a step without noise
 * is one. 0 when all of them are equal but for rounding.
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
    // Of days next to each other.
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

/** Beyond it a level wanders, and nothing tells a step from that. */
const memoryMax = 0.97

function meanOf(values: Float64Array, from: number, to: number): number {
  let sum = 0
  for (let place = from; place < to; place++) sum += values[place] as number
  return sum / (to - from)
}
