/** Small readings, devices and records for the tests of the journal. */

import { groupHeaderLength } from '../../ingest/journal/group.ts'
import { readRecord } from '../../ingest/journal/record.ts'
import type { Reading } from '../../ingest/reading.ts'
import { type DeviceRef, readingLength, readings, writeReading } from '../../ingest/readings-table.ts'

export function reading(temperature: number, timestampMs?: number): Reading {
  return {
    timestampMs,
    temperature,
    humidity: 50,
    pressure: 1000,
    battery_voltage: Number.NaN,
    battery_percentage: Number.NaN,
  }
}

export function device(number: number): DeviceRef {
  return { number, symbol: `device-${number}` }
}

/** Records of one device, with times that count up from `firstUs`. */
export function records(of: DeviceRef, temperatures: number[], firstUs: number, backfill = false): Buffer {
  const bytes = Buffer.alloc(temperatures.length * readingLength(of))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let offset = 0
  temperatures.forEach((temperature, index) => {
    offset = writeReading(view, offset, of, firstUs + index, backfill, reading(temperature))
  })
  return bytes
}

export interface StoredReading {
  deviceNumber: number
  symbol: string
  timeUs: number
  isBackfill: boolean
  reading: Reading
}

/** A record of a reading, read back. */
export function readReading(view: DataView, offset: number): StoredReading {
  const { series, symbols, timeUs, isBackfill, values } = readRecord(readings, view, offset)
  const reading = { ...values, timestampMs: undefined } as unknown as Reading
  return { deviceNumber: series, symbol: symbols.join(), timeUs, isBackfill, reading }
}

/** All records, in their order. */
export function readingsIn(records: Uint8Array): StoredReading[] {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const found: StoredReading[] = []
  for (let offset = 0; offset < view.byteLength; offset += view.getUint16(offset, true)) {
    found.push(readReading(view, offset))
  }
  return found
}

/** A group's bytes with room for the header, as the journal's thread gets them. */
export function unsealed(body: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(groupHeaderLength + body.length)
  bytes.set(body, groupHeaderLength)
  return bytes
}
