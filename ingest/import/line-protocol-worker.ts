/** The thread that reads bodies of line protocol. Between two calls it keeps its cache of names, but no bodies. */

import { threadId } from 'node:worker_threads'
import { gunzipSync } from 'node:zlib'
import { move, transferableSymbol, valueSymbol } from 'piscina'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import {
  arraysOfSightings,
  createResolvedFields,
  type FieldSightings,
  type PackedFields,
  type SightingLimits,
  SightingsReader,
} from '../formats/field-sightings.ts'
import { KnownLines } from '../formats/known-names.ts'
import {
  type LineProtocolOptions,
  type LineProtocolResult,
  readLineProtocol,
  receiptTimeMs,
} from '../formats/line-protocol.ts'
import type { Reject } from '../formats/reject.ts'
import { readingRows } from '../formats/row-kinds.ts'
import { buffersOf, columnsOf, customBytesOf, customOf, type Rows } from '../formats/rows.ts'
import { markFineTime } from '../journal/record.ts'
import { type DeviceRef, readingLength, writeReading } from '../readings-table.ts'
import { type RemoteBody, type RemoteForm, readRemoteBody } from '../remote/remote-body.ts'
import type { SampledLines, SampleOptions } from '../remote/sample-lines.ts'
import {
  arraysOfNames,
  arraysOfSeries,
  learnNames,
  type PackedNames,
  type PackedSeries,
  packNames,
  textIndexes,
  unpackNames,
  unpackSeries,
} from './packed-names.ts'

// A bulk body gives way to single readings on a machine with few processors.
lowerThreadPriority('below normal')

export interface ReadLinesTask extends Omit<LineProtocolOptions, 'deviceOf' | 'sightings' | 'knownLines'> {
  body: Uint8Array<ArrayBuffer>
  isGzip: boolean
  /** Set for a body of a remote writer, which becomes lines. */
  remote?: ({ form: RemoteForm } & Pick<SampleOptions, 'metrics' | 'registered'>) | undefined
  /** Size of the uncompressed body. */
  bodyBytesMax: number
  /** A body that is read again has its resolved devices and their fields. */
  fields?: PackedFields | undefined
  /** All names are passed as texts. */
  isInTexts: boolean
  /** Places of names that were passed as numbers before: their devices have changed. */
  changed?: { places: readonly number[]; generation: string } | undefined
}

/** `bytes`: size of the uncompressed body. */
export type ReadLines = { bytes: number } /** The body as it was sent, to read it again. */ & (
  | ({
      kind: 'read'
      body: Uint8Array<ArrayBuffer>
      sightings: FieldSightings
      names: PackedNames
      /** Generation of the thread's cache. */
      generation: string
      /** Parts of histograms and summaries of a remote writer. */
      partsIgnored: number
    } & Omit<LineProtocolResult, 'names'>)
  | { kind: 'too long' }
  | { kind: 'broken'; reason?: string }
)

export interface EncodeLinesTask {
  rows: Rows
  /** The names from `read`. */
  names: PackedNames
  generation: string
  /** The series of the names. Rows of a name without a device are rejected. */
  series: PackedSeries
  /** Time of rows without a time. */
  receiptUs: number
  /** Rows before this time have expired since they were read. */
  earliestMs: number | undefined
  /** Limit of the listed ones. */
  rejectsMax: number
}

export interface EncodedLines {
  records: Uint8Array<ArrayBuffer>
  count: number
  /** The first omitted rows: the line, and the index of the name. */
  expired: { line: number; name: number }[]
  expiredCount: number
}

/** The cache that the rows refer to was dropped, so the rows are returned. */
export interface ForgottenNames {
  kind: 'forgotten'
  rows: Rows
}

let known: { lines: KnownLines; of: string; generation: string } | undefined
let generations = 0

function knownOf(names: LineProtocolOptions['names']): NonNullable<typeof known> {
  const of = JSON.stringify(names)
  if (known === undefined || known.of !== of || known.lines.isFull()) {
    // A different thread may have read the body whose rows this one encodes.
    known = { lines: new KnownLines(names), of, generation: `${threadId} ${++generations}` }
  }
  return known
}

/** The main thread resolves all of them in a few turns. */
const sightingLimits: SightingLimits = { pairsMax: 50_000, fieldsMax: 20_000 }

export function read({ fields, isInTexts, changed, ...task }: ReadLinesTask): ReadLines {
  const sent = plainBody(task)
  if ('kind' in sent) return sent
  const sampled = task.remote && sampledBody(sent, task.remote, task)
  if (sampled !== undefined && sampled.kind !== 'sampled') return sampled
  const body = sampled?.lines ?? sent
  const sightings = new SightingsReader(sightingLimits)
  const resolved = fields === undefined ? { sightings } : createResolvedFields(fields)
  const { lines, generation } = knownOf(task.names)
  if (changed?.generation === generation) for (const place of changed.places) lines.names.forget(place)
  const result = readLineProtocol(body, { ...task, ...resolved, knownLines: isInTexts ? undefined : lines })
  const bytes = sampled?.bytes ?? body.length
  if (result.isTooLong) return { kind: 'too long', bytes }
  const names = packNames(result.names)
  const found = { body: task.body, sightings: sightings.result(), generation }
  const rejects = withSampled(result, sampled)
  const read = { kind: 'read', bytes, ...found, ...result, ...rejects, names } as const
  const arrays = [...arraysOfNames(names), ...arraysOfSightings(found.sightings), result.lineCounts]
  return handOver(read, [...buffersOf(result.rows), ...arrays.map(({ buffer }) => buffer), task.body.buffer])
}

function sampledBody(
  sent: Buffer,
  { form, ...known }: NonNullable<ReadLinesTask['remote']>,
  { bodyBytesMax, deviceDefault, rejectsMax }: Pick<ReadLinesTask, 'bodyBytesMax' | 'deviceDefault' | 'rejectsMax'>,
): RemoteBody {
  return readRemoteBody(form, sent, bodyBytesMax, { ...known, deviceDefault, rejectsMax })
}

/** Adds the samples that became no lines. */
function withSampled(
  { points, rejects, rejected }: LineProtocolResult,
  sampled: SampledLines | undefined,
): Pick<LineProtocolResult, 'points' | 'rejects' | 'rejected'> & { partsIgnored: number } {
  if (sampled === undefined) return { points, rejects, rejected, partsIgnored: 0 }
  const named = (reject: Reject): Reject => {
    const device = reject.device ?? sampled.deviceOfLine(reject.line)
    return device === undefined ? reject : { ...reject, device }
  }
  return {
    points: points + sampled.rejected,
    rejects: [...sampled.rejects, ...rejects.map(named)],
    rejected: rejected + sampled.rejected,
    partsIgnored: sampled.ignored,
  }
}

/** Maximum ratio of deflate, to bound the cost of a broken body. */
const compressionMax = 1032

type SentBody = Pick<ReadLinesTask, 'body' | 'isGzip' | 'bodyBytesMax'>

function plainBody({ body, isGzip, bodyBytesMax }: SentBody): Buffer | Exclude<ReadLines, { kind: 'read' }> {
  if (!isGzip) return Buffer.from(body.buffer, body.byteOffset, body.length)
  try {
    return gunzipSync(body, { maxOutputLength: bodyBytesMax })
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    const bytes = Math.min(bodyBytesMax, body.length * compressionMax)
    return { kind: isTooLong ? 'too long' : 'broken', bytes }
  }
}

export function encode(task: EncodeLinesTask): EncodedLines | ForgottenNames {
  const { rows } = task
  const devices = devicesOf(task)
  detachBuffers([...arraysOfNames(task.names), ...arraysOfSeries(task.series)])
  if (devices === undefined) return handOver({ kind: 'forgotten', rows }, buffersOf(rows))
  const records = new Uint8Array(recordsLength(rows, devices))
  const encoded: EncodedLines = { records, count: 0, expired: [], expiredCount: 0 }
  const length = writeRecords(task, devices, encoded)
  detachBuffers(columnsOf(rows))
  if (length < records.length) encoded.records = records.slice(0, length)
  return handOver(encoded, [encoded.records.buffer])
}

type Devices = readonly (DeviceRef | undefined)[]

/** The index is the name's. Undefined where the cache was dropped. Adds new names. */
function devicesOf({ names, generation, series }: EncodeLinesTask): Devices | undefined {
  const isKnown = known !== undefined && known.generation === generation
  if (names.known !== undefined && !isKnown) return undefined
  const lines = isKnown ? known?.lines : undefined
  const resolved = unpackSeries(series, index => names.known?.places[index] ?? -1, lines?.names)
  if (lines !== undefined) {
    const texts = unpackNames(names).map(([name = '']) => name)
    learnNames(lines.names, texts, series, textIndexes(names))
  }
  return resolved.map(each => ('number' in each ? each : undefined))
}

/** Returns the length of the records. */
function writeRecords(task: EncodeLinesTask, devices: Devices, encoded: EncodedLines): number {
  const { rows, receiptUs, earliestMs = Number.NEGATIVE_INFINITY, rejectsMax } = task
  const view = new DataView(encoded.records.buffer)
  const reading = readingRows.createValues(0)
  let offset = 0
  for (let row = 0; row < rows.count; row++) {
    const name = rows.names[row] as number
    const device = devices[name]
    if (device === undefined) continue
    const timeMs = rows.timesMs[row] as number
    if (timeMs < earliestMs && timeMs !== receiptTimeMs) {
      if (encoded.expiredCount++ < rejectsMax) encoded.expired.push({ line: rows.lines[row] as number, name })
      continue
    }
    readingRows.take(rows.values, row * readingRows.valuesPerRow, timeMs, reading)
    if (rows.custom !== undefined) reading.custom = customOf(rows.custom, row)
    // A time may have microseconds as a fraction.
    const timeUs = timeMs === receiptTimeMs ? receiptUs : Math.round(timeMs * 1000)
    // The journal chooses the lane.
    const next = writeReading(view, offset, device, timeUs, false, reading)
    markIfFine(view, offset, timeMs)
    offset = next
    encoded.count++
  }
  return offset
}

/** Marks a sender's time with microseconds. */
function markIfFine(view: DataView, offset: number, timeMs: number): void {
  if (!Number.isInteger(timeMs)) markFineTime(view, offset)
}

function recordsLength(rows: Rows, devices: Devices): number {
  let length = rows.custom === undefined ? 0 : customBytesOf(rows.custom, rows.count)
  for (let row = 0; row < rows.count; row++) {
    const device = devices[rows.names[row] as number]
    if (device !== undefined) length += readingLength(device)
  }
  return length
}

/** Transfers the buffers with the result instead of copying them. The pool unwraps the returned object. */
function handOver<Result extends object>(result: Result, buffers: ArrayBuffer[]): Result {
  const wrapped: unknown = move({ [transferableSymbol]: buffers, [valueSymbol]: result })
  return wrapped as Result
}
