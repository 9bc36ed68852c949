/** Devices as alerts know them from the registry. */

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
  /** Whether the owner of a rule may read it; null: the service, which may read all. */
  mayRead(owner: number | null, device: AlertDevice): boolean
  /** Whether the rules of this owner may have all pairs of the service (null: the service itself). */
  isAdministrator(owner: number | null): boolean
  /** Where the values of a metric stand in a stored reading: in a built-in column, or as a series of the device's own. */
  seriesOf(device: number, metric: string): { readonly column: number } | { readonly series: number } | undefined
  /** The criteria for readings of these metrics, or undefined for a missing device. */
  qualityOf(device: number, metrics: readonly string[]): DeviceQuality | undefined
}
