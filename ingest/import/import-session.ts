/**
 * One import: a body of lines goes chunk by chunk through the reading thread and into the journal.
 *
 * There is one chunk in that thread and one on its way to the disk, and no further reading meanwhile, so the memory is
 * the same for any size of body and any ratio of compression.
 */

import type { Readable } from 'node:stream'
import { foreignContent, looksLikeNdjson, withoutByteOrderMark } from '../formats/content.ts'
import { type CsvLayout, readCsvHeader } from '../formats/csv.ts'
import type { Format } from '../formats/line-reader.ts'
import { type Chunk, type LineLimits, wholeLines } from '../formats/lines.ts'
import type { Reject } from '../formats/reject.ts'
import type { RowKind, Series } from '../formats/row-kind.ts'
import type { Outcome } from '../journal/outcome.ts'
import { arrayBody } from './array-body.ts'
import { BodyFault, type BodyFaultCode } from './body-fault.ts'
import type { ImportPool, ReadyChunk, ResolveNames } from './import-pool.ts'
import { type BodyLimits, limitedBody } from './limited-body.ts'

/** The journal, or what stands before it: resolves when whole records, however many, are stored there. */
export type Append = (records: Uint8Array) => Promise<Outcome | 'too large'>

export interface ImportSource {
  /** Destroyed when the import ends before it does. */
  body: Readable
  format: Format
  resolve: ResolveNames
  /** Rows of these series are on disk. */
  onStored?: (series: readonly Series[]) => void
  /** Sees all of the body, without its compression. */
  onBytes?: (bytes: Uint8Array) => void
  /** Where the records go instead of the journal. */
  append?: Append
  /** The device of readings that name none. */
  defaultDevice?: string | undefined
}

/** What `resolve` rejects with when the names cannot be told at present. */
export class NamesUnavailable extends Error {}

export interface SessionLimits extends LineLimits, BodyLimits {
  /** Rejects that are listed; more are only counted. */
  rejectsMax: number
}

export interface ImportReport {
  accepted: number
  rejected: number
  rejects: Reject[]
  rejectsTruncated: boolean
  /** Every line up to this one is on disk or rejected; the header is one of them. */
  linesDone: number
  /** Columns of the header that are not ours. */
  ignoredColumns: string[]
}

type ImportFailure =
  | 'BUSY'
  | 'CONTENT_UNKNOWN'
  | 'HEADER_INVALID'
  | 'NO_ROWS'
  | 'DATABASE_AWAY'
  | BodyFaultCode
  | 'JOURNAL_FULL'
  | 'CLOSING'
  | 'STORAGE_FAILED'

export interface ImportResult {
  report: ImportReport
  /** Why the import stopped before the end of the body. What the report counts holds nevertheless. */
  failure?: { code: ImportFailure; reason: string }
}

type Step = { kind: 'ready'; ready: ReadyChunk } | { kind: 'end' } | { kind: 'failure'; failure: Failure }
type Failure = NonNullable<ImportResult['failure']>

export const shuttingDown: Failure = { code: 'CLOSING', reason: 'the server is shutting down' }

export const outcomeFailures = {
  full: { code: 'JOURNAL_FULL', reason: 'the journal is full' },
  closing: shuttingDown,
  'too large': { code: 'PAYLOAD_TOO_LARGE', reason: 'the body is too large to be stored as a whole' },
  unknown: { code: 'STORAGE_FAILED', reason: 'the disk failed; it is not known whether the last lines are stored' },
} as const satisfies Record<string, Failure>

export function emptyReport(): ImportReport {
  return { accepted: 0, rejected: 0, rejects: [], rejectsTruncated: false, linesDone: 0, ignoredColumns: [] }
}

interface SessionOptions {
  kind: RowKind<never>
  limits: SessionLimits
  pool: ImportPool
  append: Append
}

export async function runImportSession(
  source: ImportSource,
  { kind, limits, pool, append }: SessionOptions,
): Promise<ImportResult> {
  const report = emptyReport()
  const steps = createSteps(source, { kind, limits, pool, report })
  try {
    let step = await steps.next()
    while (step.kind === 'ready') {
      const { ready } = step
      const [outcome, following] = await Promise.all([store(ready, source.append ?? append), steps.next()])
      if (outcome !== 'stored') return { report, failure: outcomeFailures[outcome] }
      if (ready.count > 0) source.onStored?.(ready.series)
      settle(report, ready, limits.rejectsMax)
      step = following
    }
    if (step.kind === 'failure') return { report, failure: step.failure }
    if (report.accepted + report.rejected > 0) return { report }
    // Else a sender would not notice that none of its lines has a row.
    return { report, failure: { code: 'NO_ROWS', reason: `there is no line with a ${kind.noun}` } }
  } finally {
    await steps.stop()
  }
}

async function store({ records, count }: ReadyChunk, append: Append): ReturnType<Append> {
  return count === 0 ? 'stored' : await append(records)
}

function settle(report: ImportReport, ready: ReadyChunk, rejectsMax: number): void {
  report.linesDone += ready.lines
  report.accepted += ready.count
  report.rejected += ready.rejected
  for (const reject of ready.rejects) {
    if (report.rejects.length === rejectsMax) break
    report.rejects.push(reject)
  }
  report.rejectsTruncated = report.rejects.length < report.rejected
}

interface StepsOptions extends Omit<SessionOptions, 'append'> {
  report: ImportReport
}

/** Reads the body: each step is a chunk that is ready to be stored, the end, or what was wrong with the body. */
function createSteps(source: ImportSource, { kind, limits, pool, report }: StepsOptions) {
  const { format, resolve, defaultDevice, onBytes } = source
  const limited = limitedBody(source.body, limits)
  const body = onBytes === undefined ? limited : observed(limited, onBytes)
  const chunks = wholeLines(format === 'json' ? arrayBody(body) : body, limits)
  let started = false
  let linesRead = 0
  let rejectsListed = 0
  let layout: CsvLayout | undefined

  async function next(): Promise<Step> {
    let result: IteratorResult<Chunk, void>
    try {
      result = await chunks.next()
    } catch (error) {
      return brokenBody(error)
    }
    // The lines of an array were made here.
    if (!started && format !== 'json') return await begin(result.done === true ? new Uint8Array() : result.value)
    return result.done === true ? { kind: 'end' } : await prepare(result.value)
  }

  async function begin(first: Chunk): Promise<Step> {
    started = true
    const chunk = withoutByteOrderMark(first)
    const foreign = foreignContent(chunk)
    if (foreign !== undefined) return failure('CONTENT_UNKNOWN', foreign)
    if (format === 'ndjson') return await prepare(chunk)
    if (looksLikeNdjson(chunk)) return failure('CONTENT_UNKNOWN', 'it is NDJSON; send it as application/x-ndjson')
    const headerEnd = chunk.includes(lineFeed) ? chunk.indexOf(lineFeed) : chunk.length
    if (headerEnd > limits.lineBytesMax) return failure('HEADER_INVALID', 'the header is too long')
    const header = readCsvHeader(Buffer.from(chunk.subarray(0, headerEnd)).toString().replace(/\r$/, ''), kind.columns)
    if (!header.ok) return failure('HEADER_INVALID', header.reason)
    layout = header.layout
    report.ignoredColumns = header.ignored
    report.linesDone = 1
    linesRead = 1
    return await prepare(chunk.subarray(headerEnd + 1))
  }

  async function prepare(chunk: Chunk): Promise<Step> {
    const rejectsMax = limits.rejectsMax - rejectsListed
    let ready: ReadyChunk
    try {
      ready = await pool.prepare({ chunk, layout, firstLine: linesRead + 1, rejectsMax, resolve, defaultDevice })
    } catch (error) {
      if (error instanceof NamesUnavailable) return failure('DATABASE_AWAY', error.message)
      throw error
    }
    linesRead += ready.lines
    rejectsListed = Math.min(limits.rejectsMax, rejectsListed + ready.rejects.length)
    return { kind: 'ready', ready }
  }

  async function stop(): Promise<void> {
    await chunks.return(undefined)
  }

  return { next, stop }
}

async function* observed(
  body: AsyncIterable<Uint8Array>,
  onBytes: (bytes: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    onBytes(piece)
    yield piece
  }
}

function brokenBody(error: unknown): Step {
  const code = error instanceof BodyFault ? error.code : 'BODY_BROKEN'
  return failure(code, error instanceof Error ? error.message : String(error))
}

function failure(code: ImportFailure, reason: string): Step {
  return { kind: 'failure', failure: { code, reason } }
}

const lineFeed = 0x0a
