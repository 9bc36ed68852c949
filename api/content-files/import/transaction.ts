/** One change of the content files: all of it or nothing, and one at a time. */

import type pg from 'pg'
import { inTransaction } from '../transaction.ts'

/** A batch on a slow disk takes longer than a question may. */
const statementMsMax = 60_000

/** Every change takes this row's lock, here before all others: two batches at a time would wait for each other's rows. */
const lockSql = 'SELECT FROM content_version FOR UPDATE'

export function transact<Result>(postgres: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  return inTransaction(postgres, `BEGIN; SET LOCAL statement_timeout = ${statementMsMax}; ${lockSql}`, work)
}
