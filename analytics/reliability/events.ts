/**
 * The events of a device: a device that sends several readings a few seconds apart, and then is silent for hours, has
 * an interval of hours. Its readings are thinned to the first of each burst before an interval is estimated.
 */

import { median } from '../summary/quantile.ts'
import { differences, thin } from './interval-estimate.ts'

/** The unit is median intervals. A longer interval may be between two bursts. */
const longShare = 10
/**
 * This many long intervals, and this share of all intervals and of their time, indicate bursts. Random intervals do not
 * have both.
 */
const longMin = 5
const longCountShareMin = 0.01
const longTimeShareMin = 0.8
/**
 * Few intervals lie between the lengths within a burst and between bursts, relative to the latter; random intervals
 * have all lengths.
 */
const middleShare = 5
const middlePerLongMax = 1 / 3
/** Share of the time-weighted median interval: closer readings are one event. */
const eventShare = 0.1

/** Ascending times; the same array without bursts. */
export function eventsOf(timesMs: Float64Array): Float64Array {
  const intervals = differences(thin(timesMs, 0))
  return isBursty(intervals) ? thin(timesMs, eventShare * timeWeightedMedian(intervals)) : timesMs
}

function isBursty(intervals: Float64Array): boolean {
  if (intervals.length < longMin) return false
  const usualMs = median(intervals)
  const [middleMs, longMs] = [middleShare * usualMs, longShare * usualMs]
  let middleCount = 0
  let longCount = 0
  let longTime = 0
  let time = 0
  for (let index = 0; index < intervals.length; index++) {
    const intervalMs = intervals[index] as number
    time += intervalMs
    if (intervalMs > longMs) {
      longCount++
      longTime += intervalMs
    } else if (intervalMs > middleMs) middleCount++
  }
  const isOften = longCount >= longMin && longCount >= longCountShareMin * intervals.length
  const isApart = middleCount <= middlePerLongMax * longCount
  return isOften && isApart && longTime >= longTimeShareMin * time
}

/** A random moment lies in a longer interval with probability one half. */
function timeWeightedMedian(intervals: Float64Array): number {
  const sorted = intervals.toSorted()
  const half = sorted.reduce((sum, intervalMs) => sum + intervalMs, 0) / 2
  let sum = 0
  for (let index = 0; index < sorted.length; index++) {
    sum += sorted[index] as number
    if (sum >= half) return sorted[index] as number
  }
  return 0
}
