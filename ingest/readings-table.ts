/** The table of the readings, for the journal and the forwarder, and the encoding of a reading as a record. */

import { metricsPerDeviceMax } from '../store/metrics/metric.ts'
import { measurementsTable, metrics, readingsTable } from '../store/tables.ts'
import { customLength, layoutOf, offsetOf, type RecordWriter, writeCustom, writeHeader } from './journal/record.ts'
import type { Reading } from './reading.ts'
import type { TableDescription } from './table.ts'

/** A device as the journal needs it: the registry's number and the symbol in QuestDB. */
export interface DeviceRef {
  readonly number: number
  /** The symbol has at most 64 ASCII characters, which line protocol does not escape. */
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
  custom: {
    name: measurementsTable,
    timestamp: 'ts',
    seriesColumn: 'series',
    valueColumn: 'value',
    valuesMax: metricsPerDeviceMax,
  },
}

const layout = layoutOf(readings)
export const readingLengthMax = layout.lengthMax

/** Bytes of its record. The reading is optional for columns only. */
export function readingLength({ symbol }: DeviceRef, { custom }: Pick<Reading, 'custom'> = {}): number {
  return layout.lengthMin + symbol.length + (custom === undefined ? 0 : customLength(custom.series.length))
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
  const { custom } = reading
  const length = readingLength(device, reading)
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
  if (custom !== undefined && custom.series.length > 0) {
    writeCustom(view, offset, symbolAt + 1 + symbol.length, custom)
  }
  return offset + length
}

export const readingWriter: RecordWriter<DeviceRef, Reading> = { length: readingLength, write: writeReading }
