/** Databases that were external by address: used, watched, never stopped. */

import http from 'node:http'
import type { Server } from 'node:net'
import type pg from 'pg'
import t, { test } from 'tap'
import { postgresUrl } from '../../cli/demo/cluster/database-settings.ts'
import { connectWithRetry } from '../../store/postgres/postgres-connect.ts'
import { freePort } from '../../store/process/free-port.ts'
import { parseQuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { monitorQuestdb } from '../../store/questdb/questdb-monitor.ts'
import { openStore, type Store } from '../../store/store.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import { pointsTable, pointsTableSql, readingsTable, readingsTableSql } from '../../store/tables.ts'
import { openTestDirectory, recordingLog, startDatabases, storeOptions, type TestHooks } from '../support/databases.ts'
import { freeze } from '../support/frozen.ts'
import { isRunning, serverPid, until } from '../support/processes.ts'

/** The addresses of a running store, as a person would give them. */
function addressesOf({ questdb, postgres }: Store) {
  const { http, pg } = questdb.address
  const [user, password] = Buffer.from(http.authorization?.slice('Basic '.length) ?? '', 'base64')
    .toString()
    .split(':')
  return {
    questdbHttp: `http://${user}:${password}@127.0.0.1:${http.port}`,
    questdbPg: `postgresql://${pg.user}:${pg.password}@127.0.0.1:${pg.port}/qdb`,
    databaseUrl: postgresUrl(postgres),
  }
}

function openExternal(t: TestHooks, external: Partial<StoreOptions>): Promise<Store> {
  const directory = openTestDirectory(t)
  return openStore({ ...storeOptions(directory), ...external })
}

const hangMs = 600_000
const { directory, store } = await startDatabases(t, { questdbCommitMode: 'nosync' })
await store.questdb.ready

test('external databases are used and not stopped', async t => {
  const { log, texts: warnings } = recordingLog('warn')
  const external = await openExternal(t, { ...addressesOf(store), log })
  await external.questdb.ready
  t.equal(external.questdb.managed, false)
  t.strictSame(external.questdb.address, store.questdb.address)
  t.equal(external.questdb.commitMode(), 'nosync')
  t.match(warnings, [/does not sync its commits/], 'what that means is said')
  t.equal(external.questdb.version(), '9.3.4')
  t.match(external.versions(), { postgres: /^18/, java: undefined })
  t.equal((await external.postgres.query('SELECT 1 AS one')).rows[0].one, 1)
  await external.close()
  t.ok(isRunning(serverPid(directory, 'questdb')))
  t.ok(isRunning(serverPid(directory, 'postgres')))
  await until('QuestDB is up', () => store.questdb.state().state === 'up')
})

test('an unavailable external QuestDB does not prevent a start and is found later', async t => {
  process.kill(serverPid(directory, 'questdb'), 'SIGKILL')
  const external = await openExternal(t, addressesOf(store))
  t.teardown(() => external.close())
  await until('it is away', () => external.questdb.state().state === 'away')
  t.match(
    external.questdb.state().reason,
    /QuestDB at 127\.0\.0\.1:\d+ cannot be used: .*(ECONNREFUSED|ECONNRESET|hang up)/,
  )
  await external.questdb.ready
  t.equal(external.questdb.state().state, 'up')
})

test('an unreachable external QuestDB is logged at once and then periodically', async t => {
  const { log, texts: warnings } = recordingLog('warn')
  const address = parseQuestdbAddress('http://user:secret@127.0.0.1:1', 'postgresql://user:secret@127.0.0.1:1/qdb')
  const settings = { name: 'QuestDB at 127.0.0.1:1', retryMsMax: 20, startsNow: false, checkSettings: () => undefined }
  const monitor = monitorQuestdb({ address, ...settings, log, remindMs: 100 })
  t.teardown(() => monitor.close())
  await until('three log lines', () => warnings.length >= 3)
  t.ok(warnings.every(warning => /^QuestDB at 127\.0\.0\.1:1 unavailable; readings wait in the journal$/.test(warning)))
  t.match(monitor.state(), { state: 'away', reason: /ECONNREFUSED/ })
  t.notMatch(monitor.state().reason, /secret/)
})

test('a statement that an external QuestDB does not end in time is reported', async t => {
  await until('QuestDB is up', () => store.questdb.state().state === 'up')
  const { log, texts: warnings } = recordingLog('warn')
  const { address } = store.questdb
  const settings = { name: 'QuestDB elsewhere', retryMsMax: 20, startsNow: false, checkSettings: () => undefined }
  const monitor = monitorQuestdb({ address, ...settings, log, statementSecondsMax: 1 })
  t.teardown(() => monitor.close())
  const client = createQuestdbClient(address.http)
  t.teardown(() => client.close())
  const sql = 'SELECT count() FROM long_sequence(900000000000) WHERE rnd_double() > 2'
  client.exec(sql, hangMs).catch(() => undefined)
  await until('it is seen', () => monitor.state().isStatementOverdue === true)
  t.strictSame(warnings, ['a statement of QuestDB elsewhere exceeds its time limit'])
  // Nothing else ends it.
  process.kill(serverPid(directory, 'questdb'), 'SIGKILL')
  await until('it is up again', () => monitor.state().state === 'up' && monitor.state().isStatementOverdue === false)
})

test('a missing PostgreSQL is reported at once, and a permanent fault ends the start', async t => {
  const { log, texts: warnings } = recordingLog('warn')
  const config = { connectionString: `postgresql://user:secret@127.0.0.1:${await freePort()}/barograph` }
  const giveUp = new AbortController()
  const connecting = connectWithRetry({ config, external: true, signal: giveUp.signal, log })
  await until('it is reported', () => warnings.length === 1)
  t.match(
    warnings[0],
    /^PostgreSQL at 127\.0\.0\.1:\d+, database barograph, cannot be used \(.*ECONNREFUSED.*\): start it/,
  )
  t.notMatch(warnings[0], /secret/)
  giveUp.abort(new Error('given up'))
  await t.rejects(connecting, { message: 'given up' })
  const { host, port, user, password } = store.postgres.options
  const refusals: [pg.ClientConfig, RegExp][] = [
    [{ user, password: 'wrong', database: 'postgres' }, /correct the user or the password in DATABASE_URL/],
    [{ user, password, database: 'nowhere' } as pg.ClientConfig, /create the database .*or correct DATABASE_URL/],
    [{ user, host: 'nowhere.invalid', database: 'x' }, /correct the host in DATABASE_URL/],
  ]
  for (const [wrong, message] of refusals) {
    const refused = connectWithRetry({ config: { host, port, ...wrong } as pg.ClientConfig, external: true, log })
    await t.rejects(refused, { name: 'StartError', message })
  }
})

for (const [table, createSql] of [
  [readingsTable, readingsTableSql],
  [pointsTable, pointsTableSql],
] as const) {
  test(`a table ${table} that could not keep our promise is refused until it is right`, async t => {
    await until('QuestDB is up', () => store.questdb.state().state === 'up')
    const client = createQuestdbClient(store.questdb.address.http)
    t.teardown(() => client.close())
    await client.exec(`DROP TABLE ${table}`, hangMs)
    await client.exec(createSql.replace(/ DEDUP.*/, ''), hangMs)
    const external = await openExternal(t, addressesOf(store))
    t.teardown(() => external.close())
    await until('it is refused', () => external.questdb.state().state === 'away')
    const reason = `table ${table} is not ours: the column ts is "TIMESTAMP true false"`
    t.match(external.questdb.state().reason, reason)
    await client.exec(`DROP TABLE ${table}`, hangMs)
    await external.questdb.ready
    t.strictSame(await client.exec(`SELECT count() FROM ${table}`, hangMs), [[0]], 'it is created again')
  })
}

test('a port of another service is reported with the setting to correct', async t => {
  const web = http.createServer((_request, response) => response.end('<html>'))
  const webPort = await listen(t, web)
  const directory = openTestDirectory(t)
  const databaseUrl = `postgresql://barograph:secret@127.0.0.1:${webPort}/barograph`
  const started = openStore({ ...storeOptions(directory), databaseUrl })
  const message = /^PostgreSQL at 127\.0\.0\.1:\d+, database barograph, .*\): start it, or correct DATABASE_URL/
  await t.rejects(started, { name: 'StartError', message })

  const questdbHttp = `http://127.0.0.1:${webPort}`
  const external = await openExternal(t, { questdbHttp, questdbPg: 'postgresql://127.0.0.1:1/qdb' })
  t.teardown(() => external.close())
  await until('it is away', () => external.questdb.state().state === 'away')
  t.match(external.questdb.state().reason, /it answers, but not as a QuestDB/)
})

test('addresses are read from their URLs', async t => {
  const gives = (questdbHttp: string, questdbPg: string, address: object): unknown =>
    t.match(parseQuestdbAddress(questdbHttp, questdbPg), address, questdbHttp)
  const authorization = `Basic ${Buffer.from('a:p@ss').toString('base64')}`
  gives('http://a:p%40ss@db.example:9000', 'postgresql://b:c@db.example:8812/x', {
    http: { host: 'db.example', port: 9000, tls: false, authorization },
    pg: { host: 'db.example', port: 8812, user: 'b', password: 'c', database: 'x' },
  })
  gives('https://db.example', 'postgres://[::1]', {
    http: { port: 443, tls: true, authorization: undefined },
    pg: { host: '::1', port: 8812, user: 'admin', password: 'quest', database: 'qdb' },
  })
  const wrong = { name: 'StartError', message: /^QUESTDB_(HTTP|PG) is not a valid address: it should look like / }
  t.throws(() => parseQuestdbAddress('db.example:9000', 'postgresql://db'), wrong)
  t.throws(() => parseQuestdbAddress('http://db', 'http://db'), wrong)
  t.throws(() => parseQuestdbAddress('http://db', undefined), { message: /must be set together/ })
})

test('a frozen QuestDB is unavailable until its content is checked', async t => {
  await until('QuestDB is up', () => store.questdb.state().state === 'up')
  let checks = 0
  store.questdb.guard(async () => {
    checks++
    return undefined
  })
  t.equal(await store.questdb.answers(), true, 'who asks before the check waits for it')
  t.equal(store.questdb.answers(), true, 'nothing is asked while it is up')
  const thaw = freeze(serverPid(directory, 'questdb'))
  t.teardown(thaw)
  await until('it is away', () => store.questdb.state().state === 'away')
  t.equal(await store.questdb.answers(), false)
  checks = 0
  thaw()
  await until('it answers', async () => await store.questdb.answers())
  t.ok(checks > 0, 'it may be another one')
})

async function listen(t: TestHooks, server: Server): Promise<number> {
  t.teardown(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}
