/**
 * Entry point of this folder: stored readings, or their aggregates by buckets of time, as a stream of text or as a Parquet file.
 *
 * Each piece is one statement, which begins behind the last time of the one before it: QuestDB holds no snapshot open for a
 * slow client, and readings that come in meanwhile are in the export if their times are still ahead of it.
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
  /** `low`, of an export, for whose next line nobody waits; `below normal` where somebody does. */
  readonly priority?: LowerPriority
  readonly limits?: Partial<QueryLimits & ExportLimits>
  readonly log: Log
}

export interface ExportRequest {
  readonly layout: Layout
  /** For the aggregates of buckets of this length instead of the readings; there is one device then. */
  readonly stepUs?: number | undefined
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Those whose readings may be in it, or the one station. */
  readonly devices: readonly (NamedDevice & { readonly symbol: string })[]
  /** Whether these are a part of all devices, so that QuestDB should read only theirs. */
  readonly isNarrowed: boolean
  /** The points of a station instead of readings. */
  readonly station?: ExportStation | undefined
  /** In the order of the columns; without it the built-in ones. */
  readonly metrics?: readonly ExportMetric[]
  /** Of those among them that are not built in. */
  readonly series?: SeriesTable
}

/** INCOMPLETE: fewer readings were read than QuestDB has. */
export type ExportFailure = AnswerCode | 'INCOMPLETE'

export interface ReadingsExport {
  /**
   * Whole lines or groups of rows, piece by piece, the next one made while this one is taken. A failure after the first one is thrown, and
   * what came before it must not look complete.
   */
  pieces(asked: ExportRequest, client: AbortSignal): Promise<Pieces<ExportFailure>>
  /** Exports that are under way fail. May be called twice. */
  close(): Promise<void>
}

const exportLimits: ExportLimits = { exportsMax: 2, pieceRows: 60_000, exportThreadsMax: 1 }

/** So that a piece has about as many values, however many columns it has. */
function pieceRowsOf({ pieceRows }: ExportLimits, { length }: readonly ExportMetric[]): number {
  return Math.max(1, Math.floor((pieceRows * builtInMetrics.length) / Math.max(builtInMetrics.length, length)))
}

function symbolsOf({ devices, isNarrowed }: ExportRequest): string[] | undefined {
  return isNarrowed ? devices.map(({ symbol }) => symbol) : undefined
}

/** What stands around the rows; a Parquet file ends with what is told of its groups of rows. */
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

  /** Each is read while the one before it is taken. */
  async function* read(
    query: Omit<ExportQueries['piece'], 'rowsMax'>,
    replica: number,
    client: AbortSignal,
  ): AsyncGenerator<Piece, undefined> {
    const readFrom = (fromUs: number, fileOffset: number) => {
      const asked = { ...query, fromUs, fileOffset, rowsMax: pieceRowsOf(limits, query.metrics) }
      const piece = run('piece', asked, replica, client) as Promise<Piece>
      // It is awaited below, but not if the client leaves first.
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
    // What was there before and still is has been read; more may have come, and some may have been erased.
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
