/**
 * Entry point of this folder: stored readings, or their aggregates by buckets of time, as a stream of text or as a
 * Parquet file.
 *
 * Each piece is one statement, which begins behind the last time of the piece before. So QuestDB holds no snapshot open
 * for a slow client. Readings that arrive meanwhile are exported if their times are still ahead.
 */

import type { Log } from '../../store/log.ts'
import type { LowerPriority } from '../../store/thread-priority.ts'
import type { AnswerCode } from '../cache/body.ts'
import { defaultLimits, type QueryLimits } from '../limits.ts'
import { BodyInterrupted, begun, type Pieces } from '../pieces.ts'
import { onReplica, type Replicas } from '../replicas.ts'
import { builtInMetrics, columnsOf, type ExportMetric } from './export-columns.ts'
import {
  type Count,
  type ExportQueries,
  type ExportRange,
  type ExportStation,
  encodeNames,
  type Footer,
  type Layout,
  type NamedDevice,
  type Piece,
} from './export-queries.ts'
import { createExportRun, type ExportLimits } from './export-run.ts'
import { frameOf as textFrameOf } from './export-texts.ts'
import { parquetMagic } from './parquet-file.ts'
import { type SeriesTable, seriesEmpty } from './series-table.ts'

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
  /** In the order of the columns; by default the built-in ones. */
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

const exportLimits: ExportLimits = { exportsMax: 2, pieceRows: 60_000, exportThreadsMax: 1 }

/** With more columns a piece has fewer rows, so that its number of values stays about the same. */
function pieceRowsOf({ pieceRows }: ExportLimits, { length }: readonly ExportMetric[]): number {
  return Math.max(1, Math.floor((pieceRows * builtInMetrics.length) / Math.max(builtInMetrics.length, length)))
}

function symbolsOf({ devices, isNarrowed }: ExportRequest): string[] | undefined {
  return isNarrowed ? devices.map(({ symbol }) => symbol) : undefined
}

/** The texts around the rows; a Parquet file ends with a description of its row groups. */
function frameOf({ layout, stepUs, metrics }: ExportRequest) {
  if (layout === 'parquet') return { header: parquetMagic, separator: '', footer: undefined }
  const { header, separator, footer } = textFrameOf(layout, columnsOf(stepUs, metrics))
  return { header: Buffer.from(header), separator, footer: Buffer.from(footer) }
}

export function createReadingsExport({ replicas, log, ...options }: ReadingsExportOptions): ReadingsExport {
  const limits = { ...defaultLimits, ...exportLimits, ...options.limits }
  const { run, close } = createExportRun({ replicas, priority: options.priority ?? 'low', limits, log })
  let exportCount = 0

  async function count(range: ExportRange, replica: number, client: AbortSignal): Promise<number> {
    return ((await run('count', range, replica, client)) as Count).rows
  }

  /** Each piece is read while the caller handles the one before it. */
  async function* read(
    query: Omit<ExportQueries['piece'], 'rowsMax'>,
    replica: number,
    client: AbortSignal,
  ): AsyncGenerator<Piece, undefined> {
    const readFrom = (fromUs: number, fileOffset: number) => {
      const asked = { ...query, fromUs, fileOffset, rowsMax: pieceRowsOf(limits, query.metrics) }
      const piece = run('piece', asked, replica, client) as Promise<Piece>
      // It is awaited below, unless the client leaves first.
      piece.catch(() => undefined)
      return piece
    }
    let next: Promise<Piece> | undefined = readFrom(query.fromUs, query.fileOffset)
    while (next !== undefined) {
      const piece: Piece = await next
      next = piece.nextUs === undefined ? undefined : readFrom(piece.nextUs, piece.nextOffset)
      yield piece
    }
  }

  async function* pieces(asked: ExportRequest, replica: number, client: AbortSignal): AsyncGenerator<Uint8Array> {
    const { layout, stepUs, fromUs, toUs, devices, metrics = builtInMetrics, series = seriesEmpty } = asked
    const range = { fromUs, toUs, symbols: symbolsOf(asked), station: asked.station }
    const countBefore = await count(range, replica, client)
    const rowGroups: Uint8Array[] = []
    const { header, separator, footer } = frameOf(asked)
    let fileOffset = header.length
    let skipped = separator.length
    let readingsRead = 0
    const query = { ...range, layout, stepUs, metrics, series, fileOffset, names: encodeNames(devices) }
    for await (const piece of read(query, replica, client)) {
      fileOffset = piece.nextOffset
      readingsRead += piece.readingsRead
      if (piece.bytes.length === 0) continue
      if (piece.rowGroups !== undefined) rowGroups.push(piece.rowGroups)
      yield piece.bytes.subarray(skipped)
      skipped = 0
    }
    // Every reading that existed before and still exists has been read. More may have arrived, and some may have been
    // erased.
    if (readingsRead < countBefore && readingsRead < (await count(range, replica, client))) {
      throw new BodyInterrupted<ExportFailure>('INCOMPLETE')
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
