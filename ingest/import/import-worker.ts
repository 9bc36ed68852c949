/** The thread that reads bulk bodies. It keeps nothing between two calls, so any thread can take any chunk. */

import { move, transferableSymbol, valueSymbol } from 'piscina'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { type ChunkResult, readChunk } from '../formats/chunk.ts'
import { type CsvLayout, createCsvReader } from '../formats/csv.ts'
import { type EncodedRows, type EncodeOptions, encodeRows } from '../formats/encode.ts'
import type { LineReader } from '../formats/line-reader.ts'
import type { Chunk } from '../formats/lines.ts'
import { createNdjsonReader } from '../formats/ndjson.ts'
import type { RowCheckOptions } from '../formats/row-kind.ts'
import { type RowKindName, rowKindOf } from '../formats/row-kinds.ts'
import { buffersOf, type Rows } from '../formats/rows.ts'
import { type PackedNames, packNames, unpackNames } from './packed-names.ts'
import { type PackedSeries, unpackSeries } from './packed-series.ts'

// On a machine with few processors a bulk body gives way to single readings.
lowerThreadPriority('below normal')

export interface ReadTask extends RowCheckOptions {
  kind: RowKindName
  chunk: Chunk
  /** Of a CSV body; without it the body is NDJSON. */
  layout: CsvLayout | undefined
  nowMs: number
  firstLine: number
  lineBytesMax: number
  rejectsMax: number
}

/** As it travels between the threads. */
export interface ReadRows extends Omit<ChunkResult, 'names'> {
  names: PackedNames
}

export interface EncodeTask extends Pick<EncodeOptions, 'nowMs' | 'rejectsMax'> {
  kind: RowKindName
  rows: Rows
  names: PackedNames
  series: PackedSeries
}

export function read(task: ReadTask): ReadRows {
  const { chunk, layout } = task
  const kind = rowKindOf(task.kind)
  const readLine: LineReader =
    layout === undefined ? createNdjsonReader(kind.columns) : createCsvReader(layout, kind.columns)
  const check = kind.createCheck(task)
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  const result = readChunk(bytes, { ...task, kind, readLine, check })
  return handOver({ ...result, names: packNames(result.names) }, buffersOf(result.rows))
}

export function encode({ kind, rows, names, series, nowMs, rejectsMax }: EncodeTask): EncodedRows {
  const resolved = unpackSeries(series)
  const result = encodeRows(rowKindOf(kind), rows, { names: unpackNames(names), resolved, nowMs, rejectsMax })
  return handOver(result, [result.records.buffer])
}

/** Gives the buffers away with the result instead of copying them. The pool unwraps what is returned here. */
function handOver<Result extends object>(result: Result, buffers: ArrayBuffer[]): Result {
  const wrapped: unknown = move({ [transferableSymbol]: buffers, [valueSymbol]: result })
  return wrapped as Result
}
