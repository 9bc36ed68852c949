/**
 * The QuestDB of a worker of the runner. One test at a time gets it empty. This saves more than a start: QuestDB has
 * compiled the code of queries by then.
 */

import { join } from 'node:path'
import { questdbSettings } from '../../cli/demo/cluster/database-settings.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { parseQuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import { findJava, questdbJar } from '../../store/questdb/java.ts'
import { planQuestdb, questdbRoot, startQuestdb } from '../../store/questdb/questdb-server.ts'
import { openQuestdbSql, type QuestdbSql } from '../faults/questdb-sql.ts'
import { borrow, giveBack } from './borrow.ts'
import { type Databases, startDatabases, storeOptions, type TestHooks, temporaryFolder } from './databases.ts'
import { recordedPid } from './processes.ts'
import { waitFor } from './wait-for.ts'

const answerMsMax = 10_000

export interface LentQuestdb {
  QUESTDB_HTTP: string
  QUESTDB_PG: string
  /** Its folder. */
  root: string
}

/** Empty, until the end of the test. undefined without the runner, and while another test of the file has it. */
export async function borrowQuestdb(t: TestHooks): Promise<LentQuestdb | undefined> {
  const lent = await borrow<LentQuestdb>('questdb')
  if (lent !== undefined) t.teardown(() => giveBack('questdb'))
  return lent
}

/** Both databases, with the QuestDB that the runner lends. */
export async function startLentDatabases(t: TestHooks): Promise<Databases> {
  const lent = await borrowQuestdb(t)
  const databases = await startDatabases(t, lent && { questdbHttp: lent.QUESTDB_HTTP, questdbPg: lent.QUESTDB_PG })
  await databases.store.questdb.ready
  return databases
}

export interface ServiceQuestdb {
  settings: { QUESTDB_HTTP: string; QUESTDB_PG: string }
  sql: QuestdbSql
  empty(): Promise<void>
}

/** Services of a test use the runner's QuestDB, or a separate one without the runner. */
export async function lendQuestdb(t: TestHooks): Promise<ServiceQuestdb> {
  const { QUESTDB_HTTP, QUESTDB_PG } = (await borrowQuestdb(t)) ?? (await startOwn(t))
  const settings = { QUESTDB_HTTP, QUESTDB_PG }
  const sql = openQuestdbSql(parseQuestdbAddress(QUESTDB_HTTP, QUESTDB_PG))
  return { settings, sql, empty: () => dropAll(sql) }
}

async function startOwn(t: TestHooks): Promise<LentQuestdb> {
  const questdb = await startWorkerQuestdb(process.env)
  t.teardown(() => questdb.close())
  return await questdb.empty()
}

async function dropAll(sql: (statement: string) => Promise<readonly unknown[]>): Promise<void> {
  await sql('DROP ALL')
  const left = 'SELECT table_name FROM tables() UNION ALL SELECT name FROM wal_tables()'
  await waitFor('QuestDB is empty', async () => (await sql(left)).length === 0)
}

export interface RunningQuestdb {
  /** Resolves when it has no table any more. */
  empty(): Promise<LentQuestdb>
  pid(): number | undefined
  close(): Promise<void>
}

export async function startWorkerQuestdb(environment: NodeJS.ProcessEnv): Promise<RunningQuestdb> {
  const works: (() => unknown)[] = []
  const hooks = { teardown: (work: () => unknown) => void works.unshift(work) }
  const directory = openDataDirectory(join(temporaryFolder(hooks), 'data'))
  hooks.teardown(() => directory.close())
  const options = { ...storeOptions(directory), environment }
  const java = await findJava(environment, options.cacheDirectory)
  const [jar, managed] = await Promise.all([questdbJar(options), planQuestdb(directory)])
  const failed = Promise.withResolvers<never>()
  const server = startQuestdb({ ...options, java, jar, managed, onEnd: () => undefined, onFailure: failed.reject })
  hooks.teardown(() => server.close())
  const client = createQuestdbClient(managed.address.http)
  hooks.teardown(() => client.close())
  const exec = (sql: string) => client.exec(sql, answerMsMax)
  const { QUESTDB_HTTP = '', QUESTDB_PG = '' } = questdbSettings(managed.address)

  async function answers(): Promise<boolean> {
    try {
      await exec('SELECT 1')
      return true
    } catch {
      return false
    }
  }

  await Promise.race([waitFor('QuestDB answers', answers), failed.promise])
  return {
    async empty() {
      await dropAll(exec)
      return { QUESTDB_HTTP, QUESTDB_PG, root: questdbRoot(directory) }
    },
    pid: () => recordedPid(directory, 'questdb'),
    async close() {
      for (const work of works) await work()
    },
  }
}
