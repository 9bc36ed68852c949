/** Notices a QuestDB that runs but is stuck: one that gives no answer at all, and statements that it does not end in time. */

import type { Log } from '../log.ts'
import type { QuestdbClient } from './client/questdb-client.ts'
import { QuestdbError } from './client/questdb-error.ts'

export interface SilenceWatch {
  answered(): void
  failed(error: unknown): void
  /** Its process has ended. */
  ended(): void
}

const silentMsMax = 60_000
/** A pause of our own process makes one probe fail, not several. */
const failuresMin = 3

/**
 * `onSilent` is called when it has given no answer for a minute since it was up, and again after each further one. A start may take
 * longer, as may its first answer.
 */
export function watchSilence(
  onSilent: (() => void) | undefined,
  /** A clock that never steps. */
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

/** Four times the time limit of a managed QuestDB, and twice that of its own default. */
const statementSeconds = 120
const probesPerLook = 10
const charactersMax = 200

export interface StatementsWatchOptions {
  client: Pick<QuestdbClient, 'exec'>
  name: string
  log: Log
  timeoutMs: number
  /** From this age on a statement is overdue. */
  statementSecondsMax?: number
}

/**
 * A probe, which resolves with whether a statement runs on beyond its time limit. QuestDB looks at the limit only
 * between some steps, and such a statement keeps one of few network threads from all others.
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
      log.warn({ statement: found }, `a statement of ${name} outlives its time limit`)
    }
    overdue = found
    return overdue !== undefined
  }
}
