/** A PostgreSQL of before there was a registry of metrics, under the present service. */

import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t, { test } from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { openMetrics } from '../../auth/metrics/metrics.ts'
import { migrate, migrationsFolder, migrationsLock } from '../../store/postgres/migrations.ts'
import { type PostgresAddress, startPostgres } from '../../store/postgres/postgres-server.ts'
import { metrics as columns } from '../../store/tables.ts'
import {
  nowhere,
  openTestDirectory,
  recordingLog,
  silentLog,
  startDatabases,
  type TestHooks,
  temporaryFolder,
} from '../support/databases.ts'

const { store } = await startDatabases(t, nowhere)
const address = await postgres(t)

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

let schemas = 0

test('migrations', async t => {
  await t.test('are applied in order, once', async t => {
    const { client, folder, write } = await schema(t, address)
    write({ '002-second.sql': 'ALTER TABLE first ADD COLUMN more int', '001-first.sql': 'CREATE TABLE first (id int)' })
    const { log, texts } = recordingLog('info')
    await migrate(client, folder, log)
    await client.query('SELECT id, more FROM first')
    write({ '003-third.sql': 'CREATE TABLE third (id int); INSERT INTO third VALUES (1), (2)' })
    await migrate(client, folder, log)
    await migrate(client, folder, log)
    t.equal(texts.length, 2, 'one line for all that are applied at a start')
    t.equal((await client.query('SELECT * FROM third')).rows.length, 2)
  })

  await t.test('that fail leave everything as it was', async t => {
    const { client, folder, write } = await schema(t, address)
    write({ '001-first.sql': 'CREATE TABLE first (id int)', '002-second.sql': 'CREATE TABLE second (id nonsense)' })
    const message = /002-second\.sql failed \(type "nonsense" does not exist\): it was rolled back/
    await t.rejects(migrate(client, folder, silentLog), { name: 'StartError', message })
    t.strictSame(await tables(client), [])
    write({ '002-second.sql': 'CREATE TABLE second (id int)' })
    await migrate(client, folder, silentLog)
    t.strictSame(await tables(client), ['first', 'schema_migrations', 'second'])
  })

  await t.test('that were applied may not change, go or be overtaken', async t => {
    const { client, folder, write } = await schema(t, address)
    write({ '002-second.sql': 'CREATE TABLE second (id int)' })
    await migrate(client, folder, silentLog)
    const refuses = (files: Record<string, string>, message: RegExp): Promise<unknown> => {
      write(files)
      return t.rejects(migrate(client, folder, silentLog), { name: 'StartError', message })
    }
    await refuses({ '002-second.sql': 'CREATE TABLE second (id bigint)' }, /002-second\.sql was changed after/)
    const overtaken = { '002-second.sql': 'CREATE TABLE second (id int)', '001-first.sql': '' }
    await refuses(overtaken, /001-first\.sql comes before 002-second\.sql/)
    await refuses({ '2-second.sql': '' }, /Invalid migration name 2-second\.sql/)
    const empty = join(temporaryFolder(t), 'older')
    mkdirSync(empty)
    await t.rejects(migrate(client, empty, silentLog), {
      message: /newer than Barograph \d.* \(applied: 002-second\.sql\): start .* \(docs\/upgrading\.md\)\.$/,
    })
  })

  await t.test('are applied once when two processes start together', async t => {
    const { client, folder, write, connect } = await schema(t, address)
    write({ '001-first.sql': 'SELECT pg_sleep(0.2); CREATE TABLE first (id int)' })
    const others = await Promise.all([connect(), connect()])
    const { log, texts } = recordingLog('info')
    await Promise.all([client, ...others].map(each => migrate(each, folder, log)))
    t.equal(texts.length, 1)
  })

  await t.test('wait no longer than they say for another process', async t => {
    const { client, folder, write, connect } = await schema(t, address)
    write({ '001-first.sql': 'SELECT 1' })
    const other = await connect()
    await other.query('SELECT pg_advisory_lock($1::bigint)', [migrationsLock])
    const message = /Another process has been migrating the PostgreSQL schema for 0\.05 s/
    await t.rejects(migrate(client, folder, silentLog, { lockTimeoutMs: 50 }), { name: 'StartError', message })
    await other.query('SELECT pg_advisory_unlock($1::bigint)', [migrationsLock])
    await migrate(client, folder, silentLog, { lockTimeoutMs: 50 })
    const { rows } = await client.query("SELECT count(*)::int AS held FROM pg_locks WHERE locktype = 'advisory'")
    t.equal(rows[0].held, 0, 'and hold no lock afterwards')
  })
})

test('each station that was removed before its points were erased gets a job', async t => {
  const { client, upTo } = await schema(t, address)
  await upTo('010-stations.sql')
  await client.query(`
    INSERT INTO stations (sn, model, timezone, private, created_at, updated_at, removed_at)
      SELECT sn, 'M1', 'UTC', false, now(), now(), removed_at
      FROM (VALUES ('S-1', now()), ('S-2', NULL), ('S-1', now())) AS added (sn, removed_at);
    INSERT INTO station_series (station_id, parameter) SELECT id, unnest('{pm25,co}'::text[]) FROM stations;
    INSERT INTO erase_jobs (device, numbers, symbols) VALUES ('kitchen', '{7}', '{kitchen-7}')`)
  const { rows: series } = await client.query(
    'SELECT array_agg(number ORDER BY number) AS numbers FROM station_series GROUP BY station_id ORDER BY station_id',
  )
  await upTo('011-erase-points.sql')
  const { rows } = await client.query('SELECT rows_of, name, numbers, symbols, state FROM erase_jobs ORDER BY id')
  const ofPoints = { rows_of: 'points', name: 'S-1', symbols: [], state: 'waiting' }
  t.same(rows, [
    { rows_of: 'readings', name: 'kitchen', numbers: [7], symbols: ['kitchen-7'], state: 'waiting' },
    { ...ofPoints, numbers: series[0].numbers },
    { ...ofPoints, numbers: series[2].numbers },
  ])
})

test('each job for one metric gets the device that had the name when it was asked for', async t => {
  const { client, upTo } = await schema(t, address)
  await upTo('022-preferences.sql')
  await client.query(`
    INSERT INTO devices (name, slug, created_at, removed_at, credential_current, auth_seq)
      SELECT name, 'a', now() - age, now() - gone, decode(repeat('00', 32), 'hex'), nextval('auth_seq')
      FROM (VALUES ('porch', interval '9 days', interval '5 days'), ('porch', '4 days', NULL), ('roof', '9 days', NULL))
        AS given (name, age, gone);
    INSERT INTO erase_jobs (rows_of, name, metric, numbers, symbols, requested_at)
      SELECT rows_of, name, metric, '{1}', '{}', now() - age
      FROM (VALUES ('measurements', 'porch', 'co2', interval '6 days'), ('measurements', 'porch', 'co2', '1 day'),
        ('measurements', 'gone', 'co2', '1 day'), ('readings', 'roof', NULL, '1 day')) AS given (rows_of, name, metric, age)`)
  await upTo('023-erase-metric-again.sql')
  const { rows } = await client.query({ text: 'SELECT device FROM erase_jobs ORDER BY id', rowMode: 'array' })
  t.strictSame(rows, [[1], [2], [null], [null]])
})

test('owners that were any text become accounts, and the audit keeps the others', async t => {
  const { client, upTo } = await schema(t, address)
  await upTo('009')
  await client.query("INSERT INTO accounts (email, created_at, updated_at) VALUES ('Anna@example.com', now(), now())")
  await client.query(`INSERT INTO devices (name, slug, owner, created_at, credential_current, auth_seq)
    SELECT name, 'a', owner, now(), decode(repeat('00', 32), 'hex'), nextval('auth_seq')
    FROM (VALUES ('known', ' anna@EXAMPLE.com'), ('other', 'Bert'), ('none', NULL)) AS given (name, owner)`)
  await upTo('999')
  const { rows } = await client.query({ text: 'SELECT name, owner FROM devices ORDER BY number', rowMode: 'array' })
  t.equal(JSON.stringify(rows), '[["known",1],["other",null],["none",null]]')
  const { rows: audit } = await client.query('SELECT actor, action, subject, details FROM audit')
  const details = { owner: null, owner_was: 'Bert' }
  t.strictSame(audit, [{ actor: 'migration', action: 'device.change', subject: 'other', details }])
})

async function postgres(t: TestHooks): Promise<PostgresAddress> {
  const directory = openTestDirectory(t)
  const { signal } = new AbortController()
  const server = await startPostgres({ directory, environment: process.env, log: silentLog, signal })
  t.teardown(() => server.close())
  return server.address
}

/** A schema of its own in the one server, so that the cases do not meet. */
async function schema(t: TestHooks, address: PostgresAddress) {
  const name = `case_${++schemas}`
  const folder = join(temporaryFolder(t), 'migrations')
  mkdirSync(folder)
  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ ...address, options: `-c search_path=${name}` })
    await client.connect()
    t.teardown(() => client.end())
    return client
  }
  const client = await connect()
  await client.query(`CREATE SCHEMA ${name}`)
  function write(files: Record<string, string>): void {
    for (const [file, sql] of Object.entries(files)) writeFileSync(join(folder, file), sql)
  }
  /** With our own migrations. */
  async function upTo(last: string): Promise<void> {
    for (const name of readdirSync(migrationsFolder)) {
      if (name <= last) copyFileSync(join(migrationsFolder, name), join(folder, name))
    }
    await migrate(client, folder, silentLog)
  }
  return { client, connect, folder, write, upTo }
}

async function tables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
  )
  return rows.map(row => row.name)
}
