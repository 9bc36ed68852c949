/**
 * Statements in one transaction, each with a time limit on this side: a server that is frozen keeps no limit of its own.
 * Nothing is changed before COMMIT is sent, so a transaction that is given up earlier is rolled back, whenever the
 * server goes on. Only a COMMIT without an answer leaves the outcome open.
 */

import type pg from 'pg'
import { bug } from '../limits/bug.ts'
import { isConflict, isInvalidParameter, OutcomeUnknown } from './postgres-errors.ts'

/** What the work is done with: each statement has the time limit of a step. */
export type Transaction = Pick<pg.Pool, 'query'>

export interface TransactionOptions {
  /** How long PostgreSQL may take for each statement. */
  stepMs: number
  /** All statements see the data of one moment, and change nothing. */
  isSnapshot?: boolean
  /** The number of an advisory lock that is taken before all others and kept until the end. */
  lock?: string
}

/** Of a transaction that has begun; its end may be asked for more than once, and the first one counts. */
export interface OpenTransaction {
  transaction: Transaction
  /** Rejects with OutcomeUnknown, or with an error after which nothing was changed. */
  commit(): Promise<void>
  /** Ends one in which nothing has failed; its connection is used again. */
  rollback(): Promise<void>
  /** Ends one in which something has failed, with its connection. */
  abandon(): void
}

/** After a deadlock or a serialization failure. */
const repeatsMax = 2

/**
 * Rejects with OutcomeUnknown, or with an error after which nothing was changed. `work` changes nothing but by the transaction, so
 * that it can be repeated where PostgreSQL has rolled it back in favour of another one.
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

/** Does the work, once, and commits. Rejects as `inTransaction` does. */
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
  // A connection that breaks says so to the statement under way, and here: if nobody listened, the process would end.
  const heard = () => undefined
  client.on('error', heard)
  const transaction = limited(client, stepMs)
  let isOpen = true
  /** One that failed may be in the middle of a transaction, or broken, so it is closed, and may break a second time. */
  const release = (hasFailed: boolean) => {
    if (!isOpen) return
    isOpen = false
    if (!hasFailed) client.off('error', heard)
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

/** All of it in one round trip. */
function beginning({ stepMs, isSnapshot = false, lock }: TransactionOptions): string {
  const begin = isSnapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN'
  // A server that lost us without noticing must not keep the rows locked.
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
    // The driver takes `undefined` for values that are in the config already.
    return client.query({ ...config, query_timeout: stepMs } as pg.QueryConfig, values)
  }
  return { query } as Transaction
}

/** Whether a transaction has ended, one way or the other. One that PostgreSQL knows nothing of any more has. */
export async function hasEnded(pool: Pick<pg.Pool, 'query'>, transaction: string, stepMs: number): Promise<boolean> {
  const text = 'SELECT pg_xact_status($1::xid8) AS status'
  const config = { text, values: [transaction], query_timeout: stepMs } as pg.QueryConfig
  try {
    const { rows } = await pool.query<{ status: string | null }>(config)
    return rows[0]?.status !== 'in progress'
  } catch (error) {
    // The id lies in its future: it was restored from a backup, say.
    if (isInvalidParameter(error)) return true
    throw error
  }
}
