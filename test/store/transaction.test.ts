/** Errors of a real PostgreSQL that mean it is unavailable, and errors of our requests. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { monitorPostgres } from '../../store/postgres/postgres.ts'
import { isNotReady, isUnavailable, OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { beginTransaction, inTransaction } from '../../store/postgres/transaction.ts'
import { freePort } from '../../store/process/free-port.ts'
import { startContentFileStore } from '../support/content-files.ts'
import { nowhere, silentLog, startDatabases } from '../support/databases.ts'
import { until } from '../support/processes.ts'

const { store } = await startDatabases(t, nowhere)
const { postgres } = await startContentFileStore(t)
const pool = store.postgres
// The pool hides its password from a spread.
const address = { ...pool.options, password: pool.options.password }

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('it did not fail')
}

t.test('a lost, refused or overtaxed connection is a database that is away', async t => {
  const away = async (what: string, work: Promise<unknown>) => t.ok(isUnavailable(await faultOf(work)), what)
  await away('ended by the server', pool.query('SELECT pg_terminate_backend(pg_backend_pid())'))
  await away('cancelled', pool.query('SET statement_timeout = 10; SELECT pg_sleep(5)'))
  const refused = new pg.Pool({ host: '127.0.0.1', port: 1 })
  await away('refused', refused.query('SELECT 1'))
  const nowhere = new pg.Pool({ host: '/nonexistent' })
  await away('no socket', nowhere.query('SELECT 1'))
  const busy = new pg.Pool({ ...address, max: 1, connectionTimeoutMillis: 3000 })
  // A pool is over before its connections are, and PostgreSQL, which stops then, says so to those that are left.
  busy.on('error', () => undefined)
  const holding = await busy.connect()
  await away('none free', busy.query('SELECT 1'))
  holding.release()
  await busy.end()
  await away('ended by us', busy.query('SELECT 1'))
})

t.test('a server that takes a connection and does not answer is not ready, a wrong password is wrong', async t => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  t.teardown(() => silent.close())
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const waiting = new pg.Client({ host: '127.0.0.1', port, connectionTimeoutMillis: 100 })
  t.ok(isNotReady(await faultOf(waiting.connect())))
  const wrong = new pg.Client({ ...address, password: 'wrong' })
  t.notOk(isNotReady(await faultOf(wrong.connect())))
})

t.test('a wrong statement or an error of ours is not', async t => {
  for (const sql of ['SELEC 1', 'SELECT 1/0', "SELECT 'x'::int"]) t.notOk(isUnavailable(await faultOf(pool.query(sql))))
  for (const fault of [new TypeError('x is not a function'), 'away']) t.notOk(isUnavailable(fault))
})

t.test('connections that the server ends cost at most a change', async t => {
  const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 1000 })
  t.teardown(() => devices.close())
  const added = await devices.add([NewDevice.parse({ name: 'kitchen' })], 'test')
  const password = added.ok ? (added.value[0]?.password ?? '') : ''
  const killer = new pg.Client(address)
  await killer.connect()
  t.teardown(() => killer.end())
  for (let round = 0; round < 5; round++) {
    const change = devices.change('kitchen', { altitude_m: round }, 'test')
    await killer.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
    const changed = await change
    // A COMMIT may have been sent. Then the result is unknown until PostgreSQL is queried.
    t.match(changed.ok ? 'made' : changed.code, /^(made|DATABASE_AWAY|OUTCOME_UNKNOWN)$/)
    t.ok(devices.authenticate('kitchen', password))
  }
  // The pool may hold another connection whose end it has not seen yet.
  await until('a change is made', async () => (await devices.change('kitchen', { altitude_m: 9 }, 'test')).ok)
  t.equal(devices.get('kitchen')?.altitude_m, 9)
})

t.test('only a missing PostgreSQL is reported as unavailable', async t => {
  const { host, user, password, database } = store.postgres.options
  const nobody = new pg.Pool({ host: '127.0.0.1', port: await freePort(), user, database })
  const somebody = new pg.Pool({ host, port: store.postgres.options.port, user, password, database })
  // A pool is over before its connections are, and PostgreSQL, which stops then, says so to those that are left.
  somebody.on('error', () => undefined)
  const monitors = [nobody, somebody].map(pool => monitorPostgres(pool, 20))
  t.teardown(async () => {
    for (const monitor of monitors) monitor.close()
    await Promise.all([nobody.end(), somebody.end()])
  })
  await until('it is reported', () => /^PostgreSQL does not answer/.test(monitors[0]?.fault() ?? ''))
  t.equal(monitors[1]?.fault(), undefined)
})

const limits = { stepMs: 10_000 }
const endItself = 'SELECT pg_terminate_backend(pg_backend_pid())'

t.test('a broken connection fails the transaction alone', async t => {
  await t.rejects(inTransaction(postgres, limits, transaction => transaction.query(endItself)))
  // Other work may acquire a client of this pool, too.
  const clients = new Set<pg.PoolClient & { processID?: number }>()
  const add = (client: pg.PoolClient) => void clients.add(client)
  postgres.on('acquire', add)
  t.teardown(() => postgres.off('acquire', add))
  await t.rejects(
    inTransaction(postgres, limits, async transaction => {
      const { rows } = await transaction.query('SELECT pg_backend_pid() AS pid')
      const client = [...clients].find(({ processID }) => processID === rows[0].pid)
      // Nothing is asked when it breaks.
      // `once` of node:events would reject at the client's error, which comes first.
      const broken = new Promise(resolve => client?.once('end', resolve))
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

t.test('a COMMIT that fails has an unknown outcome and counts as unavailable', async t => {
  const error = await inTransaction(postgres, limits, async transaction => {
    await transaction.query('CREATE TABLE deferred_test (n int UNIQUE DEFERRABLE INITIALLY DEFERRED)')
    // Breaks at COMMIT.
    await transaction.query('INSERT INTO deferred_test VALUES (1), (1)')
  }).catch((error: unknown) => error)
  t.ok(error instanceof OutcomeUnknown)
  t.match((error as OutcomeUnknown).transaction, /^\d+$/)
  t.ok(isUnavailable(error))
})

t.test('the transaction that a deadlock rolls back is repeated', async t => {
  await postgres.query('CREATE TABLE deadlock_test (id int PRIMARY KEY, n int NOT NULL)')
  await postgres.query('INSERT INTO deadlock_test VALUES (1, 0), (2, 0)')
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let tries = 0
  const add = (first: number, second: number) =>
    inTransaction(postgres, limits, async transaction => {
      tries++
      const update = 'UPDATE deadlock_test SET n = n + 1 WHERE id = $1'
      await transaction.query(update, [first])
      begun[first - 1]?.resolve()
      await begun[second - 1]?.promise
      await transaction.query(update, [second])
    })
  await Promise.all([add(1, 2), add(2, 1)])
  t.equal(tries, 3)
  const { rows } = await postgres.query('SELECT id, n FROM deadlock_test ORDER BY id')
  t.equal(JSON.stringify(rows), '[{"id":1,"n":2},{"id":2,"n":2}]')
})

t.test('a transaction that is rolled back each time fails as one that may succeed later', async t => {
  for (const code of ['40001', '40P01']) {
    let tries = 0
    const error = await inTransaction(postgres, limits, async transaction => {
      tries++
      await transaction.query(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`)
    }).catch((error: unknown) => error)
    t.match(error, { code })
    t.ok(isUnavailable(error))
    t.equal(tries, 3)
  }
  let tries = 0
  const once = inTransaction(postgres, limits, async transaction => {
    tries++
    await transaction.query('SELECT 1 / 0')
  })
  await t.rejects(once, { code: '22012' })
  t.equal(tries, 1, 'another error is final')
})

t.test('a COMMIT that fails for another transaction is repeated, since its outcome is known', async t => {
  await postgres.query(`CREATE TABLE commit_test (n int);
    CREATE SEQUENCE commit_tries;
    CREATE FUNCTION fail_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('commit_tries') = 1 THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF;
      RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON commit_test DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION fail_first()`)
  await inTransaction(postgres, limits, transaction => transaction.query('INSERT INTO commit_test VALUES (1)'))
  t.strictSame((await postgres.query('SELECT n FROM commit_test')).rows, [{ n: 1 }])
})

t.test('a transaction that was idle for too long counts as unavailable', async t => {
  const idle = inTransaction(postgres, limits, async transaction => {
    await transaction.query("SELECT set_config('idle_in_transaction_session_timeout', '10', true)")
    await new Promise(resolve => setTimeout(resolve, 500))
    await transaction.query('SELECT 1')
  }).catch((error: unknown) => error)
  t.ok(isUnavailable(await idle))
})

t.test('a transaction ends once and leaves its connection to others after a rollback', async t => {
  const pid = 'SELECT pg_backend_pid() AS pid'
  const open = await beginTransaction(postgres, limits)
  await open.transaction.query('CREATE TABLE rolled_back (n int)')
  const { rows: before } = await open.transaction.query(pid)
  await open.rollback()
  await open.rollback()
  open.abandon()
  t.strictSame((await postgres.query("SELECT to_regclass('rolled_back') AS made")).rows, [{ made: null }])
  const next = await beginTransaction(postgres, limits)
  const { rows: after } = await next.transaction.query(pid)
  t.strictSame(after, before)
  await next.commit()
  await next.rollback()
})
