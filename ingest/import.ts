/** Bulk readings in: bodies of CSV or NDJSON with times of their own, on disk when the import resolves. */

import { createImportPool } from './import-pool.ts'
import {
  type Append,
  emptyReport,
  type ImportFailure,
  type ImportResult,
  type ImportSource,
  runImportSession,
  type SessionLimits,
} from './import-session.ts'
import { defaultRanges, type Ranges } from './reading.ts'

export interface ImportLimits extends SessionLimits {
  /** Imports at a time: each holds a few chunks in memory. */
  sessionsMax: number
}

export const defaultImportLimits: ImportLimits = {
  chunkBytes: 1 << 20,
  lineBytesMax: 1 << 16,
  rejectsMax: 20_000,
  sessionsMax: 4,
}

export interface ImporterOptions {
  append: Append
  /** The clock of receipt, in milliseconds. */
  now: () => number
  /** A reading that is older goes to the backfill lane. */
  liveWindowMs: number
  ranges?: Ranges
  /** How far ahead of our clock a reading may be. */
  aheadMsMax?: number
  limits?: Partial<ImportLimits>
}

export interface Importer {
  /** Resolves when all of the body is stored, or at the first fault; what the report counts is stored either way. */
  run(source: ImportSource): Promise<ImportResult>
  close(): Promise<void>
}

export function createImporter(options: ImporterOptions): Importer {
  const { append, now, liveWindowMs, ranges = defaultRanges, aheadMsMax = 5 * 60_000 } = options
  const limits = { ...defaultImportLimits, ...options.limits }
  const { lineBytesMax, sessionsMax } = limits
  const pool = createImportPool({ now, liveWindowMs, ranges, aheadMsMax, lineBytesMax, queueMax: sessionsMax })
  let sessions = 0
  let closing = false

  async function run(source: ImportSource): Promise<ImportResult> {
    if (closing) return refusal('CLOSING', 'the server is shutting down')
    if (sessions >= sessionsMax) return refusal('BUSY', `${sessionsMax} imports are running already`)
    sessions++
    try {
      return await runImportSession(source, { limits, pool, append })
    } finally {
      sessions--
    }
  }

  /** Whoever closes has ended the requests before: an import that still runs loses its thread and rejects. */
  async function close(): Promise<void> {
    closing = true
    await pool.close()
  }

  return { run, close }
}

function refusal(code: ImportFailure, reason: string): ImportResult {
  return { report: emptyReport(), failure: { code, reason } }
}
