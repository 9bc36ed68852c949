/** `barograph content-files`: imports, exports, unpublishes and removes content files. */

import { Readable } from 'node:stream'
import type { Command } from 'commander'
import type { z } from 'zod'
import {
  ChangedFiles,
  chunkBytes,
  ImportedFiles,
  lineBytesMax,
  linesMax,
  type Reject,
} from '../query/content/import/answer.ts'
import type { NameAction } from '../query/content/import/files.ts'
import type { ContentFileName } from '../query/content/line.ts'
import { type AdminClient, refusal } from './admin-client.ts'
import { type CommandContext, createInterrupt } from './command-context.ts'
import { CommandError, exitInterrupted, exitRejected, exitUsage } from './command-error.ts'
import { download } from './export.ts'
import type { ImportStreams } from './import.ts'
import { readBatches } from './import-batches.ts'
import {
  createProgress,
  createRejectsFile,
  lineInFile,
  noProgress,
  type Progress,
  type RejectsFile,
} from './import-output.ts'
import { uploadBatch } from './import-upload.ts'
import { printable, printText } from './output.ts'

const exitStatus = `
Exit status: 0 all lines were accepted, ${exitRejected} some were rejected, 1 the command failed.`

const importHelp = `
Each line is a JSON object with the fields of /api/v1/contentfiles/, and optionally:
  created_on   ISO 8601 time with a zone; default: now for a new file, unchanged for an existing one
  published    true or false; default: true
  content      the full text, stored but not shown in the listing
Required fields: key, run_id, run_title, resource_id, offered_by, platform. A line replaces the whole content file; fields
that it omits become empty or the default. A content file is identified by run_id and key, so importing the same lines
again changes nothing. An id in the line is used if it is free. Units, platforms, topics, departments, resources and runs
are shared between content files: the last imported line defines them.
Input may be compressed with gzip or zstd. The maximum length of a line is 4 MiB.

Examples:
  barograph content-files import files.ndjson --rejects rejects.csv
  zcat files.ndjson.gz | barograph content-files import - --json
${exitStatus}`

const exportHelp = `
Writes all content files, including unpublished ones, in the format of import, ordered by id. Importing the output into an
empty database restores the same files and ids. Changes made during the export may or may not be included.

Examples:
  barograph content-files export --output files.ndjson
  barograph content-files export | zstd > files.ndjson.zst`

const nameHelp = (action: NameAction) => `
Select content files by --id, by --run with --key, or by an NDJSON file whose lines have run_id and key, or id, such as an
export. Names that match no file are counted and are not an error, so the command can be run again.

Examples:
  barograph content-files ${action} --id 17400769 17400770
  barograph content-files ${action} --run 5995 --key courses/21m-380/pages/week-1/
  barograph content-files ${action} old.ndjson
${exitStatus}`

export function defineContentFiles(command: Command, { client, streams }: CommandContext): void {
  addLinesOptions(command.command('import').description('add or update content files from NDJSON'))
    .argument('<file...>', 'NDJSON files, or - for standard input')
    .addHelpText('after', importHelp)
    .action(async (files: string[], options: LinesOptions) => {
      const job = {
        path: '/content-files/import',
        shape: ImportedFiles,
        counts: ['added', 'changed'],
        summary: importSummary,
      }
      await sendLines({ files, stdin: streams.stdin }, job, options, { client, streams })
    })
  command
    .command('export')
    .description('export all content files as NDJSON')
    .option('--output <file>', 'write to this file instead of standard output')
    .addHelpText('after', exportHelp)
    .action(async ({ output }: { output?: string }) => {
      const response = await client.send('GET', '/content-files/export')
      if (!response.ok) throw await refusal(response)
      await download(response, streams.stdout, output)
    })
  addNameCommand(command, 'unpublish', 'hide content files from the listing without removing them', { client, streams })
  addNameCommand(command, 'remove', 'remove content files permanently', { client, streams })
}

function addLinesOptions(command: Command): Command {
  return command
    .option('--rejects <file>', 'write each rejected line to this CSV file, with its line number and the reason')
    .option('--json', 'print the result as JSON, without progress')
}

interface NameOptions extends LinesOptions {
  id?: number[]
  run?: number
  key?: string[]
}

interface Ends {
  client: AdminClient
  streams: ImportStreams
}

function addNameCommand(parent: Command, action: NameAction, description: string, ends: Ends): void {
  addLinesOptions(parent.command(action).description(description))
    .argument('[file...]', 'NDJSON files, or - for standard input')
    .option('--id <id...>', 'content file ids', collectId)
    .option('--run <id>', 'run id of the keys', text => collectId(text)[0])
    .option('--key <key...>', 'keys of content files within the run')
    .addHelpText('after', nameHelp(action))
    .action(async (files: string[], options: NameOptions) => {
      const summary = (counts: Record<string, number>) => nameSummary(action, counts)
      const job = { path: `/content-files/${action}`, shape: ChangedFiles, counts: ['changed', 'unknown'], summary }
      await sendLines(sourceOf(files, options, ends.streams), job, options, ends)
    })
}

function sourceOf(files: string[], options: NameOptions, { stdin }: ImportStreams) {
  const names = namesIn(options)
  if (files.length > 0 === names.length > 0) {
    throw new CommandError('select content files by --id, by --run with --key, or by an NDJSON file', exitUsage)
  }
  if (files.length > 0) return { files, stdin }
  return { files: ['-'], stdin: Readable.from([Buffer.from(names.map(name => JSON.stringify(name)).join('\n'))]) }
}

function namesIn({ id = [], run, key = [] }: NameOptions): ContentFileName[] {
  if ((run === undefined) !== (key.length === 0))
    throw new CommandError('--run and --key must be used together', exitUsage)
  const keyed = run === undefined ? [] : key.map(each => ({ run_id: run, key: each }))
  return [...id.map(each => ({ id: each })), ...keyed]
}

function collectId(text: string, earlier: number[] = []): number[] {
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new CommandError(`${text} is not a valid id: it must be a whole number from 1`, exitUsage)
  return [...earlier, Number(text)]
}

function importSummary({ accepted = 0, added = 0, changed = 0 }: Record<string, number>): string {
  return `imported ${accepted} lines: ${added} files added, ${changed} updated`
}

function nameSummary(action: NameAction, { changed = 0, unknown = 0 }: Record<string, number>): string {
  const what = action === 'remove' ? 'removed' : 'unpublished'
  return `${what} ${changed} files${unknown === 0 ? '' : `; ${unknown} names match no file`}`
}

/** Uploads NDJSON files about content files in batches and prints a summary. */
interface LinesOptions {
  rejects?: string
  json?: boolean
}

interface LinesSource {
  /** `-` is the standard input. */
  files: readonly string[]
  stdin: Readable
}

interface LinesJob<Answer> {
  /** The path is below `/api/admin`. */
  path: string
  shape: z.ZodType<Answer>
  /** Names of counts in the answer, besides the counts of lines. */
  counts: readonly string[]
  /** The first line of the text output. */
  summary: (counts: Record<string, number>) => string
}

type LinesAnswer = Pick<ImportedFiles, 'accepted' | 'rejected' | 'rejects'> & { ignored_fields?: string[] }

interface Totals {
  /** The numbers of all answers, added up by their names. */
  counts: Record<string, number>
  /** The first ones. All of them are in the rejects file. */
  rejects: (Reject & { file: string })[]
  ignoredFields: Set<string>
}

const batchShape = { linesMax, chunkBytes, lineBytesMax, content: 'ndjson' } as const
const rejectsKeptMax = 1_000
const rejectsShownMax = 10

async function sendLines<Answer extends LinesAnswer>(
  source: LinesSource,
  job: LinesJob<Answer>,
  options: LinesOptions,
  { client, streams }: { client: AdminClient; streams: ImportStreams },
): Promise<void> {
  const { stdout, stderr } = streams
  const startedMs = Date.now()
  const totals: Totals = { counts: startOf(job), rejects: [], ignoredFields: new Set() }
  const rejectsFile = options.rejects === undefined ? undefined : createRejectsFile(options.rejects)
  const progress = stderr.isTTY && options.json !== true ? createProgress(source.files, stderr, Date.now) : noProgress
  const interrupt = createInterrupt()
  let fault: unknown
  try {
    await sendFiles(source, job, totals, { client, progress, rejectsFile, signal: interrupt.signal })
  } catch (error) {
    // It is thrown after the summary of the accepted batches.
    fault = error
  }
  interrupt.stop()
  progress.stop()
  rejectsFile?.close()
  const seconds = (Date.now() - startedMs) / 1000
  const complete = fault === undefined && !interrupt.signal.aborted
  printText(stdout, options.json === true ? jsonOf(totals, complete, seconds) : textOf(totals, job, options, seconds))
  if (fault !== undefined) throw fault
  if (!complete) throw new CommandError('interrupted; run the same command again to complete it', exitInterrupted)
  const { rejected = 0 } = totals.counts
  if (rejected > 0) throw new CommandError(`rejected lines: ${rejected}`, exitRejected)
}

function startOf({ counts }: Pick<LinesJob<unknown>, 'counts'>): Record<string, number> {
  return Object.fromEntries(['accepted', 'rejected', ...counts].map(name => [name, 0]))
}

interface Sending {
  client: AdminClient
  progress: Progress
  rejectsFile: RejectsFile | undefined
  signal: AbortSignal
}

/** Updates `totals` after each batch, so that the summary is right after a failure, too. */
async function sendFiles<Answer extends LinesAnswer>(
  { files, stdin }: LinesSource,
  { path, shape }: LinesJob<Answer>,
  totals: Totals,
  { client, progress, rejectsFile, signal }: Sending,
): Promise<void> {
  const onRetry = (reason: string, delayMs: number) => progress.note(`${reason}; again in ${delayMs / 1000} s`)
  let earlierBytes = 0
  for (const file of files) {
    let fileBytes = 0
    for await (const batch of readBatches(file, stdin, batchShape)) {
      if (signal.aborted) return
      const answer: Answer = await uploadBatch(batch, { client, path, shape, onRetry })
      count(totals, answer)
      rejectsFile?.add(file, batch, answer.rejects)
      const rejects = answer.rejects.slice(0, rejectsKeptMax - totals.rejects.length)
      totals.rejects.push(...rejects.map(reject => ({ ...reject, file, line: lineInFile(batch, reject.line) })))
      fileBytes = batch.fileBytesRead
      const { accepted = 0, rejected = 0 } = totals.counts
      progress.update(earlierBytes + fileBytes, accepted + rejected)
    }
    earlierBytes += fileBytes
  }
}

function count({ counts, ignoredFields }: Totals, answer: LinesAnswer): void {
  for (const [name, value] of Object.entries(answer)) {
    if (typeof value === 'number') counts[name] = (counts[name] ?? 0) + value
  }
  for (const field of answer.ignored_fields ?? []) ignoredFields.add(field)
}

function jsonOf({ counts, rejects, ignoredFields }: Totals, complete: boolean, seconds: number): string {
  const rejects_truncated = rejects.length < (counts['rejected'] ?? 0)
  const ignored_fields = [...ignoredFields]
  return `${JSON.stringify({ complete, ...counts, rejects, rejects_truncated, ignored_fields, seconds })}\n`
}

function textOf<Answer>(
  { counts, rejects, ignoredFields }: Totals,
  { summary }: LinesJob<Answer>,
  options: LinesOptions,
  seconds: number,
): string {
  const { accepted = 0, rejected = 0 } = counts
  const rate = Math.round((accepted + rejected) / Math.max(0.001, seconds))
  const shown = rejects.slice(0, rejectsShownMax).map(({ file, line, reason }) => `  ${file}:${line}: ${reason}`)
  const where =
    options.rejects === undefined ? 'use --rejects <file> to get all of them' : `all are in ${options.rejects}`
  const lines = [
    `${summary(counts)}; rejected ${rejected} lines, in ${seconds.toFixed(1)} s (${rate} lines/s)`,
    ...(ignoredFields.size > 0 ? [`ignored fields: ${[...ignoredFields].join(', ')}`] : []),
    ...shown,
    ...(rejected > shown.length ? [`  and ${rejected - shown.length} more; ${where}`] : []),
  ]
  return lines.map(line => `${printable(line)}\n`).join('')
}
