/**
 * The share of a stretch of time that is covered by readings: each covers the interval that follows it, so that an hour
 * counts the same for every interval.
 */

import { lowerBound } from '../lower-bound.ts'
import type { Cadence } from './cadence.ts'
import { eventsOf } from './events.ts'
import { thin } from './interval-estimate.ts'

const hourMs = 3_600_000
/** Minimum share of a measured hour or day (Directive 2008/50/EC, annex XI). */
export const coverageMin = 0.75

/** Reporting times of a device, or of one of its metrics: all times, and the counted ones. */
export interface Arrivals {
  readonly timesMs: Float64Array
  /**
   * A regular device has the times that are at least half an interval after the one before: closer ones are retries and
   * parts of a burst. The first reading of each stretch of the cadence always counts. Other devices have the distinct
   * times, the first of each burst.
   */
  readonly thinnedMs: Float64Array
}

/** Takes ascending times. */
export function arrivalsOf(timesMs: Float64Array, { kind, stretches }: Cadence): Arrivals {
  if (kind !== 'regular') return { timesMs, thinnedMs: thin(eventsOf(timesMs), 0) }
  if (stretches.length === 1) return { timesMs, thinnedMs: thin(timesMs, 0.5 * (stretches[0]?.expectedMs ?? 0)) }
  const thinnedMs = new Float64Array(timesMs.length)
  let count = 0
  for (const [place, { fromMs, expectedMs }] of stretches.entries()) {
    const untilMs = stretches[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    const part = thin(timesMs.subarray(lowerBound(timesMs, fromMs), lowerBound(timesMs, untilMs)), 0.5 * expectedMs)
    thinnedMs.set(part, count)
    count += part.length
  }
  return { timesMs, thinnedMs: thinnedMs.subarray(0, count) }
}

export function countBetween(timesMs: Float64Array, startMs: number, endMs: number): number {
  return Math.max(0, lowerBound(timesMs, endMs) - lowerBound(timesMs, startMs))
}

/**
 * The received share of [startMs, endMs), at most 1. An irregular device is never due, so for it the share of hours
 * with a reading counts. Null when the interval is unknown or the stretch is empty.
 */
export function coverageOf(arrivals: Arrivals, startMs: number, endMs: number, cadence: Cadence): number | null {
  return coverageShare(coveredBetween(arrivals, startMs, endMs, cadence), startMs, endMs, cadence)
}

/**
 * Covered milliseconds of [startMs, endMs), by its counted readings; for an irregular device, its hours with a reading.
 */
export function coveredBetween(
  arrivals: Arrivals,
  startMs: number,
  endMs: number,
  { kind, stretches }: Cadence,
): number {
  if (kind === 'irregular') return hoursWithData(arrivals.timesMs, startMs, endMs)
  let coveredMs = 0
  for (const [place, { fromMs, expectedMs }] of stretches.entries()) {
    const untilMs = stretches[place + 1]?.fromMs ?? Number.POSITIVE_INFINITY
    const [from, to] = [Math.max(startMs, fromMs), Math.min(endMs, untilMs)]
    coveredMs += countBetween(arrivals.thinnedMs, from, to) * expectedMs
  }
  return coveredMs
}

/** The covered time as a share of the possible time. */
export function coverageShare(covered: number, startMs: number, endMs: number, { kind }: Cadence): number | null {
  if (kind === 'unknown' || endMs <= startMs) return null
  if (kind === 'irregular') return covered / Math.ceil((endMs - startMs) / hourMs)
  return Math.min(1, covered / (endMs - startMs))
}

/** Hours are counted from the start. The last one may be shorter. */
function hoursWithData(timesMs: Float64Array, startMs: number, endMs: number): number {
  let withData = 0
  let hourBefore = -1
  for (let index = lowerBound(timesMs, startMs); index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    if (timeMs >= endMs) break
    const hour = Math.floor((timeMs - startMs) / hourMs)
    if (hour !== hourBefore) withData++
    hourBefore = hour
  }
  return withData
}
