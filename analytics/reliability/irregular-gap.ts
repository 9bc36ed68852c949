/**
 * The silence from which an irregular device has a gap.
 *
 * G = exp(m + z·s), with m the median of the logarithms of the intervals and s = (q₉₀ − m)/1.2816, the standard
 * deviation of a normal upper half: only the long side shows which silence is too long. Neither moves with a few
 * outages, as the 99 % quantile does at 50 readings a day. z = max(2.5, 1.65 + 1.2·s): the longer the tail, the further
 * out a gap begins. For the intervals of a Poisson process without the shortest, with an s of 0.87, G is about 8 mean
 * intervals, which 50 readings a day exceed on one day of 100. G is never less than 2.5 medians, the rule of a regular
 * device.
 *
 * Where the hours of the day differ, intervals and G are measured on a clock that runs at the device's pace: at the end
 * of a busy day a silence may be as long as at night. A silence that is usual for its starting hour is not a gap
 * either: a timer that was set at night ends in the day, at any pace.
 */

import { quantilesInPlace } from '../summary/quantile.ts'
import { gapIntervals, lastOf, withoutRetries } from './interval-estimate.ts'

const hourMs = 3_600_000
const hoursPerDay = 24
/** Fewer silences do not show a tail. */
const beginningsMin = 15
/** A day has too few intervals for their quantiles, so thirty days count. */
const windowMs = 30 * 86_400_000
/** The 90 % point of the normal distribution. */
const normalQuantile90 = 1.2815515655446004
const deviationsMin = 2.5
const deviationsBase = 1.65
const deviationsOfSpread = 1.2

/** G of a device whose hours differ. */
export interface PacedGap {
  /** Each UTC hour has a pace, which is 1 on average. */
  readonly pace: readonly number[]
  /** G on the clock that runs at that pace. */
  readonly gapMs: number
  /** Each UTC hour has the G of silences that begin in it or beside it, in wall-clock time; 0 where they are few. */
  readonly beginningMs: readonly number[]
}

export interface IrregularGap {
  /** The largest G of the day. */
  readonly gapMs: number
  /** Null where all hours are alike. */
  readonly paced: PacedGap | null
}

/** Takes ascending times and uses the last thirty days, which must have at least one interval. */
export function irregularGap(timesMs: Float64Array): IrregularGap {
  const recent = lastOf(timesMs, windowMs)
  const pace = dayPace(recent)
  if (pace === null) return { gapMs: gapOf(withoutRetries(recent)), paced: null }
  const gapMs = gapOf(withoutRetries(atPace(recent, pace)))
  // Silences are longest from the start of an hour on.
  const byHour = pace.map((_, hour) => wallMsOf(gapMs, hour * hourMs, pace))
  const beginningMs = pace.map((_, hour) => gapBeginning(recent, hour))
  return { gapMs: Math.max(...byHour, ...beginningMs), paced: { pace, gapMs, beginningMs } }
}

/** Uses silences that begin in this hour of the day, or in the one before or after. */
function gapBeginning(timesMs: Float64Array, hour: number): number {
  const intervals = timesMs.subarray(1).map((timeMs, place) => {
    const beginMs = timesMs[place] as number
    const apart = Math.abs((Math.floor(beginMs / hourMs) % hoursPerDay) - hour)
    return Math.min(apart, hoursPerDay - apart) <= 1 ? timeMs - beginMs : 0
  })
  const found = intervals.filter(intervalMs => intervalMs > 0)
  return found.length < beginningsMin ? 0 : gapOf(found)
}

function gapOf(intervals: Float64Array): number {
  const [middle, high] = quantilesInPlace(intervals.map(Math.log), [0.5, 0.9]) as [number, number]
  const spread = (high - middle) / normalQuantile90
  const deviations = Math.max(deviationsMin, deviationsBase + deviationsOfSpread * spread)
  return Math.max(gapIntervals * Math.exp(middle), Math.exp(middle + deviations * spread))
}

/**
 * The pace of an irregular device at each hour of the day: a device with many readings in the daytime is not silent
 * when none comes for an hour at night. Hours are UTC, because the zone is unknown here. A change of the clocks shifts
 * them by one for some weeks.
 */

const dayMs = 24 * hourMs
const hours = 24
const daysMin = 7
const readingsMin = 240
/** Ratio between the hours with most and least readings. */
const ratioMin = 3
/** The 99.9 % point of χ² with 23 degrees of freedom, for the dispersion of counts with one mean. */
const dispersionMin = 49.728
/** An empty hour may have had readings. */
const countAdded = 0.5

/** Paces by UTC hour, 1 on average; null where the hours do not differ significantly, or too few are known. */
function dayPace(timesMs: Float64Array): number[] | null {
  const spanMs = (timesMs.at(-1) ?? 0) - (timesMs[0] ?? 0)
  if (timesMs.length < readingsMin || spanMs < daysMin * dayMs) return null
  const counts = new Float64Array(hours).fill(countAdded)
  for (let index = 0; index < timesMs.length; index++) {
    ;(counts[hourOf(timesMs[index] as number)] as number)++
  }
  const mean = counts.reduce((sum, count) => sum + count, 0) / hours
  const dispersion = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / mean
  const isEven = dispersion < dispersionMin || Math.max(...counts) < ratioMin * Math.min(...counts)
  return isEven ? null : Array.from(counts, count => count / mean)
}

/** Returns 0 … 23. */
function hourOf(timeMs: number): number {
  const hour = Math.floor(timeMs / hourMs) % hours
  return hour < 0 ? hour + hours : hour
}

/**
 * Ascending times on a clock that runs at the device's pace, on which its intervals are alike at all hours. Both clocks
 * agree at every midnight.
 */
function atPace(timesMs: Float64Array, pace: readonly number[]): Float64Array {
  const starts = new Float64Array(hours + 1)
  for (let hour = 0; hour < hours; hour++) starts[hour + 1] = (starts[hour] as number) + (pace[hour] as number) * hourMs
  return timesMs.map(timeMs => {
    const midnightMs = Math.floor(timeMs / dayMs) * dayMs
    const hour = hourOf(timeMs)
    const intoHourMs = timeMs - midnightMs - hour * hourMs
    return midnightMs + (starts[hour] as number) + (pace[hour] as number) * intoHourMs
  })
}

/** Wall-clock length of a silence that begins at this moment and lasts `pacedMs` on the device's clock. */
export function wallMsOf(pacedMs: number, startMs: number, pace: readonly number[]): number {
  let hour = hourOf(startMs)
  let partMs = hourMs - (startMs - Math.floor(startMs / hourMs) * hourMs)
  // A whole day is equally long on both clocks.
  let leftMs = pacedMs % dayMs
  let wallMs = pacedMs - leftMs
  for (let parts = 0; parts <= hours; parts++) {
    const hourPace = pace[hour] as number
    if (leftMs <= hourPace * partMs) return wallMs + leftMs / hourPace
    leftMs -= hourPace * partMs
    wallMs += partMs
    partMs = hourMs
    hour = (hour + 1) % hours
  }
  return wallMs
}
