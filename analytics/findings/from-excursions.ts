/** Findings of a cold chain whose temperature has been outside its limits for long. */

import { coldChainBand } from '../domain/cold-chain.ts'
import type { Band } from '../domain/figures.ts'
import type { TimeRange } from '../excursions/excursion-days.ts'
import { type Excursion, findExcursions, holdsUntil } from '../excursions/excursions.ts'
import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { type Finding, noDetails } from './finding.ts'
import { recentMs } from './from-quality.ts'

/** A door opening or a defrost is shorter. */
const forMs = 1_800_000
export interface ColdChainSamples extends Samples {
  readonly name: string
}

/**
 * Finding of the last seven days, beyond the limits; by default a pharmacy's 2 to 8 °C. `samples` have
 * thirty days in °C, without NaN.
 */
export function excursionFinding(
  samples: ColdChainSamples,
  gaps: GapThresholds,
  nowMs: number,
  band: Band = coldChainBand,
): Finding | undefined {
  const { below, above } = band
  const episodes = longExcursions(samples, gaps, { startMs: nowMs - recentMs, endMs: nowMs }, band)
  const worst = worstOf(episodes)
  if (worst === undefined) return undefined
  return {
    ...noDetails,
    code: 'excursion',
    severity: worst.isOngoing ? 'critical' : 'warning',
    metric: samples.name,
    sinceMs: worst.startMs,
    untilMs: worst.isOngoing ? null : worst.endMs,
    value: worst.extreme,
    expected: [below, above],
    count: episodes.length,
  }
}

/** Excursions of half an hour or more that brief ones do not make by chance. */
export function longExcursions(samples: Samples, gaps: GapThresholds, range: TimeRange, band: Band): Excursion[] {
  const { below, above } = band
  const found = findExcursions(samples, { below, above, forMs, gaps, ...range, days: [range] }).episodes
  const untilMs = holdsUntil(samples.timesMs, { gaps, endMs: range.endMs })
  const brief = {
    above: briefRuns(samples, forMs, { isBeyond: value => value > above, untilMs }),
    below: briefRuns(samples, forMs, { isBeyond: value => value < below, untilMs }),
  }
  return found.filter(episode => !isByChance(samples, episode, brief[episode.direction]))
}

/** The ongoing one, or else the longest. */
function worstOf(episodes: readonly Excursion[]): Excursion | undefined {
  const last = episodes.at(-1)
  if (last?.isOngoing) return last
  return episodes.reduce<Excursion | undefined>((worst, one) => {
    return worst === undefined || one.endMs - one.startMs > worst.endMs - worst.startMs ? one : worst
  }, undefined)
}

/** The most runs of that length expected by chance. An excursion has to be rarer. */
const expectedMax = 0.05
/**
 * If a larger share of the readings beyond the limit is followed by another one, brief excursions have several
 * readings, and a long one is complete.
 */
const followedShareMax = 0.5

interface Beyond {
  /** Decides for a value, on the requested side. */
  isBeyond(value: number): boolean
  /** The end of each value's validity, as for excursions: a run ends with a silence. */
  readonly untilMs: Float64Array
}

/** Runs of readings beyond the threshold that are shorter than `forMs`. */
interface BriefRuns {
  readonly runs: number
  readonly readings: number
}

/**
 * The runs show whether an excursion may be several brief ones with one reading each: a door that is opened often, and
 * read every ten minutes, is occasionally open four times in a row.
 */
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
 * Readings that are beyond at random, each followed by another one with the same probability p, make runs p^(length -
 * 1) runs of `length` (a geometric distribution of the lengths).
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
