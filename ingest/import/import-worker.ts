/** The thread that decompresses, cuts, checks and encodes bulk bodies. Each body is a task, and several run concurrently. */

import { createHash } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { type ChunkResult, IgnoredFields, readChunk } from '../formats/chunk.ts'
import { createCsvReader, readHeaderAgain } from '../formats/csv.ts'
import { encodeRows, ofResolved } from '../formats/encode.ts'
import {
  arraysOfSightings,
  createResolvedFields,
  type FieldSightings,
  type PackedFields,
  SightingsReader,
} from '../formats/field-sightings.ts'
import { KnownNames } from '../formats/known-names.ts'
import type { Format, LineLimits } from '../formats/lines.ts'
import { SeenRows } from '../formats/merged-rows.ts'
import { NameIndex } from '../formats/name-index.ts'
import { createNdjsonReader } from '../formats/ndjson.ts'
import type { DecimalMark } from '../formats/number.ts'
import type { RowCheckOptions } from '../formats/row-kind.ts'
import { type RowKindName, rowKindOf } from '../formats/row-kinds.ts'
import { columnsOf } from '../formats/rows.ts'
import { BodyFault, type Coding, decoded, tooLarge } from './body-bytes.ts'
import { Abandoned, BodyChannel, type BodyTimes, type ChunkRecords } from './body-channel.ts'
import { type BodyChunk, beginAgain, bodyChunks, withDecimal } from './body-lines.ts'
import {
  arraysOfNames,
  arraysOfSeries,
  learnNames,
  type PackedSeries,
  packNames,
  packTextsOf,
  unpackSeries,
} from './packed-names.ts'

// A bulk body gives way to single readings on a machine with few processors.
lowerThreadPriority('below normal')

export interface BodyTask extends LineLimits, Omit<RowCheckOptions, 'earliestMs' | 'deviceOf'> {
  port: MessagePort
  kind: RowKindName
  format: Format
  /** Decimal mark in CSV. By default the lines decide. */
  decimal: DecimalMark | undefined
  coding: Coding
  /** Size of the uncompressed body. */
  bodyBytesMax: number
  /** Limit of the listed rejects. Others are only counted. */
  rejectsMax: number
  /** True when the main thread can find devices by their known numbers. */
  usesKnownNames: boolean
  /** Prefix of the body in its SHA-256. Without it no digest is computed. */
  digestPrefix: string | undefined
}

/** Shared by the bodies of all senders: the main thread checks the names' devices. */
let knownNames = new KnownNames()

export async function readBody(task: BodyTask): Promise<void> {
  const channel = new BodyChannel(task.port)
  const meter = createMeter(task)
  try {
    await sendRecords(task, channel, meter)
    channel.send({ kind: 'end', digest: meter.digest(), bytes: meter.bytes() })
  } catch (error) {
    if (error instanceof BodyFault) {
      channel.send({ kind: 'failed', code: error.code, reason: error.message, bytes: meter.bytes() })
    } else if (!(error instanceof Abandoned)) {
      throw error
    }
  } finally {
    channel.close()
  }
}

type Meter = ReturnType<typeof createMeter>

/** Counts the bytes of a body, up to its limit, and computes its digest. */
function createMeter({ bodyBytesMax, digestPrefix }: BodyTask) {
  const hash = digestPrefix === undefined ? undefined : createHash('sha256').update(digestPrefix)
  let bytes = 0
  return {
    async *measured(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const piece of body) {
        bytes += piece.length
        if (bytes > bodyBytesMax) throw tooLarge(bodyBytesMax)
        hash?.update(piece)
        yield piece
      }
    },
    bytes: () => bytes,
    digest: () => hash?.digest(),
  }
}

/** Sends a chunk at each request of the main thread. */
async function sendRecords(task: BodyTask, channel: BodyChannel, meter: Meter): Promise<void> {
  const kind = rowKindOf(task.kind)
  const body = meter.measured(decoded(channel.body(), task.coding))
  const chunks = bodyChunks(body, task.format, kind, task)
  const progress = { linesDone: 0, rejectsMax: task.rejectsMax, seen: new SeenRows() }
  const ignored = new IgnoredFields()
  let last: BodyChunk | undefined
  let rest: BodyChunk | undefined
  let isAtHeader = false
  let headers = 0
  try {
    for (;;) {
      await channel.command('next')
      if (isAtHeader && ++headers > headersMax)
        throw new BodyFault('HEADER_INVALID', `it has more than ${headersMax} headers`)
      if (isAtHeader && rest !== undefined) rest = beginAgain(rest, kind, task.lineBytesMax, progress.linesDone + 1)
      const read = rest ?? following(last, (await chunks.next()).value, task)
      if (read === undefined) return
      const next = withDecimal(read, kind.columns, progress.linesDone + read.linesBefore + 1)
      if (next.linesBefore > 0) ignored.addColumns(next.otherColumns)
      const { others, bytes, endsAtHeader, ...encoded } = await encode(task, channel, meter, next, progress)
      last = next
      rest = restOf(next, bytes)
      if (rest === undefined) detachBuffers([next.chunk])
      ignored.add(others)
      progress.linesDone += encoded.lines
      isAtHeader = endsAtHeader
      progress.rejectsMax -= encoded.rejects.length
      const message = { kind: 'records', ...encoded, ignored: ignored.list(), bytes: meter.bytes() } as const
      channel.send(message, [encoded.records.buffer])
    }
  } finally {
    await chunks.return(undefined)
  }
}

/** Each begins a separate chunk. */
const headersMax = 1_000

/** The next chunk, with the layout of the last header. */
function following(last: BodyChunk | undefined, next: BodyChunk | undefined, task: BodyTask): BodyChunk | undefined {
  if (next === undefined) return undefined
  if (last !== undefined) return { ...last, chunk: next.chunk, linesBefore: 0 }
  const { layout } = next
  return { ...next, layout: layout && { ...layout, decimal: task.decimal } }
}

/** The unread rest of a chunk. Undefined when it was read to its end. */
function restOf(chunk: BodyChunk, bytes: number): BodyChunk | undefined {
  if (bytes === chunk.chunk.length) return undefined
  return { ...chunk, chunk: chunk.chunk.subarray(bytes), linesBefore: 0 }
}

interface Progress {
  linesDone: number
  seen: SeenRows
  rejectsMax: number
}

/** Constant when a chunk is read for the second time. */
interface Reading extends Pick<RowCheckOptions, 'earliestMs'> {
  nowMs: number
  sightings?: SightingsReader
  names: NameIndex
  deviceOf?: RowCheckOptions['deviceOf']
}

function readRows(
  task: BodyTask,
  { chunk, layout, linesBefore }: BodyChunk,
  { linesDone, rejectsMax }: Progress,
  { earliestMs, deviceOf, ...reading }: Reading,
): ChunkResult {
  const kind = rowKindOf(task.kind)
  const { known } = reading.names
  const readLine =
    layout === undefined ? createNdjsonReader(kind.columns, known) : createCsvReader(layout, kind.columns, known)
  const check = kind.createCheck({ ...task, earliestMs, deviceOf })
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  const firstLine = linesDone + linesBefore + 1
  const isHeader =
    layout && ((text: string) => readHeaderAgain(text, layout, kind.columns, kind.hasCustom) !== undefined)
  const { lineBytesMax } = task
  return readChunk(bytes, { kind, readLine, check, firstLine, lineBytesMax, rejectsMax, isHeader, ...reading })
}

interface EncodedChunk extends Omit<ChunkRecords, 'ignored'>, Pick<ChunkResult, 'others' | 'endsAtHeader'> {
  /** Bytes of the chunk that were read. */
  bytes: number
}

/**
 * Only the main thread knows the devices and stations, and their fields. Lines that depend on its answer are read again with it.
 * Lines with columns only need no second reading, unless a device lists its metrics.
 */
async function encode(
  task: BodyTask,
  channel: BodyChannel,
  meter: Meter,
  chunk: BodyChunk,
  progress: Progress,
): Promise<EncodedChunk> {
  const kind = rowKindOf(task.kind)
  const times = { ...channel.times }
  const sightings = kind.hasCustom ? new SightingsReader() : undefined
  const names = new NameIndex(task.usesKnownNames ? knownNames : undefined)
  const reading = { ...times, names }
  const first = readRows(task, chunk, progress, sightings === undefined ? reading : { ...reading, sightings })
  const { bytes, endsAtHeader } = first
  const lines = chunk.linesBefore + first.lines
  const { series, fields } = names.count === 0 ? noAnswer : await ask(channel, meter, first, sightings?.result())
  const read = fields === undefined ? first : readAgain(task, chunk, progress, times, first, fields)
  const { others, rejects, rejected, leftOut } = read
  const common = { lines, bytes, endsAtHeader, others }
  if (series === undefined) {
    const none = { records: new Uint8Array(), count: 0, replaced: 0, oldestMs: Number.POSITIVE_INFINITY }
    return { ...common, ...none, rejects, rejected, leftOut }
  }
  const { rejectsMax, seen } = progress
  const resolved = unpackSeries(series, index => names.placeOf(index), names.known)
  learn(names, series)
  detachBuffers(arraysOfSeries(series))
  const encoded = encodeRows(kind, read.rows, { names, resolved, ...channel.times, rejectsMax, seen })
  detachBuffers(columnsOf(read.rows))
  return {
    ...common,
    ...encoded,
    rejects: [...rejects, ...encoded.rejects].sort((a, b) => a.line - b.line).slice(0, rejectsMax),
    rejected: rejected + encoded.rejected,
    leftOut: ofResolved(leftOut, resolved, index => names.textOf(index)),
  }
}

const noAnswer = { series: undefined, fields: undefined }

async function ask(channel: BodyChannel, meter: Meter, { names }: ChunkResult, sightings: FieldSightings | undefined) {
  const packed = packNames(names)
  const arrays = [...arraysOfNames(packed), ...(sightings === undefined ? [] : arraysOfSightings(sightings))]
  const message = { kind: 'names', names: packed, sightings, bytes: meter.bytes() } as const
  channel.send(
    message,
    arrays.map(({ buffer }) => buffer),
  )
  const answer = await channel.command('series', 'texts')
  if (answer.kind === 'series') return answer
  for (const index of answer.indexes) names.forget(index)
  channel.send({ kind: 'texts', names: packTextsOf(names, answer.indexes), bytes: meter.bytes() })
  return await channel.command('series')
}

function learn(names: NameIndex, series: PackedSeries): void {
  // Another body may have replaced the cache meanwhile.
  if (names.known === undefined || names.known !== knownNames) return
  const indexes = names.textIndexes()
  learnNames(
    knownNames,
    indexes.map(index => names.textOf(index)),
    series,
    indexes,
  )
  if (knownNames.isFull()) knownNames = new KnownNames()
}

function readAgain(
  task: BodyTask,
  chunk: BodyChunk,
  progress: Progress,
  times: BodyTimes,
  { names, bytes }: ChunkResult,
  fields: PackedFields,
): ChunkResult {
  const part = { ...chunk, chunk: chunk.chunk.subarray(0, bytes) }
  const { deviceOf } = createResolvedFields(fields)
  names.resume()
  const reading = { ...times, names, deviceOf: (name: string) => deviceOf(names.indexOf([name])) }
  return readRows(task, part, progress, reading)
}
