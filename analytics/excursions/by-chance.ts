/**
 * Whether an excursion may be several brief ones, of each of which one reading is seen: a door that is opened often, read every ten
 * minutes, is now and then found open four times in turn.
 */

import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { Excursion } from './excursions.ts'

/** How many of that length are expected by chance at most, where one is more than chance. */
const expectedMax = 0.05
/** Where the reading after one that is beyond is beyond as often, most of the brief ones are seen by several, and a long one whole. */
const followedShareMax = 0.5

export interface Beyond {
  /** Of a value, on the side that is asked for. */
  isBeyond(value: number): boolean
  /** Up to when each value holds, as excursions have it: a run ends with a silence. */
  readonly untilMs: Float64Array
}

/** Runs of readings beyond the threshold that are shorter than `forMs`. */
export interface BriefRuns {
  readonly runs: number
  readonly readings: number
}

export function briefRuns({ timesMs, values }: Samples, forMs: number, { isBeyond, untilMs }: Beyond): BriefRuns {
  const isInRun = (from: number, at: number) =>
    isBeyond(values[at] as number) && (at === from || timesMs[at] === untilMs[at - 1])
  let runs = 0
  let readings = 0
  for (let from = 0; from < values.length; ) {
    let to = from
    while (to < values.length && isInRun(from, to)) to++
    if (to > from && (timesMs[to - 1] as number) - (timesMs[from] as number) < forMs) {
      runs++
      readings += to - from
    }
    from = Math.max(to, from + 1)
  }
  return { runs, readings }
}

/**
 * Readings that are beyond at random, each followed by another one with the same chance p, come `length` in turn
 * runs p^(length - 1) times (a geometric distribution of the lengths).
 */
export function isByChance(
  { timesMs }: Samples,
  { startMs, endMs }: Excursion,
  { runs, readings }: BriefRuns,
): boolean {
  const followedShare = readings === 0 ? 0 : 1 - runs / readings
  if (followedShare >= followedShareMax) return false
  const length = lowerBound(timesMs, endMs) - lowerBound(timesMs, startMs)
  return runs * followedShare ** (length - 1) > expectedMax
}
