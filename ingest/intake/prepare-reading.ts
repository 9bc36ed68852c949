/** Creates the device and the metrics that a valid reading needs and the registries lack. */

import type { Device } from '../../auth/devices/device.ts'
import type { Writer } from '../../auth/writers.ts'
import { type CustomFields, otherFieldsOf } from '../custom-fields.ts'
import { type Fields, isColumnField } from '../field-names.ts'
import { type Errors, emptyErrors, hasNoColumn, type ReadingCheck } from '../reading.ts'
import { type CustomMetrics, newDeviceOf } from './custom-metrics.ts'

export interface PrepareOptions {
  check: ReadingCheck
  nowMs: () => number
  customMetrics: CustomMetrics
}

/** Faults of the reading, or `later` when the registries are unavailable. */
export type Unprepared = Errors | 'later'
type Prepared = Promise<Unprepared | undefined> | undefined

/** Undefined where nothing is created: `take` refuses a reading that is invalid or names no device. */
export type PrepareReading = (writer: Writer, fields: Fields) => Prepared

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
