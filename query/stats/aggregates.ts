/** One aggregate of each kind over the whole window, and derived quantities of the last readings. */

import { orNull, presentOf } from '../../analytics/present.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { timeWeightedMean } from '../../analytics/summary/aggregates.ts'
import { absoluteHumidity, seaLevelPressure } from '../../analytics/summary/derived.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { pressureTendency } from '../../analytics/summary/pressure-tendency.ts'
import { quantilesInPlace } from '../../analytics/summary/quantile.ts'
import type { Metric } from '../../store/tables.ts'
import { metricCadence } from '../analyses/device-cadence.ts'
import { mapColumns, quantities } from '../series.ts'
import type { StatsColumn, StatsWindow } from './window.ts'

/** Uses the window's readings alone: the time-weighted mean excludes the line that leads into the window. */
export function aggregatesPart({ timesMs, values, cadence, custom }: StatsWindow) {
  const room = new Float64Array(timesMs.length)
  function aggregateOf(column: Float64Array, cadenceAt: (timesMs: Float64Array) => Cadence) {
    // Computed once, as every aggregate would otherwise search for missing values.
    const present = presentOf(timesMs, column)
    const { count, mean, min, max, std } = momentsOf(present.values)
    const unordered = room.subarray(0, count)
    unordered.set(present.values)
    const [p05, median, p95] = quantilesInPlace(unordered, [0.05, 0.5, 0.95]) as [number, number, number]
    return {
      count,
      mean: orNull(mean),
      tw_mean: orNull(timeWeightedMean(present.timesMs, present.values, cadenceAt(present.timesMs).stretches)),
      min: orNull(min),
      max: orNull(max),
      std: orNull(std),
      median: orNull(median),
      p05: orNull(p05),
      p95: orNull(p95),
    }
  }
  const ofGauge = ({ values: column }: StatsColumn) => ({
    kind: 'gauge' as const,
    ...aggregateOf(column, times => metricCadence(times, cadence)),
  })
  return {
    ...mapColumns(quantities, quantity => aggregateOf(values[quantity], () => cadence)),
    ...Object.fromEntries(custom.map(column => [column.name, ofGauge(column)])),
  }
}

/** A reading is ignored if it is older than the last one by more than this, or by more than five intervals. */
const behindMsMax = 3_600_000
const behindIntervals = 5

/** Derived quantities of the last readings, which no sensor measures. */
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
