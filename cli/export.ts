/** `barograph export`: stored readings, in the formats that `barograph import` takes, or as Parquet. */

import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { PassThrough, Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip, createZstdCompress } from 'node:zlib'
import { type Command, Option } from 'commander'
import { type ExportFormat, exportFormats } from '../query/export/export-queries.ts'
import { refusal } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage, messageOf } from './command-error.ts'
import { printableLines } from './output.ts'

interface ExportCommandOptions {
  device?: string[]
  from?: string
  to?: string
  format?: ExportFormat
  output?: string
}

const help = `
CSV and NDJSON are as barograph import takes them, which stores the same readings again: times to the microsecond, all digits
of the values, all metrics of the devices. Parquet is for other programs. The readings are in the order of time. Times are ISO 8601, in UTC unless they have a time zone. A file is complete or
absent; without --output, an exit status other than 0 means that the output is not complete.

Examples:
  barograph export --output 2026.csv.gz --from 2026-01-01 --to 2027-01-01
  barograph export --output 2026.parquet
  barograph export --device porch --device attic --format ndjson | jq .temperature`

export function defineExport(command: Command, { client, streams: { stdout } }: CommandContext): void {
  command
    .option('--device <name...>', 'export these devices only (default: all)')
    .option('--from <time>', 'export readings from this time on')
    .option('--to <time>', 'export readings before this time')
    .addOption(
      new Option('--format <format>', 'default: by the name of the output file, or csv').choices([...exportFormats]),
    )
    .option('--output <file>', 'write to this file instead of standard output; compressed if it ends with .gz or .zst')
    .addHelpText('after', help)
    .action(async (options: ExportCommandOptions) => {
      if (options.output === undefined && options.format === 'parquet' && isTerminal(stdout)) {
        throw new CommandError('a Parquet file is nothing for a terminal; use --output', exitUsage)
      }
      const response = await client.send('GET', `/export?${argumentsOf(options)}`)
      if (!response.ok) throw await refusal(response)
      await download(response, stdout, options.output)
    })
}

function argumentsOf({ device = [], from, to, output = '', format = formatOf(output) }: ExportCommandOptions): string {
  const asked = new URLSearchParams({ format })
  if (from !== undefined) asked.set('from', from)
  if (to !== undefined) asked.set('to', to)
  for (const name of device) asked.append('devices', name)
  return String(asked)
}

function formatOf(output: string): ExportFormat {
  const name = output.replace(/\.(?:gz|zst)$/, '')
  return exportFormats.find(format => name.endsWith(`.${format}`)) ?? 'csv'
}

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

function isTerminal(stream: NodeJS.WritableStream): boolean {
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
