/** `barograph content-files export`: exports all content files as NDJSON; the output file is complete or absent. */

import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type AdminClient, refusal } from './admin-client.ts'
import { CommandError } from './command-error.ts'
import { printableLines } from './output.ts'

export async function exportContentFiles(
  client: AdminClient,
  stdout: NodeJS.WritableStream,
  output: string | undefined,
): Promise<void> {
  const response = await client.send('GET', '/content-files/export')
  if (!response.ok) throw await refusal(response)
  const lines = Readable.fromWeb(response.body ?? new ReadableStream())
  if (output === undefined) await copy(isTerminal(stdout) ? shown(lines) : lines, stdout, { end: false })
  else await copyToFile(lines, output)
}

function isTerminal(stream: NodeJS.WritableStream): boolean {
  return 'isTTY' in stream && stream.isTTY === true
}

/** Still the same JSON, without what a terminal would obey. */
async function* shown(lines: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  for await (const piece of lines) yield printableLines(decoder.decode(piece, { stream: true }))
}

async function copyToFile(lines: Readable, path: string): Promise<void> {
  const unfinished = `${path}.part`
  try {
    await copy(lines, createWriteStream(unfinished), { end: true })
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

async function copy(
  lines: AsyncIterable<Uint8Array | string>,
  to: NodeJS.WritableStream,
  options: { end: boolean },
): Promise<void> {
  try {
    await pipeline(lines, to, options)
  } catch (error) {
    throw new CommandError(`the export was cut off: ${error instanceof Error ? error.message : String(error)}`)
  }
}
