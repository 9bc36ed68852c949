/** The managed QuestDB: configures, starts, supervises and stops its Java process. */

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from '../data-directory.ts'
import type { Log } from '../log.ts'
import type { Environment } from '../process/find-program.ts'
import { freePort, isPortFree } from '../process/free-port.ts'
import { logSize, logTail } from '../process/server-log.ts'
import { launch, type ServerProcess, stopLeftBehind } from '../process/server-process.ts'
import { type Supervised, supervise } from '../process/supervisor.ts'
import { StartError } from '../start-error.ts'
import { hourlyView } from '../tables.ts'
import { basicAuthorization } from './client/questdb-address.ts'
import { type Java, javaEnvironment } from './java.ts'
import {
  type CommitMode,
  logSettingsText,
  type ManagedQuestdb,
  managedSettings,
  settingsText,
} from './questdb-settings.ts'

export interface QuestdbServerOptions {
  directory: DataDirectory
  environment: Environment
  java: Java
  jar: string
  managed: ManagedQuestdb
  log: Log
  /** Called with the reason when it ends without a request. */
  onEnd: (reason: string) => void
  /** Called when it cannot be started at all. */
  onFailure: (error: unknown) => void
}

export interface QuestdbServer {
  /** Restarts a process that does not answer any more. */
  restart(): Promise<void>
  close(): Promise<void>
}

const stopSteps = [
  { signal: 'SIGTERM', waitMs: 2800 },
  { signal: 'SIGKILL', waitMs: 700 },
] as const

/** QuestDB has many threads. Applying rows can wait a moment, but a sender waits for the service. */
const niceness = 5

/** Ports and passwords, fixed for the life of this process, so that clients keep them over a restart. */
export async function planQuestdb(
  directory: DataDirectory,
  {
    commitMode = 'sync',
    pgPort: wantedPort,
  }: { commitMode?: CommitMode | undefined; pgPort?: number | undefined } = {},
): Promise<ManagedQuestdb> {
  const user = 'barograph'
  const httpPassword = directory.secret('questdb-http')
  const pgPassword = directory.secret('questdb-pg')
  const [httpPort, pgPort, minHttpPort] = await Promise.all([freePort(), wantedPort ?? freePort(), freePort()])
  const host = '127.0.0.1'
  return {
    address: {
      http: { host, port: httpPort, tls: false, authorization: basicAuthorization(user, httpPassword) },
      pg: { host, port: pgPort, user, password: pgPassword, database: 'qdb' },
    },
    httpUser: user,
    httpPassword,
    minHttpPort,
    commitMode,
    // A user with a random port would be unreachable.
    readOnlyUser:
      wantedPort === undefined ? undefined : { name: 'reader', password: directory.secret('questdb-reader') },
  }
}

/** Returns at once. The start continues in the background. */
export function startQuestdb(options: QuestdbServerOptions): QuestdbServer {
  let closed = false
  let supervised: Supervised | undefined
  const files = questdbFiles(options.directory)

  async function begin(): Promise<void> {
    await stopQuestdbLeftBehind(options.directory, options.log)
    if (closed) return
    // Checked afterwards: a server left behind has the same port.
    if (options.managed.readOnlyUser !== undefined) await assertPortIsFree(options.managed.address.pg.port)
    if (closed) return
    let from = logSize(files.log)
    const start = (): ServerProcess => {
      from = logSize(files.log)
      return launchQuestdb(files, options)
    }
    const onEnd = (reason: string): void => options.onEnd(`${reason}: ${lastLogLines(files, from)}. See ${files.log}`)
    supervised = supervise({ name: 'QuestDB', start, log: options.log, onEnd })
  }

  const begun = begin().catch(options.onFailure)
  return {
    async restart() {
      await supervised?.restart()
    },
    async close() {
      closed = true
      await begun
      await supervised?.stop()
    },
  }
}

/** QuestDB itself would only fail and restart repeatedly. */
async function assertPortIsFree(port: number): Promise<void> {
  if (await isPortFree(port)) return
  throw new StartError(
    `Port ${port} on 127.0.0.1 is in use by another program, or requires privileges that this user lacks: ` +
      'set QUESTDB_PG_PORT to a free port.',
  )
}

/** The folder of its tables. */
export function questdbRoot(directory: Pick<DataDirectory, 'questdb'>): string {
  return questdbFiles(directory).root
}

interface QuestdbFiles {
  root: string
  temporary: string
  record: string
  log: string
}

function questdbFiles({ questdb }: Pick<DataDirectory, 'questdb'>): QuestdbFiles {
  return {
    root: join(questdb, 'root'),
    temporary: join(questdb, 'tmp'),
    record: join(questdb, 'process'),
    log: join(questdb, 'questdb.log'),
  }
}

/** A service that has switched to another QuestDB uses this, too. */
export async function stopQuestdbLeftBehind(directory: DataDirectory, log: Log): Promise<void> {
  const { root, record } = questdbFiles(directory)
  await stopLeftBehind({ name: 'QuestDB', recordPath: record, directories: [root], stopSteps, log })
}

function launchQuestdb(
  files: QuestdbFiles,
  { environment, java, jar, managed, log }: QuestdbServerOptions,
): ServerProcess {
  setUnfinishedAside(files.root, log)
  const configuration = join(files.root, 'conf')
  mkdirSync(configuration, { recursive: true })
  writeFileSync(join(configuration, 'server.conf'), settingsText(managedSettings(managed)), { mode: 0o600 })
  writeFileSync(join(configuration, 'log.conf'), logSettingsText)
  // A killed QuestDB leaves its unpacked libraries there, 9 MB each time.
  rmSync(files.temporary, { recursive: true, force: true })
  mkdirSync(files.temporary)
  return launch({
    command: java.command,
    args: [...javaFlags(java, files), '-p', jar, '-m', 'io.questdb/io.questdb.ServerMain', '-d', files.root],
    recordPath: files.record,
    logPath: files.log,
    environment: javaEnvironment(environment),
    stopSteps,
    niceness,
  })
}

/**
 * A QuestDB killed while it creates its own tables, in its first start, may never start again. Killed while it creates ours, it
 * may reject every row forever. Before the first row, recreating the directory loses nothing.
 */
function setUnfinishedAside(root: string, log: Log): void {
  const tables = join(root, 'db')
  if (!existsSync(tables) || hasHadRows(tables)) return
  const aside = `${root}-unfinished`
  rmSync(aside, { recursive: true, force: true })
  renameSync(root, aside)
  log.warn({ folder: aside }, 'QuestDB stopped before its first write; recreating its data directory')
}

/**
 * True when rows exist here only: in any table but QuestDB's own and the hourly view, since the points or the remains of expired
 * readings may be the only ones. A row enters through a folder of the write-ahead log and ends in a folder of its partition.
 */
function hasHadRows(tables: string): boolean {
  const folders = readdirSync(tables, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const others = folders.filter(({ name }) => !/^(?:sys\.|telemetry|_)/.test(name) && name.split('~')[0] !== hourlyView)
  return others.some(({ name }) => readdirSync(join(tables, name)).some(entry => /^(?:wal\d|\d{4}(?!\d))/.test(entry)))
}

function javaFlags({ major }: Java, { temporary }: QuestdbFiles): string[] {
  const files = [`-Djava.io.tmpdir=${temporary}`, `-XX:ErrorFile=${temporary}/java-error.log`, '-XX:-UsePerfData']
  // A process out of memory would become unreliable. It exits and is restarted.
  const flags = ['-XX:+UseParallelGC', '-Xmx512m', '-XX:+ExitOnOutOfMemoryError', ...files]
  // Newer versions warn about these at every start otherwise.
  const quiet = ['--enable-native-access=io.questdb', '--sun-misc-unsafe-memory-access=allow']
  return major >= 24 ? [...flags, ...quiet] : flags
}

function lastLogLines({ log }: QuestdbFiles, from: number): string {
  const lines = logTail(log, from).split('\n')
  // Skips the lines of a stack trace, which follow the message.
  const last = lines
    .filter(line => !/^\s+at /.test(line))
    .slice(-2)
    .join(' | ')
  return last || 'it wrote nothing'
}
