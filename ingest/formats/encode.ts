/** Turns checked rows into records for the journal, now that their devices are known. */

import type { Reading } from '../reading.ts'
import { type DeviceRef, readingLengthMax, writeReading } from '../readings-table.ts'
import { type Reject, RejectList } from './reject.ts'
import { type Rows, readRow } from './rows.ts'

export interface EncodeOptions {
  names: readonly string[]
  /** The device of each name; undefined for one that the registry does not have. */
  devices: readonly (DeviceRef | undefined)[]
  rejectsMax: number
}

export interface EncodedRows {
  records: Uint8Array<ArrayBuffer>
  count: number
  rejects: Reject[]
  rejected: number
}

export function encodeRows(rows: Rows, options: EncodeOptions): EncodedRows {
  const { names, devices } = options
  const rejects = new RejectList(options.rejectsMax)
  const buffer = new ArrayBuffer(rows.count * readingLengthMax)
  const view = new DataView(buffer)
  const reading = emptyReading()
  let offset = 0
  let count = 0
  for (let row = 0; row < rows.count; row++) {
    const index = rows.devices[row] ?? 0
    const device = devices[index]
    if (device === undefined) {
      rejects.add(rows.lines[row] ?? 0, names[index], 'DEVICE_UNKNOWN', 'there is no device of this name')
      continue
    }
    readRow(rows, row, reading)
    const timeMs = rows.timesMs[row] ?? 0
    // The journal chooses the lane.
    offset = writeReading(view, offset, device, timeMs * 1000, false, reading)
    count++
  }
  const records = new Uint8Array(buffer, 0, offset)
  return { records, count, rejects: rejects.listed, rejected: rejects.count }
}

function emptyReading(): Reading {
  const missing = Number.NaN
  return {
    timestampMs: undefined,
    temperature: missing,
    humidity: missing,
    pressure: missing,
    battery_voltage: missing,
    battery_percentage: missing,
  }
}
