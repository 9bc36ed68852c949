/** The kinds of rows by name, readings and points: a description contains functions, which cannot be posted to a thread. */

import { type Fields, ignoredNames, roleOf } from '../field-names.ts'
import { createPointCheck, type PointValues } from '../point.ts'
import { pointWriter } from '../points-table.ts'
import { createReadingCheck, type Errors, earliestTimeMs, type Reading, sentenceOf } from '../reading.ts'
import { readingWriter } from '../readings-table.ts'
import { type ReadingDevice, wholeReading } from '../whole-reading.ts'
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
  createCheck: createReadingRowCheck,
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

function createReadingRowCheck(options: RowCheckOptions): RowCheck<Reading> {
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

/** Points of air-quality stations as rows of bulk bodies. */
export const pointRows: RowKind<PointValues> = {
  noun: 'point',
  columns: [
    { name: 'timestamp', cell: 'utc time', isRequired: true },
    { name: 'sn', cell: 'text', isRequired: true },
    { name: 'parameter', cell: 'text', isRequired: true },
    { name: 'unit', cell: 'text', isRequired: true },
    { name: 'value', cell: 'number', isRequired: true },
  ],
  hasCustom: false,
  subject: 'sn',
  invalidCode: 'POINT_INVALID',
  lineBytesMin: '2000-01-01,a,o3,ppb,1'.length,
  createCheck: createPointRowCheck,
  valuesPerRow: 1,
  put(doubles, at, { value }) {
    doubles[at] = value
  },
  createValues: nowMs => ({ timestampMs: 0, value: Number.NaN, storedAtUs: nowMs * 1000 }),
  take(doubles, at, timestampMs, values) {
    values.timestampMs = timestampMs
    values.value = doubles[at] ?? Number.NaN
  },
  writer: pointWriter,
}

const serialNumberCharactersMax = 64

/** The station, the parameter and the unit in the record identify the series. */
function createPointRowCheck({ aheadMsMax }: RowCheckOptions): RowCheck<PointValues> {
  const check = createPointCheck(aheadMsMax)
  const names: [sn: string, parameter: string, unit: string] = ['', '', '']
  const values: PointValues = { timestampMs: 0, value: 0, storedAtUs: 0 }

  return (fields: Fields, nowMs: number): CheckedRow<PointValues> | RefusedRow => {
    const sn = fields['sn']
    if (typeof sn !== 'string' || sn === '' || sn.length > serialNumberCharactersMax) {
      const reason = sn === undefined || sn === '' ? 'is required' : `must be a text of at most 64 characters`
      return { ok: false, name: undefined, reason: `sn ${reason}` }
    }
    const checked = check(fields, nowMs)
    if (!checked.ok) return { ok: false, name: sn, reason: sentenceOf(checked.errors) }
    const { parameter, unit, timestampMs, value } = checked.point
    names[0] = sn
    names[1] = parameter
    names[2] = unit
    values.timestampMs = timestampMs
    values.value = value
    return { ok: true, names, timestampMs, values }
  }
}

export const rowKinds = { readings: readingRows, points: pointRows } as const
export type RowKindName = keyof typeof rowKinds

/** The result lets code treat the values of every kind alike. */
export function rowKindOf(name: RowKindName): RowKind<never> {
  return rowKinds[name] as RowKind<never>
}

/** Names that a device cannot have are rejected here, so that only plausible ones are looked up or created on request. */
const deviceNameCharactersMax = 64
const replacementCharacter = '\uFFFD'

/** Fault of the name. Undefined for a valid one. */
export function deviceNameProblem(name: unknown): string | undefined {
  if (name === undefined || name === null || name === '') return 'is required'
  if (typeof name !== 'string') return 'must be a text'
  if (isTooLong(name)) return `must have at most ${deviceNameCharactersMax} characters`
  return name.includes(replacementCharacter) ? 'must be UTF-8' : undefined
}

/** Some characters take two units, so only a text with many units has to be counted. */
function isTooLong(name: string): boolean {
  if (name.length > 2 * deviceNameCharactersMax) return true
  return name.length > deviceNameCharactersMax && [...name].length > deviceNameCharactersMax
}
