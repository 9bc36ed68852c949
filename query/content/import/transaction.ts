/** One change of the content files: all of it or nothing, and one at a time. */

import type pg from 'pg'
import { inTransaction, type Transaction } from '../../../store/postgres/transaction.ts'

/** A batch on a slow disk takes longer than a query may. */
const statementMsMax = 60_000
/** PostgreSQL ends a statement by itself; one that is frozen does not, and is given up a little later. */
const answerMsMax = statementMsMax + 5_000

/** Every change takes this row's lock, here before all others: two batches at a time would wait for each other's rows. */
const lockSql = 'SELECT FROM content_version FOR UPDATE'

export function transact<Result>(
  postgres: pg.Pool,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  return inTransaction(postgres, { stepMs: answerMsMax }, async transaction => {
    // The pool's own limit is that of usual statements.
    await transaction.query(`SET LOCAL statement_timeout = ${statementMsMax}; ${lockSql}`)
    return await work(transaction)
  })
}
