/** Derived quantities of the last readings, which no sensor measures. */

import { orNull } from '../../analytics/present.ts'
import { absoluteHumidity, seaLevelPressure } from '../../analytics/summary/derived.ts'
import { pressureTendency } from '../../analytics/summary/pressure-tendency.ts'
import type { Metric } from '../../store/tables.ts'
import type { StatsWindow } from './window.ts'

/** A reading is ignored if it is older than the last one by more than this, or by more than five intervals. */
const behindMsMax = 3_600_000
const behindIntervals = 5

export function derivedPart(window: StatsWindow, altitudeM: number | null) {
  const { timesMs, values, lastMs } = window
  const humid = lastComplete(window, ['temperature', 'humidity'])
  const full = lastComplete(window, ['temperature', 'humidity', 'pressure'])
  const change = lastMs === null ? null : pressureTendency(timesMs, values.pressure, lastMs)
  return {
    absolute_humidity: humid === null ? null : orNull(absoluteHumidity(humid.temperature, humid.humidity)),
    sea_level_pressure:
      full === null || altitudeM === null
        ? null
        : orNull(seaLevelPressure(full.pressure, full.temperature, full.humidity, altitudeM)),
    pressure_tendency: change?.change ?? null,
    tendency: change?.tendency ?? null,
  }
}

/** The newest reading with all of these metrics, unless it is too much older than the last one. */
function lastComplete<Needed extends Metric>(
  { timesMs, values, cadence, lastMs }: StatsWindow,
  needed: readonly Needed[],
): Record<Needed, number> | null {
  const behindMs = Math.max(behindMsMax, behindIntervals * (cadence.expectedMs ?? 0))
  for (let index = timesMs.length - 1; index >= 0; index--) {
    if ((timesMs[index] as number) < (lastMs ?? 0) - behindMs) return null
    if (needed.some(metric => Number.isNaN(values[metric][index]))) continue
    return Object.fromEntries(needed.map(metric => [metric, values[metric][index]])) as Record<Needed, number>
  }
  return null
}
