/** Our own PostgreSQL: makes its cluster at the first start, starts it, keeps it running, stops it. */

import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { DataDirectory } from './data-directory.ts'
import type { Environment } from './find-program.ts'
import { freePort } from './free-port.ts'
import type { Log } from './log.ts'
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts'
import { assertReachable, postgresUser, type SystemUser } from './postgres-user.ts'
import { logSize, logTail } from './server-log.ts'
import { launch, leftBehind, runsIn, type ServerProcess, stopGroup } from './server-process.ts'
import { StartError } from './start-error.ts'
import { supervise } from './supervisor.ts'

export interface PostgresAddress {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export interface PostgresServer {
  address: PostgresAddress
  close(): Promise<void>
}

export interface PostgresServerOptions {
  directory: DataDirectory
  environment: Environment
  log: Log
  signal: AbortSignal
}

const startTimeoutMs = 60_000
const portAttemptsMax = 10
/** Fast shutdown, then immediate shutdown, which the next start recovers from. */
const stopSteps = [
  { signal: 'SIGINT', waitMs: 2500 },
  { signal: 'SIGQUIT', waitMs: 700 },
  { signal: 'SIGKILL', waitMs: 500 },
] as const

const settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  max_connections: '50',
  timezone: 'UTC',
  log_timezone: 'UTC',
}

/** What the steps below share. */
interface Cluster extends PostgresServerOptions {
  binaries: PostgresBinaries
  user: SystemUser | undefined
  data: string
  recordPath: string
  logPath: string
  password: string
}

export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  const { directory, environment, log, signal } = options
  const binaries = postgresBinaries()
  const user = await postgresUser(environment)
  if (user !== undefined) await assertReachable([directory.postgres, dirname(binaries.postgres)], user)
  const cluster: Cluster = {
    ...options,
    binaries,
    user,
    data: join(directory.postgres, 'data'),
    recordPath: join(directory.postgres, 'process'),
    logPath: join(directory.postgres, 'postgres.log'),
    password: directory.secret('postgres'),
  }
  await stopLeftBehind(cluster)
  if (!existsSync(cluster.data)) await makeCluster(cluster)
  removeStaleLock(cluster)
  signal.throwIfAborted()
  const { first, address } = await startOnFreePort(cluster)
  const supervised = supervise({
    name: 'PostgreSQL',
    first,
    start: () => launchPostgres(cluster, address.port),
    stopSteps,
    log,
  })
  return { address, close: () => supervised.stop() }
}

async function stopLeftBehind({ recordPath, data, log }: Cluster): Promise<void> {
  for (const folder of [data, newFolder(data)]) {
    const pid = leftBehind(recordPath, folder)
    if (pid === undefined) continue
    log.warn({ pid }, 'a PostgreSQL that a killed server had left behind is stopped')
    if (!(await stopGroup(pid, stopSteps))) {
      throw new StartError(`PostgreSQL, left behind by a killed server, does not stop: end its process ${pid}.`)
    }
  }
}

function newFolder(data: string): string {
  return `${data}.new`
}

/** The cluster gets its name when it is whole, so one that was cut off in the making is simply made again. */
async function makeCluster(cluster: Cluster): Promise<void> {
  const { binaries, user, data, directory, logPath, password, signal } = cluster
  const making = newFolder(data)
  const passwordPath = join(directory.postgres, 'password.new')
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { mode: 0o700 })
  writeFileSync(passwordPath, `${password}\n`, { mode: 0o600 })
  if (user !== undefined) for (const path of [making, passwordPath]) chownSync(path, user.uid, user.gid)
  const from = logSize(logPath)
  try {
    // The built-in locale sorts the same on every machine and after every upgrade of the system.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = ['--username=barograph', `--pwfile=${passwordPath}`, '--auth=scram-sha-256']
    const made = launch({
      ...launchOptions(cluster),
      command: binaries.initdb,
      args: ['-D', making, ...locale, ...access],
    })
    const stop = (): void => void stopGroup(made.pid, [{ signal: 'SIGKILL', waitMs: 0 }])
    signal.addEventListener('abort', stop, { once: true })
    const how = await made.waitForEnd()
    signal.removeEventListener('abort', stop)
    signal.throwIfAborted()
    if (how !== 'exit code 0') throw new StartError(startText(`could not make its cluster (${how})`, cluster, from))
  } finally {
    rmSync(passwordPath, { force: true })
  }
  renameSync(making, data)
}

/**
 * PostgreSQL takes its lock file for live when any process has the pid in it, which is common in containers, where
 * pids begin anew. We hold the directory's lock, so a pid that is no server on this directory means nothing.
 */
function removeStaleLock({ data }: Cluster): void {
  const path = join(data, 'postmaster.pid')
  if (!existsSync(path)) return
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0])
  if (!runsIn(pid, data)) rmSync(path, { force: true })
}

/** Between our look and its own binding somebody else may take the port; then another one is tried. */
async function startOnFreePort(cluster: Cluster): Promise<{ first: ServerProcess; address: PostgresAddress }> {
  const { logPath, password } = cluster
  const deadlineMs = performance.now() + startTimeoutMs
  for (let attempt = 1; ; attempt++) {
    const from = logSize(logPath)
    const port = await freePort()
    const address = { host: '127.0.0.1', port, user: 'barograph', password, database: 'postgres' }
    const first = launchPostgres(cluster, port)
    const failure = await untilReady(first, address, cluster.signal, deadlineMs)
    if (failure === undefined) return { first, address }
    await stopGroup(first.pid, stopSteps)
    cluster.signal.throwIfAborted()
    const text = logTail(logPath, from)
    // After a kill, the old server's children may need a moment to notice and to let go of its memory.
    const passing = /Address already in use|pre-existing shared memory block/.test(text)
    if (!passing || attempt === portAttemptsMax) throw new StartError(startText(failure, cluster, from))
    await sleep(50 * attempt)
  }
}

/** Undefined when it takes connections, else what went wrong. */
async function untilReady(
  server: ServerProcess,
  address: PostgresAddress,
  signal: AbortSignal,
  deadlineMs: number,
): Promise<string | undefined> {
  while (!signal.aborted) {
    const how = server.ended()
    if (how !== undefined) return `ended at its start (${how})`
    const answer = await tryConnect(address)
    if (answer === 'ready') return undefined
    if (answer !== 'starting') return `refuses us (${answer})`
    if (performance.now() > deadlineMs) return `was not ready after ${startTimeoutMs / 1000} s`
    await sleep(20)
  }
  return 'start given up'
}

async function tryConnect(address: PostgresAddress): Promise<string> {
  const client = new pg.Client({ ...address, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return 'ready'
  } catch (error) {
    const { code, message } = error as { code?: string; message: string }
    const starting = code === undefined || code === '57P03' || /^E[A-Z]+$/.test(code)
    return starting ? 'starting' : message
  } finally {
    await client.end().catch(() => undefined)
  }
}

function launchPostgres(cluster: Cluster, port: number): ServerProcess {
  const { binaries, data } = cluster
  const flags = Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return launch({ ...launchOptions(cluster), command: binaries.postgres, args: ['-D', data, ...flags] })
}

/** Nothing of our own environment: a PGDATA or a LANG in it would change what runs. */
function launchOptions({ recordPath, logPath, user, environment }: Cluster) {
  return { recordPath, logPath, user, environment: { PATH: environment['PATH'], LC_ALL: 'C', TZ: 'UTC' } }
}

function startText(what: string, { data, logPath }: Cluster, from: number): string {
  const lines = logTail(logPath, from).split('\n').slice(-3).join(' | ')
  return `PostgreSQL in ${data} ${what}: ${lines || 'it wrote nothing'}. See ${logPath}.`
}
