/** Writes a long answer of the server to a file or to the standard output. A file is complete or absent. */

import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { PassThrough, Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip, createZstdCompress } from 'node:zlib'
import { CommandError, messageOf } from './command-error.ts'
import { printableLines } from './output.ts'

/** Rejects when the answer breaks off. The end of a file's name says whether it is compressed. */
export async function download(
  response: Response,
  stdout: NodeJS.WritableStream,
  output: string | undefined,
): Promise<void> {
  const body = Readable.fromWeb(response.body ?? new ReadableStream())
  if (output !== undefined) await copyToFile(body, output)
  else await copy(isTerminal(stdout) ? shown(body) : body, new PassThrough(), stdout, { end: false })
}

export function isTerminal(stream: NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true
}

/** Escapes control characters of the terminal. */
async function* shown(lines: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of lines) yield printableLines(decoder.decode(piece, { stream: true }))
}

async function copyToFile(body: Readable, path: string): Promise<void> {
  const unfinished = `${path}.part`
  try {
    await copy(body, encoderFor(path), createWriteStream(unfinished, { flush: true }), { end: true })
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

function encoderFor(path: string): Transform {
  if (path.endsWith('.gz')) return createGzip()
  return path.endsWith('.zst') ? createZstdCompress() : new PassThrough()
}

async function copy(
  body: AsyncIterable<Uint8Array | string>,
  encoder: Transform,
  to: NodeJS.WritableStream,
  options: { end: boolean },
): Promise<void> {
  try {
    await pipeline(body, encoder, to, options)
  } catch (error) {
    throw new CommandError(`the export was cut off: ${messageOf(error)}`)
  }
}
