/** Each quantity's series on the fine grid, transformed once for all that asks how it goes with others and with itself. */

import { type SeriesTransform, seriesTransform } from '../../analytics/correlation/block-spectra.ts'
import { dayMs, quantityColumns, type StatsWindow } from './window.ts'

/** By name; undefined where nothing was observed or nothing varies. */
export type Transforms = ReadonlyMap<string, SeriesTransform | undefined>

/** For lags of up to a day between two of them. */
export function transformsOf(window: StatsWindow): Transforms {
  const { fine } = window
  const lagMax = Math.max(0, Math.min(Math.floor(dayMs / fine.frame.stepMs), fine.frame.cells - 1))
  const made: (SeriesTransform | undefined)[] = []
  const transforms = quantityColumns(window).map(({ name, cells, cellMoments }) => {
    const transform = seriesTransform(cells, lagMax, made, cellMoments)
    made.push(transform)
    return [name, transform] as const
  })
  return new Map(transforms)
}
