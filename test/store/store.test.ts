/** Our own two databases: started, kept running, stopped. */

import { readFileSync, statSync } from 'node:fs'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { test } from 'tap'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { openQuestdb } from '../../store/questdb/questdb.ts'
import { openStore } from '../../store/store.ts'
import { readingsTable } from '../../store/tables.ts'
import { nowhere, openTestDirectory, recordingLog, startDatabases, storeOptions } from '../support/databases.ts'
import { freezeProcess } from '../support/frozen.ts'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'
import { recordSyncs } from './synced-paths.ts'

const hangMs = 600_000

test('both databases start by themselves with safe settings and stop completely', async t => {
  const environment = { ...process.env, QDB_CAIRO_COMMIT_MODE: 'nosync', PGDATA: '/nowhere', SECRET: 'x' }
  const synced = recordSyncs(t)
  const { directory, store } = await startDatabases(t, { environment, isFirstStart: true })
  const { postgres, questdb } = store
  t.ok(synced.includes(directory.postgres), 'the name of the cluster is synced')

  const unix_socket_directories = `"${join(directory.postgres, 'socket')}"`
  const durable = { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
  const safe = { ...durable, listen_addresses: '', unix_socket_directories }
  const { rows } = await postgres.query('SELECT name, setting FROM pg_settings WHERE name = ANY ($1)', [
    Object.keys(safe),
  ])
  t.strictSame(Object.fromEntries(rows.map(row => [row.name, row.setting])), safe)
  const sleeping = postgres.query("SET statement_timeout = '50ms'; SELECT pg_sleep(20)")
  await t.rejects(sleeping, { code: '57014' }, 'a statement has a time limit')

  await questdb.ready
  t.equal(questdb.state().state, 'up')
  t.equal(questdb.managed, true)
  t.equal(getPriority(serverPid(directory, 'questdb')), Math.min(getPriority() + 5, 19), 'it gives way to the service')
  t.equal(getPriority(serverPid(directory, 'postgres')), getPriority())
  t.equal(questdb.commitMode(), 'sync', 'a variable of the environment does not weaken it')
  t.equal(questdb.version(), '9.3.4')
  t.match(store.versions(), { postgres: /^18\./, questdb: '9.3.4', java: /^\d+/ })
  const client = createQuestdbClient(questdb.address.http)
  t.teardown(() => client.close())
  t.strictSame(await client.exec(`SELECT count() FROM ${readingsTable}`, hangMs), [[0]])
  const stranger = createQuestdbClient({ ...questdb.address.http, authorization: undefined })
  t.teardown(() => stranger.close())
  await t.rejects(stranger.exec('SELECT 1', hangMs), { message: /refuses the user or the password/ })
  t.equal(statSync(join(directory.questdb, 'root/conf/server.conf')).mode & 0o077, 0, 'its passwords are ours alone')

  const pids = [serverPid(directory, 'questdb'), serverPid(directory, 'postgres')]
  t.ok(pids.every(isRunning))
  for (const pid of pids) {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    t.notOk(environment.includes('SECRET=x'), 'they get of our environment only what they need')
  }
  await Promise.all([store.close(), store.close()])
  await store.close()
  t.notOk(pids.some(isRunning), 'no process is left')
})

test('a close while QuestDB is still starting leaves no process', async t => {
  const directory = openTestDirectory(t)
  // PostgreSQL is left out, since its start takes some time.
  const questdb = await openQuestdb(storeOptions(directory), new AbortController().signal)
  t.equal(questdb.state().state, 'starting')
  await until('QuestDB is launched', () => recordedPid(directory, 'questdb') !== undefined)
  const pid = serverPid(directory, 'questdb')
  await questdb.close()
  t.notOk(isRunning(pid))
  await t.rejects(questdb.ready, { message: /closed before QuestDB was ready/ })
})

test('a start that is given up leaves no process and can be made again', async t => {
  const directory = openTestDirectory(t)
  const giveUp = new AbortController()
  const opening = openStore({ ...storeOptions(directory), signal: giveUp.signal })
  await until('PostgreSQL makes its cluster', () => recordedPid(directory, 'postgres') !== undefined)
  const pid = serverPid(directory, 'postgres')
  giveUp.abort()
  await t.rejects(opening, { name: 'AbortError' })
  t.notOk(isRunning(pid))

  const store = await openStore({ ...storeOptions(directory), ...nowhere })
  t.equal((await store.postgres.query('SELECT 1 AS one')).rows[0].one, 1)
  await store.close()
})

test('a dead database is restarted in place, and a hanging one is unavailable until it responds', async t => {
  const { directory, store } = await startDatabases(t)
  const { postgres, questdb } = store
  await questdb.ready
  await postgres.query('CREATE TABLE kept AS SELECT 42 AS answer')

  const questdbPid = serverPid(directory, 'questdb')
  process.kill(questdbPid, 'SIGKILL')
  await until('QuestDB is seen to be away', () => questdb.state().state === 'away')
  t.match(questdb.state().reason, /SIGKILL|ECONNREFUSED|ECONNRESET|hang up/)

  const postgresPid = serverPid(directory, 'postgres')
  process.kill(postgresPid, 'SIGKILL')
  const answer = async (): Promise<boolean> => {
    const result = await postgres.query('SELECT answer FROM kept').catch(() => undefined)
    return result?.rows[0].answer === 42
  }
  const isAnother = () => ![undefined, postgresPid].includes(recordedPid(directory, 'postgres'))
  await until('PostgreSQL is another process', isAnother)
  await until('the pool finds PostgreSQL again', answer)

  await until('QuestDB is up again', () => questdb.state().state === 'up')
  t.not(serverPid(directory, 'questdb'), questdbPid)
  const client = createQuestdbClient(questdb.address.http)
  t.teardown(() => client.close())
  t.strictSame(await client.exec('SELECT 1', hangMs), [[1]], 'at the address that everybody knows')

  const pid = serverPid(directory, 'questdb')
  freezeProcess(pid)
  t.teardown(() => isRunning(pid) && process.kill(pid, 'SIGCONT'))
  await until('it is seen to be away', () => questdb.state().state === 'away')
  t.match(questdb.state().reason, /no answer within/)
  process.kill(pid, 'SIGCONT')
  await until('it is up again', () => questdb.state().state === 'up')
  freezeProcess(pid)
  await store.close()
  t.notOk(isRunning(pid), 'it is stopped all the same')
})

test('a QuestDB without a response for a minute is restarted with a log line', async t => {
  const { log, texts: warnings } = recordingLog('warn')
  // A minute passes within a second.
  const monotonicMs = () => performance.now() * 100
  const directory = openTestDirectory(t)
  const questdb = await openQuestdb({ ...storeOptions(directory), log, monotonicMs }, new AbortController().signal)
  t.teardown(() => questdb.close())
  await questdb.ready
  const pid = serverPid(directory, 'questdb')
  freezeProcess(pid)
  await until('QuestDB is another process', () => ![undefined, pid].includes(recordedPid(directory, 'questdb')))
  await until('it is up again', () => questdb.state().state === 'up')
  const found = warnings.filter(warning => / does not answer$|^restarting/.test(warning))
  t.strictSame(found, ['QuestDB runs but does not answer', 'restarting QuestDB'])
})
