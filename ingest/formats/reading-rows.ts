/** Readings of devices as rows of bulk bodies. */

import type { Fields } from '../field-names.ts'
import { createReadingCheck, earliestTimeMs, type Reading } from '../reading.ts'
import { readingWriter } from '../readings-table.ts'
import { deviceNameProblem } from './device-name.ts'
import type { CheckedRow, RefusedRow, RowCheck, RowCheckOptions, RowKind } from './row-kind.ts'
import { sentenceOf } from './sentence.ts'

export const readingRows: RowKind<Reading> = {
  noun: 'reading',
  columns: [
    { name: 'timestamp', cell: 'time', isRequired: true },
    { name: 'device', cell: 'text', isRequired: true },
    { name: 'temperature', cell: 'number', isRequired: true },
    { name: 'humidity', cell: 'number', isRequired: true },
    { name: 'pressure', cell: 'number', isRequired: true },
    { name: 'battery_voltage', cell: 'number', isRequired: false },
    { name: 'battery_percentage', cell: 'number', isRequired: false },
  ],
  subject: 'device',
  invalidCode: 'READING_INVALID',
  lineBytesMin: '946684800000,a,1,,'.length,
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
  writer: readingWriter,
}

function createCheck({ defaultDevice, earliestMs = earliestTimeMs, ...options }: RowCheckOptions): RowCheck<Reading> {
  const check = createReadingCheck({ ...options, earliestMs: () => earliestMs })
  const names: [string] = ['']

  return (fields: Fields, nowMs: number): CheckedRow<Reading> | RefusedRow => {
    const device = fields['device'] ?? defaultDevice
    const problem = deviceNameProblem(device)
    if (problem !== undefined) return { ok: false, name: undefined, reason: `device ${problem}` }
    const name = String(device)
    const checked = check(fields, false, nowMs)
    if (!checked.ok) return { ok: false, name, reason: sentenceOf(checked.errors) }
    const { timestampMs } = checked.reading
    if (timestampMs === undefined) return { ok: false, name, reason: 'timestamp is required' }
    names[0] = name
    return { ok: true, names, timestampMs, values: checked.reading }
  }
}
