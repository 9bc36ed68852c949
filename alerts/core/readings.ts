/** Stored readings as the evaluation reads them again: columns over rows. */

import { metrics as builtIn, type Metric } from '../../store/tables.ts'
import type { AlertDevice, AlertDevices } from './devices.ts'

/** Rows ascend by time, over all devices and so of each. */
export interface AlertReadings {
  /** Numbers of devices. */
  readonly device: Int32Array
  /** Epoch microseconds. */
  readonly timesUs: Float64Array
  /** By the wanted column; NaN where missing. */
  readonly values: readonly Float64Array[]
  readonly length: number
}

export interface AskedReadings {
  /** The series are of its custom metrics, by the wanted column; undefined for a built-in one, or one that it has not. */
  readonly devices: readonly {
    readonly number: number
    readonly symbol: string
    readonly series: readonly (number | undefined)[]
  }[]
  /** Undefined for a metric that is not built in. */
  readonly columns: readonly (Metric | undefined)[]
  /** Epoch microseconds, the second excluded. */
  readonly fromUs: number
  readonly toUs: number
}

export type ReadAlertReadings = (asked: AskedReadings, signal: AbortSignal) => AsyncIterable<AlertReadings>

/** By these metrics: where each device has them. */
export function askedColumns(
  metrics: readonly string[],
  devices: readonly Pick<AlertDevice, 'number' | 'symbol'>[],
  registry: Pick<AlertDevices, 'seriesOf'>,
): Pick<AskedReadings, 'devices' | 'columns'> {
  const columns = metrics.map(name => builtIn.find(metric => metric === name))
  return {
    columns,
    devices: devices.map(({ number, symbol }) => ({
      number,
      symbol,
      series: metrics.map((metric, index) => {
        const place = columns[index] === undefined ? registry.seriesOf(number, metric) : undefined
        return place !== undefined && 'series' in place ? place.series : undefined
      }),
    })),
  }
}
