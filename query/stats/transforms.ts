/** Each quantity's series on the fine grid, transformed once for all that asks how it goes with others and with itself. */

import { type SeriesTransform, seriesTransform } from '../../analytics/correlation/block-spectra.ts'
import { type Quantity, quantities } from '../answers/units.ts'
import { mapColumns } from '../map-columns.ts'
import { dayMs, type StatsWindow } from './window.ts'

/** Undefined where nothing was observed or nothing varies. */
export type Transforms = Readonly<Record<Quantity, SeriesTransform | undefined>>

/** For lags of up to a day between two of them. */
export function transformsOf({ fine, fineMoments }: StatsWindow): Transforms {
  const lagMax = Math.max(0, Math.min(Math.floor(dayMs / fine.frame.stepMs), fine.frame.cells - 1))
  const made: (SeriesTransform | undefined)[] = []
  return mapColumns(quantities, quantity => {
    const transform = seriesTransform(fine.means[quantity], lagMax, made, fineMoments[quantity])
    made.push(transform)
    return transform
  })
}
