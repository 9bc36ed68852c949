/** Reads files of rows, plain or compressed, and cuts them into batches that fit into one request each. */

import type { Readable } from 'node:stream'
import {
  foreignContent,
  looksLikeLineProtocol,
  looksLikeNdjson,
  withoutByteOrderMark,
} from '../ingest/formats/content.ts'
import { readCsvHeader } from '../ingest/formats/csv.ts'
import { type Chunk, type LineLimits, wholeLines } from '../ingest/formats/lines.ts'
import { type RowKindName, rowKinds } from '../ingest/formats/row-kinds.ts'
import { CommandError } from './command-error.ts'
import type { Batch } from './import-batch.ts'
import { type ImportSource, nameOf, openSource, unreadable } from './import-source.ts'
import { mappedBatches } from './mapping/mapped-batches.ts'
import { createLineProtocolSource, createTableSource } from './mapping/mapped-lines.ts'
import { isMapped, type MappingOptions, noMapping } from './mapping/mapping-options.ts'
import { printable } from './output.ts'

/** As many rejects as the server lists, so a batch of nothing but faults is told line by line. */
const rowsShape = { linesMax: 20_000, chunkBytes: 1 << 20, lineBytesMax: 1 << 16 }

export function shapeOf(kind: RowKindName, mapping: MappingOptions = noMapping): BatchShape {
  return { ...rowsShape, content: kind, mapping }
}

interface BatchShape extends LineLimits {
  linesMax: number
  /** Of rows, the first bytes tell the format, and a CSV header is checked. */
  content: 'ndjson' | RowKindName
  mapping?: MappingOptions
}

/** `-` is the standard input. Rejects with a sentence for a file that has another content. */
export async function* readBatches(file: string, stdin: Readable, shape: BatchShape): AsyncGenerator<Batch> {
  try {
    const source = await openSource(file, stdin)
    const chunks = wholeLines(source.lines, shape)
    const first = await chunks.next()
    if (first.done === true) return
    const start = withoutByteOrderMark(first.value)
    const all = rejoined(start, chunks)
    const lines = mappedLines(start, shape)
    yield* lines === undefined
      ? plainBatches(file, all, source, shape)
      : mappedBatches(all, lines, source.bytesRead, shape)
  } catch (error) {
    throw error instanceof CommandError ? error : unreadable(file, error)
  }
}

/** How the lines are read here, if the service does not read them as they are. */
function mappedLines(start: Chunk, { content, mapping = noMapping }: BatchShape) {
  if (content !== 'readings') return undefined
  if (looksLikeLineProtocol(start)) return createLineProtocolSource(mapping)
  if (!isMapped(mapping)) return undefined
  if (looksLikeNdjson(start))
    throw new CommandError('columns of JSON cannot be mapped; --map, --preset and --zone are for CSV')
  return createTableSource(mapping)
}

async function* rejoined(first: Chunk, rest: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  yield first
  yield* rest
}

async function* plainBatches(
  file: string,
  chunks: AsyncIterable<Chunk>,
  { bytesRead }: ImportSource,
  shape: BatchShape,
): AsyncGenerator<Batch> {
  let opening: Opening | undefined
  let line = 1
  for await (const chunk of chunks) {
    const opened = opening === undefined ? open(file, chunk, shape.content) : { ...opening, lines: chunk }
    if (opening === undefined && opened.format === 'csv') line++
    opening = opened
    for (const { part, lineCount } of partsOf(opened.lines, shape.linesMax)) {
      const body = Buffer.concat([opened.header, part])
      const linesAt = opened.header.length
      yield { format: opened.format, body, linesAt, firstLine: line, lineCount, fileBytesRead: bytesRead() }
      line += lineCount
    }
  }
}

interface Opening {
  format: Batch['format']
  /** Empty for NDJSON. */
  header: Uint8Array
}

const lineFeed = 0x0a

/** The first bytes tell the format: a header does not begin with a brace. */
function open(file: string, lines: Chunk, content: BatchShape['content']): Opening & { lines: Uint8Array } {
  if (content === 'ndjson' || looksLikeNdjson(lines)) return { format: 'ndjson', header: new Uint8Array(), lines }
  const headerEnd = lines.includes(lineFeed) ? lines.indexOf(lineFeed) + 1 : lines.length
  const header = lines.subarray(0, headerEnd)
  const problem = foreignContent(lines) ?? headerProblem(header, content)
  if (problem !== undefined) throw new CommandError(`${nameOf(file)} cannot be imported: ${printable(problem)}`)
  return { format: 'csv', header, lines: lines.subarray(headerEnd) }
}

/** The server would say the same, but is sent nothing of a file that is a header alone. */
function headerProblem(header: Uint8Array, kind: RowKindName): string | undefined {
  const { columns, hasFurther } = rowKinds[kind]
  const read = readCsvHeader(Buffer.from(header).toString().trimEnd(), columns, hasFurther)
  return read.ok ? undefined : read.reason
}

function* partsOf(lines: Uint8Array, linesMax: number): Generator<{ part: Uint8Array; lineCount: number }> {
  let partStart = 0
  let lineCount = 0
  for (let at = 0; at < lines.length; ) {
    const found = lines.indexOf(lineFeed, at)
    at = found === -1 ? lines.length : found + 1
    lineCount++
    if (lineCount === linesMax || at === lines.length) {
      yield { part: lines.subarray(partStart, at), lineCount }
      partStart = at
      lineCount = 0
    }
  }
}
