/** Rows for the forwarder benchmarks: as a journal on disk, as encoded request bodies, or one by one. */

import { noneAbsent, RowFormat } from '../ingest/forwarder/row-format.ts'
import { RowBuffer } from '../ingest/forwarder/write-request.ts'
import { openDisk } from '../ingest/journal/disk.ts'
import { groupHeaderLength } from '../ingest/journal/group.ts'
import { SegmentWriter } from '../ingest/journal/segment-writer.ts'
import type { Reading } from '../ingest/reading.ts'
import { type DeviceRef, readingLengthMax, readings, writeReading } from '../ingest/readings-table.ts'

export interface Rows {
  count: number
  deviceCount: number
  /** Time of the first row. The devices send once a minute, one after the other. */
  startUs: number
}

const minuteUs = 60_000_000
const rowsPerGroup = 1000
const format = new RowFormat(readings)

export function deviceOf({ deviceCount }: Rows, index: number): DeviceRef {
  const number = (index % deviceCount) + 1
  return { number, symbol: `bench-${number}` }
}

/** Strictly rising, never a whole millisecond, as our own stamps are. */
export function timeUsOf({ deviceCount, startUs }: Rows, index: number): number {
  const timeUs = startUs + Math.floor((index * minuteUs) / deviceCount)
  return timeUs % 1000 === 0 ? timeUs + 1 : timeUs
}

export function readingOf(index: number): Reading {
  return {
    timestampMs: undefined,
    temperature: ((index * 7) % 400) / 10,
    humidity: ((index * 13) % 1000) / 10,
    pressure: 950 + ((index * 3) % 1000) / 10,
    battery_voltage: 3 + (index % 120) / 100,
    battery_percentage: index % 100,
  }
}

/** Writes the rows as a journal into an empty directory. */
export function writeJournal(directory: string, rows: Rows): void {
  const end = { position: 0, ordinal: 0, lastStampUs: 0 }
  const writer = new SegmentWriter({ disk: openDisk(directory), end, reserveBytes: 0 })
  const bytes = new Uint8Array(groupHeaderLength + rowsPerGroup * readingLengthMax)
  const view = new DataView(bytes.buffer)
  for (let from = 0; from < rows.count; from += rowsPerGroup) {
    const to = Math.min(rows.count, from + rowsPerGroup)
    let offset = groupHeaderLength
    for (let index = from; index < to; index++) {
      offset = writeReading(view, offset, deviceOf(rows, index), timeUsOf(rows, index), false, readingOf(index))
    }
    const receiptUs = timeUsOf(rows, to)
    const group = { recordCount: to - from, backfillCount: 0, receiptUs, lastStampUs: receiptUs }
    const { outcome, error } = writer.commit(bytes.subarray(0, offset), group)
    if (outcome !== 'stored') throw new Error(`the journal took nothing: ${error}`)
  }
  writer.close()
}

/** The same rows as bodies for QuestDB of about `bodyBytes` each, encoded beforehand. */
export function encodeBodies(rows: Rows, bodyBytes: number): Buffer[] {
  const bodies: Buffer[] = []
  const record = new Uint8Array(readingLengthMax)
  const view = new DataView(record.buffer)
  const buffer = new RowBuffer(format, bodyBytes)
  for (let index = 0; index < rows.count; index++) {
    if (buffer.length > bodyBytes - format.bytesMax) {
      bodies.push(Buffer.from(buffer.bytes.subarray(0, buffer.length)))
      buffer.clear()
    }
    writeReading(view, 0, deviceOf(rows, index), timeUsOf(rows, index), false, readingOf(index))
    buffer.add(record, view, 0, noneAbsent)
  }
  bodies.push(Buffer.from(buffer.bytes.subarray(0, buffer.length)))
  return bodies
}
