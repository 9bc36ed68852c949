/** The managed PostgreSQL: starts it, keeps it running on one socket, and stops it. */

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
import { makeSocketFolder, quoteSocketFolder, socketPort } from './postgres-user.ts'

export interface PostgresAddress {
  /** The folder of its socket. */
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
}

export interface PostgresServer {
  address: PostgresAddress
  close(): Promise<void>
}

/** Recovery after a kill may take minutes. */
const startTimeoutMs = 5 * 60_000
const startAttemptsMax = 10
/** Fast shutdown, then immediate shutdown, after which the next start recovers. */
const stopSteps = [
  { signal: 'SIGINT', waitMs: 2000 },
  { signal: 'SIGQUIT', waitMs: 600 },
  { signal: 'SIGKILL', waitMs: 400 },
] as const

const settings = {
  listen_addresses: '',
  port: String(socketPort),
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
  const socket = makeSocketFolder(cluster.folder, cluster.user)
  const { password } = cluster
  const address = { host: socket.path, port: socketPort, user: superuser, password, database: 'postgres' }
  try {
    const first = await startFirst(cluster, address, signal)
    const start = (): ServerProcess => launchPostgres(cluster, socket.path)
    const supervised = supervise({ name: 'PostgreSQL', first, start, log })
    return { address, close: () => supervised.stop().finally(socket.remove) }
  } catch (error) {
    socket.remove()
    throw error
  }
}

/** A service that has switched to another PostgreSQL uses this, too. */
export async function stopPostgresLeftBehind({ postgres }: DataDirectory, log: Log): Promise<void> {
  const { data, recordPath } = clusterFiles(postgres)
  await stopLeftBehind({ name: 'PostgreSQL', recordPath, directories: [data, newFolder(data)], stopSteps, log })
}

/** After a kill, the old server's children may need a moment to end and to release its memory. */
async function startFirst(cluster: Cluster, address: PostgresAddress, signal: AbortSignal): Promise<ServerProcess> {
  const { logPath } = cluster
  const deadlineMs = performance.now() + startTimeoutMs
  for (let attempt = 1; ; attempt++) {
    const from = logSize(logPath)
    const first = launchPostgres(cluster, address.host)
    const failure = await untilReady(first, address, signal, deadlineMs)
    if (failure === undefined) return first
    const sentence = failureText(failure, cluster, from)
    const text = logTail(logPath, from)
    await first.stop()
    signal.throwIfAborted()
    const passing = text.includes('pre-existing shared memory block')
    if (!passing || attempt === startAttemptsMax) throw new StartError(sentence)
    await sleep(50 * attempt)
  }
}

/** Undefined once it accepts connections, else the reason. */
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
    if (answer !== 'starting') return `rejects the secret "postgres" (restore the one from its creation): ${answer}`
    if (performance.now() > deadlineMs) return `was not ready after ${startTimeoutMs / 1000} s`
    await sleep(20)
  }
  return 'start aborted'
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

function launchPostgres(cluster: Cluster, socketFolder: string): ServerProcess {
  const all = { ...settings, unix_socket_directories: quoteSocketFolder(socketFolder) }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return launchIn(cluster, cluster.binaries.postgres, ['-D', cluster.data, ...flags], stopSteps)
}
