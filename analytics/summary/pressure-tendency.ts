/**
 * Pressure tendency: how much the pressure has changed in three hours, in hPa, and the words of the Met Office's marine
 * forecasts for it.
 */

import { lowerBound } from '../lower-bound.ts'

const tendencyMs = 3 * 3_600_000
/** How far the reading that stands for a moment may be from it. */
const nearMs = 15 * 60_000

type Pace = 'slowly' | 'moderately' | 'quickly' | 'very rapidly'
export type Tendency = 'steady' | `${'rising' | 'falling'} ${Pace}`

export interface PressureTendency {
  /** In hPa, p(end) − p(end − 3 h). */
  readonly change: number
  readonly tendency: Tendency
}

/**
 * At `endMs`, from pressures (NaN = missing) at ascending times. Either moment is stood for by the nearest pressure
 * within 15 minutes, the earlier of two as near; null when there is none.
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
  // 999.8 − 999.7 is a little less than 0.1 in binary; the words go by the decimal difference.
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
