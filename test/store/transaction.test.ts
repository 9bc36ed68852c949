/** A connection that PostgreSQL breaks in the middle of a transaction ends that transaction, and not the service. */

import { once } from 'node:events'
import type pg from 'pg'
import t from 'tap'
import { isUnavailable, OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import { startContentFileStore } from '../support/content-files.ts'

const { postgres } = await startContentFileStore(t)
const limits = { stepMs: 10_000 }
const endItself = 'SELECT pg_terminate_backend(pg_backend_pid())'

t.test('a broken connection fails the transaction alone', async t => {
  await t.rejects(inTransaction(postgres, limits, transaction => transaction.query(endItself)))
  const acquired = once(postgres, 'acquire') as Promise<[pg.PoolClient]>
  await t.rejects(
    inTransaction(postgres, limits, async transaction => {
      const [client] = await acquired
      const { rows } = await transaction.query('SELECT pg_backend_pid() AS pid')
      // Nothing is asked when it breaks.
      // `once` of node:events would reject at the client's error, which comes first.
      const broken = new Promise(resolve => client.once('end', resolve))
      await postgres.query('SELECT pg_terminate_backend($1)', [rows[0].pid])
      await broken
      await transaction.query('SELECT 1')
    }),
  )
  const { rows } = await inTransaction(postgres, limits, transaction => transaction.query('SELECT 1 AS one'))
  t.strictSame(rows, [{ one: 1 }])
})

t.test('a snapshot sees one moment and changes nothing', async t => {
  await postgres.query('CREATE TABLE snapshot_test (n int)')
  const count = 'SELECT count(*)::int AS n FROM snapshot_test'
  const lastId = 'SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id'
  const counts = await inTransaction(postgres, { ...limits, isSnapshot: true }, async transaction => {
    const before = await transaction.query(count)
    await postgres.query('INSERT INTO snapshot_test VALUES (1)')
    const after = await transaction.query(count)
    return [before.rows[0].n, after.rows[0].n]
  })
  t.strictSame(counts, [0, 0])
  const { rows: before } = await postgres.query(lastId)
  await inTransaction(postgres, { ...limits, isSnapshot: true }, transaction => transaction.query(count))
  const { rows: after } = await postgres.query(lastId)
  t.strictSame(after, before, 'it takes no transaction id')
  const insert = inTransaction(postgres, { ...limits, isSnapshot: true }, transaction =>
    transaction.query('INSERT INTO snapshot_test VALUES (2)'),
  )
  await t.rejects(insert, { code: '25006' })
})

t.test('a COMMIT that fails leaves the outcome open, and counts as unavailable', async t => {
  const error = await inTransaction(postgres, limits, async transaction => {
    await transaction.query('CREATE TABLE deferred_test (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)')
    // Breaks at COMMIT.
    await transaction.query('INSERT INTO deferred_test VALUES (1), (1)')
  }).catch((error: unknown) => error)
  t.ok(error instanceof OutcomeUnknown)
  t.match((error as OutcomeUnknown).transaction, /^\d+$/)
  t.ok(isUnavailable(error))
})
