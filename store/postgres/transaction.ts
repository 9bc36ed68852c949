/**
 * Statements in one transaction, each with a time limit on this side: a frozen server enforces no limit. Nothing changes before
 * COMMIT is sent, so a transaction abandoned earlier is rolled back once the server continues. Only an unanswered COMMIT leaves
 * the outcome open.
 */

import type pg from 'pg'
import { bug } from '../limits/bug.ts'
import { isConflict, isInvalidParameter, OutcomeUnknown } from './postgres-errors.ts'

/** Runs the statements of the work, each with the time limit of a step. */
export type Transaction = Pick<pg.Pool, 'query'>

export interface TransactionOptions {
  /** Time limit of each statement. */
  stepMs: number
  /** All statements see one snapshot and change nothing. */
  isSnapshot?: boolean
  /** Key of an advisory lock that is taken before all others and held until the end. */
  lock?: string
}

/** A transaction that has begun. Its end may be requested more than once. The first request counts. */
export interface OpenTransaction {
  transaction: Transaction
  /** Rejects with OutcomeUnknown, or with an error after which nothing was changed. */
  commit(): Promise<void>
  /** Ends a transaction without failures. Its connection is reused. */
  rollback(): Promise<void>
  /** Ends a transaction after a failure, and closes its connection. */
  abandon(): void
}

/** Retries after a deadlock or a serialization failure. */
const repeatsMax = 2

/**
 * Rejects with OutcomeUnknown, or with an error after which nothing was changed. `work` changes state only through the
 * transaction, so that it can be repeated when PostgreSQL has rolled it back in favour of another one.
 */
export async function inTransaction<Result>(
  pool: pg.Pool,
  options: TransactionOptions,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  for (let repeats = 0; ; repeats++) {
    try {
      return await complete(await beginTransaction(pool, options), work)
    } catch (error) {
      if (!isConflict(error) || repeats === repeatsMax) throw error
    }
  }
}

/** Does the work once and commits. Rejects like `inTransaction`. */
export async function complete<Result>(
  open: OpenTransaction,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work(open.transaction)
    await open.commit()
    return result
  } catch (error) {
    open.abandon()
    throw error
  }
}

export async function beginTransaction(pool: pg.Pool, options: TransactionOptions): Promise<OpenTransaction> {
  const { stepMs, isSnapshot = false } = options
  const client = await pool.connect()
  // The statement in progress reports a broken connection too. Without a listener the error event would end the process.
  const ignore = () => undefined
  client.on('error', ignore)
  const transaction = limited(client, stepMs)
  let isOpen = true
  /** A failed connection may be broken or in the middle of a transaction, so it is closed, and may fail again. */
  const release = (hasFailed: boolean) => {
    if (!isOpen) return
    isOpen = false
    if (!hasFailed) client.off('error', ignore)
    client.release(hasFailed)
  }
  const end = async (work: () => Promise<unknown>) => {
    try {
      await work()
      release(false)
    } catch (error) {
      release(true)
      throw error
    }
  }
  try {
    await transaction.query(beginning(options))
  } catch (error) {
    release(true)
    throw error
  }
  return {
    transaction,
    commit: () => end(() => (isSnapshot ? transaction.query('COMMIT') : commit(transaction))),
    async rollback() {
      if (isOpen) await end(() => transaction.query('ROLLBACK')).catch(() => undefined)
    },
    abandon: () => release(true),
  }
}

/** One round trip. */
function beginning({ stepMs, isSnapshot = false, lock }: TransactionOptions): string {
  const begin = isSnapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN'
  // A server that has not noticed our end must not keep the rows locked.
  const limit = `SET LOCAL idle_in_transaction_session_timeout = ${2 * stepMs}`
  return `${begin}; ${limit}${lock === undefined ? '' : `; SELECT pg_advisory_xact_lock(${lock})`}`
}

async function commit(transaction: Transaction): Promise<void> {
  const { rows } = await transaction.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id')
  const [row] = rows
  if (row === undefined) throw bug('a transaction has no id')
  try {
    await transaction.query('COMMIT')
  } catch (error) {
    if (isConflict(error)) throw error
    throw new OutcomeUnknown(row.id, error)
  }
}

function limited(client: pg.PoolClient, stepMs: number): Transaction {
  const query = (statement: pg.QueryConfig | string, values?: unknown[]) => {
    const config = typeof statement === 'string' ? { text: statement } : statement
    // The driver accepts `undefined` for values that are already in the config.
    return client.query({ ...config, query_timeout: stepMs } as pg.QueryConfig, values)
  }
  return { query } as Transaction
}

/** True when the transaction has ended either way. A transaction unknown to PostgreSQL has. */
export async function hasEnded(pool: Pick<pg.Pool, 'query'>, transaction: string, stepMs: number): Promise<boolean> {
  const text = 'SELECT pg_xact_status($1::xid8) AS status'
  const config = { text, values: [transaction], query_timeout: stepMs } as pg.QueryConfig
  try {
    const { rows } = await pool.query<{ status: string | null }>(config)
    return rows[0]?.status !== 'in progress'
  } catch (error) {
    // The id is in the server's future, for instance after a restore from a backup.
    if (isInvalidParameter(error)) return true
    throw error
  }
}
