/** One aggregate of each kind for the whole window, of every metric and of the dew point. */

import { orNull } from '../../analytics/or-null.ts'
import { presentOf } from '../../analytics/present.ts'
import { momentsOf } from '../../analytics/summary/moments.ts'
import { quantilesInPlace } from '../../analytics/summary/quantile.ts'
import { timeWeightedMean } from '../../analytics/summary/time-weighted-mean.ts'
import { quantities } from '../answers/units.ts'
import { mapColumns } from '../map-columns.ts'
import type { StatsWindow } from './window.ts'

/** Of the window's readings alone: the line that leads into the window is not part of the time-weighted mean. */
export function aggregatesPart({ timesMs, values, cadence }: StatsWindow) {
  const room = new Float64Array(timesMs.length)
  return mapColumns(quantities, quantity => {
    // Once, as every aggregate would otherwise look for what is missing by itself.
    const present = presentOf(timesMs, values[quantity])
    const { count, mean, min, max, std } = momentsOf(present.values)
    const unordered = room.subarray(0, count)
    unordered.set(present.values)
    const [p05, median, p95] = quantilesInPlace(unordered, [0.05, 0.5, 0.95]) as [number, number, number]
    return {
      count,
      mean: orNull(mean),
      tw_mean: orNull(timeWeightedMean(present.timesMs, present.values, cadence.stretches)),
      min: orNull(min),
      max: orNull(max),
      std: orNull(std),
      median: orNull(median),
      p05: orNull(p05),
      p95: orNull(p95),
    }
  })
}
