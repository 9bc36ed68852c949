/** The most expensive functions behind `stats_data`, measured separately on the same rows as the reference. */

import { median } from 'simple-statistics'
import { autocorrelation } from '../analytics/correlation/autocorrelation.ts'
import { autocorrelationLagMax } from '../analytics/correlation/autocorrelation-bands.ts'
import { correlation, correlationSeries } from '../analytics/correlation/correlation.ts'
import { crossCorrelation, largestCrossCorrelation } from '../analytics/correlation/lag.ts'
import { detrend } from '../analytics/decomposition/detrend.ts'
import { dailyProfile, weeklyProfile } from '../analytics/decomposition/profiles.ts'
import { strengthOf } from '../analytics/decomposition/strength.ts'
import { hampelClean } from '../analytics/quality/hampel.ts'
import { reliabilityAt } from '../analytics/reliability/reliability.ts'
import { recordReliability } from '../analytics/reliability/reliability-record.ts'
import { createPeriodogram, hannWindow } from '../analytics/spectrum/periodogram.ts'
import { createPeakSearch } from '../analytics/spectrum/seasonal-peaks.ts'
import { binMeans } from '../analytics/time/grid.ts'
import { hoursOfDay } from '../analytics/time/local-days.ts'
import { createLocalTime } from '../analytics/time/local-time.ts'
import { quantities } from '../query/series.ts'
import { aggregatesPart } from '../query/stats/aggregates.ts'
import { cellMiddles, type Transforms, transformsOf, windowOf } from '../query/stats/window.ts'
import { metrics } from '../store/tables.ts'
import { type MadeSeries, madeColumns } from './made-series.ts'
import { printResult, round } from './measure.ts'

const runs = 15
const dayMs = 86_400_000

/**
 * One line for each function. An answer makes the transforms once for both kinds of correlation, while here each makes
 * its own. `referenceMs`: times of the script, by the names of its parts.
 */
export function measureFunctions(
  made: MadeSeries,
  days: number,
  timeZone: string,
  referenceMs: Readonly<Record<string, number>>,
): void {
  for (const [part, { points, work }] of Object.entries(functionsOf(made, days, timeZone))) {
    const ms = median(Array.from({ length: runs }, () => timeOf(work)))
    const reference = referenceMs[part] ?? Number.NaN
    printResult({
      bench: 'stats',
      function: part,
      points,
      ms: round(ms),
      pointsPerSecond: round((points / ms) * 1000),
      referenceMs: round(reference),
      ratio: round(reference / ms),
    })
  }
}

function timeOf(work: () => unknown): number {
  const startedMs = performance.now()
  work()
  return performance.now() - startedMs
}

interface Costly {
  /** Numbers that go in. */
  readonly points: number
  readonly work: () => unknown
}

/** The functions of one answer, for all metrics. */
function functionsOf(made: MadeSeries, days: number, timeZone: string): Record<string, Costly> {
  const local = createLocalTime(timeZone)
  const series = madeColumns(made, days)
  const window = windowOf({
    series,
    gauges: {},
    predecessorMs: undefined,
    days,
    stepSeconds: undefined,
    expectedIntervalSeconds: null,
    local,
  })
  const { fine, hourly, localHours, timesMs, values, cadence } = window
  const { cells, stepMs } = fine.frame
  const readings = timesMs.length * metrics.length
  const gridded = cells * metrics.length
  const lagMax = autocorrelationLagMax(cells, stepMs / 1000)
  const clean = metrics.map(metric => hampelClean(fine.means[metric]))
  const straight = clean.map(one => detrend(one).residual)
  const hours = clean.map(one => binMeans(cellMiddles(fine.frame), one, hourly.frame))
  const nowMs = made.endMs
  return {
    grid: {
      points: timesMs.length * quantities.length,
      work: () => quantities.map(quantity => binMeans(timesMs, values[quantity], fine.frame)),
    },
    reliability: {
      points: timesMs.length,
      work: () => {
        const record = recordReliability({ timesMs, beforeMs: null, metrics: series.values, nowMs, cadence, local })
        return reliabilityAt(record, nowMs, local)
      },
    },
    aggregates: { points: timesMs.length * quantities.length, work: () => aggregatesPart(window) },
    autocorrelation: {
      points: gridded,
      work: () => {
        const transforms = transformsOf(window)
        return metrics.map(metric => autocorrelation(fine.means[metric], lagMax, transforms.get(metric)))
      },
    },
    cross_correlation: { points: cells * quantities.length, work: () => lagsOf(transformsOf(window)) },
    correlation: {
      points: hourly.frame.cells * quantities.length,
      work: () => {
        const all = quantities.map(quantity => correlationSeries(hourly.means[quantity]))
        return pairsOf(all).map(([x, y]) => correlation(x, y, localHours))
      },
    },
    profiles: {
      points: readings,
      work: () => {
        const dayHours = hoursOfDay(window.weekHours)
        return metrics.map(metric => [
          dailyProfile(values[metric], dayHours),
          weeklyProfile(values[metric], window.weekHours, days * dayMs),
        ])
      },
    },
    hampel: { points: gridded, work: () => metrics.map(metric => hampelClean(fine.means[metric])) },
    periodogram: { points: gridded, work: () => straight.map(createPeriodogram(hannWindow(cells))) },
    // The work finds up to five cycles of each metric with their backgrounds. The reference scans for one.
    lomb_scargle: {
      points: gridded,
      work: () => {
        const peaksOf = createPeakSearch(cells)
        return straight.map(values => peaksOf(values))
      },
    },
    stl: {
      points: hourly.frame.cells * metrics.length,
      work: () => hours.map(one => strengthOf(one, localHours, false)),
    },
  }
}

function lagsOf(transforms: Transforms) {
  return pairsOf([...transforms.values()]).map(([x, y]) => {
    return x === undefined || y === undefined ? null : largestCrossCorrelation(crossCorrelation(x, y))
  })
}

/** Each with each once. */
function pairsOf<Item>(items: readonly Item[]): [Item, Item][] {
  return items.flatMap((x, place) => items.slice(place + 1).map((y): [Item, Item] => [x, y]))
}
