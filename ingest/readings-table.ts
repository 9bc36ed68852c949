/** The table of the readings, for the journal and the forwarder, and how a reading becomes a record. */

import { metrics, readingsTable } from '../store/tables.ts'
import { layoutOf, offsetOf, type RecordWriter, writeHeader } from './journal/record.ts'
import type { Reading } from './reading.ts'
import type { TableDescription } from './table.ts'

/** What the journal needs to know of a device: the registry's number and the symbol in QuestDB. */
export interface DeviceRef {
  readonly number: number
  /** At most 64 characters of ASCII, none of which line protocol escapes. */
  readonly symbol: string
}

export const readings: TableDescription = {
  name: readingsTable,
  timestamp: 'ts',
  key: ['device'],
  labels: [],
  columns: metrics.map(name => ({ name, type: 'double' })),
  recordKind: 1,
  symbolBytesMax: 64,
}

const layout = layoutOf(readings)
export const readingLengthMax = layout.lengthMax

export function readingLength({ symbol }: DeviceRef): number {
  return layout.lengthMin + symbol.length
}

/** Written out for its columns: this runs for every reading. */
export function writeReading(
  view: DataView,
  offset: number,
  device: DeviceRef,
  timeUs: number,
  isBackfill: boolean,
  reading: Reading,
): number {
  const { symbol } = device
  const length = layout.lengthMin + symbol.length
  writeHeader(view, offset, length, layout.kind, device.number, timeUs, isBackfill)
  const valuesAt = offset + offsetOf.values
  view.setFloat64(valuesAt, reading.temperature, true)
  view.setFloat64(valuesAt + 8, reading.humidity, true)
  view.setFloat64(valuesAt + 16, reading.pressure, true)
  view.setFloat64(valuesAt + 24, reading.battery_voltage, true)
  view.setFloat64(valuesAt + 32, reading.battery_percentage, true)
  const symbolAt = offset + layout.symbolsAt
  view.setUint8(symbolAt, symbol.length)
  for (let index = 0; index < symbol.length; index++) view.setUint8(symbolAt + 1 + index, symbol.charCodeAt(index))
  return offset + length
}

export const readingWriter: RecordWriter<DeviceRef, Reading> = { length: readingLength, write: writeReading }
