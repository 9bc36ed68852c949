/** A connection that PostgreSQL breaks in the middle of a transaction ends that transaction, and not the service. */

import t from 'tap'
import { inTransaction } from '../../content/transaction.ts'
import { startContentFileStore } from '../support/content-files.ts'

const { postgres } = await startContentFileStore(t)
const endItself = 'SELECT pg_terminate_backend(pg_backend_pid())'

t.test('a broken connection fails the transaction alone', async t => {
  await t.rejects(inTransaction(postgres, 'BEGIN', client => client.query(endItself)))
  await t.rejects(
    inTransaction(postgres, 'BEGIN', async client => {
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid')
      // Nothing is asked when it breaks.
      const broken = new Promise(resolve => client.once('end', resolve))
      await postgres.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
      await broken
      await client.query('SELECT 1')
    }),
  )
  const { rows } = await inTransaction(postgres, 'BEGIN', client => client.query('SELECT 1 AS one'))
  t.strictSame(rows, [{ one: 1 }])
})
