/** The application of migrations. The data of an earlier release: `test/service/upgrade.test.ts`. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import pg from 'pg'
import t, { test } from 'tap'
import { migrate, migrationsFolder, migrationsLock, pendingMigrations } from '../../store/postgres/migrations.ts'
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

/** `fixtures/migrations-001-050.tar.zst` has the migrations of development versions, of commit 18696e17. */
test('the baseline', async t => {
  const earlier = temporaryFolder(t)
  const archive = readFileSync(join(import.meta.dirname, 'fixtures', 'migrations-001-050.tar.zst'))
  execFileSync('tar', ['-x', '-C', earlier], { input: zstdDecompressSync(archive) })
  const last = '050-baseline.sql'

  await t.test('creates the schema and the rows of the earlier migrations', async t => {
    const [before, after] = [await database(t), await database(t)]
    await migrate(before, earlier, silentLog)
    await migrate(after, migrationsFolder, silentLog, { last })
    const [wanted, found] = [await contents(before), await contents(after)]
    t.ok(wanted.length > 700, 'columns, constraints, indexes, functions, triggers, sequences and rows')
    t.strictSame(found, wanted)
  })

  await t.test('changes nothing where all of them are applied', async t => {
    const client = await database(t)
    await migrate(client, earlier, silentLog)
    const rows = async () => (await client.query('SELECT * FROM schema_migrations ORDER BY name')).rows
    const [before, applied] = [await contents(client), await rows()]
    const { log, texts } = recordingLog('info')
    await migrate(client, migrationsFolder, log, { last })
    t.strictSame([await contents(client), await rows(), texts], [before, applied, []])
    const folder = join(temporaryFolder(t), 'migrations')
    execFileSync('cp', ['-r', migrationsFolder, folder])
    writeFileSync(join(folder, '999-more.sql'), 'CREATE TABLE more (id int)')
    t.notOk((await pendingMigrations(client, folder)).includes(last))
    await migrate(client, folder, silentLog)
    t.match((await rows()).at(-1), { name: '999-more.sql' }, 'a later migration follows them')
  })

  await t.test('is refused where only some of them are applied', async t => {
    const client = await database(t)
    for (const name of ['001-devices.sql', '049-decoders.sql']) {
      await migrate(client, earlier, silentLog, { last: name })
      const before = await contents(client)
      const refusal = {
        name: 'StartError',
        message: new RegExp(
          `^The schema .* earlier development version \\(last migration ${name}\\): start .* \\(commit 18696e17\\)`,
        ),
      }
      await t.rejects(pendingMigrations(client, migrationsFolder), refusal)
      await t.rejects(migrate(client, migrationsFolder, silentLog), refusal)
      t.strictSame(await contents(client), before)
    }
  })
})

let databases = 0

async function database(t: TestHooks): Promise<pg.Client> {
  const name = `database_${++databases}`
  const admin = new pg.Client(address)
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  await admin.end()
  const client = new pg.Client({ ...address, database: name })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** Lines of the schema `public`, and the rows of its tables without random values and times. */
async function contents(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    SELECT format('column %s %s %s %s %s %s %s', attrelid::regclass, row_number() OVER (PARTITION BY attrelid ORDER BY attnum), attname,
      format_type(atttypid, atttypmod), attidentity, attgenerated, pg_get_expr(adbin, adrelid)) AS line
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    UNION ALL SELECT format('table %s %s', oid::regclass, reloptions) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
    UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT format('sequence %s', s.*) FROM pg_sequences s`)
  const lines = rows.map(row => row.line)
  for (const name of await tables(client)) {
    if (name === 'schema_migrations') continue
    const { rows: found } = await client.query<{ line: string }>(
      `SELECT (to_jsonb(t) - '{version,epoch,created_at}'::text[])::text AS line FROM ${name} t`,
    )
    lines.push(...found.map(({ line }) => `row ${name} ${line}`))
  }
  return lines.sort()
}

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
