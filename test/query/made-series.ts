/** Series made by hand for the builders of answers. */

import type { HourlyColumns, HourlySeries, Series } from '../../query/series.ts'
import { type Metric, metrics } from '../../store/tables.ts'

const hourMs = 3_600_000

export type Reading = readonly [timeMs: number, values: Partial<Record<Metric, number>>]

function byMetric<T>(of: (metric: Metric) => T): Record<Metric, T> {
  return Object.fromEntries(metrics.map(metric => [metric, of(metric)])) as Record<Metric, T>
}

/** Metrics that a reading lacks are missing values. */
export function seriesOf(readings: readonly Reading[]): Series {
  return {
    timesMs: Float64Array.from(readings, ([timeMs]) => timeMs),
    values: byMetric(metric => Float64Array.from(readings, ([, values]) => values[metric] ?? Number.NaN)),
  }
}

export function hourlyOf(readings: readonly Reading[]): HourlySeries {
  const hourOf = ([timeMs]: Reading) => Math.floor(timeMs / hourMs) * hourMs
  const startsMs = [...new Set(readings.map(hourOf))]
  return {
    startsMs: Float64Array.from(startsMs),
    metrics: byMetric(metric =>
      columnsOf(
        startsMs.map(startMs =>
          readings.filter(reading => hourOf(reading) === startMs).flatMap(([, values]) => values[metric] ?? []),
        ),
      ),
    ),
  }
}

function columnsOf(hours: readonly (readonly number[])[]): HourlyColumns {
  const column = (figure: (values: readonly number[]) => number) => {
    return Float64Array.from(hours, values => (values.length === 0 ? Number.NaN : figure(values)))
  }
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const std = (values: readonly number[]) => {
    return Math.sqrt(values.reduce((sum, value) => sum + (value - mean(values)) ** 2, 0) / (values.length - 1))
  }
  return {
    count: Float64Array.from(hours, values => values.length),
    mean: column(mean),
    std: column(values => (values.length < 2 ? Number.NaN : std(values))),
    min: column(values => Math.min(...values)),
    max: column(values => Math.max(...values)),
  }
}
