/** Hourly correlations of the metrics and the dew point, and their lags. */

import { createBeyondDay, effectiveCountBeyondDay } from '../../analytics/correlation/beyond-day.ts'
import {
  type Correlation,
  correlation,
  correlationSeries,
  holmSignificant,
} from '../../analytics/correlation/correlation.ts'
import { type Lag, significantLag } from '../../analytics/correlation/lag.ts'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import type { Stats } from '../shapes/stats.ts'
import {
  localHoursOf,
  quantityColumns,
  type StatsColumn,
  type StatsWindow,
  type Transforms,
  transformsBeyondDay,
} from './window.ts'

/** Without a reading the list of pairs is empty. */
export function correlationsPart(window: StatsWindow, transforms: Transforms): Stats['correlations'] {
  const { timesMs, fine } = window
  const { frame, localHours, of } = pairedGrid(window)
  const n = occupiedCells(timesMs, frame.stepMs)
  if (n === 0) return { grid_seconds: null, n, pairs: [] }
  const lags = createLags(window, transforms)
  const series = quantityColumns(window).map(column => ({ column, hours: correlationSeries(of(column)) }))
  const pairsOfSeries = pairsIn(series)
  const all = pairsOfSeries.map(([a, b]) => correlation(a.hours, b.hours, localHours))
  const significant = holmSignificant(all.map(({ pValue }) => pValue))
  const pairs = pairsOfSeries.map(([a, b], place): Stats['correlations']['pairs'][number] => {
    const one = all[place] as Correlation
    const found = one.reason === null ? lags.between(a.column, b.column, one.n) : null
    return {
      a: a.column.name,
      b: b.column.name,
      n: one.n,
      n_eff: one.nEffective,
      pearson: one.pearson,
      p_value: one.pValue,
      ci95: one.ci95,
      spearman: one.spearman,
      spearman_p_value: one.spearmanPValue,
      significant: one.reason === 'too_few_independent' ? null : (significant[place] as boolean),
      r_deseasonalised: one.deseasonalised,
      lag_seconds: found && (found.lag * fine.frame.stepMs) / 1000,
      lag_r: found?.r ?? null,
      reason: one.reason ?? (found === null ? 'lag_not_significant' : null),
    }
  })
  lags.release()
  return { grid_seconds: frame.stepMs / 1000, n, pairs }
}

/** Hourly, or with the step of a slower device, whose hours are partly interpolated. */
function pairedGrid({ fine, hourly, localHours, local }: StatsWindow) {
  if (fine.frame.stepMs <= hourly.frame.stepMs) {
    return { frame: hourly.frame, localHours, of: ({ hours }: StatsColumn) => hours }
  }
  const { frame } = fine
  return { frame, localHours: localHoursOf(frame, local), of: ({ cells }: StatsColumn) => cells }
}

/** Lags are searched on the fine grid. The hourly grid gives the number of independent values. */
function createLags(window: StatsWindow, transforms: Transforms) {
  const { fine, local } = window
  const { frame, of } = pairedGrid(window)
  const beyondDay = createBeyondDay(frame, local)
  const hours = new Map(quantityColumns(window).map(column => [column.name, beyondDay.rest(of(column))]))
  const rests = transformsBeyondDay(window, createBeyondDay(fine.frame, local), transforms)

  return {
    /** `n` is the number of hours that both have. */
    between(a: StatsColumn, b: StatsColumn, n: number): Lag | null {
      const [x, y] = [rests.get(a.name), rests.get(b.name)]
      const [ofA, ofB] = [hours.get(a.name), hours.get(b.name)]
      if (x === undefined || y === undefined || ofA === undefined || ofB === undefined) return null
      const independent = effectiveCountBeyondDay(n, ofA, ofB, beyondDay.days)
      return significantLag(x, y, independent, [a.cells, b.cells])
    },
    /** The masks belong to the whole series, which stay. */
    release: () => detachBuffers([...rests.values()].flatMap(rest => (rest ? [rest.spectra] : []))),
  }
}

/** Each pair once, in their order. */
function pairsIn<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((a, place) => items.slice(place + 1).map((b): [Item, Item] => [a, b]))
}

/** Cells with a reading of any metric. */
function occupiedCells(timesMs: Float64Array, stepMs: number): number {
  let count = 0
  let before = Number.NaN
  for (let index = 0; index < timesMs.length; index++) {
    const cell = Math.floor((timesMs[index] as number) / stepMs)
    if (cell !== before) count++
    before = cell
  }
  return count
}
