/**
 * Entry point of this folder: stored readings, or their aggregates by buckets of time, as a stream of text or as a
 * Parquet file.
 *
 * Each piece is one statement, which begins behind the last time of the piece before. So QuestDB holds no snapshot open
 * for a slow client. A month of minutes is one piece. Readings that arrive meanwhile are exported if their times are still ahead.
 */

import type { Log } from '../../store/log.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import type { LowerPriority } from '../../store/thread-priority.ts'
import type { AnswerCode } from '../cache/body.ts'
import { defaultLimits, type QueryLimits } from '../limits.ts'
import { BodyInterrupted, begun, type Pieces } from '../pieces.ts'
import { createAvailabilityLog, createPool, type Pool } from '../pool.ts'
import { noReplicaAnswers, onReplica, type Replicas } from '../replicas.ts'
import {
  type Count,
  type ExportQueries,
  type ExportRange,
  type ExportResult,
  type ExportSettings,
  type ExportStation,
  encodeNames,
  type Footer,
  type Layout,
  type NamedDevice,
  type Piece,
} from './export-queries.ts'
import { frameOf as textFrameOf } from './export-texts.ts'
import { parquetMagic } from './parquet-file.ts'
import { builtInMetrics, columnsOf, type ExportMetric, type SeriesTable, seriesEmpty } from './series-table.ts'

export interface ReadingsExportOptions {
  readonly replicas: Replicas
  /** `low` for exports in the background; `below normal` where a user waits. */
  readonly priority?: LowerPriority
  readonly limits?: Partial<QueryLimits & ExportLimits>
  readonly log: Log
}

export interface ExportRequest {
  readonly layout: Layout
  /** Aggregates of buckets of this length instead of the readings; only for one device. */
  readonly stepUs?: number | undefined
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Devices whose readings may be in the range, or the one station. */
  readonly devices: readonly (NamedDevice & { readonly symbol: string })[]
  /** These are only some of all devices, so that QuestDB should read only theirs. */
  readonly isNarrowed: boolean
  /** The station whose points are read instead of readings. */
  readonly station?: ExportStation | undefined
  /** Metrics are in the order of the columns. The default is the built-in ones. */
  readonly metrics?: readonly ExportMetric[]
  /** Series of the metrics that are not built in. */
  readonly series?: SeriesTable
}

/** INCOMPLETE: fewer readings were read than QuestDB has. */
export type ExportFailure = AnswerCode | 'INCOMPLETE'

export interface ReadingsExport {
  /**
   * Yields whole lines or row groups, and prepares the next piece meanwhile. A failure after the first piece is thrown,
   * and the output so far must not look complete.
   */
  pieces(asked: ExportRequest, client: AbortSignal): Promise<Pieces<ExportFailure>>
  /** Exports in progress fail. May be called twice. */
  close(): Promise<void>
}

const exportLimits: ExportLimits = { exportsMax: 2, pieceRows: 60_000, rowsInMemory: 240_000, exportThreadsMax: 1 }
const piecesOfExport = 2

function symbolsOf({ devices, isNarrowed }: ExportRequest): string[] | undefined {
  return isNarrowed ? devices.map(({ symbol }) => symbol) : undefined
}

/** The texts around the rows. A Parquet file ends with a description of its row groups. */
function frameOf({ layout, stepUs, metrics }: ExportRequest) {
  if (layout === 'parquet') return { header: parquetMagic, separator: '', footer: undefined }
  const { header, separator, footer } = textFrameOf(layout, columnsOf(stepUs, metrics))
  return { header: Buffer.from(header), separator, footer: Buffer.from(footer) }
}

type PieceAsked = Omit<ExportQueries['piece'], 'rowsMax'>

function incomplete(): BodyInterrupted<ExportFailure> {
  return new BodyInterrupted('INCOMPLETE')
}

/** `rowsMaxOf`: readings of the next piece. */
function createPieceReader(run: ExportRun['run'], rowsMaxOf: (metrics: readonly ExportMetric[]) => number) {
  async function count(range: ExportRange, replica: number, client: AbortSignal): Promise<number> {
    return ((await run('count', range, replica, client)) as Count).rows
  }

  function readPiece(query: PieceAsked, replica: number, client: AbortSignal): Promise<Piece> {
    const piece = run('piece', { ...query, rowsMax: rowsMaxOf(query.metrics) }, replica, client) as Promise<Piece>
    // It is awaited later, unless the client leaves first.
    piece.catch(() => undefined)
    return piece
  }

  /**
   * Every reading that existed before and still exists has to be read. More may arrive, and some may be erased. So if the range is
   * a single piece with fewer readings than were counted after it, it is read again.
   */
  async function readFirst(query: PieceAsked, replica: number, client: AbortSignal): Promise<Piece> {
    const piece = await readPiece(query, replica, client)
    const { count = 0 } = piece
    if (piece.nextUs !== undefined || piece.readingsRead >= count) return piece
    const again = await readPiece(query, replica, client)
    if (again.nextUs === undefined && again.readingsRead < Math.min(count, again.count ?? 0)) throw incomplete()
    return again
  }

  /** Each piece is read while the caller handles the one before it. */
  async function* read(query: PieceAsked, replica: number, client: AbortSignal): AsyncGenerator<Piece, undefined> {
    let piece = await readFirst(query, replica, client)
    if (piece.nextUs === undefined) return yield piece
    const { count: countBefore = 0, nextUs: restUs } = piece
    let readingsRead = 0
    while (piece.nextUs !== undefined) {
      const asked = { ...query, fromUs: piece.nextUs, fileOffset: piece.nextOffset, isFirst: false }
      const next = readPiece(asked, replica, client)
      yield piece
      piece = await next
      readingsRead += piece.readingsRead
    }
    yield piece
    if (readingsRead >= countBefore) return
    if (readingsRead < (await count({ ...query, fromUs: restUs }, replica, client))) throw incomplete()
  }

  return read
}

export function createReadingsExport({ replicas, log, ...options }: ReadingsExportOptions): ReadingsExport {
  const limits = { ...defaultLimits, ...exportLimits, ...options.limits }
  const { run, close } = createExportRun({ replicas, priority: options.priority ?? 'low', limits, log })
  let exportCount = 0

  /** With more columns a piece has fewer rows, so that its number of values stays about the same. */
  function pieceRowsOf({ length }: readonly ExportMetric[]): number {
    const rows = Math.min(limits.pieceRows, limits.rowsInMemory / (piecesOfExport * exportCount))
    return Math.max(1, Math.floor((rows * builtInMetrics.length) / Math.max(builtInMetrics.length, length)))
  }

  const read = createPieceReader(run, pieceRowsOf)

  async function* pieces(asked: ExportRequest, replica: number, client: AbortSignal): AsyncGenerator<Uint8Array> {
    const { layout, stepUs, fromUs, toUs, devices, metrics = builtInMetrics, series = seriesEmpty } = asked
    const range = { fromUs, toUs, symbols: symbolsOf(asked), station: asked.station }
    const rowGroups: Uint8Array[] = []
    const { header, separator, footer } = frameOf(asked)
    let fileOffset = header.length
    let skipped = separator.length
    const names = encodeNames(devices)
    const query = { ...range, layout, stepUs, metrics, series, fileOffset, names, isFirst: true }
    for await (const piece of read(query, replica, client)) {
      fileOffset = piece.nextOffset
      if (piece.bytes.length === 0) continue
      if (piece.rowGroups !== undefined) rowGroups.push(piece.rowGroups)
      yield piece.bytes.subarray(skipped)
      skipped = 0
    }
    yield footer ?? ((await run('footer', { rowGroups, fileOffset, stepUs, metrics }, replica, client)) as Footer).bytes
  }

  async function* counted(asked: ExportRequest, replica: number, client: AbortSignal): AsyncGenerator<Uint8Array> {
    exportCount++
    try {
      yield* pieces(asked, replica, client)
    } finally {
      exportCount--
    }
  }

  return {
    async pieces(asked, client) {
      if (exportCount >= limits.exportsMax) return { ok: false, code: 'QUEUE_FULL' }
      return await onReplica(replicas, client, (replica, signal) =>
        begun<ExportFailure>(frameOf(asked).header, counted(asked, replica, signal)),
      )
    },
    close,
  }
}

interface ExportLimits {
  /** Concurrent exports; each holds two pieces in memory. */
  readonly exportsMax: number
  /**
   * Readings of a piece with the built-in metrics: 60,000 make some 5 MB of text. With more metrics there are fewer.
   */
  readonly pieceRows: number
  /** Readings in memory; many concurrent exports have smaller pieces. */
  readonly rowsInMemory: number
  readonly exportThreadsMax: number
}

interface ExportRunOptions {
  readonly replicas: Replicas
  readonly priority: LowerPriority
  readonly limits: QueryLimits & ExportLimits
  readonly log: Log
}

interface ExportRun {
  /** Rejects with a BodyInterrupted without a result. */
  run<Name extends keyof ExportQueries>(
    name: Name,
    query: ExportQueries[Name],
    replica: number,
    client: AbortSignal,
  ): Promise<ExportResult>
  close(): Promise<void>
}

/** Runs the queries of exports in a pool of threads of their own. */
function createExportRun(options: ExportRunOptions): ExportRun {
  const pool = createExportPool(options)
  const logAvailability = createAvailabilityLog(options.log)
  return {
    async run(name, query, replica, client) {
      const isAnswering = await options.replicas.answers(replica)
      const result = isAnswering ? await pool.run(name, { ...query, replica }, client) : noReplicaAnswers
      logAvailability(result)
      if (result.ok) return result.encoded
      throw new BodyInterrupted<AnswerCode>(result.code)
    },
    close: pool.close,
  }
}

function createExportPool({ replicas, priority, limits, log }: ExportRunOptions): Pool<ExportQueries, ExportResult> {
  const settings: ExportSettings = {
    priority,
    replicas: replicas.addresses,
    timeZone: 'UTC',
    connectTimeoutMs: limits.connectTimeoutMs,
    statementTimeoutMs: limits.timeoutMs,
    bodyBytesMax: limits.latestBytesMax,
    rowsMax: limits.pieceRows,
  }
  return createPool<ExportQueries, ExportResult>({
    worker: new URL('./export-worker.ts', import.meta.url),
    settings,
    threadsMax: limits.exportThreadsMax,
    resourceLimits: threadLimits.analyses,
    queueMax: 2 * limits.exportsMax,
    deadlineMs: limits.timeoutMs,
    log,
  })
}
