/** The managed QuestDB: a Java process that is configured, started, kept running and stopped here. */

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
  /** Told why it does not run although nobody had asked it to end. */
  onEnd: (reason: string) => void
  /** Told why it cannot be started at all. */
  onFailure: (error: unknown) => void
}

export interface QuestdbServer {
  /** Of one that gives no answer any more: its process is ended, and another one is started. */
  restart(): Promise<void>
  close(): Promise<void>
}

const stopSteps = [
  { signal: 'SIGTERM', waitMs: 2800 },
  { signal: 'SIGKILL', waitMs: 700 },
] as const

/** Its threads are many. What they apply can wait a moment, and a sender waits for the service. */
const niceness = 5

/** The ports and passwords, fixed for the life of this process, so that those who use them keep them over a restart. */
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
    // A port that is not known is no use to anybody else.
    readOnlyUser:
      wantedPort === undefined ? undefined : { name: 'reader', password: directory.secret('questdb-reader') },
  }
}

/** Comes back at once; the start goes on behind, for nothing has to wait for it. */
export function startQuestdb(options: QuestdbServerOptions): QuestdbServer {
  let closed = false
  let supervised: Supervised | undefined
  const files = questdbFiles(options.directory)

  async function begin(): Promise<void> {
    await stopQuestdbLeftBehind(options.directory, options.log)
    if (closed) return
    // Not before: the one left behind has the same port.
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

/** QuestDB itself would only be started again and again. */
async function assertPortIsFree(port: number): Promise<void> {
  if (await isPortFree(port)) return
  throw new StartError(
    `Port ${port} on 127.0.0.1 is in use by another program, or requires privileges that this user lacks: ` +
      'set QUESTDB_PG_PORT to a free port.',
  )
}

/** Where it keeps its tables. */
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

/** Also for who uses another QuestDB from now on. */
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
  // A QuestDB that was killed leaves its unpacked libraries there, 9 MB each time.
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
 * A QuestDB that is killed while it makes its own tables, in its very first start, may never start again; killed while it
 * makes ours, it may refuse every row for ever. As long as no table has had a row, nothing is lost by beginning anew.
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
 * Whether there are rows that exist nowhere else: in any table but QuestDB's own and the hourly view, for points, or what is
 * left of expired readings, may be all that there is. A row comes in by a folder of the write-ahead log, and ends in one of
 * its partition.
 */
function hasHadRows(tables: string): boolean {
  const folders = readdirSync(tables, { withFileTypes: true }).filter(entry => entry.isDirectory())
  const others = folders.filter(({ name }) => !/^(?:sys\.|telemetry|_)/.test(name) && name.split('~')[0] !== hourlyView)
  return others.some(({ name }) => readdirSync(join(tables, name)).some(entry => /^(?:wal\d|\d{4}(?!\d))/.test(entry)))
}

function javaFlags({ major }: Java, { temporary }: QuestdbFiles): string[] {
  const files = [`-Djava.io.tmpdir=${temporary}`, `-XX:ErrorFile=${temporary}/java-error.log`, '-XX:-UsePerfData']
  // Out of memory it would limp on; ended, it is started again.
  const flags = ['-XX:+UseParallelGC', '-Xmx512m', '-XX:+ExitOnOutOfMemoryError', ...files]
  // Newer ones warn about these on every start otherwise.
  const quiet = ['--enable-native-access=io.questdb', '--sun-misc-unsafe-memory-access=allow']
  return major >= 24 ? [...flags, ...quiet] : flags
}

function lastLogLines({ log }: QuestdbFiles, from: number): string {
  const lines = logTail(log, from).split('\n')
  // Not the lines of a stack trace, which come after the one that counts.
  const last = lines
    .filter(line => !/^\s+at /.test(line))
    .slice(-2)
    .join(' | ')
  return last || 'it wrote nothing'
}
