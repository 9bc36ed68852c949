/**
 * The record: one reading as it stands in the journal, little endian.
 *
 * | offset | size | what |
 * | --- | --- | --- |
 * | 0 | 2 | length of the whole record |
 * | 2 | 1 | kind: 1 is a reading; other kinds are for other formats |
 * | 3 | 1 | flags: bit 0 is set for the backfill lane |
 * | 4 | 4 | number of the device |
 * | 8 | 8 | time in epoch microseconds, an integer in a double |
 * | 16 | 40 | temperature, humidity, pressure, battery voltage, battery percentage: doubles, NaN for a missing one |
 * | 56 | 1 | length of the symbol |
 * | 57 | … | the symbol, ASCII |
 *
 * The symbol is in the record, so a reading reaches the database even when its device was removed in the meantime.
 */

import type { Reading } from '../reading.ts'

/** What the journal needs to know of a device: the registry's number and the symbol in QuestDB. */
export interface DeviceRef {
  readonly number: number
  readonly symbol: string
}

const recordKindReading = 1
export const flagBackfill = 1

export const offsetOf = {
  length: 0,
  kind: 2,
  flags: 3,
  deviceNumber: 4,
  timeUs: 8,
  values: 16,
  symbolLength: 56,
  symbol: 57,
} as const

/** A symbol is at most 64 characters, so a record is at most 121 bytes. */
const symbolLengthMax = 64
export const recordLengthMax = offsetOf.symbol + symbolLengthMax

export function recordLength(symbolLength: number): number {
  return offsetOf.symbol + symbolLength
}

/** Writes one record at `offset` and returns the offset behind it. The caller has checked that there is room. */
export function writeRecord(
  view: DataView,
  offset: number,
  device: DeviceRef,
  timeUs: number,
  backfill: boolean,
  reading: Reading,
): number {
  const { symbol } = device
  const length = offsetOf.symbol + symbol.length
  view.setUint16(offset, length, true)
  view.setUint8(offset + offsetOf.kind, recordKindReading)
  view.setUint8(offset + offsetOf.flags, backfill ? flagBackfill : 0)
  view.setUint32(offset + offsetOf.deviceNumber, device.number, true)
  view.setFloat64(offset + offsetOf.timeUs, timeUs, true)
  view.setFloat64(offset + 16, reading.temperature, true)
  view.setFloat64(offset + 24, reading.humidity, true)
  view.setFloat64(offset + 32, reading.pressure, true)
  view.setFloat64(offset + 40, reading.battery_voltage, true)
  view.setFloat64(offset + 48, reading.battery_percentage, true)
  view.setUint8(offset + offsetOf.symbolLength, symbol.length)
  for (let index = 0; index < symbol.length; index++) {
    view.setUint8(offset + offsetOf.symbol + index, symbol.charCodeAt(index))
  }
  return offset + length
}

/** A record read back, for dead letters and tests; the forwarder reads the fields it needs in place. */
export interface RecordFields {
  deviceNumber: number
  symbol: string
  timeUs: number
  backfill: boolean
  reading: Reading
}

export function readRecord(view: DataView, offset: number): RecordFields {
  const symbolLength = view.getUint8(offset + offsetOf.symbolLength)
  const codes = new Uint8Array(view.buffer, view.byteOffset + offset + offsetOf.symbol, symbolLength)
  return {
    deviceNumber: view.getUint32(offset + offsetOf.deviceNumber, true),
    symbol: String.fromCharCode(...codes),
    timeUs: view.getFloat64(offset + offsetOf.timeUs, true),
    backfill: (view.getUint8(offset + offsetOf.flags) & flagBackfill) !== 0,
    reading: {
      timestampMs: undefined,
      temperature: view.getFloat64(offset + 16, true),
      humidity: view.getFloat64(offset + 24, true),
      pressure: view.getFloat64(offset + 32, true),
      battery_voltage: view.getFloat64(offset + 40, true),
      battery_percentage: view.getFloat64(offset + 48, true),
    },
  }
}

/** True when the bytes from `start` to `end` are whole records and nothing else. */
export function areWholeRecords(view: DataView, start: number, end: number): boolean {
  let offset = start
  while (offset < end) {
    if (end - offset < offsetOf.symbol) return false
    const length = view.getUint16(offset, true)
    if (length < offsetOf.symbol || offset + length > end) return false
    offset += length
  }
  return offset === end
}

/** Flags the records that stand in `length` bytes from `start` on as late or not, by their times; how many there are. */
export function chooseLanes(
  view: DataView,
  start: number,
  length: number,
  isLate: (timeUs: number) => boolean,
): { recordCount: number; backfillCount: number } {
  let recordCount = 0
  let backfillCount = 0
  for (let offset = start; offset < start + length; offset += view.getUint16(offset + offsetOf.length, true)) {
    const late = isLate(view.getFloat64(offset + offsetOf.timeUs, true))
    const flags = view.getUint8(offset + offsetOf.flags)
    view.setUint8(offset + offsetOf.flags, late ? flags | flagBackfill : flags & ~flagBackfill)
    recordCount++
    if (late) backfillCount++
  }
  return { recordCount, backfillCount }
}

/** Whole records without those of some devices; the very same bytes when there are none. */
export function withoutDevices(records: Uint8Array, numbers: ReadonlySet<number>): Uint8Array {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  const kept: Uint8Array[] = []
  let keptFrom = 0
  for (let offset = 0; offset < records.length; ) {
    const next = offset + view.getUint16(offset + offsetOf.length, true)
    if (numbers.has(view.getUint32(offset + offsetOf.deviceNumber, true))) {
      kept.push(records.subarray(keptFrom, offset))
      keptFrom = next
    }
    offset = next
  }
  return kept.length === 0 ? records : Buffer.concat([...kept, records.subarray(keptFrom)])
}
