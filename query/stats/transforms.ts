/** Each quantity's series on the fine grid, transformed once for all correlations with others and with itself. */

import type { BeyondDay } from '../../analytics/correlation/beyond-day.ts'
import { type SeriesTransform, seriesTransform } from '../../analytics/correlation/block-spectra.ts'
import { dayMs, quantityColumns, type StatsWindow } from './window.ts'

/** By name; undefined for constant series and series without values. */
export type Transforms = ReadonlyMap<string, SeriesTransform | undefined>

/** Transforms of the series without their daily mean course, in which lags are searched. */
export function transformsBeyondDay(window: StatsWindow, { rest }: BeyondDay, whole: Transforms): Transforms {
  const lagMax = lagMaxOf(window)
  const made = quantityColumns(window).map(({ name, cells }) => {
    const left = rest(cells)
    // The masks are shared, because the same cells are missing; transforming one takes as long as the values.
    return [name, left && seriesTransform(left, lagMax, [whole.get(name)])] as const
  })
  return new Map(made)
}

/** Supports lags of up to a day between two of them. */
export function transformsOf(window: StatsWindow): Transforms {
  const lagMax = lagMaxOf(window)
  const made: (SeriesTransform | undefined)[] = []
  const transforms = quantityColumns(window).map(({ name, cells, cellMoments }) => {
    const transform = seriesTransform(cells, lagMax, made, cellMoments)
    made.push(transform)
    return [name, transform] as const
  })
  return new Map(transforms)
}

function lagMaxOf({ fine: { frame } }: StatsWindow): number {
  return Math.max(0, Math.min(Math.floor(dayMs / frame.stepMs), frame.cells - 1))
}
