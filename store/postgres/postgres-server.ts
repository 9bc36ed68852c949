/** The managed PostgreSQL: started, kept running on one port, and stopped. */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { DataDirectory } from '../data-directory.ts'
import type { Log } from '../log.ts'
import type { Environment } from '../process/find-program.ts'
import { logSize, logTail } from '../process/server-log.ts'
import { type ServerProcess, stopLeftBehind } from '../process/server-process.ts'
import { supervise } from '../process/supervisor.ts'
import { StartError } from '../start-error.ts'
import {
  type Cluster,
  clusterFiles,
  failureText,
  launchIn,
  newFolder,
  openCluster,
  superuser,
} from './postgres-cluster.ts'
import { isUnavailable } from './postgres-errors.ts'

export interface PostgresAddress {
  host: string
  port: number
  user: string
  password: string
  database: string
}

export interface PostgresServerOptions {
  directory: DataDirectory
  environment: Environment
  log: Log
  signal: AbortSignal
  choosePort: () => Promise<number>
}

export interface PostgresServer {
  address: PostgresAddress
  close(): Promise<void>
}

/** Recovery after a kill may have much to do. */
const startTimeoutMs = 5 * 60_000
const portAttemptsMax = 10
/** Fast shutdown, then immediate shutdown, which the next start recovers from. */
const stopSteps = [
  { signal: 'SIGINT', waitMs: 2000 },
  { signal: 'SIGQUIT', waitMs: 600 },
  { signal: 'SIGKILL', waitMs: 400 },
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

export async function startPostgres(options: PostgresServerOptions): Promise<PostgresServer> {
  const { directory, environment, log, signal } = options
  const cluster = await openCluster(directory, environment, signal)
  const { first, address } = await startOnFreePort(cluster, options)
  const start = (): ServerProcess => launchPostgres(cluster, address.port)
  const supervised = supervise({ name: 'PostgreSQL', first, start, log })
  return { address, close: () => supervised.stop() }
}

/** Also for who uses another PostgreSQL from now on. */
export async function stopPostgresLeftBehind({ postgres }: DataDirectory, log: Log): Promise<void> {
  const { data, recordPath } = clusterFiles(postgres)
  await stopLeftBehind({ name: 'PostgreSQL', recordPath, directories: [data, newFolder(data)], stopSteps, log })
}

/** Between our look and its own binding somebody else may take the port; then another one is tried. */
async function startOnFreePort(
  cluster: Cluster,
  { choosePort, signal }: PostgresServerOptions,
): Promise<{ first: ServerProcess; address: PostgresAddress }> {
  const { logPath, password } = cluster
  const deadlineMs = performance.now() + startTimeoutMs
  for (let attempt = 1; ; attempt++) {
    const from = logSize(logPath)
    const port = await choosePort()
    const address = { host: '127.0.0.1', port, user: superuser, password, database: 'postgres' }
    const first = launchPostgres(cluster, port)
    const failure = await untilReady(first, address, signal, deadlineMs)
    if (failure === undefined) return { first, address }
    const sentence = failureText(failure, cluster, from)
    const text = logTail(logPath, from)
    await first.stop()
    signal.throwIfAborted()
    // After a kill, the old server's children may need a moment to notice and to let go of its memory.
    const passing = /Address already in use|pre-existing shared memory block/.test(text)
    if (!passing || attempt === portAttemptsMax) throw new StartError(sentence)
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
    if (answer !== 'starting')
      return `refuses the secret "postgres", which it was not made with (restore it): ${answer}`
    if (performance.now() > deadlineMs) return `was not ready after ${startTimeoutMs / 1000} s`
    await sleep(20)
  }
  return 'start given up'
}

async function tryConnect(address: PostgresAddress): Promise<string> {
  const client = new pg.Client({ ...address, connectionTimeoutMillis: 2000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return 'ready'
  } catch (error) {
    return isUnavailable(error) ? 'starting' : (error as Error).message
  } finally {
    await client.end().catch(() => undefined)
  }
}

function launchPostgres(cluster: Cluster, port: number): ServerProcess {
  const flags = Object.entries({ ...settings, port }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return launchIn(cluster, cluster.binaries.postgres, ['-D', cluster.data, ...flags], stopSteps)
}
