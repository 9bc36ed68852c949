/** Bulk rows in: bodies of CSV or NDJSON with times of their own, on disk when the import resolves. */

import { type RowKindName, rowKindOf } from '../formats/row-kinds.ts'
import { defaultRanges, type Ranges, type TimeLimits } from '../reading.ts'
import { createImportPool } from './import-pool.ts'
import {
  type Append,
  emptyReport,
  type ImportResult,
  type ImportSource,
  runImportSession,
  type SessionLimits,
  shuttingDown,
} from './import-session.ts'

interface ImportLimits extends SessionLimits {
  /** Imports at a time: each holds a few chunks in memory. */
  sessionsMax: number
  /** Size of the chunks of an import that begins while few others run: the larger, the less a row costs. */
  largeChunkBytes?: number
}

/** So many imports at a time have large chunks. */
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
  /** Resolves when all of the body is stored, or at the first failure; what the report counts is stored either way. */
  run(source: ImportSource): Promise<ImportResult>
  close(): Promise<void>
}

export function createImporter(options: ImporterOptions): Importer {
  const { append, now, ranges = defaultRanges, aheadMsMax = 5 * 60_000, earliestMs, keepsMicroseconds } = options
  const limits = { ...defaultLimits, ...options.limits }
  const { lineBytesMax, sessionsMax } = limits
  const pool = createImportPool({
    ...{ kind: options.kind, now, ranges, aheadMsMax, earliestMs, keepsMicroseconds },
    ...{ lineBytesMax, queueMax: sessionsMax },
  })
  const kind = rowKindOf(options.kind)
  const sessions = new Map<ImportSource, Promise<ImportResult>>()
  let closing = false

  function limitsNow(): SessionLimits {
    const { chunkBytes, largeChunkBytes = chunkBytes } = limits
    return { ...limits, chunkBytes: sessions.size < largeSessionsMax ? largeChunkBytes : chunkBytes }
  }

  async function run(source: ImportSource): Promise<ImportResult> {
    if (closing) return { report: emptyReport(), failure: shuttingDown }
    if (sessions.size >= sessionsMax) {
      return { report: emptyReport(), failure: { code: 'BUSY', reason: `${sessionsMax} imports are running already` } }
    }
    const session = runImportSession(source, { kind, limits: limitsNow(), pool, append })
    sessions.set(source, session)
    try {
      const { report, failure } = await session
      // A body that was cut off by the close did not break by itself.
      if (failure === undefined) return { report }
      return { report, failure: closing && failure.code === 'BODY_BROKEN' ? shuttingDown : failure }
    } finally {
      sessions.delete(source)
    }
  }

  /** A body may take its sender minutes, so it is cut off; what came before is stored, and the answer says so. */
  async function close(): Promise<void> {
    closing = true
    for (const { body } of sessions.keys()) body.destroy(new Error(shuttingDown.reason))
    await Promise.allSettled(sessions.values())
    await pool.close()
  }

  return { run, close }
}
