/** Fields of single readings without a column: looked up in the registry of metrics, and created there. */

import type { Device } from '../../auth/devices/device.ts'
import { createDeviceFields, type FieldDevice } from '../../auth/metrics/device-fields.ts'
import type { Sighting } from '../../auth/metrics/metric-discovery.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { CustomFields } from '../custom-fields.ts'
import type { Fields } from '../field-names.ts'
import type { Checked } from '../reading.ts'
import { type WholeReading, wholeReading } from '../whole-reading.ts'

export type RegistryOfMetrics = Pick<Metrics, 'find' | 'series' | 'refusalOf' | 'ensure'>

export interface CustomMetrics {
  /** Combines a checked reading with the values of the device's metrics. In memory. */
  whole(device: Device, fields: Fields, checked: Checked): WholeReading
  /** Fields without a metric or series, for `make` to create. In memory. */
  missing(custom: CustomFields | undefined, device: FieldDevice): readonly Sighting[]
  /** `by` is the sender, for the audit. Returns `later` when the registry is unavailable. */
  make: Metrics['ensure']
}

/** A device that does not exist yet: numbers of devices begin at 1. */
export const newDeviceOf = (owner: number | null): FieldDevice => ({ number: 0, metrics: null, owner })
const none: readonly Sighting[] = []

export function createCustomMetrics(metrics: RegistryOfMetrics): CustomMetrics {
  const deviceFields = createDeviceFields(metrics)
  const nameOf = (field: string) => metrics.find(field)?.name

  return {
    whole(device, fields, checked) {
      const fieldOf = (name: string) => deviceFields.find(device, name)
      return wholeReading(checked, fields, { metrics: device.metrics, fieldOf, nameOf })
    },
    missing: (custom, device) => (custom === undefined ? none : deviceFields.missing(device, custom.names)),
    make: metrics.ensure,
  }
}
