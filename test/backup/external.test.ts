/** Backups with external databases: of PostgreSQL by its connection, and none of QuestDB. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { NewDevice } from '../../auth/devices/device.ts'
import { backUp } from '../../backup/backup.ts'
import { restore } from '../../backup/restore.ts'
import { startBackedUp } from '../support/backed-up.ts'
import { storeOptions, temporaryFolder } from '../support/databases.ts'
import { createTopics, letter } from '../support/shard-topics.ts'

const { directory, store, devices, parts, run } = await startBackedUp(t)
const target = join(temporaryFolder(t), 'backup')

t.test('the files of an external QuestDB are not here, and the refusal says so', async t => {
  const external = { ...parts, store: { ...store, questdb: { ...store.questdb, managed: false } } }
  await t.rejects(backUp(target, external, run), { name: 'BackupError', message: /QUESTDB_HTTP.*back up its server/ })
  t.notOk(existsSync(target))
})

t.test('a backup goes into an external PostgreSQL that is empty, and into no other', async t => {
  await devices.add([NewDevice.parse({ name: 'kitchen', location_desc: '"quotes", \\ and ünï' })], 'test')
  await devices.add([NewDevice.parse({ name: 'roof' })], 'test')
  const { topic, state } = await createTopics(store.postgres).openTopic()
  await state.commit(topic, 5, [letter(4, 1, [11])])
  await state.addTombstones(topic, [-7], 3)
  await backUp(target, parts, run)
  await store.postgres.query('CREATE DATABASE elsewhere')
  const { host, port, user, password } = (await store.connectPostgres().then(async client => {
    await client.end()
    return client
  })) as pg.Client
  const address = { host, port, user: user ?? '', password: String(password), database: 'elsewhere' }
  const databaseUrl = `postgresql://${address.user}:${address.password}@${encodeURIComponent(host)}:${port}/elsewhere`
  const { directory: _, ...storeRest } = storeOptions(directory)
  const options = {
    folder: target,
    version: '0.1.0',
    store: { ...storeRest, databaseUrl },
    onStep: () => undefined,
    dataDirectory: join(temporaryFolder(t), 'data'),
  }
  await restore(options)
  const client = new pg.Client(address)
  await client.connect()
  const text = 'SELECT number, name, location_desc, symbol, created_at, credential_current FROM devices ORDER BY number'
  const [original, copy] = [await store.postgres.query(text), await client.query(text)]
  t.strictSame(copy.rows, original.rows)
  t.equal(copy.rowCount, 2)
  for (const table of ['shards', 'shard_topics', 'shard_tombstones', 'shard_dead_letters']) {
    const rowTexts = `SELECT ${table}::text AS row FROM ${table}`
    const [original, copy] = [await store.postgres.query(rowTexts), await client.query(rowTexts)]
    t.equal(copy.rowCount, 1, table)
    t.strictSame(copy.rows, original.rows, table)
  }
  const { rows } = await client.query("SELECT nextval(pg_get_serial_sequence('devices', 'number'))::int AS next")
  t.equal(rows[0].next, 3, 'sequences go on')
  await client.end()
  const again = { ...options, dataDirectory: join(temporaryFolder(t), 'data') }
  await t.rejects(restore(again), { message: /The database at DATABASE_URL has tables/ })
  const wrong = { ...again, store: { ...storeRest, databaseUrl: 'postgresql://127.0.0.1:9/x' } }
  await t.rejects(restore(wrong), { name: 'BackupError', message: /cannot be used/ })
  t.notOk(existsSync(again.dataDirectory))
})
