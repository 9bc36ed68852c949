/**
 * The import of bulk rows: bodies of CSV or NDJSON with their own times, on disk when the import resolves. A body goes
 * chunk by chunk through the reading thread and into the journal. One chunk is in that thread and one is being written
 * to the disk. No other chunk is read meanwhile, so the memory is the same for any size of body and any ratio of
 * compression.
 */

import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { type LeftOutValues, leftOutFieldsMax, leftOutListedMax } from '../formats/chunk.ts'
import type { Reject } from '../formats/reject.ts'
import type { RowKind, Series } from '../formats/row-kind.ts'
import { type RowKindName, rowKindOf } from '../formats/row-kinds.ts'
import type { Outcome } from '../journal/outcome.ts'
import { defaultRanges, type Ranges, type TimeLimits } from '../reading.ts'
import type { BodyFaultCode } from './body-bytes.ts'
import { type BodyBounds, type BodySource, createImportPool, type ImportPool } from './import-pool.ts'
import type { ReadyChunk, ThreadBody } from './thread-body.ts'

interface ImportLimits extends BodyBounds {
  /** Limit of concurrent imports: each holds a few chunks in memory. */
  sessionsMax: number
  /** Chunk size of an import that begins while few others run: larger chunks cost less per row. */
  largeChunkBytes?: number
}

/** This many concurrent imports have large chunks. */
const largeSessionsMax = 4

const defaultLimits: ImportLimits = {
  chunkBytes: 1 << 20,
  lineBytesMax: 1 << 16,
  rejectsMax: 20_000,
  sessionsMax: 4,
}

export interface ImporterOptions extends Partial<TimeLimits> {
  kind: RowKindName
  append: Append
  /** The clock of receipt, in milliseconds. */
  now: () => number
  ranges?: Ranges
  keepsMicroseconds?: boolean
  limits?: Partial<ImportLimits>
}

export interface Importer {
  /** Resolves when the whole body is stored, or at the first failure. Rows that the report counts are stored either way. */
  run(source: ImportSource): Promise<ImportResult>
  close(): Promise<void>
}

export function createImporter(options: ImporterOptions): Importer {
  const { append, now, ranges = defaultRanges, aheadMsMax = 5 * 60_000, earliestMs, keepsMicroseconds } = options
  const limits = { ...defaultLimits, ...options.limits }
  const { sessionsMax } = limits
  const pool = createImportPool({
    kind: options.kind,
    now,
    ranges,
    aheadMsMax,
    earliestMs,
    keepsMicroseconds,
    bodiesMax: sessionsMax,
  })
  const kind = rowKindOf(options.kind)
  const sessions = new Map<ImportSource, Promise<ImportResult>>()
  let closing = false

  function boundsNow(): BodyBounds {
    const { chunkBytes, largeChunkBytes = chunkBytes } = limits
    return { ...limits, chunkBytes: sessions.size < largeSessionsMax ? largeChunkBytes : chunkBytes }
  }

  async function run(source: ImportSource): Promise<ImportResult> {
    const isBusy = sessions.size >= sessionsMax
    if (closing || isBusy) {
      source.body.destroy()
      const busy = { code: 'TOO_BUSY', reason: `${sessionsMax} imports are running already` } as const
      return { report: emptyReport(), failure: closing ? shuttingDown : busy }
    }
    const session = runImportSession(source, { kind, bounds: boundsNow(), pool, append })
    sessions.set(source, session)
    try {
      const result = await session
      // The close cut the body off, so the body itself is not at fault.
      return closing && result.failure?.code === 'BODY_BROKEN' ? { ...result, failure: shuttingDown } : result
    } finally {
      sessions.delete(source)
    }
  }

  /** A body may take its sender minutes, so it is cut off. Its earlier rows are stored, as the answer states. */
  async function close(): Promise<void> {
    closing = true
    for (const { body } of sessions.keys()) body.destroy(new Error(shuttingDown.reason))
    await Promise.allSettled(sessions.values())
    await pool.close()
  }

  return { run, close }
}

/** The series and the oldest time of encoded records. */
export interface RecordsOf {
  /** The resolved series. */
  series: readonly Series[]
  /** Their earliest time, epoch milliseconds. */
  oldestMs: number
}

/** A stage before the journal may refuse records: they are too many, or for another reason. */
type AppendOutcome = Outcome | 'too large' | Failure

/** The journal, or a stage before it: resolves when whole records, however many, are stored there. */
export type Append = (records: Uint8Array, of: RecordsOf) => Promise<AppendOutcome>

export interface ImportSource extends BodySource {
  /** Rows of these series are on disk. */
  onStored?: (series: readonly Series[]) => void
  /** Called before each chunk is stored or rejected. Returns why the chunk may not be stored. */
  refusal?: (series: readonly Series[]) => Promise<Failure | undefined>
  /** Destination of the records instead of the journal. It may keep them. */
  append?: Append
}

/** Rejection of `resolve` when the names cannot be resolved at present. */
export class NamesUnavailable extends Error {}

interface ImportReport {
  accepted: number
  /** Accepted rows that replaced an earlier row of the body. */
  replaced: number
  rejected: number
  rejects: Reject[]
  rejectsTruncated: boolean
  /** Readings stored without their values out of range. */
  leftOut: LeftOutValues
  /** Every line up to this one is on disk or rejected, including the header. */
  linesDone: number
  /** Names of fields and columns that are not stored. */
  ignored: string[]
  /** Size of the body read so far, compressed or uncompressed, whichever is larger. */
  bytes: number
}

type ImportFailure =
  | 'TOO_BUSY'
  /** The credential has ended, or has lost the permission. */
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NO_ROWS'
  | 'DATABASE_AWAY'
  | BodyFaultCode
  | 'STORAGE_FULL'
  | 'CLOSING'
  | 'STORAGE_FAILED'

export interface ImportResult {
  report: ImportReport
  /** Reason why the import stopped before the end of the body. The report's counts remain valid. */
  failure?: { code: ImportFailure; reason: string }
  /** The digest is present if requested, and if the whole body was read. */
  digest?: Uint8Array | undefined
}

export type Failure = NonNullable<ImportResult['failure']>

const shuttingDown: Failure = { code: 'CLOSING', reason: 'the server is shutting down' }

const outcomeFailures = {
  full: { code: 'STORAGE_FULL', reason: 'the journal is full' },
  closing: shuttingDown,
  'too large': { code: 'PAYLOAD_TOO_LARGE', reason: 'the body is too large to be stored as a whole' },
  unknown: { code: 'STORAGE_FAILED', reason: 'the disk failed; it is not known whether the last lines are stored' },
} as const satisfies Record<string, Failure>

export function failureOf(outcome: Exclude<AppendOutcome, 'stored'>): Failure {
  return typeof outcome === 'string' ? outcomeFailures[outcome] : outcome
}

function emptyReport(): ImportReport {
  const leftOut: LeftOutValues = { rejected: 0, rejects: [], fields: [] }
  return {
    accepted: 0,
    replaced: 0,
    rejected: 0,
    rejects: [],
    rejectsTruncated: false,
    leftOut,
    linesDone: 0,
    ignored: [],
    bytes: 0,
  }
}

interface SessionOptions {
  kind: RowKind<never>
  bounds: BodyBounds
  pool: Pick<ImportPool, 'open'>
  append: Append
}

async function runImportSession(
  source: ImportSource,
  { kind, bounds, pool, append }: SessionOptions,
): Promise<ImportResult> {
  const report = emptyReport()
  const body = pool.open(source, bounds)
  try {
    const end = await storeAll(source, { report, body, append: source.append ?? append, rejectsMax: bounds.rejectsMax })
    if (end.failure !== undefined || report.accepted + report.rejected > 0) return { report, ...end }
    // The failure reports to the sender that its lines contain no rows.
    return { report, failure: { code: 'NO_ROWS', reason: `there is no line with a ${kind.noun}` } }
  } catch (error) {
    if (error instanceof NamesUnavailable) return { report, failure: { code: 'DATABASE_AWAY', reason: error.message } }
    throw error
  } finally {
    report.bytes = body.bytes()
    body.stop()
  }
}

interface Storing {
  report: ImportReport
  body: Pick<ThreadBody, 'next'>
  append: Append
  rejectsMax: number
}

/** A chunk is read while the previous one is stored. */
async function storeAll(
  source: ImportSource,
  { report, body, append, rejectsMax }: Storing,
): Promise<Pick<ImportResult, 'failure' | 'digest'>> {
  let step = await body.next()
  while (step.kind === 'ready') {
    const following = body.next()
    // If this chunk is not stored, the next one is not awaited.
    following.catch(() => undefined)
    const outcome = (await source.refusal?.(step.series)) ?? (await store(step, append))
    if (source.append === undefined) detachBuffers([step.records])
    if (outcome !== 'stored') return { failure: failureOf(outcome) }
    if (step.count > 0) source.onStored?.(step.series)
    settle(report, step, rejectsMax)
    step = await following
  }
  return step.kind === 'end' ? { digest: step.digest } : { failure: { code: step.code, reason: step.reason } }
}

async function store(chunk: ReadyChunk, append: Append): ReturnType<Append> {
  return chunk.count === 0 ? 'stored' : await append(chunk.records, chunk)
}

function settle(report: ImportReport, ready: ReadyChunk, rejectsMax: number): void {
  report.linesDone += ready.lines
  report.accepted += ready.count
  report.replaced += ready.replaced
  report.rejected += ready.rejected
  for (const reject of ready.rejects) {
    if (report.rejects.length === rejectsMax) break
    report.rejects.push(reject)
  }
  report.rejectsTruncated = report.rejects.length < report.rejected
  report.ignored = ready.ignored
  if (ready.leftOut.rejected > 0) addLeftOut(report.leftOut, ready.leftOut)
}

function addLeftOut(total: LeftOutValues, { rejected, rejects, fields }: LeftOutValues): void {
  total.rejected += rejected
  total.rejects.push(...rejects.slice(0, leftOutListedMax - total.rejects.length))
  total.fields = [...new Set([...total.fields, ...fields])].slice(0, leftOutFieldsMax)
}
