/** Reads files of rows, plain or compressed, and cuts them into batches that fit into one request each. */

import { createReadStream } from 'node:fs'
import { type Duplex, pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { foreignContent, looksLikeNdjson, withoutByteOrderMark } from '../ingest/formats/content.ts'
import { readCsvHeader } from '../ingest/formats/csv.ts'
import type { Format } from '../ingest/formats/line-reader.ts'
import { type Chunk, type LineLimits, wholeLines } from '../ingest/formats/lines.ts'
import { type RowKindName, rowKinds } from '../ingest/formats/row-kinds.ts'
import { CommandError } from './command-error.ts'
import { printable } from './output.ts'

export interface Batch {
  format: Exclude<Format, 'json'>
  /** What is sent: the header of the file if it has one, and then the lines. */
  body: Buffer<ArrayBuffer>
  /** Where in the body the lines begin. */
  linesAt: number
  /** Number of the first of the lines in the file. */
  firstLine: number
  lineCount: number
  /** Bytes of the file, as it is stored, that were read so far. */
  fileBytesRead: number
}

/** As many rejects as the server lists, so a batch of nothing but faults is told line by line. */
const rowsShape = { linesMax: 20_000, chunkBytes: 1 << 20, lineBytesMax: 1 << 16 }

export function shapeOf(kind: RowKindName): BatchShape {
  return { ...rowsShape, content: kind }
}

interface BatchShape extends LineLimits {
  linesMax: number
  /** Of rows, the first bytes tell the format, and a CSV header is checked. */
  content: 'ndjson' | RowKindName
}

/** `-` is the standard input. Rejects with a sentence for a file that has another content. */
export async function* readBatches(file: string, stdin: Readable, shape: BatchShape): AsyncGenerator<Batch> {
  const counter = { bytes: 0 }
  const pieces = counted(file === '-' ? stdin : createReadStream(file), counter)
  let opening: Opening | undefined
  let line = 1
  try {
    for await (const chunk of wholeLines(await decompressed(pieces), shape)) {
      const opened = opening === undefined ? open(file, chunk, shape.content) : { ...opening, lines: chunk }
      if (opening === undefined && opened.format === 'csv') line++
      opening = opened
      for (const { part, lineCount } of partsOf(opened.lines, shape.linesMax)) {
        const body = Buffer.concat([opened.header, part])
        const linesAt = opened.header.length
        yield { format: opened.format, body, linesAt, firstLine: line, lineCount, fileBytesRead: counter.bytes }
        line += lineCount
      }
    }
  } catch (error) {
    throw error instanceof CommandError ? error : unreadable(file, error)
  }
}

interface Opening {
  format: Exclude<Format, 'json'>
  /** Empty for NDJSON. */
  header: Uint8Array
}

const lineFeed = 0x0a

/** The first bytes tell the format: a header does not begin with a brace. */
function open(file: string, chunk: Chunk, content: BatchShape['content']): Opening & { lines: Uint8Array } {
  const lines = withoutByteOrderMark(chunk)
  if (content === 'ndjson' || looksLikeNdjson(lines)) return { format: 'ndjson', header: new Uint8Array(), lines }
  const headerEnd = lines.includes(lineFeed) ? lines.indexOf(lineFeed) + 1 : lines.length
  const header = lines.subarray(0, headerEnd)
  const problem = foreignContent(lines) ?? headerProblem(header, content)
  if (problem !== undefined) throw new CommandError(`${nameOf(file)} cannot be imported: ${printable(problem)}`)
  return { format: 'csv', header, lines: lines.subarray(headerEnd) }
}

/** The server would say the same, but is sent nothing of a file that is a header alone. */
function headerProblem(header: Uint8Array, kind: RowKindName): string | undefined {
  const read = readCsvHeader(Buffer.from(header).toString().trimEnd(), rowKinds[kind].columns)
  return read.ok ? undefined : read.reason
}

function nameOf(file: string): string {
  return file === '-' ? 'the standard input' : printable(file)
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

async function* counted(stream: Readable, counter: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const piece of stream) {
    const bytes: Buffer = piece
    counter.bytes += bytes.length
    yield bytes
  }
}

const magicLength = 4

/** By the first bytes and not by the name, so that a pipe needs no option and a wrong name does no harm. */
async function decompressed(pieces: AsyncGenerator<Buffer>): Promise<AsyncIterable<Uint8Array>> {
  let start = Buffer.alloc(0)
  while (start.length < magicLength) {
    const next = await pieces.next()
    if (next.done === true) break
    start = Buffer.concat([start, next.value])
  }
  const decoder = decoderFor(start)
  const all = joined(start, pieces)
  if (decoder === undefined) return all
  // A fault of the file destroys the decoder, and so reaches whoever reads it.
  pipeline(Readable.from(all), decoder, () => undefined)
  return decoder
}

function decoderFor(start: Buffer): Duplex | undefined {
  if (start.length < magicLength) return undefined
  if (start.readUInt16BE() === 0x1f8b) return createGunzip()
  return start.readUInt32LE() === 0xfd2fb528 ? createZstdDecompress() : undefined
}

async function* joined(start: Buffer, pieces: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield start
  yield* pieces
}

function unreadable(file: string, error: unknown): CommandError {
  const name = nameOf(file)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new CommandError(`file not found: ${name}`)
  if (code === 'EISDIR') return new CommandError(`${name} is a directory; name the files in it`)
  if (code === 'Z_BUF_ERROR') return new CommandError(`${name} is truncated`)
  return new CommandError(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
}
