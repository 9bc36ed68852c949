/** The databases of a run, shared by its services: a PostgreSQL and a QuestDB. Killed servers are restarted. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { postgresUrl, questdbSettings } from '../../cli/demo/cluster/database-settings.ts'
import { type DataDirectory, openDataDirectory } from '../../store/data-directory.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { launch, type ServerProcess } from '../../store/process/server-process.ts'
import { supervise } from '../../store/process/supervisor.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { findJava, questdbJar } from '../../store/questdb/java.ts'
import { planQuestdb } from '../../store/questdb/questdb-server.ts'
import { logSettingsText, managedSettings, settingsText } from '../../store/questdb/questdb-settings.ts'
import { storeOptions, type TestHooks } from '../support/databases.ts'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'
import { openQuestdbSql, type QuestdbSql } from './questdb-sql.ts'
import { createRandom } from './seeded-random.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

export interface Databases {
  questdb: QuestdbAddress
  sql: QuestdbSql
  /** The QuestDB of replica 2, if requested. */
  second?: FaultQuestdb | undefined
  questdbRoot: string
  postgresUrl: string
  postgresSocket: string
  pid(server: 'questdb' | 'postgres'): number
  /** Waits until the server runs again after the previous kill. */
  kill(server: 'questdb' | 'postgres'): Promise<void>
}

export async function startFaultDatabases(t: TestHooks, folder: string, replicas: 1 | 2 = 1): Promise<Databases> {
  const directory = openClosedLater(t, join(folder, 'databases'))
  const postgres = await openPostgres(storeOptions(directory), new AbortController().signal)
  t.teardown(() => postgres.close())
  const { address, sql, root, ...questdb } = await startFaultQuestdb(t, directory)
  return {
    questdb: address,
    sql,
    second: replicas === 1 ? undefined : await startFaultQuestdb(t, openClosedLater(t, join(folder, 'second'))),
    questdbRoot: root,
    postgresUrl: postgresUrl(postgres.pool),
    postgresSocket: join(postgres.pool.options.host ?? '', `.s.PGSQL.${postgres.pool.options.port}`),
    pid: server => (server === 'questdb' ? questdb.pid() : serverPid(directory, server)),
    async kill(server) {
      if (server === 'questdb') return await questdb.kill()
      await until(`${server} runs`, () => isRunning(recordedPid(directory, server) ?? 0))
      process.kill(serverPid(directory, server), 'SIGKILL')
    },
  }
}

function openClosedLater(t: TestHooks, path: string): DataDirectory {
  const directory = openDataDirectory(path)
  t.teardown(() => directory.close())
  return directory
}

/** The settings by which a service uses these databases, with QUESTDB_HTTP on another port. */
export function settingsFor(
  { questdb, postgresUrl, second }: Databases,
  questdbPort: number,
  secondPort?: number,
): Record<string, string> {
  const settings = { ...questdbSettings(questdb, questdbPort), DATABASE_URL: postgresUrl }
  if (second === undefined) return settings
  return { ...settings, QUESTDB_REPLICAS: replicaSetting(second.address, secondPort) }
}

export function replicaSetting(address: QuestdbAddress, port?: number): string {
  const { QUESTDB_HTTP, QUESTDB_PG } = questdbSettings(address, port)
  return `2=${QUESTDB_HTTP},${QUESTDB_PG}`
}

export async function askPostgres<Row extends pg.QueryResultRow>(
  connectionString: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query<Row>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** A link to PostgreSQL that can be cut, for one process alone, with its DATABASE_URL. */
export async function startPostgresLink(
  hooks: TestHooks,
  { postgresSocket, postgresUrl }: Databases,
): Promise<{ link: TcpProxy; url: string }> {
  const link = await startTcpProxy(hooks, postgresSocket, createRandom(1))
  return { link, url: new URL(postgresUrl.replace(/@.*\//, `@127.0.0.1:${link.port}/`)).href }
}

export interface FaultQuestdb {
  address: QuestdbAddress
  sql: QuestdbSql
  root: string
  pid(): number
  kill(): Promise<void>
}

const stopSteps = [{ signal: 'SIGTERM', waitMs: 3000 } as const, { signal: 'SIGKILL', waitMs: 1000 } as const] as const

export async function startFaultQuestdb(t: TestHooks, directory: DataDirectory): Promise<FaultQuestdb> {
  const options = storeOptions(directory)
  const { log, environment, cacheDirectory } = options
  const own = await planQuestdb(directory)
  const java = await findJava(environment, cacheDirectory)
  const jar = await questdbJar(options)
  const root = join(directory.questdb, 'root')
  const temporary = join(directory.questdb, 'tmp')

  function start(): ServerProcess {
    const configuration = join(root, 'conf')
    mkdirSync(configuration, { recursive: true })
    const settings = { ...managedSettings(own), 'dev.mode.enabled': 'true' }
    writeFileSync(join(configuration, 'server.conf'), settingsText(settings), { mode: 0o600 })
    writeFileSync(join(configuration, 'log.conf'), logSettingsText)
    // Each killed server leaves its unpacked libraries there.
    rmSync(temporary, { recursive: true, force: true })
    mkdirSync(temporary)
    const flags = ['-XX:+UseParallelGC', '-Xmx512m', `-Djava.io.tmpdir=${temporary}`]
    return launch({
      command: java.command,
      args: [...flags, '-p', jar, '-m', 'io.questdb/io.questdb.ServerMain', '-d', root],
      recordPath: join(directory.questdb, 'process'),
      logPath: join(directory.questdb, 'questdb.log'),
      environment,
      stopSteps,
    })
  }

  const supervised = supervise({ name: 'QuestDB', start, log })
  t.teardown(() => supervised.stop())
  const sql = openQuestdbSql(own.address)
  await until('QuestDB is up', () => answers(sql))
  return {
    address: own.address,
    sql,
    root,
    pid: () => serverPid(directory, 'questdb'),
    async kill() {
      await until('QuestDB runs', () => isRunning(recordedPid(directory, 'questdb') ?? 0))
      process.kill(serverPid(directory, 'questdb'), 'SIGKILL')
    },
  }
}

async function answers(sql: QuestdbSql): Promise<boolean> {
  try {
    await sql('SELECT 1')
    return true
  } catch {
    return false
  }
}
