/** Checked readings as columns: what travels between the threads, since typed arrays change hands without a copy. */

import type { Reading } from '../reading.ts'

export interface Rows {
  count: number
  lines: Uint32Array<ArrayBuffer>
  /** Index into the names of the chunk. */
  devices: Uint32Array<ArrayBuffer>
  timesMs: Float64Array<ArrayBuffer>
  /** Five a row, in the order of the record. */
  values: Float64Array<ArrayBuffer>
}

export const valuesPerRow = 5

export function createRows(rowsMax: number): Rows {
  return {
    count: 0,
    lines: new Uint32Array(rowsMax),
    devices: new Uint32Array(rowsMax),
    timesMs: new Float64Array(rowsMax),
    values: new Float64Array(rowsMax * valuesPerRow),
  }
}

export function addRow(rows: Rows, line: number, device: number, timeMs: number, reading: Reading): void {
  const row = rows.count++
  rows.lines[row] = line
  rows.devices[row] = device
  rows.timesMs[row] = timeMs
  const first = row * valuesPerRow
  rows.values[first] = reading.temperature
  rows.values[first + 1] = reading.humidity
  rows.values[first + 2] = reading.pressure
  rows.values[first + 3] = reading.battery_voltage
  rows.values[first + 4] = reading.battery_percentage
}

/** Fills `reading` with the values of a row. */
export function readRow(rows: Rows, row: number, reading: Reading): void {
  const first = row * valuesPerRow
  reading.timestampMs = rows.timesMs[row]
  reading.temperature = rows.values[first] ?? Number.NaN
  reading.humidity = rows.values[first + 1] ?? Number.NaN
  reading.pressure = rows.values[first + 2] ?? Number.NaN
  reading.battery_voltage = rows.values[first + 3] ?? Number.NaN
  reading.battery_percentage = rows.values[first + 4] ?? Number.NaN
}

/** The memory behind the columns, for the list of what changes hands. */
export function buffersOf(rows: Rows): ArrayBuffer[] {
  return [rows.lines.buffer, rows.devices.buffer, rows.timesMs.buffer, rows.values.buffer]
}
