/** Findings and anomalies of a gauge: excursions of a cold chain, new levels, and unusual values. */

import { type ChangePoint, changePoints, type DailyLevels, dailyLevels } from '../changes/change-points.ts'
import { coldChainBand } from '../domain/cold-chain.ts'
import type { Band } from '../domain/figures.ts'
import { type Excursion, findExcursions, holdsUntil, type TimeRange } from '../excursions/excursions.ts'
import { lowerBound } from '../lower-bound.ts'
import type { Samples } from '../present.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { quantile } from '../summary/quantile.ts'
import { type UnusualEpisode, type UnusualInput, unusualOf } from '../unusual/unusual.ts'
import { type Anomaly, type Finding, noDetails } from './finding.ts'
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

const dayMs = 86_400_000
/** An older change counts as the normal level. */
const recentDays = 14
/** The threshold is above the test's own critical value, because a month is tested every day. */
const statisticMin = 2.6
/** The shift is measured in standard deviations of the daily levels before, and in steps of the sensor. */
const shiftDeviationsMin = 4
const shiftQuantaMin = 5
/** The width of the middle 80 % of a normal distribution, in standard deviations. */
const middleWidth = 2.563

interface LevelInput {
  readonly metric: string
  /** Means of hours, NaN where missing. The first begins at `startMs`. */
  readonly hourly: Float64Array
  readonly localHours: Uint8Array
  readonly startMs: number
  /** The sensor's resolution; 0 while unknown. */
  readonly quantum: number
  /** True where the level should be constant. */
  readonly isControlled: boolean
}

/**
 * Finding of a gauge with a level of its own, unlike the weather's. Levels that come back are ignored, because
 * wandering ones would be found too often.
 */
export function levelFinding(input: LevelInput): Finding | undefined {
  const { hourly, localHours, isControlled } = input
  const levels = dailyLevels(hourly, localHours)
  const last = changePoints(levels, false).at(-1)
  if (last === undefined || (last.perDay === null && last.day < (levels.days.at(-1) as number) - recentDays))
    return undefined
  const level = newLevel(input, levels, last)
  return level && { ...noDetails, severity: isControlled ? 'warning' : 'info', ...level }
}

type NewLevel = Pick<Finding, 'metric' | 'sinceMs' | 'value' | 'expected'> & { readonly code: 'level_change' | 'ramp' }

/** All new levels, oldest first. */
export function newLevels(input: Omit<LevelInput, 'isControlled'>): NewLevel[] {
  const levels = dailyLevels(input.hourly, input.localHours)
  return changePoints(levels, false).flatMap(point => newLevel(input, levels, point) ?? [])
}

function newLevel(
  { metric, hourly, startMs, quantum }: Omit<LevelInput, 'isControlled'>,
  { days, means }: DailyLevels,
  { day, statistic, before, after, daysBefore, perDay }: ChangePoint,
): NewLevel | undefined {
  if (statistic < statisticMin) return undefined
  const at = days.indexOf(day)
  const deviation = deviationOf(means.subarray(at - daysBefore, at))
  const shift = Math.abs(after - before)
  if (shift < shiftDeviationsMin * deviation || shift < shiftQuantaMin * quantum) return undefined
  const offset = (hourly.length * (dayMs / 24)) % dayMs
  const sinceMs = startMs + offset + day * dayMs
  if (perDay !== null) return { code: 'ramp', metric, sinceMs, value: perDay, expected: null }
  return {
    code: 'level_change',
    metric,
    sinceMs,
    value: after,
    expected: [before - 2 * deviation, before + 2 * deviation],
  }
}

function deviationOf(means: Float64Array): number {
  return (quantile(means, 0.9) - quantile(means, 0.1)) / middleWidth
}

const hourMs = 3_600_000

export interface UnusualGauge extends UnusualInput {
  readonly metric: string
  /** Start of the first cell. */
  readonly startMs: number
}

/** The ongoing episode, or else the last one of seven days. */
export function unusualFinding(gauge: UnusualGauge): Finding | undefined {
  const { metric, hourly } = gauge
  const judgedFrom = Math.max(0, hourly.length - (2 * recentMs) / hourMs)
  const last = unusualOf(gauge, judgedFrom).episodes.at(-1)
  if (last === undefined || (last.to + 1 - hourly.length) * hourMs < -recentMs) return undefined
  const { value, expected, isOpen } = last
  const { startMs: sinceMs, endMs: untilMs } = timesOf(last, gauge)
  const severity = isOpen ? 'warning' : 'info'
  return { ...noDetails, code: 'unusual', severity, metric, sinceMs, untilMs, value, expected }
}

/** All of them, oldest first. */
export function unusualAnomalies(gauge: UnusualGauge): Anomaly[] {
  return unusualOf(gauge).episodes.map(episode => {
    const { value, expected } = episode
    return { code: 'unusual', metric: gauge.metric, ...timesOf(episode, gauge), value, expected, count: null }
  })
}

function timesOf({ from, to, isOpen }: UnusualEpisode, { startMs }: UnusualGauge) {
  return { startMs: startMs + from * hourMs, endMs: isOpen ? null : startMs + (to + 1) * hourMs }
}
