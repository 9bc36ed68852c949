/** The thread that reads bodies of line protocol. It keeps nothing between two calls. */

import { gunzipSync } from 'node:zlib'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import {
  type LineProtocolOptions,
  type LineProtocolResult,
  readLineProtocol,
  receiptTimeMs,
} from '../formats/line-protocol.ts'
import { readingRows } from '../formats/reading-rows.ts'
import { buffersOf, type Rows } from '../formats/rows.ts'
import { type DeviceRef, readingLength, writeReading } from '../readings-table.ts'

// On a machine with few processors a bulk body gives way to single readings.
lowerThreadPriority('below normal')

export interface ReadLinesTask extends LineProtocolOptions {
  body: Uint8Array<ArrayBuffer>
  isGzip: boolean
  /** Of the body without its compression. */
  bodyBytesMax: number
}

export type ReadLines = ({ kind: 'read' } & LineProtocolResult) | { kind: 'too long' } | { kind: 'broken' }

export interface EncodeLinesTask {
  rows: Rows
  /** The device of each name; of one without a device no row is taken. */
  devices: readonly (DeviceRef | undefined)[]
  /** The time of the rows that have none. */
  receiptUs: number
}

export interface EncodedLines {
  records: Uint8Array<ArrayBuffer>
  count: number
}

export function read(task: ReadLinesTask): ReadLines {
  const body = plainBody(task)
  if (typeof body === 'string') return { kind: body }
  const result = readLineProtocol(body, task)
  if (result.isTooLong) return { kind: 'too long' }
  return handOver({ kind: 'read', ...result }, buffersOf(result.rows))
}

function plainBody({ body, isGzip, bodyBytesMax }: ReadLinesTask): Buffer | 'too long' | 'broken' {
  if (!isGzip) return Buffer.from(body.buffer, body.byteOffset, body.length)
  try {
    return gunzipSync(body, { maxOutputLength: bodyBytesMax })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too long' : 'broken'
  }
}

export function encode({ rows, devices, receiptUs }: EncodeLinesTask): EncodedLines {
  const records = new Uint8Array(recordsLength(rows, devices))
  const view = new DataView(records.buffer)
  const reading = readingRows.createValues(0)
  let offset = 0
  let count = 0
  for (let row = 0; row < rows.count; row++) {
    const device = devices[rows.names[row] as number]
    if (device === undefined) continue
    const timeMs = rows.timesMs[row] as number
    readingRows.take(rows.values, row * readingRows.valuesPerRow, timeMs, reading)
    // The journal chooses the lane.
    offset = writeReading(view, offset, device, timeMs === receiptTimeMs ? receiptUs : timeMs * 1000, false, reading)
    count++
  }
  return handOver({ records, count }, [records.buffer])
}

function recordsLength(rows: Rows, devices: EncodeLinesTask['devices']): number {
  let length = 0
  for (let row = 0; row < rows.count; row++) {
    const device = devices[rows.names[row] as number]
    if (device !== undefined) length += readingLength(device)
  }
  return length
}

/** Gives the buffers away with the result instead of copying them. The pool unwraps what is returned here. */
function handOver<Result extends object>(result: Result, buffers: ArrayBuffer[]): Result {
  const wrapped: unknown = move({ [transferableSymbol]: buffers, [valueSymbol]: result })
  return wrapped as Result
}
