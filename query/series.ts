/** Readings of one device as columns of numbers, raw and by UTC hour, with their units. */

import { type Metric, metrics } from '../store/tables.ts'

/** Measured quantities, and the unit in which each metric is stored and shown. */
export const units = {
  temperature: '°C',
  humidity: '%',
  pressure: 'hPa',
  battery_voltage: 'V',
  battery_percentage: '%',
} as const satisfies Record<Metric, string>

/** The metrics, and the dew point of each reading. */
export const quantities = [...metrics, 'dew_point'] as const
export type Quantity = (typeof quantities)[number]

/** Metrics of the air. The others describe the device itself. */
export const airMetrics = ['temperature', 'humidity', 'pressure'] as const satisfies readonly Metric[]
export type AirMetric = (typeof airMetrics)[number]

/** Every reading of a stretch of time, ascending. */
export interface Series {
  /** Milliseconds since 1970. The database's microseconds stay as fractions. */
  readonly timesMs: Float64Array
  /** NaN stands for a missing value. */
  readonly values: Readonly<Record<Metric, Float64Array>>
}

/** Aggregates of one metric by hour. */
export interface HourlyColumns {
  /** Number of values. Where it is 0, the others are NaN. */
  readonly count: Float64Array
  readonly mean: Float64Array
  /** Sample standard deviation; NaN with fewer than two values. */
  readonly std: Float64Array
  readonly min: Float64Array
  readonly max: Float64Array
}

/** One row for each UTC hour with any reading, ascending. */
export interface HourlySeries {
  /** Start of each hour, milliseconds since 1970. */
  readonly startsMs: Float64Array
  readonly metrics: Readonly<Record<Metric, HourlyColumns>>
}

/** One value for each name, like the columns of a series. */
export function mapColumns<Name extends string, Value>(
  names: readonly Name[],
  columnOf: (name: Name) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map(name => [name, columnOf(name)])) as Record<Name, Value>
}
