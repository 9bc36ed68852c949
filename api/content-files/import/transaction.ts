/** One change of the content files: all of it or nothing, and one at a time. */

import type pg from 'pg'

/** A batch on a slow disk takes longer than a question may. */
const statementMsMax = 60_000

/** Every change takes this row's lock, here before all others: two batches at a time would wait for each other's rows. */
const lockSql = 'SELECT FROM content_version FOR UPDATE'

export async function transact<Result>(
  postgres: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await postgres.connect()
  try {
    await client.query(`BEGIN; SET LOCAL statement_timeout = ${statementMsMax}; ${lockSql}`)
    const result = await work(client)
    await client.query('COMMIT')
    client.release()
    return result
  } catch (error) {
    // It may be half way through a transaction, or broken, so it is not used again.
    client.release(true)
    throw error
  }
}
