/** The bytes of a file that is imported: whatever it is compressed with, and a JSON array as lines. */

import { randomUUID } from 'node:crypto'
import { closeSync, createReadStream, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Duplex, pipeline, Readable } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { arrayBody } from '../ingest/import/array-body.ts'
import { bug } from '../store/limits/bug.ts'
import { CommandError, messageOf } from './command-error.ts'
import { printable } from './output.ts'

export interface ImportSource {
  lines: AsyncIterable<Uint8Array>
  /** The bytes read of the stored file so far. */
  bytesRead(): number
  /** The file from its beginning, when all lines were read. */
  again(): Promise<ImportSource>
  /** The file is not read again. */
  once(): void
}

/** `-` is the standard input. A pipe is copied to a temporary file until it is known that it is not read again. */
export async function openSource(file: string, stdin: Readable): Promise<ImportSource> {
  const open = (stream: Readable): Promise<ImportSource> =>
    sourceOf(stream, async () => await open(createReadStream(file)))
  if (file !== '-' && statSync(file, { throwIfNoEntry: false })?.isFile() !== false)
    return await open(createReadStream(file))
  const spool = createSpool()
  try {
    const pipe = file === '-' ? stdin : createReadStream(file)
    const source = await sourceOf(spool.copied(pipe), async () => await sourceOf(spool.read()))
    return { ...source, once: spool.stop }
  } catch (error) {
    spool.stop()
    throw error
  }
}

async function sourceOf(stream: AsyncIterable<Buffer>, again?: ImportSource['again']): Promise<ImportSource> {
  const counter = { bytes: 0 }
  const lines = await asLines(await decompressed(counted(stream, counter)))
  const readTwice = () => Promise.reject(bug('a copy of a pipe is read twice'))
  return { lines, bytesRead: () => counter.bytes, again: again ?? readTwice, once: () => undefined }
}

/** A file without a name, so nothing of it is left when the process ends. */
function createSpool() {
  const path = join(tmpdir(), `barograph-import-${randomUUID()}`)
  const descriptor = openSync(path, 'wx+', 0o600)
  rmSync(path)
  let isCopying = true

  function write(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) from += writeSync(descriptor, piece, from)
  }

  return {
    async *copied(stream: Readable): AsyncGenerator<Buffer> {
      for await (const piece of stream) {
        if (isCopying) write(piece)
        yield piece
      }
    },
    /** Closes the file at its end. */
    read(): Readable {
      isCopying = false
      return createReadStream('', { fd: descriptor, start: 0 })
    },
    stop(): void {
      if (isCopying) closeSync(descriptor)
      isCopying = false
    },
  }
}

export function nameOf(file: string): string {
  return file === '-' ? 'the standard input' : printable(file)
}

/** The sentence for an error while reading a file. */
export function unreadable(file: string, error: unknown): CommandError {
  const name = nameOf(file)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new CommandError(`file not found: ${name}`)
  if (code === 'EISDIR') return new CommandError(`${name} is a directory; name the files in it`)
  if (code === 'ENOSPC')
    return new CommandError(`${tmpdir()} has no room for a copy of ${name}; save it as a file first`)
  if (code === 'Z_BUF_ERROR') return new CommandError(`${name} is truncated`)
  return new CommandError(`${name} cannot be read: ${messageOf(error)}`)
}

async function* counted(stream: AsyncIterable<Buffer>, counter: { bytes: number }): AsyncGenerator<Buffer> {
  for await (const piece of stream) {
    counter.bytes += piece.length
    yield piece
  }
}

const magicLength = 4

/** The first bytes decide and not the name, so that a pipe needs no option and a wrong name does no harm. */
async function decompressed(pieces: AsyncGenerator<Buffer>): Promise<AsyncIterable<Uint8Array>> {
  const { start, all } = await startOf(pieces, bytes => bytes.length >= magicLength)
  const decoder = decoderFor(start)
  if (decoder === undefined) return all
  // A fault of the file destroys the decoder, so its reader gets the error.
  pipeline(Readable.from(all), decoder, () => undefined)
  return decoder
}

function decoderFor(start: Buffer): Duplex | undefined {
  if (start.length < magicLength) return undefined
  if (start.readUInt16BE() === 0x1f8b) return createGunzip()
  return start.readUInt32LE() === 0xfd2fb528 ? createZstdDecompress() : undefined
}

const bracket = 0x5b
const isMark = (byte: number) => byte > 0x20 && !byteOrderMark.includes(byte)
const byteOrderMark = [0xef, 0xbb, 0xbf]

async function asLines(pieces: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const { start, all } = await startOf(pieces, bytes => bytes.some(isMark))
  return start.find(isMark) === bracket ? arrayBody(all) : all
}

/** Reads pieces until the start is long enough. `all` has the start and the rest. */
async function startOf(
  pieces: AsyncIterable<Uint8Array>,
  isEnough: (start: Buffer) => boolean,
): Promise<{ start: Buffer; all: AsyncGenerator<Buffer> }> {
  const iterator = pieces[Symbol.asyncIterator]()
  let start = Buffer.alloc(0)
  while (!isEnough(start) && start.length < startBytesMax) {
    const next = await iterator.next()
    if (next.done === true) break
    start = Buffer.concat([start, next.value])
  }
  async function* all(): AsyncGenerator<Buffer> {
    yield start
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next())
      yield Buffer.from(next.value)
  }
  return { start, all: all() }
}

/** A file of blanks. */
const startBytesMax = 64 * 1024
