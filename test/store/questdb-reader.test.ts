/** Read-only access to the managed QuestDB, on a known port. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { test } from 'tap'
import { freePort } from '../../store/process/free-port.ts'
import { openQuestdb } from '../../store/questdb/questdb.ts'
import { readingsTable } from '../../store/tables.ts'
import { openTestDirectory, storeOptions, type TestHooks } from '../support/databases.ts'

async function open(t: TestHooks, questdbPgPort: number) {
  const directory = openTestDirectory(t)
  const questdb = await openQuestdb({ ...storeOptions(directory), questdbPgPort }, new AbortController().signal)
  t.teardown(() => questdb.close())
  return { directory, questdb }
}

async function connected(t: TestHooks, config: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...config, ssl: false })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

test('the reader may only read', async t => {
  const port = await freePort()
  const { directory, questdb } = await open(t, port)
  await questdb.ready
  t.equal(questdb.address.pg.port, port)
  const password = readFileSync(join(directory.path, 'secrets', 'questdb-reader'), 'utf8').trim()
  const reader = await connected(t, { host: '127.0.0.1', port, user: 'reader', password, database: 'qdb' })
  const service = await connected(t, questdb.address.pg)
  await service.query(`INSERT INTO ${readingsTable} (ts, device, temperature) VALUES ('2026-01-01', 'porch-1', 21.4)`)
  const read = async () => (await service.query(`SELECT ts, device, temperature FROM ${readingsTable}`)).rows
  while ((await read()).length === 0);
  const before = await read()
  t.strictSame((await reader.query(`SELECT ts, device, temperature FROM ${readingsTable}`)).rows, before)

  const changes = [
    `INSERT INTO ${readingsTable} (ts, device, temperature) VALUES ('2026-01-02', 'porch-1', 1)`,
    `INSERT INTO ${readingsTable} SELECT * FROM ${readingsTable}`,
    `UPDATE ${readingsTable} SET temperature = 1`,
    `TRUNCATE TABLE ${readingsTable}`,
    `DROP TABLE ${readingsTable}`,
    `RENAME TABLE ${readingsTable} TO others`,
    `ALTER TABLE ${readingsTable} DROP PARTITION LIST '2026-01-01'`,
    `ALTER TABLE ${readingsTable} ADD COLUMN other DOUBLE`,
    'CREATE TABLE others (a INT)',
    `CREATE TABLE others AS (SELECT * FROM ${readingsTable})`,
    `CREATE MATERIALIZED VIEW others AS (SELECT ts, count() n FROM ${readingsTable} SAMPLE BY 1h) PARTITION BY DAY`,
    `CREATE VIEW others AS (SELECT * FROM ${readingsTable})`,
    'DROP MATERIALIZED VIEW readings_1h',
    'REFRESH MATERIALIZED VIEW readings_1h FULL',
    'CHECKPOINT CREATE',
    `VACUUM TABLE ${readingsTable}`,
    'DROP ALL TABLES',
  ]
  for (const change of changes) await t.rejects(reader.query(change), { message: /denied/i }, change)
  const tables = 'SELECT table_name FROM tables() ORDER BY table_name'
  t.notMatch(JSON.stringify((await service.query(tables)).rows), /others/)
  t.strictSame(await read(), before)
  await t.rejects(connected(t, { host: '127.0.0.1', port, user: 'reader', password: 'quest', database: 'qdb' }))
})

test('a port in use is reported with its setting', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as { port: number }
  const { questdb } = await open(t, port)
  await t.rejects(questdb.ready, {
    name: 'StartError',
    message: `Port ${port} on 127.0.0.1 is in use by another program, or requires privileges that this user lacks: set QUESTDB_PG_PORT to a free port.`,
  })
})
