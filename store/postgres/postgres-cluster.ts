/** The cluster of the managed PostgreSQL: its files, its user, and its creation at the first start. */

import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DataDirectory } from '../data-directory.ts'
import type { Environment } from '../process/find-program.ts'
import type { StopStep } from '../process/launch-script.ts'
import { runsIn } from '../process/process-identity.ts'
import { logSize, logTail } from '../process/server-log.ts'
import { launch, type ServerProcess } from '../process/server-process.ts'
import { StartError } from '../start-error.ts'
import { syncFolder } from '../sync-folder.ts'
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts'
import { assertReachable, postgresUser, type SystemUser } from './postgres-user.ts'

export interface Cluster {
  folder: string
  data: string
  recordPath: string
  logPath: string
  binaries: PostgresBinaries
  /** Undefined when PostgreSQL runs as our own user. */
  user: SystemUser | undefined
  /** Password of the superuser. */
  password: string
  environment: Environment
}

export const superuser = 'barograph'

/** Returns a cluster that is ready to start. */
export async function openCluster(
  directory: DataDirectory,
  environment: Environment,
  signal: AbortSignal,
): Promise<Cluster> {
  const folder = directory.postgres
  const binaries = postgresBinaries()
  const user = await postgresUser(environment)
  if (user !== undefined) await assertReachable([folder, dirname(binaries.postgres)], user)
  const password = directory.secret('postgres')
  const cluster: Cluster = { folder, ...clusterFiles(folder), binaries, user, password, environment }
  signal.throwIfAborted()
  if (!existsSync(cluster.data)) await makeCluster(cluster, signal)
  removeStaleLock(cluster)
  return cluster
}

export function clusterFiles(folder: string) {
  return { data: join(folder, 'data'), recordPath: join(folder, 'process'), logPath: join(folder, 'postgres.log') }
}

export function newFolder(data: string): string {
  return `${data}.new`
}

/** An incomplete cluster is created again, so killing its server loses nothing. */
const killAtOnce = [{ signal: 'SIGKILL', waitMs: 400 }] as const

/** The cluster gets its name once complete, so an interrupted creation simply starts again. */
async function makeCluster(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const { folder, data, logPath, binaries, user, password } = cluster
  const making = newFolder(data)
  const passwordPath = join(folder, 'password.new')
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making, { mode: 0o700 })
  writeFileSync(passwordPath, `${password}\n`, { mode: 0o600 })
  if (user !== undefined) for (const path of [making, passwordPath]) chownSync(path, user.uid, user.gid)
  const from = logSize(logPath)
  try {
    // The built-in locale sorts identically on every machine and after every system upgrade.
    const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
    const access = [`--username=${superuser}`, `--pwfile=${passwordPath}`, '--auth=scram-sha-256']
    const made = launchIn(cluster, binaries.initdb, ['-D', making, ...locale, ...access], killAtOnce)
    // The awaited end below reports a failure.
    const stop = (): void => void made.stop().catch(() => undefined)
    signal.addEventListener('abort', stop, { once: true })
    const how = await made.waitForEnd()
    signal.removeEventListener('abort', stop)
    signal.throwIfAborted()
    if (how !== 'exit code 0') throw new StartError(failureText(`could not create its cluster (${how})`, cluster, from))
  } finally {
    rmSync(passwordPath, { force: true })
  }
  renameSync(making, data)
  // A power failure could otherwise undo the name, and the next start would create an empty cluster in its place.
  syncFolder(folder)
}

/**
 * PostgreSQL regards its lock file as live when any process has its pid, which is common in containers, where pids restart. This
 * service holds the directory's lock, so a pid without a server on this directory is stale.
 */
function removeStaleLock({ data }: Cluster): void {
  const path = join(data, 'postmaster.pid')
  if (!existsSync(path)) return
  const pid = Number(readFileSync(path, 'utf8').split('\n')[0])
  if (!runsIn(pid, data)) rmSync(path, { force: true })
}

/** Does not pass our environment: a PGDATA or a LANG would change the server's behaviour. */
export function launchIn(
  cluster: Cluster,
  command: string,
  args: readonly string[],
  stopSteps: readonly StopStep[],
): ServerProcess {
  const { recordPath, logPath, user, environment } = cluster
  return launch({
    command,
    args,
    recordPath,
    logPath,
    user,
    stopSteps,
    environment: { PATH: environment['PATH'], LC_ALL: 'C', TZ: 'UTC' },
  })
}

/** A sentence with the end of PostgreSQL's log since `fromByte`. */
export function failureText(what: string, { data, logPath }: Cluster, fromByte: number): string {
  const lines = logTail(logPath, fromByte).split('\n').slice(-3).join(' | ')
  return `PostgreSQL in ${data} ${what}: ${lines || 'no output'}. See ${logPath}.`
}
