/** Several statements in one transaction: all of them or nothing. */

import type pg from 'pg'

/** `begin` is the text that opens the transaction. */
export async function inTransaction<Result>(
  postgres: pg.Pool,
  begin: string,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await postgres.connect()
  // A connection that breaks says so to the statement under way, and here: if nobody listened, the process would end.
  const heard = () => undefined
  client.on('error', heard)
  try {
    await client.query(begin)
    const result = await work(client)
    await client.query('COMMIT')
    client.off('error', heard)
    client.release()
    return result
  } catch (error) {
    // It may be half way through a transaction, or broken, so it is not used again; it may break a second time.
    client.release(true)
    throw error
  }
}
