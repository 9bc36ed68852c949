/**
 * Pressure tendency: the change of the pressure in three hours, in hPa, and the Met Office's terms for it in marine
 * forecasts.
 */

import { lowerBound } from '../lower-bound.ts'

const tendencyMs = 3 * 3_600_000
/** Largest distance between a moment and the reading used for it. */
const nearMs = 15 * 60_000

type Pace = 'slowly' | 'moderately' | 'quickly' | 'very rapidly'
export type Tendency = 'steady' | `${'rising' | 'falling'} ${Pace}`

export interface PressureTendency {
  /** Change p(end) − p(end − 3 h) in hPa. */
  readonly change: number
  readonly tendency: Tendency
}

/**
 * The tendency refers to `endMs`. Times ascend, and NaN is a missing pressure. Both moments use the nearest pressure
 * within 15 minutes, the earlier of two equally near; null without one.
 */
export function pressureTendency(
  timesMs: Float64Array,
  pressures: Float64Array,
  endMs: number,
): PressureTendency | null {
  const now = nearest(timesMs, pressures, endMs)
  const before = nearest(timesMs, pressures, endMs - tendencyMs)
  if (Number.isNaN(now) || Number.isNaN(before)) return null
  const change = now - before
  return { change, tendency: tendencyOf(change) }
}

export function tendencyOf(change: number): Tendency {
  // 999.8 − 999.7 is a little less than 0.1 in binary. The terms depend on the decimal difference.
  const size = Math.round(Math.abs(change) * 1e6) / 1e6
  if (size < 0.1) return 'steady'
  return `${change > 0 ? 'rising' : 'falling'} ${paceOf(size)}`
}

function paceOf(size: number): Pace {
  if (size <= 1.5) return 'slowly'
  if (size <= 3.5) return 'moderately'
  return size <= 6 ? 'quickly' : 'very rapidly'
}

function nearest(timesMs: Float64Array, values: Float64Array, momentMs: number): number {
  let found = Number.NaN
  let distanceMin = Number.POSITIVE_INFINITY
  for (let index = lowerBound(timesMs, momentMs - nearMs); index < timesMs.length; index++) {
    const timeMs = timesMs[index] as number
    if (timeMs > momentMs + nearMs) break
    const distance = Math.abs(timeMs - momentMs)
    if (distance >= distanceMin || Number.isNaN(values[index] as number)) continue
    found = values[index] as number
    distanceMin = distance
  }
  return found
}

/** The change of a metric of the air in three hours, from its last value and its hourly means, and its direction. */

export const trends = ['rising', 'steady', 'falling'] as const
export type Trend = (typeof trends)[number]

const hourMs = 3_600_000
const trendMs = 3 * hourMs

/**
 * The value at `timeMs` minus the value three hours before, interpolated between the means of the hours around that
 * moment, which apply to the middles of their hours. NaN without either mean. `meanOf`: by hours since 1970, NaN
 * without a value.
 */
export function threeHourChange(value: number, timeMs: number, meanOf: (hour: number) => number): number {
  const place = (timeMs - trendMs) / hourMs - 0.5
  const hour = Math.floor(place)
  const [before, after] = [meanOf(hour), meanOf(hour + 1)]
  return value - (before + (place - hour) * (after - before))
}

/** `steady`: not beyond `steadyMax`, in either direction. */
export function trendOf(change: number, steadyMax: number): Trend {
  if (Math.abs(change) <= steadyMax) return 'steady'
  return change > 0 ? 'rising' : 'falling'
}
