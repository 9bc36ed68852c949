/** Creates the device and the metrics that a valid reading needs and the registries lack. */

import type { Device } from '../../auth/devices/device.ts'
import { createDeviceFields, type FieldDevice } from '../../auth/metrics/device-fields.ts'
import type { Sighting } from '../../auth/metrics/metric-discovery.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { Writer } from '../../auth/writers.ts'
import { type CustomFields, otherFieldsOf } from '../custom-fields.ts'
import { type Fields, isColumnField } from '../field-names.ts'
import { type Checked, type Errors, emptyErrors, hasNoColumn, type ReadingCheck } from '../reading.ts'
import { type WholeReading, wholeReading } from '../whole-reading.ts'

interface PrepareOptions {
  check: ReadingCheck
  nowMs: () => number
  customMetrics: CustomMetrics
}

/** Faults of the reading, or `later` when the registries are unavailable. */
export type Unprepared = Errors | 'later'
type Prepared = Promise<Unprepared | undefined> | undefined

/** Undefined where nothing is created: `take` refuses a reading that is invalid or names no device. */
type PrepareReading = (writer: Writer, fields: Fields) => Prepared

function hasOtherFields(fields: Fields): boolean {
  for (const name in fields) if (!isColumnField(name)) return true
  return false
}

export function createPrepareReading({ check, nowMs, customMetrics }: PrepareOptions): PrepareReading {
  function errorsOfFirst(fields: Fields, owner: number | null): Errors | undefined {
    const checked = check(fields, nowMs())
    if (!checked.ok) return checked.errors
    const isEmpty =
      hasNoColumn(checked.reading) && customMetrics.missing(checked.custom, newDeviceOf(owner)).length === 0
    return isEmpty ? emptyErrors(null) : undefined
  }

  async function addDevice(
    writer: Writer,
    name: string,
    fields: Fields,
    custom: CustomFields | undefined,
  ): Promise<Unprepared | undefined> {
    const errors = errorsOfFirst(fields, writer.owner)
    if (errors !== undefined) return errors
    if ((await writer.createDevices([name])) === 'later') return 'later'
    const device = writer.find(name)
    return typeof device === 'string' ? undefined : makeMetrics(writer, device, fields, custom)
  }

  function makeMetrics(writer: Writer, device: Device, fields: Fields, custom: CustomFields | undefined): Prepared {
    const missing = customMetrics.missing(custom, device)
    if (missing.length === 0 || !check(fields, nowMs(), device.metrics).ok) return undefined
    return customMetrics.make(missing, writer.id).then(made => (made === 'later' ? made : undefined))
  }

  return (writer, fields) => {
    const name = fields['device']
    if (typeof name !== 'string') return undefined
    // Nearly all readings have only the columns.
    if (!writer.mayCreateDevices && !hasOtherFields(fields)) return undefined
    const device = writer.find(name)
    if (typeof device !== 'string') {
      return makeMetrics(writer, device, fields, otherFieldsOf(fields, device.metrics)?.custom)
    }
    const isAdded = device === 'DEVICE_UNKNOWN' && writer.mayCreateDevices
    return isAdded ? addDevice(writer, name, fields, otherFieldsOf(fields, null)?.custom) : undefined
  }
}

export type RegistryOfMetrics = Pick<Metrics, 'find' | 'series' | 'refusalOf' | 'ensure'>

interface CustomMetrics {
  /** Combines a checked reading with the values of the device's metrics. In memory. */
  whole(device: Device, fields: Fields, checked: Checked): WholeReading
  /** Fields without a metric or series, for `make` to create. In memory. */
  missing(custom: CustomFields | undefined, device: FieldDevice): readonly Sighting[]
  /** `by` is the sender, for the audit. Returns `later` when the registry is unavailable. */
  make: Metrics['ensure']
}

/** A device that does not exist yet: numbers of devices begin at 1. */
const newDeviceOf = (owner: number | null): FieldDevice => ({ number: 0, metrics: null, owner })
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
