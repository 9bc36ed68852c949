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
  /** In hPa, p(end) − p(end − 3 h). */
  readonly change: number
  readonly tendency: Tendency
}

/**
 * At `endMs`, from pressures (NaN = missing) at ascending times. Both moments use the nearest pressure within 15
 * minutes, the earlier of two equally near; null without one.
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
