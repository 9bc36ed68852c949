/** Findings of the tests of quality (a stuck sensor, values out of range, spikes) and of rejected readings. */

import { lowerBound } from '../lower-bound.ts'
import { errorBit, flatBit, rangeBit, spikeBit } from '../quality/quality-limits.ts'
import type { GapThresholds } from '../reliability/cadence.ts'
import { recurs } from '../reliability/interval-estimate.ts'
import { type Episode, episodesOf, type MarkedSamples } from './episodes.ts'
import { type Finding, findingsOfKind, noDetails } from './finding.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** An episode that ended longer ago is over. */
export const recentMs = 7 * dayMs

/** A finding needs a flat line of at least twice the suspect length. */
const flatTimes = 2
const stuckMinMs = 6 * hourMs
const stuckCriticalMs = dayMs
/** Fewer values, or a shorter time, may be a single wild reading. */
const outCountMin = 3
const outMinMs = 30 * minuteMs
/** Values that cross a limit back and forth are one episode. */
const outJoinMs = hourMs
/** An exponential tail has this many values beyond the limits of a sensor. */
const spikesMin = 5
const spikesShareMin = 0.003
const spikesShareOfWarning = 0.01

export interface CheckedMetric extends MarkedSamples {
  readonly name: string
  readonly range: readonly [number, number] | null
  /** Length from which a flat line is suspect. */
  readonly flatMs: number | null
}

/** Findings of a gauge, up to now. */
export function qualityFindings(metric: CheckedMetric, gaps: GapThresholds, nowMs: number): Finding[] {
  return [
    stuckFinding(metric, gaps, nowMs),
    rangeFinding(metric, gaps, nowMs),
    errorFinding(metric, gaps, nowMs),
    spikesFinding(metric, gaps, nowMs),
  ].filter(finding => finding !== undefined)
}

function stuckFinding(metric: CheckedMetric, gaps: GapThresholds, nowMs: number): Finding | undefined {
  const { name, flatMs } = metric
  if (flatMs === null || !findingsOfKind.gauge.stuck) return undefined
  const lengthMinMs = Math.max(flatTimes * flatMs, stuckMinMs)
  const recent = episodesOf(metric, flatBit, gaps).filter(
    episode => lengthOf(episode) >= lengthMinMs && episode.endMs >= nowMs - recentMs,
  )
  const worst = worstOf(recent)
  if (worst === undefined) return undefined
  const isCritical = worst.isLast && lengthOf(worst) > stuckCriticalMs
  return {
    ...episodeFinding(name, worst, recent),
    code: 'stuck',
    severity: isCritical ? 'critical' : 'warning',
    value: worst.last,
  }
}

function rangeFinding(metric: CheckedMetric, gaps: GapThresholds, nowMs: number): Finding | undefined {
  const { name, range } = metric
  if (range === null) return undefined
  const recent = episodesOf(metric, rangeBit, gaps, outJoinMs).filter(
    episode => (episode.count >= outCountMin || lengthOf(episode) >= outMinMs) && episode.endMs >= nowMs - recentMs,
  )
  const worst = worstOf(recent)
  if (worst === undefined) return undefined
  const [low, high] = range
  const [below, above] = [low - worst.min, worst.max - high]
  return {
    ...episodeFinding(name, worst, recent),
    code: 'out_of_range',
    severity: 'warning',
    value: above >= below ? worst.max : worst.min,
    expected: [Number.isFinite(low) ? low : null, Number.isFinite(high) ? high : null],
  }
}

/** Error codes of the last days, as one finding. */
function errorFinding(metric: CheckedMetric, gaps: GapThresholds, nowMs: number): Finding | undefined {
  const recent = episodesOf(metric, errorBit, gaps).filter(({ endMs }) => endMs >= nowMs - recentMs)
  const [first, last] = [recent[0], recent.at(-1)]
  const count = recent.reduce((sum, one) => sum + one.count, 0)
  if (first === undefined || last === undefined || count < outCountMin) return undefined
  const untilMs = last.isLast ? null : last.endMs
  const found = { metric: metric.name, sinceMs: first.startMs, untilMs, value: last.last, count }
  return { ...noDetails, code: 'error_code', severity: 'warning', ...found }
}

/** All spikes of the last days, as one finding: users do not read each of them. */
function spikesFinding(metric: CheckedMetric, gaps: GapThresholds, nowMs: number): Finding | undefined {
  const { name, timesMs, values, marks } = metric
  const from = lowerBound(timesMs, nowMs - recentMs)
  const recent = { timesMs: timesMs.subarray(from), values: values.subarray(from), marks: marks.subarray(from) }
  // A sudden step may be a door, or a defrost, which does not return immediately.
  const found = episodesOf(recent, spikeBit, gaps)
  const [first, last] = [found[0], found.at(-1)]
  const isFew = first === undefined || last === undefined || found.length < spikesMin
  if (isFew || recurs(found.map(({ startMs }) => startMs))) return undefined
  const { mean, count } = usualOf(recent)
  const share = found.length / (count + found.length)
  if (share < spikesShareMin) return undefined
  return {
    ...noDetails,
    code: 'spikes',
    severity: share > spikesShareOfWarning ? 'warning' : 'info',
    metric: name,
    sinceMs: first.startMs,
    untilMs: last.endMs,
    value: farthestFrom(mean, found),
    count: found.length,
  }
}

/** Uses the values that pass all tests. */
function usualOf({ values, marks }: MarkedSamples): { mean: number; count: number } {
  let [sum, count] = [0, 0]
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value) || marks[index] !== 0) continue
    sum += value
    count++
  }
  return { mean: count === 0 ? 0 : sum / count, count }
}

function farthestFrom(mean: number, episodes: readonly Episode[]): number {
  const ends = episodes.flatMap(({ min, max }) => [min, max])
  return ends.reduce((far, value) => (Math.abs(value - mean) > Math.abs(far - mean) ? value : far))
}

/** The ongoing one, else the longest. */
function worstOf(episodes: readonly Episode[]): Episode | undefined {
  return (
    episodes.find(({ isLast }) => isLast) ??
    episodes.toSorted((a, b) => lengthOf(b) - lengthOf(a) || b.startMs - a.startMs)[0]
  )
}

function episodeFinding(metric: string, { startMs, endMs, isLast }: Episode, all: readonly Episode[]) {
  return { ...noDetails, metric, sinceMs: startMs, untilMs: isLast ? null : endMs, count: all.length }
}

const lengthOf = ({ startMs, endMs }: Episode) => endMs - startMs

/** Only readings with the device's own credential count: anyone may send invalid ones in its name. */
export interface RejectedReadings {
  /** A lower bound, rounded to a power of two because it is part of an answer's key. */
  readonly count: number
  /** The most frequent reason. */
  readonly reason: string
  /** Time of the first rejection. */
  readonly sinceMs: number
}

const countMin = 4
/** A smaller share consists of single mistakes. */
const shareMin = 0.01

/** `readings` is the number of accepted readings of the last day. */
export function rejectedFinding({ count, reason, sinceMs }: RejectedReadings, readings: number): Finding | undefined {
  if (count < countMin || count < shareMin * (count + readings)) return undefined
  return { ...noDetails, code: 'rejected', severity: 'warning', metric: null, sinceMs, count, reason }
}
