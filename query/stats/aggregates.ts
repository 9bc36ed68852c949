/** One aggregate of each kind over the whole window, for every metric and the dew point. */

import { orNull, presentOf } from '../../analytics/present.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { timeWeightedMean } from '../../analytics/summary/aggregates.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { quantilesInPlace } from '../../analytics/summary/quantile.ts'
import { metricCadence } from '../analyses/device-cadence.ts'
import { quantities } from '../answers/units.ts'
import { mapColumns } from '../map-columns.ts'
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
