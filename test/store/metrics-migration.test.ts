/** A PostgreSQL of before there was a registry of metrics, under the present service. */

import pg from 'pg'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { openMetrics } from '../../auth/metrics/metrics.ts'
import { migrate, migrationsFolder } from '../../store/postgres/migrations.ts'
import { metrics as columns } from '../../store/tables.ts'
import { nowhere, silentLog, startDatabases } from '../support/databases.ts'

const { store } = await startDatabases(t, nowhere)

t.test('the five quantities become the first metrics, and devices keep all that they send', async t => {
  await store.postgres.query('CREATE DATABASE earlier')
  const { password } = store.postgres.options
  const pool = new pg.Pool({ ...store.postgres.options, password, database: 'earlier' })
  // Its idle connections may be told that the server stops before they are closed.
  pool.on('error', () => undefined)
  t.teardown(() => pool.end())
  const client = await pool.connect()
  await migrate(client, migrationsFolder, silentLog, { last: '018-login-attempts.sql' })
  const digest = Buffer.alloc(32)
  const add = `INSERT INTO devices (name, slug, credential_current, created_at, auth_seq)
    VALUES ('porch', 'porch', $1, now(), nextval('auth_seq'))`
  await client.query(add, [digest])
  await t.rejects(client.query('SELECT FROM metrics'), /does not exist/)
  await migrate(client, migrationsFolder, silentLog)
  client.release()
  const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 1000 })
  t.teardown(() => devices.close())
  const metrics = await openMetrics({ pool, log: silentLog, mode: 'open' })
  t.teardown(() => metrics.close())
  t.strictSame(
    metrics.all().map(({ id, name, position }) => [id, name, position]),
    columns.map((name, at) => [at + 1, name, at + 1]),
  )
  const device = devices.get('porch')?.number ?? 0
  t.equal(devices.get('porch')?.metrics, null)
  t.equal(await metrics.ensure([{ device, field: 'co2' }], 'test'), 'done')
  const co2 = metrics.get('co2')
  t.ok(co2 !== undefined && co2.id > columns.length && metrics.series(device, co2) === 1)
  t.match(await devices.add([NewDevice.parse({ name: 'attic' })], 'test'), { ok: true })
})
