/** Uploads NDJSON files about content files in batches and prints a summary. */

import type { Readable } from 'node:stream'
import type { z } from 'zod'
import { chunkBytes, type ImportedFiles, lineBytesMax, linesMax, type Reject } from '../query/content/import/answer.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError, exitInterrupted, exitRejected } from './command-error.ts'
import type { ImportStreams } from './import.ts'
import { readBatches } from './import-batches.ts'
import { createProgress, noProgress, type Progress } from './import-progress.ts'
import { createRejectsFile, lineInFile, type RejectsFile } from './import-rejects.ts'
import { uploadBatch } from './import-upload.ts'
import { createInterrupt } from './interrupt.ts'
import { printable, printText } from './output.ts'

export interface LinesOptions {
  rejects?: string
  json?: boolean
}

export interface LinesSource {
  /** `-` is the standard input. */
  files: readonly string[]
  stdin: Readable
}

export interface LinesJob<Answer> {
  /** Below `/api/admin`. */
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

export async function sendLines<Answer extends LinesAnswer>(
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
