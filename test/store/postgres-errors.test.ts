/** Which errors of a real PostgreSQL mean that it is away, and which that we have asked something wrong. */

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import pg from 'pg'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { monitorPostgres } from '../../store/postgres/postgres.ts'
import { isNotReady, isUnavailable } from '../../store/postgres/postgres-errors.ts'
import { freePort } from '../../store/process/free-port.ts'
import { nowhere, silentLog, startDatabases } from '../support/databases.ts'
import { until } from '../support/processes.ts'

const { store } = await startDatabases(t, nowhere)
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

t.test('connections that the server ends cost a change at most, and no device', async t => {
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
    // A COMMIT may have been sent: then nobody knows, until PostgreSQL is asked.
    t.match(changed.ok ? 'made' : changed.code, /^(made|DATABASE_AWAY|OUTCOME_UNKNOWN)$/)
    t.ok(devices.authenticate('kitchen', password))
  }
  // The pool may hold another connection whose end it has not seen yet.
  await until('a change is made', async () => (await devices.change('kitchen', { altitude_m: 9 }, 'test')).ok)
  t.equal(devices.get('kitchen')?.altitude_m, 9)
})

t.test('a PostgreSQL that is not there is told, and one that is there is not', async t => {
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
  await until('it is told', () => /^PostgreSQL does not answer/.test(monitors[0]?.fault() ?? ''))
  t.equal(monitors[1]?.fault(), undefined)
})
