/** Readings of devices as rows of bulk bodies. */

import { type Fields, ignoredNames, roleOf } from '../field-names.ts'
import { createReadingCheck, type Errors, earliestTimeMs, type Reading, sentenceOf } from '../reading.ts'
import { readingWriter } from '../readings-table.ts'
import { type ReadingDevice, wholeReading } from '../whole-reading.ts'
import { deviceNameProblem } from './device-name.ts'
import type { CheckedRow, OtherFields, RefusedRow, RowCheck, RowCheckOptions, RowKind } from './row-kind.ts'

export const readingRows: RowKind<Reading> = {
  noun: 'reading',
  columns: [
    { name: 'timestamp', cell: 'time', isRequired: true },
    { name: 'device', cell: 'text', isRequired: true },
    { name: 'temperature', cell: 'number', isRequired: false },
    { name: 'humidity', cell: 'number', isRequired: false },
    { name: 'pressure', cell: 'number', isRequired: false },
    { name: 'battery_voltage', cell: 'number', isRequired: false },
    { name: 'battery_percentage', cell: 'number', isRequired: false },
  ],
  hasCustom: true,
  subject: 'device',
  invalidCode: 'READING_INVALID',
  lineBytesMin: '946684800,a,1'.length,
  createCheck,
  valuesPerRow: 5,
  put(doubles, at, reading) {
    doubles[at] = reading.temperature
    doubles[at + 1] = reading.humidity
    doubles[at + 2] = reading.pressure
    doubles[at + 3] = reading.battery_voltage
    doubles[at + 4] = reading.battery_percentage
  },
  createValues: () => ({
    timestampMs: undefined,
    temperature: Number.NaN,
    humidity: Number.NaN,
    pressure: Number.NaN,
    battery_voltage: Number.NaN,
    battery_percentage: Number.NaN,
  }),
  take(doubles, at, timestampMs, reading) {
    reading.timestampMs = timestampMs
    reading.temperature = doubles[at] ?? Number.NaN
    reading.humidity = doubles[at + 1] ?? Number.NaN
    reading.pressure = doubles[at + 2] ?? Number.NaN
    reading.battery_voltage = doubles[at + 3] ?? Number.NaN
    reading.battery_percentage = doubles[at + 4] ?? Number.NaN
  },
  setCustom(reading, custom) {
    reading.custom = custom
  },
  writer: readingWriter,
}

function createCheck(options: RowCheckOptions): RowCheck<Reading> {
  const { defaultDevice, deviceOf } = options
  const check = deviceOf === undefined ? createFirstCheck(options) : createWholeCheck(options, deviceOf)
  const names: [string] = ['']

  return (fields: Fields, nowMs: number, hasOthers: boolean): CheckedRow<Reading> | RefusedRow => {
    const device = fields['device'] ?? defaultDevice
    const problem = deviceNameProblem(device)
    if (problem !== undefined) return { ok: false, name: undefined, reason: `device ${problem}` }
    const name = String(device)
    const checked = check(fields, name, nowMs, hasOthers)
    const { others, outOfRange } = checked
    if (!checked.ok) return { ok: false, name, reason: sentenceOf(checked.errors), others }
    const { timestampMs } = checked.reading
    if (timestampMs === undefined) return { ok: false, name, reason: 'timestamp is required', others }
    names[0] = name
    return { ok: true, names, timestampMs, values: checked.reading, others, outOfRange }
  }
}

type CheckOfDevice = (
  fields: Fields,
  device: string,
  nowMs: number,
  hasOthers: boolean,
) => ({ ok: true; reading: Reading } | { ok: false; errors: Errors }) & {
  outOfRange?: Errors | undefined
  others?: OtherFields | undefined
}

/** The check before devices are resolved: a row with possible custom fields is not rejected for lack of values. */
function createFirstCheck(options: RowCheckOptions): CheckOfDevice {
  const [check, checkAll] = checksOf(options)
  return (fields, _device, nowMs, hasOthers) => {
    if (!hasOthers) return check(fields, nowMs)
    const checked = checkAll(fields, nowMs)
    const sighted = checked.custom?.names ?? []
    const aliases = checked.ok ? checked.aliases : []
    const ifListed = aliases.filter(name => roleOf(name) === 'voltage')
    const stored = new Set([...sighted, ...aliases])
    const ignored = ignoredNames(fields, { stored }, null) ?? []
    return { ...checked, others: { stored, sighted, ifListed, ignored, fields, custom: undefined } }
  }
}

function createWholeCheck(options: RowCheckOptions, deviceOf: (name: string) => ReadingDevice): CheckOfDevice {
  const [check, checkAll] = checksOf(options)
  return (fields, name, nowMs, hasOthers) => {
    const device = deviceOf(name)
    const { metrics } = device
    const checked = (hasOthers ? checkAll : check)(fields, nowMs, metrics)
    const whole = wholeReading(checked, fields, device)
    if (!whole.ok) return whole
    const { reading, stored, outOfRange } = whole
    const ignored = ignoredNames(fields, { stored }, metrics) ?? []
    const others = { stored, sighted: [], ifListed: [], ignored, fields: undefined, custom: reading.custom }
    return { ok: true, reading, others, outOfRange }
  }
}

/** Checks of columns only, and of all fields: looking for other fields takes as long as the rest. */
function checksOf({ earliestMs = earliestTimeMs, ...options }: RowCheckOptions) {
  const common = { ...options, earliestMs: () => earliestMs }
  return [createReadingCheck(common), createReadingCheck({ ...common, collectsCustom: true })] as const
}
