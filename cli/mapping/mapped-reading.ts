/** A reading of a foreign file, in the units of the table and of the catalogue of metrics. */

import { catalogueEntry } from '../../store/metrics/catalogue.ts'
import { metricNameOf } from '../../store/metrics/metric-name.ts'
import { type Metric, metrics } from '../../store/tables.ts'

export interface MappedReading {
  readonly device: string
  /** Epoch microseconds. */
  readonly timeUs: number
  /** Each metric has a value, in the order of the table. NaN for a missing one. */
  readonly values: Float64Array
  /** Metrics without a column, by their names. */
  readonly custom?: Map<string, number> | undefined
}

/** Values of one reading while it is read. */
export class MappedValues {
  readonly values = new Float64Array(metrics.length).fill(Number.NaN)
  custom: Map<string, number> | undefined

  /** Nothing becomes of a missing value (NaN). */
  put(metric: string, value: number): void {
    const column = columnOf(metric)
    if (column !== -1) this.values[column] = value
    else if (!Number.isNaN(value)) this.custom = (this.custom ?? new Map()).set(metric, value)
  }

  isEmpty(): boolean {
    return this.custom === undefined && this.values.every(Number.isNaN)
  }
}

/** The place of a metric in the table; -1 for one that has no column. */
export function columnOf(metric: string): number {
  return metrics.indexOf(metric as Metric)
}

/** The metric that a name of a foreign file stands for: by the catalogue, or else the same in the spelling of metrics. */
export function metricNamed(text: string): string | undefined {
  const name = metricNameOf(text)
  return name === undefined ? undefined : (catalogueEntry(name)?.name ?? name)
}

/** Formats a line of NDJSON for the service. */
export function lineOf({ device, timeUs, values, custom = new Map() }: MappedReading): string {
  const fields = metrics.map((metric, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? null : ([metric, value] as const)
  })
  const [temperature, humidity, pressure, ...battery] = fields
  // Null stands for a missing value.
  const required = {
    temperature: temperature?.[1] ?? null,
    humidity: humidity?.[1] ?? null,
    pressure: pressure?.[1] ?? null,
  }
  const others = Object.fromEntries([...battery.filter(field => field !== null), ...custom])
  return `${JSON.stringify({ timestamp: timeUs / 1000, device, ...required, ...others })}\n`
}
