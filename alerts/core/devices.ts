/** Devices and stored readings, as alerts get them from the registry and from QuestDB. */

import type { AlertReadings, AskedReadings } from '../../query/alerts/alert-queries.ts'
import { metrics as builtIn } from '../../store/tables.ts'
import type { DeviceQuality } from './suspect-share.ts'

export interface AlertDevice {
  readonly number: number
  /** Symbol in the tables of readings. */
  readonly symbol: string
  readonly name: string
  readonly tags: readonly string[]
  /** An account. */
  readonly owner: number | null
  readonly log_switch: boolean
  readonly location_short: string
}

export interface AlertDevices {
  all(): Iterable<AlertDevice>
  byNumber(number: number): AlertDevice | undefined
  onChange(listener: (device: AlertDevice, isRemoved: boolean) => void): void
  /** True if the owner of a rule may read it. Null: the service, which may read all. */
  mayRead(owner: number | null, device: AlertDevice): boolean
  /** True if the rules of this owner may have all pairs of the service. Null: the service itself. */
  isAdministrator(owner: number | null): boolean
  /** The place of a metric's values in a stored reading: a built-in column, or a series of the device. */
  seriesOf(device: number, metric: string): { readonly column: number } | { readonly series: number } | undefined
  /** The criteria for readings of these metrics, or undefined for a missing device. */
  qualityOf(device: number, metrics: readonly string[]): DeviceQuality | undefined
}

export type ReadAlertReadings = (asked: AskedReadings, signal: AbortSignal) => AsyncIterable<AlertReadings>

/** Finds where each device stores these metrics. */
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
