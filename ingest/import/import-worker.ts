/** The thread that decompresses, cuts, checks and encodes bulk bodies. Each body is a task, and several run side by side. */

import { createHash } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import { lowerThreadPriority } from '../../store/thread-priority.ts'
import { type ChunkResult, readChunk } from '../formats/chunk.ts'
import { createCsvReader } from '../formats/csv.ts'
import { encodeRows } from '../formats/encode.ts'
import type { Format } from '../formats/line-reader.ts'
import type { LineLimits } from '../formats/lines.ts'
import { createNdjsonReader } from '../formats/ndjson.ts'
import type { RowCheckOptions } from '../formats/row-kind.ts'
import { type RowKindName, rowKindOf } from '../formats/row-kinds.ts'
import { Abandoned, BodyChannel } from './body-channel.ts'
import { BodyFault, tooLarge } from './body-fault.ts'
import { type BodyChunk, bodyChunks } from './body-lines.ts'
import type { ChunkRecords } from './body-messages.ts'
import { type Coding, decoded } from './content-coding.ts'
import { packNames } from './packed-names.ts'
import { unpackSeries } from './packed-series.ts'

// On a machine with few processors a bulk body gives way to single readings.
lowerThreadPriority('below normal')

export interface BodyTask extends LineLimits, Omit<RowCheckOptions, 'earliestMs'> {
  port: MessagePort
  kind: RowKindName
  format: Format
  coding: Coding
  /** Of the body without its compression. */
  bodyBytesMax: number
  /** Rejects that are listed; more are only counted. */
  rejectsMax: number
  /** What a SHA-256 of the body begins with; without it none is made. */
  digestPrefix: string | undefined
}

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

/** Counts the bytes of a body, up to its bound, and sums them up. */
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

/** A chunk each time that main asks for one. */
async function sendRecords(task: BodyTask, channel: BodyChannel, meter: Meter): Promise<void> {
  const { columns } = rowKindOf(task.kind)
  const body = meter.measured(decoded(channel.body(), task.coding))
  const chunks = bodyChunks(body, task.format, columns, task)
  let linesDone = 0
  let rejectsMax = task.rejectsMax
  try {
    for (;;) {
      await channel.command('next')
      const next = await chunks.next()
      if (next.done === true) return
      const { linesBefore, ignoredColumns } = next.value
      const firstLine = linesDone + linesBefore + 1
      const read = readRows(task, channel, next.value, { firstLine, rejectsMax })
      const encoded = await encode(task, channel, meter, read, rejectsMax)
      const lines = linesBefore + read.lines
      linesDone += lines
      rejectsMax -= encoded.rejects.length
      const message = { kind: 'records', ...encoded, lines, ignoredColumns, bytes: meter.bytes() } as const
      channel.send(message, [encoded.records.buffer])
    }
  } finally {
    await chunks.return(undefined)
  }
}

function readRows(
  task: BodyTask,
  { times }: BodyChannel,
  { chunk, layout }: BodyChunk,
  { firstLine, rejectsMax }: { firstLine: number; rejectsMax: number },
): ChunkResult {
  const kind = rowKindOf(task.kind)
  const readLine = layout === undefined ? createNdjsonReader(kind.columns) : createCsvReader(layout, kind.columns)
  const check = kind.createCheck({ ...task, earliestMs: times.earliestMs })
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
  const { nowMs } = times
  return readChunk(bytes, { kind, readLine, check, firstLine, nowMs, lineBytesMax: task.lineBytesMax, rejectsMax })
}

type EncodedChunk = Omit<ChunkRecords, 'lines' | 'ignoredColumns'>

/** Only main knows which devices and stations there are. */
async function encode(
  task: BodyTask,
  channel: BodyChannel,
  meter: Meter,
  { rows, names, rejects, rejected }: ChunkResult,
  rejectsMax: number,
): Promise<EncodedChunk> {
  if (names.length === 0)
    return { records: new Uint8Array(), count: 0, oldestMs: Number.POSITIVE_INFINITY, rejects, rejected }
  channel.send({ kind: 'names', names: packNames(names), bytes: meter.bytes() })
  const resolved = unpackSeries((await channel.command('series')).series)
  const encoded = encodeRows(rowKindOf(task.kind), rows, { names, resolved, ...channel.times, rejectsMax })
  return {
    ...encoded,
    rejects: [...rejects, ...encoded.rejects].sort((a, b) => a.line - b.line).slice(0, rejectsMax),
    rejected: rejected + encoded.rejected,
  }
}
