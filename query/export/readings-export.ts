/**
 * Entry point of this folder: stored readings as a stream of lines that an import takes, or as a Parquet file.
 *
 * Each piece is one statement, which begins behind the last time of the one before it: QuestDB holds no snapshot open for a
 * slow client, and readings that come in meanwhile are in the export if their times are still ahead of it.
 */

import type { Log } from '../../store/log.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import { createAvailabilityLog } from '../availability-log.ts'
import type { AnswerCode } from '../cache/body.ts'
import { defaultLimits, type QueryLimits } from '../limits.ts'
import { BodyInterrupted, begun, type Pieces } from '../pieces.ts'
import { createPool, type Pool } from '../pool.ts'
import {
  type Count,
  type ExportFormat,
  type ExportQueries,
  type ExportRange,
  type ExportResult,
  encodeNames,
  type Footer,
  type NamedDevice,
  type Piece,
} from './export-queries.ts'
import { csvHeader } from './export-texts.ts'
import { parquetMagic } from './parquet-file.ts'

export interface ReadingsExportOptions {
  readonly questdb: QuestdbAddress
  /** Whether QuestDB answered the last probe. Without it every query is sent. */
  readonly questdbAnswers?: () => boolean | Promise<boolean>
  readonly limits?: Partial<QueryLimits & ExportLimits>
  readonly log: Log
}

interface ExportLimits {
  /** Exports at a time: each holds two pieces in memory. */
  readonly exportsMax: number
  /** Readings of a piece: some 5 MB of text. */
  readonly pieceRows: number
}

export interface ExportRequest {
  readonly format: ExportFormat
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Those whose readings may be in it. */
  readonly devices: readonly (NamedDevice & { readonly symbol: string })[]
  /** Whether these are a part of all devices, so that QuestDB should read only theirs. */
  readonly isNarrowed: boolean
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

const headers: Record<ExportFormat, Uint8Array> = {
  csv: Buffer.from(csvHeader),
  ndjson: Buffer.alloc(0),
  parquet: parquetMagic,
}

const exportLimits: ExportLimits = { exportsMax: 2, pieceRows: 60_000 }

export function createReadingsExport({ questdb, log, ...options }: ReadingsExportOptions): ReadingsExport {
  const limits = { ...defaultLimits, ...exportLimits, ...options.limits }
  const pool = createExportPool(questdb, limits, log)
  const logAvailability = createAvailabilityLog(log)
  const questdbAnswers = options.questdbAnswers ?? (() => true)
  let exportCount = 0

  async function run<Name extends keyof ExportQueries>(
    name: Name,
    query: ExportQueries[Name],
    client: AbortSignal,
  ): Promise<ExportResult> {
    if (!(await questdbAnswers())) throw new BodyInterrupted<ExportFailure>('DATABASE_AWAY')
    const result = await pool.run(name, query, client)
    logAvailability(result)
    if (!result.ok) throw new BodyInterrupted<ExportFailure>(result.code)
    return result.encoded
  }

  async function count(range: ExportRange, client: AbortSignal): Promise<number> {
    return ((await run('count', range, client)) as Count).rows
  }

  /** Each is read while the one before it is taken. */
  async function* read(
    query: Omit<ExportQueries['piece'], 'rowsMax'>,
    client: AbortSignal,
  ): AsyncGenerator<Piece, undefined> {
    const readFrom = (fromUs: number, fileOffset: number) => {
      const asked = { ...query, fromUs, fileOffset, rowsMax: limits.pieceRows }
      const piece = run('piece', asked, client) as Promise<Piece>
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

  async function* pieces(asked: ExportRequest, client: AbortSignal): AsyncGenerator<Uint8Array> {
    const { format, fromUs, toUs, devices, isNarrowed } = asked
    const symbols = isNarrowed ? devices.map(({ symbol }) => symbol) : undefined
    const range = { fromUs, toUs, symbols }
    const countBefore = await count(range, client)
    const rowGroups: Uint8Array[] = []
    let fileOffset = headers[format].length
    let rowsRead = 0
    for await (const piece of read({ ...range, format, fileOffset, names: encodeNames(devices) }, client)) {
      fileOffset = piece.nextOffset
      rowsRead += piece.rowsRead
      if (piece.bytes.length === 0) continue
      if (piece.rowGroups !== undefined) rowGroups.push(piece.rowGroups)
      yield piece.bytes
    }
    // What was there before and still is has been read; more may have come, and some may have been erased.
    if (rowsRead < countBefore && rowsRead < (await count(range, client))) {
      throw new BodyInterrupted<ExportFailure>('INCOMPLETE')
    }
    if (format === 'parquet') yield ((await run('footer', { rowGroups, fileOffset }, client)) as Footer).bytes
  }

  async function* counted(asked: ExportRequest, client: AbortSignal): AsyncGenerator<Uint8Array> {
    exportCount++
    try {
      yield* pieces(asked, client)
    } finally {
      exportCount--
    }
  }

  return {
    async pieces(asked, client) {
      if (exportCount >= limits.exportsMax) return { ok: false, code: 'QUEUE_FULL' }
      return await begun<ExportFailure>(headers[asked.format], counted(asked, client))
    },
    close: pool.close,
  }
}

function createExportPool(
  questdb: QuestdbAddress,
  limits: QueryLimits & ExportLimits,
  log: Log,
): Pool<ExportQueries, ExportResult> {
  return createPool<ExportQueries, ExportResult>({
    worker: new URL('./export-worker.ts', import.meta.url),
    settings: {
      questdb,
      timeZone: 'UTC',
      connectTimeoutMs: limits.connectTimeoutMs,
      statementTimeoutMs: limits.timeoutMs,
      bodyBytesMax: limits.latestBytesMax,
      rowsMax: limits.pieceRows,
    },
    threadsMax: 1,
    resourceLimits: threadLimits.analyses,
    queueMax: 2 * limits.exportsMax,
    deadlineMs: limits.timeoutMs,
    log,
  })
}
