/** One change of the content files: all of it or nothing, and one at a time. */

import type pg from 'pg'
import { inTransaction } from '../transaction.ts'

/** What the statements of a change are asked of. */
export type Client = Pick<pg.ClientBase, 'query'>

/** A batch on a slow disk takes longer than a question may. */
const statementMsMax = 60_000
/** PostgreSQL ends a statement by itself; one that is frozen does not, and is given up a little later. */
const answerMsMax = statementMsMax + 5_000

/** Every change takes this row's lock, here before all others: two batches at a time would wait for each other's rows. */
const lockSql = 'SELECT FROM content_version FOR UPDATE'

export function transact<Result>(postgres: pg.Pool, work: (client: Client) => Promise<Result>): Promise<Result> {
  return inTransaction(postgres, 'BEGIN', async client => {
    const patientClient = patient(client)
    await patientClient.query(`SET LOCAL statement_timeout = ${statementMsMax}; ${lockSql}`)
    return await work(patientClient)
  })
}

/** The pool's own limit is that of usual statements. */
function patient(client: pg.PoolClient): Client {
  const query = (text: string, values?: unknown[]) =>
    client.query({ text, query_timeout: answerMsMax } as pg.QueryConfig, values)
  return { query } as Client
}
