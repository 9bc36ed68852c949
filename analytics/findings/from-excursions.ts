/** Findings of a cold chain: its temperature has been outside of the limits for long. */

import { coldChainBand } from '../domain/cold-chain.ts'
import type { Band } from '../domain/figures.ts'
import { type Excursion, findExcursions, holdsUntil } from '../excursions/excursions.ts'
import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { type Finding, noDetails } from './finding.ts'
import { recentMs } from './from-quality.ts'

/** A door and a defrost are over earlier. */
const forMs = 1_800_000
/** Of the values: a freezer and a food cooler have other limits than a refrigerator of a pharmacy. */
const withinShareMin = 0.9

export interface ColdChainSamples extends Samples {
  readonly name: string
}

/** Of the last seven days, beyond the limits of the device, or of a refrigerator that keeps 2 to 8 °C. `samples`: of thirty days, in °C, of which none is NaN. */
export function excursionFinding(
  samples: ColdChainSamples,
  gaps: GapThresholds,
  nowMs: number,
  band: Band = coldChainBand,
): Finding | undefined {
  if (band === coldChainBand && !hasTheLimits(samples.values)) return undefined
  const { below, above } = band
  const range = { startMs: nowMs - recentMs, endMs: nowMs }
  const found = findExcursions(samples, { below, above, forMs, gaps, ...range, days: [range] }).episodes
  const untilMs = holdsUntil(samples.timesMs, { gaps, endMs: nowMs })
  const brief = {
    above: briefRuns(samples, forMs, { isBeyond: value => value > above, untilMs }),
    below: briefRuns(samples, forMs, { isBeyond: value => value < below, untilMs }),
  }
  const episodes = found.filter(episode => !isByChance(samples, episode, brief[episode.direction]))
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

function hasTheLimits(values: Float64Array): boolean {
  let within = 0
  const { below, above } = coldChainBand
  for (const value of values) if (value >= below && value <= above) within++
  return within >= withinShareMin * values.length
}

/** The one that goes on, or else the longest. */
function worstOf(episodes: readonly Excursion[]): Excursion | undefined {
  const last = episodes.at(-1)
  if (last?.isOngoing) return last
  return episodes.reduce<Excursion | undefined>((worst, one) => {
    return worst === undefined || one.endMs - one.startMs > worst.endMs - worst.startMs ? one : worst
  }, undefined)
}

/** How many of that length are expected by chance at most, where one is more than chance. */
const expectedMax = 0.05
/** Where the reading after one that is beyond is beyond as often, most of the brief ones are seen by several, and a long one whole. */
const followedShareMax = 0.5

interface Beyond {
  /** Of a value, on the side that is asked for. */
  isBeyond(value: number): boolean
  /** Up to when each value holds, as excursions have it: a run ends with a silence. */
  readonly untilMs: Float64Array
}

/** Runs of readings beyond the threshold that are shorter than `forMs`. */
interface BriefRuns {
  readonly runs: number
  readonly readings: number
}

/**
 * Whether an excursion may be several brief ones, of each of which one reading is seen: a door that is opened often, read every ten
 * minutes, is now and then found open four times in turn.
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
