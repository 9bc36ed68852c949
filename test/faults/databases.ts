/**
 * The databases of a run, shared by its services: a PostgreSQL as the store starts it, and a QuestDB with its settings
 * and one more, by which a table can be suspended on request. Whoever is killed is started again.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { postgresUrl, questdbSettings } from '../../demo/cluster/database-settings.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { launch, type ServerProcess } from '../../store/process/server-process.ts'
import { supervise } from '../../store/process/supervisor.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { findJava } from '../../store/questdb/java.ts'
import { questdbJar } from '../../store/questdb/questdb-jar.ts'
import { planQuestdb } from '../../store/questdb/questdb-server.ts'
import { logSettingsText, managedSettings, settingsText } from '../../store/questdb/questdb-settings.ts'
import { storeOptions, type TestHooks } from '../support/databases.ts'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'
import { openQuestdbSql, type QuestdbSql } from './questdb-sql.ts'

export interface Databases {
  questdb: QuestdbAddress
  sql: QuestdbSql
  postgresUrl: string
  postgresSocket: string
  pid(server: 'questdb' | 'postgres'): number
  /** Kills the server, when it runs again after the last time. */
  kill(server: 'questdb' | 'postgres'): Promise<void>
}

const stopSteps = [{ signal: 'SIGTERM', waitMs: 3000 } as const, { signal: 'SIGKILL', waitMs: 1000 } as const] as const

export async function startFaultDatabases(t: TestHooks, folder: string): Promise<Databases> {
  const directory = openDataDirectory(join(folder, 'databases'))
  t.teardown(() => directory.close())
  const options = storeOptions(directory)
  const { log, environment, cacheDirectory } = options
  const postgres = await openPostgres(options, new AbortController().signal)
  t.teardown(() => postgres.close())
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
    // Each kill leaves its unpacked libraries there.
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
    questdb: own.address,
    sql,
    postgresUrl: postgresUrl(postgres.pool),
    postgresSocket: join(postgres.pool.options.host ?? '', `.s.PGSQL.${postgres.pool.options.port}`),
    pid: server => serverPid(directory, server),
    async kill(server) {
      await until(`${server} runs`, () => isRunning(recordedPid(directory, server) ?? 0))
      process.kill(serverPid(directory, server), 'SIGKILL')
    },
  }
}

/** QUESTDB_HTTP by way of another port, and the other settings by which a service uses these databases. */
export function settingsFor({ questdb, postgresUrl }: Databases, questdbPort: number): Record<string, string> {
  return { ...questdbSettings(questdb, questdbPort), DATABASE_URL: postgresUrl }
}

async function answers(sql: QuestdbSql): Promise<boolean> {
  try {
    await sql('SELECT 1')
    return true
  } catch {
    return false
  }
}
