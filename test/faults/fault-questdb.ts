/** A QuestDB of a run: with the settings of one that the store starts, and one more, by which a table can be suspended on request. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DataDirectory } from '../../store/data-directory.ts'
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

export interface FaultQuestdb {
  address: QuestdbAddress
  sql: QuestdbSql
  pid(): number
  /** Kills it, when it runs again after the last time. */
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
    address: own.address,
    sql,
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
