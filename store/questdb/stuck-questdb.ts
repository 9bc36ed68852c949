/** Detects a running but stuck QuestDB: one that does not answer at all, and statements that exceed their time limit. */

import type { Log } from '../log.ts'
import type { QuestdbClient } from './client/questdb-client.ts'
import { QuestdbError } from './client/questdb-error.ts'

export interface SilenceWatch {
  answered(): void
  failed(error: unknown): void
  /** Call it when the process has ended. */
  ended(): void
}

const silentMsMax = 60_000
/** A pause of our own process fails one probe, not several. */
const failuresMin = 3

/**
 * `onSilent` is called when QuestDB has not answered for a minute since it was up, and again after each further minute. A start
 * may take longer, as may its first answer.
 */
export function watchSilence(
  onSilent: (() => void) | undefined,
  /** A monotonic clock. */
  monotonicMs: () => number = () => performance.now(),
): SilenceWatch {
  let sinceMs: number | undefined
  let failures = 0

  function answered(): void {
    sinceMs = monotonicMs()
    failures = 0
  }

  return {
    answered,
    failed(error) {
      if (sinceMs === undefined) return
      // A refusal is an answer.
      if (!(error instanceof QuestdbError && error.code === 'NO_ANSWER')) return answered()
      if (++failures < failuresMin || monotonicMs() - sinceMs < silentMsMax) return
      answered()
      onSilent?.()
    },
    ended() {
      sinceMs = undefined
    },
  }
}

/** Four times the time limit of a managed QuestDB, and twice QuestDB's own default. */
const statementSeconds = 120
const probesPerLook = 10
const charactersMax = 200

export interface StatementsWatchOptions {
  client: Pick<QuestdbClient, 'exec'>
  name: string
  log: Log
  timeoutMs: number
  /** A statement is overdue from this age on. */
  statementSecondsMax?: number
}

/**
 * Returns a probe that resolves to true when a statement runs beyond its time limit. QuestDB checks the limit only between some
 * steps, and such a statement occupies one of few network threads.
 */
export function watchStatements(options: StatementsWatchOptions): () => Promise<boolean> {
  const { client, name, log, timeoutMs, statementSecondsMax = statementSeconds } = options
  const where = `worker_pool LIKE '%network%' AND query_start < dateadd('s', -${statementSecondsMax}, systimestamp())`
  const sql = `SELECT query FROM query_activity() WHERE ${where} LIMIT 1`
  let probes = 0
  let overdue: string | undefined

  async function oldest(): Promise<string | undefined> {
    try {
      const [row] = await client.exec(sql, timeoutMs)
      return row === undefined ? undefined : String(row[0]).slice(0, charactersMax)
    } catch (error) {
      // An older version has other columns.
      if (error instanceof QuestdbError && error.code === 'REFUSED') return undefined
      throw error
    }
  }

  return async () => {
    if (++probes % probesPerLook !== 0) {
      await client.exec('SELECT 1', timeoutMs)
      return overdue !== undefined
    }
    const found = await oldest()
    if (found !== undefined && found !== overdue) {
      log.warn({ statement: found }, `a statement of ${name} exceeds its time limit`)
    }
    overdue = found
    return overdue !== undefined
  }
}
