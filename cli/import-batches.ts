/** Reads files of rows, plain or compressed, and cuts them into batches that fit into one request each. */

import type { Readable } from 'node:stream'
import {
  foreignContent,
  looksLikeLineProtocol,
  looksLikeNdjson,
  withoutByteOrderMark,
} from '../ingest/formats/content.ts'
import { type CsvLayout, readCsvHeader, readHeaderAgain } from '../ingest/formats/csv.ts'
import { DecimalSurvey, noteDecimals } from '../ingest/formats/decimal-survey.ts'
import { type Chunk, type LineLimits, wholeLines } from '../ingest/formats/lines.ts'
import type { DecimalMark } from '../ingest/formats/number.ts'
import { type RowKindName, rowKinds } from '../ingest/formats/row-kinds.ts'
import { CommandError, exitUsage } from './command-error.ts'
import type { Batch } from './import-batch.ts'
import { type ImportSource, nameOf, openSource, unreadable } from './import-source.ts'
import { mappedBatches } from './mapping/mapped-batches.ts'
import { createLineProtocolSource, createTableSource, surveyTable } from './mapping/mapped-lines.ts'
import { isMapped, type MappingOptions, noMapping } from './mapping/mapping-options.ts'
import { printable } from './output.ts'

/** The server lists as many rejects, so it reports each line even if all are faulty. */
const rowsShape = { linesMax: 20_000, chunkBytes: 1 << 20, lineBytesMax: 1 << 16 }

export function shapeOf(kind: RowKindName, mapping: MappingOptions = noMapping): BatchShape {
  return { ...rowsShape, content: kind, mapping }
}

interface BatchShape extends LineLimits {
  linesMax: number
  /** The first bytes of rows determine the format, and a CSV header is checked. */
  content: 'ndjson' | RowKindName
  mapping?: MappingOptions
}

/** `-` is the standard input. Rejects with a sentence for a file that has another content, or that can be read in two ways. */
export async function* readBatches(file: string, stdin: Readable, shape: BatchShape): AsyncGenerator<Batch> {
  try {
    const source = await openSource(file, stdin)
    const chunks = await chunksOf(source, shape)
    if (chunks.start.length === 0) return source.once()
    const { mapping = noMapping } = shape
    switch (readerFor(file, chunks.start, shape)) {
      case 'line protocol':
        source.once()
        return yield* mappedBatches(chunks.all, createLineProtocolSource(mapping), source.bytesRead, shape)
      case 'table': {
        const settled = await surveyTable(chunks.all, mapping).catch(error => Promise.reject(named(file, error)))
        const again = await source.again()
        const lines = createTableSource(mapping, settled)
        return yield* mappedBatches((await chunksOf(again, shape)).all, lines, again.bytesRead, shape)
      }
      case 'unchanged':
        return yield* unchangedBatches(file, source, chunks, shape)
    }
  } catch (error) {
    throw error instanceof CommandError ? error : unreadable(file, error)
  }
}

/** Adds the file's name if there are several files. */
function named(file: string, error: unknown): unknown {
  return error instanceof CommandError ? new CommandError(`${nameOf(file)}: ${error.message}`, error.exitStatus) : error
}

interface Chunks {
  start: Chunk
  /** `start` and all others. */
  all: AsyncIterable<Chunk>
}

async function chunksOf({ lines }: ImportSource, shape: BatchShape): Promise<Chunks> {
  const chunks = wholeLines(lines, shape)
  const first = await chunks.next()
  const start = first.done === true ? new Uint8Array() : withoutByteOrderMark(first.value)
  return { start, all: rejoined(start, chunks) }
}

/** The service reads its own layout and NDJSON as they are. */
function readerFor(file: string, start: Chunk, { content, mapping = noMapping }: BatchShape) {
  if (content !== 'readings') return 'unchanged'
  if (looksLikeLineProtocol(start)) return 'line protocol'
  if (!isMapped(mapping)) return 'unchanged'
  if (looksLikeNdjson(start))
    throw new CommandError('columns of JSON cannot be mapped; --map, --preset, --unit and --zone are for CSV')
  checkContent(file, foreignContent(start))
  return 'table'
}

async function* rejoined(first: Chunk, rest: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  yield first
  yield* rest
}

async function* unchangedBatches(
  file: string,
  source: ImportSource,
  { start, all }: Chunks,
  shape: BatchShape,
): AsyncGenerator<Batch> {
  const { content } = shape
  const given = shape.mapping?.decimal
  const opened = open(file, start, content)
  if (content === 'ndjson' || opened.layout === undefined || opened.layout.separator === ',' || given !== undefined) {
    source.once()
    return yield* plainBatches(file, all, source, shape, given)
  }
  const decimal = await surveyDecimal(file, all, content)
  const again = await source.again()
  yield* plainBatches(file, (await chunksOf(again, shape)).all, again, shape, decimal)
}

/** All lines of the file decide. */
async function surveyDecimal(
  file: string,
  chunks: AsyncIterable<Chunk>,
  content: RowKindName,
): Promise<DecimalMark | undefined> {
  const survey = new DecimalSurvey()
  const parts = new PlainParts(file, content)
  for await (const chunk of chunks) {
    for (const { layout, lines, firstLine } of parts.of(chunk)) {
      if (layout !== undefined) noteDecimals(survey, lines, layout, rowKinds[content].columns, firstLine)
    }
  }
  const settled = survey.settle(false)
  if (settled.ok) return settled.mark
  const question = `${nameOf(file)}: ${settled.reason}; say which it is with --decimal comma or --decimal point`
  throw new CommandError(printable(question), exitUsage)
}

async function* plainBatches(
  file: string,
  chunks: AsyncIterable<Chunk>,
  { bytesRead }: ImportSource,
  shape: BatchShape,
  decimal: DecimalMark | undefined,
): AsyncGenerator<Batch> {
  const parts = new PlainParts(file, shape.content)
  for await (const chunk of chunks) {
    for (const { format, header, lines, firstLine: start } of parts.of(chunk)) {
      let firstLine = start
      for (const { part, lineCount } of partsOf(lines, shape.linesMax)) {
        const body = Buffer.concat([header, part])
        const linesAt = header.length
        yield { format, body, linesAt, firstLine, lineCount, fileBytesRead: bytesRead(), decimal }
        firstLine += lineCount
      }
    }
  }
}

interface Opening {
  format: Batch['format']
  /** Empty for NDJSON. */
  header: Uint8Array
  layout: CsvLayout | undefined
}

interface PlainPart extends Opening {
  lines: Uint8Array
  /** Its number in the file. */
  firstLine: number
}

/** Cuts chunks where a header follows: files that were put together have several. */
class PlainParts {
  readonly #file: string
  readonly #content: BatchShape['content']
  #opening: Opening | undefined
  #line = 1

  constructor(file: string, content: BatchShape['content']) {
    this.#file = file
    this.#content = content
  }

  *of(chunk: Chunk): Generator<PlainPart> {
    let lines: Uint8Array = chunk
    if (this.#opening === undefined) {
      const { lines: rest, ...opening } = open(this.#file, chunk, this.#content)
      if (opening.layout !== undefined) this.#line++
      this.#opening = opening
      lines = rest
    }
    const { layout } = this.#opening
    const content = this.#content
    const headers = layout === undefined || content === 'ndjson' ? [] : headersIn(lines, layout, content)
    let from = 0
    for (const { start, end, text } of headers) {
      yield* this.#part(lines.subarray(from, start))
      this.#opening = { format: 'csv', header: lines.subarray(start, end), layout: this.#layoutAgain(text) }
      this.#line++
      from = end
    }
    yield* this.#part(lines.subarray(from))
  }

  *#part(lines: Uint8Array): Generator<PlainPart> {
    if (lines.length === 0 || this.#opening === undefined) return
    yield { ...this.#opening, lines, firstLine: this.#line }
    this.#line += linesIn(lines)
  }

  #layoutAgain(text: string): CsvLayout {
    const { columns, hasCustom } = rowKinds[this.#content as RowKindName]
    const read = readCsvHeader(text, columns, hasCustom)
    if (read.ok) return read.layout
    const place = `${nameOf(this.#file)}: line ${this.#line} is a header again, but cannot be read`
    throw new CommandError(printable(`${place}: ${read.reason}; import the lines from there on as another file`))
  }
}

/** Lines that are headers again, by the names of their columns. */
function* headersIn(
  lines: Uint8Array,
  layout: CsvLayout,
  content: RowKindName,
): Generator<{ start: number; end: number; text: string }> {
  const { columns, hasCustom } = rowKinds[content]
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length)
  const text = bytes.toString('latin1').toLowerCase()
  const names = columns.flatMap(({ name, cell }) => (cell === 'text' ? [] : [name]))
  const starts = new Set(names.flatMap(name => [...linesWith(text, name)]))
  for (const start of [...starts].sort((a, b) => a - b)) {
    const found = bytes.indexOf(lineFeed, start)
    const end = found === -1 ? bytes.length : found + 1
    const line = bytes.toString('utf8', start, end).trimEnd()
    if (readHeaderAgain(line, layout, columns, hasCustom) !== undefined) yield { start, end, text: line }
  }
}

function* linesWith(text: string, name: string): Generator<number> {
  for (let at = text.indexOf(name); at !== -1; ) {
    yield text.lastIndexOf('\n', at) + 1
    const end = text.indexOf('\n', at)
    at = end === -1 ? -1 : text.indexOf(name, end)
  }
}

function linesIn(lines: Uint8Array): number {
  let count = 0
  for (let at = 0; at < lines.length; count++) {
    const found = lines.indexOf(lineFeed, at)
    at = found === -1 ? lines.length : found + 1
  }
  return count
}

const lineFeed = 0x0a

/** The first bytes determine the format, because a CSV header does not begin with a brace. */
function open(file: string, lines: Chunk, content: BatchShape['content']): Opening & { lines: Uint8Array } {
  if (content === 'ndjson' || looksLikeNdjson(lines))
    return { format: 'ndjson', header: new Uint8Array(), layout: undefined, lines }
  const headerEnd = lines.includes(lineFeed) ? lines.indexOf(lineFeed) + 1 : lines.length
  const header = lines.subarray(0, headerEnd)
  const read = readHeader(header, content)
  const problem = foreignContent(lines) ?? (read.ok ? undefined : read.reason)
  checkContent(file, problem)
  return { format: 'csv', header, layout: read.ok ? read.layout : undefined, lines: lines.subarray(headerEnd) }
}

function checkContent(file: string, problem: string | undefined): void {
  if (problem !== undefined) throw new CommandError(`${nameOf(file)} cannot be imported: ${printable(problem)}`)
}

/** The server would say the same, but is sent nothing of a file that is a header alone. */
function readHeader(header: Uint8Array, kind: RowKindName) {
  const { columns, hasCustom } = rowKinds[kind]
  return readCsvHeader(Buffer.from(header).toString().trimEnd(), columns, hasCustom)
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
