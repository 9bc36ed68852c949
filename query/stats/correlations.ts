/** How the metrics and the dew point go together, by the hour, and how far one is behind the other. */

import { type Correlation, correlation, correlationSeries } from '../../analytics/correlation/correlation.ts'
import { holmSignificant } from '../../analytics/correlation/holm.ts'
import { significantLag } from '../../analytics/correlation/lag.ts'
import type { Stats } from '../shapes/stats.ts'
import type { Transforms } from './transforms.ts'
import { quantityColumns, type StatsWindow } from './window.ts'

/** Without a reading there are no pairs. */
export function correlationsPart(window: StatsWindow, transforms: Transforms): Stats['correlations'] {
  const { timesMs, hourly, fine, localHours } = window
  const n = occupiedCells(timesMs, hourly.frame.stepMs)
  if (n === 0) return { grid_seconds: null, n, pairs: [] }
  const pairsOfSeries = pairsIn(
    quantityColumns(window).map(({ name, hours }) => ({ name, hours: correlationSeries(hours) })),
  )
  const all = pairsOfSeries.map(([a, b]) => correlation(a.hours, b.hours, localHours))
  const significant = holmSignificant(all.map(({ pValue }) => pValue))
  const pairs = pairsOfSeries.map(([{ name: a }, { name: b }], place): Stats['correlations']['pairs'][number] => {
    const one = all[place] as Correlation
    const [x, y] = [transforms.get(a), transforms.get(b)]
    const isKnown = one.reason === null && x !== undefined && y !== undefined
    const found = isKnown ? significantLag(x, y, one.nEffective) : null
    return {
      a,
      b,
      n: one.n,
      n_eff: one.nEffective,
      pearson: one.pearson,
      p_value: one.pValue,
      ci95: one.ci95,
      spearman: one.spearman,
      spearman_p_value: one.spearmanPValue,
      significant: significant[place] as boolean,
      r_deseasonalised: one.deseasonalised,
      lag_seconds: found && (found.lag * fine.frame.stepMs) / 1000,
      lag_r: found?.r ?? null,
      reason: one.reason ?? (found === null ? 'lag_not_significant' : null),
    }
  })
  return { grid_seconds: hourly.frame.stepMs / 1000, n, pairs }
}

/** Each with each once, in their order. */
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
