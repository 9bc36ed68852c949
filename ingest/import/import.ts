/** The import of bulk rows: bodies of CSV or NDJSON with their own times, on disk when the import resolves. */

import { type RowKindName, rowKindOf } from '../formats/row-kinds.ts'
import { defaultRanges, type Ranges, type TimeLimits } from '../reading.ts'
import { type BodyBounds, createImportPool } from './import-pool.ts'
import {
  type Append,
  emptyReport,
  type ImportResult,
  type ImportSource,
  runImportSession,
  shuttingDown,
} from './import-session.ts'

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
