/** One service at a time on a PostgreSQL, through any fault of its connection. */

import { cpSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test, test } from 'tap'
import { postgresUrl } from '../../cli/demo/cluster/database-settings.ts'
import { type LockMode, lockDatabase, serviceLock } from '../../store/postgres/database-lock.ts'
import { migrationNames, migrationsFolder } from '../../store/postgres/migrations.ts'
import { makeClient } from '../../store/postgres/postgres-connect.ts'
import type { StartError } from '../../store/start-error.ts'
import { openStore, type Store } from '../../store/store.ts'
import type { StoreOptions } from '../../store/store-options.ts'
import {
  nowhere,
  openTestDirectory,
  silentLog,
  startDatabases,
  storeOptions,
  temporaryFolder,
} from '../support/databases.ts'
import { serverPid, until } from '../support/processes.ts'
import { startTcpPostgres } from '../support/tcp-postgres.ts'

async function open(t: Test, databaseUrl: string, more: Partial<StoreOptions>): Promise<Store> {
  const directory = openTestDirectory(t)
  const opened = await openStore({ ...storeOptions(directory), ...nowhere, databaseUrl, ...more })
  t.teardown(() => opened.close())
  return opened
}

/** The store takes no lock without a listener, as it is not a service. */
function openOn(t: Test, databaseUrl: string, onLost?: (error: StartError) => void, mode: LockMode = 'exclusive') {
  return open(t, databaseUrl, onLost === undefined ? {} : { lock: { mode, onLost } })
}

const fails = (error: StartError): void => {
  throw error
}

/** Pids of those that have it. */
async function holders({ postgres }: Store): Promise<number[]> {
  const { rows } = await postgres.query<{ pid: number }>(
    "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ExclusiveLock'",
  )
  return rows.map(row => row.pid)
}

const { url } = await startTcpPostgres(t)

test('a second service on a database is refused in a sentence, others are not', async t => {
  const first = await openOn(t, url, fails)
  const start = 'Another Barograph from 127.0.0.1 uses the PostgreSQL at 127.0.0.1:'
  const end = ', database postgres: stop it first, or set DATABASE_URL to another database.'
  const message = new RegExp(`^${RegExp.escape(start)}\\d+${RegExp.escape(end)}$`)
  await t.rejects(openOn(t, url, fails), { name: 'StartError', message })
  const reader = await openOn(t, url)
  t.equal((await reader.postgres.query('SELECT 1 AS one')).rows[0].one, 1, 'a reader needs no lock')
  await first.close()
  await openOn(t, url, fails)
  t.equal((await holders(reader)).length, 1)
})

test('after a restart of PostgreSQL the lock is taken again', async t => {
  const { store, directory } = await startDatabases(t, nowhere)
  await openOn(t, postgresUrl(store.postgres), fails)
  const [before] = await holders(store)
  process.kill(serverPid(directory, 'postgres'), 'SIGKILL')
  const now = () => holders(store).catch(() => [])
  await until('it is taken again', async () => (await now()).some(pid => pid !== before))
  await t.rejects(openOn(t, postgresUrl(store.postgres), fails), { message: /^Another Barograph/ })
})

const { store } = await startDatabases(t, nowhere)

test('a service that lost the lock to another one is notified', async t => {
  const lost = Promise.withResolvers<StartError>()
  await openOn(t, postgresUrl(store.postgres), lost.resolve)
  const other = new pg.Client({ ...store.postgres.options, password: store.postgres.options.password })
  await other.connect()
  t.teardown(() => other.end())
  const [pid] = await holders(store)
  const taking = other.query(`SELECT pg_advisory_lock(${serviceLock})`)
  const waits = async () => (await store.postgres.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount === 1
  await until('another one waits for it', waits)
  await store.postgres.query('SELECT pg_terminate_backend($1)', [pid])
  await taking
  t.match(await lost.promise, { name: 'StartError', message: /^Another Barograph/ })
})

test('a stale session of ours in PostgreSQL is ended before the lock is taken again', async t => {
  const { user, password, host, port, database } = store.postgres.options
  const cut = new Set<() => void>()
  // The side of PostgreSQL stays open when the other one is cut, as in a network that loses connections.
  const proxy = createServer(ours => {
    const theirs = connect(`${host}/.s.PGSQL.${port}`)
    theirs.on('error', () => ours.destroy())
    theirs.on('data', bytes => ours.write(bytes))
    ours.on('data', bytes => theirs.write(bytes))
    ours.on('error', () => undefined)
    cut.add(() => ours.destroy())
    t.teardown(() => theirs.destroy())
  })
  await new Promise<void>(done => proxy.listen(0, '127.0.0.1', done))
  t.teardown(() => proxy.close())
  const address = proxy.address()
  const config = { host: '127.0.0.1', port: typeof address === 'object' ? (address?.port ?? 0) : 0, user, database }
  const secret = typeof password === 'string' ? { password } : {}
  const lock = await lockDatabase({
    makeClient: name => makeClient({ ...config, ...secret, application_name: name }),
    mode: 'exclusive',
    onLost: fails,
    log: silentLog,
  })
  t.teardown(() => lock.close())
  const [before] = await holders(store)
  for (const destroy of cut) destroy()
  await until('it is taken again', async () => (await holders(store)).some(pid => pid !== before))
  t.equal((await holders(store)).length, 1)
})

test('nodes share the lock, which refuses its other form with a sentence', async t => {
  const first = await openOn(t, url, fails, 'shared')
  const second = await openOn(t, url, fails, 'shared')
  const message =
    /^2 nodes of Barograph from 127\.0\.0\.1 use the PostgreSQL at .*: stop all nodes first, or set DATABASE/
  await t.rejects(openOn(t, url, fails), { name: 'StartError', message })
  await first.close()
  await t.rejects(openOn(t, url, fails), { message: /^A node of Barograph from 127\.0\.0\.1 uses the PostgreSQL/ })
  await second.close()
  const alone = await openOn(t, url, fails)
  await t.rejects(openOn(t, url, fails, 'shared'), {
    message: /^Another Barograph from 127\.0\.0\.1 uses the PostgreSQL at .* alone, not as a node: stop it first/,
  })
  await alone.close()
})

test('a node migrates only without other nodes', async t => {
  const { url } = await startTcpPostgres(t, { isFirstStart: true })
  const folder = join(temporaryFolder(t), 'migrations')
  cpSync(migrationsFolder, folder, { recursive: true })
  const asNode = { lock: { mode: 'shared', onLost: fails } } as const
  const asForwarder = { migratesAlone: true } as const
  const start = (as: Partial<StoreOptions> = asNode) => open(t, url, { migrationsFolder: folder, ...as })
  // Two at once on a database without a schema: one migrates, and both go on.
  const [one, other] = await Promise.all([start(), start()])
  t.equal((await one.postgres.query('SELECT FROM schema_migrations')).rowCount, migrationNames(folder).length)
  writeFileSync(join(folder, '999-more.sql'), 'CREATE TABLE more (id integer)')
  for (const as of [asNode, asForwarder]) {
    const message = /^The schema of PostgreSQL is to be migrated \(999-more\.sql\)\. 2 nodes .* stop all nodes first/
    await t.rejects(start(as), { name: 'StartError', message })
  }
  await one.close()
  await other.close()
  const next = await start()
  t.equal((await next.postgres.query('SELECT FROM more')).rowCount, 0)
  t.ok(await start(), 'another one beside it')
  t.ok(await start(asForwarder), 'and one without a lock')
})
