/** How migrations are applied. The data of an earlier release: `test/service/upgrade.test.ts`. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t, { test } from 'tap'
import { migrate, migrationsLock } from '../../store/postgres/migrations.ts'
import { type PostgresAddress, startPostgres } from '../../store/postgres/postgres-server.ts'
import { openTestDirectory, recordingLog, silentLog, type TestHooks, temporaryFolder } from '../support/databases.ts'

const address = await postgres(t)

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

  await t.test('failed migrations change nothing', async t => {
    const { client, folder, write } = await schema(t, address)
    write({ '001-first.sql': 'CREATE TABLE first (id int)', '002-second.sql': 'CREATE TABLE second (id nonsense)' })
    const message = /002-second\.sql failed \(type "nonsense" does not exist\): it was rolled back/
    await t.rejects(migrate(client, folder, silentLog), { name: 'StartError', message })
    t.strictSame(await tables(client), [])
    write({ '002-second.sql': 'CREATE TABLE second (id int)' })
    await migrate(client, folder, silentLog)
    t.strictSame(await tables(client), ['first', 'schema_migrations', 'second'])
  })

  await t.test('applied migrations may not change, disappear or be overtaken', async t => {
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
  return { client, connect, folder, write }
}

async function tables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1',
  )
  return rows.map(row => row.name)
}
