/**
 * The databases of a run, shared by its services: a PostgreSQL as the store starts it, and a QuestDB for each shard. Whoever is
 * killed is started again.
 */

import { join } from 'node:path'
import { postgresUrl, questdbSettings } from '../../demo/cluster/database-settings.ts'
import { openDataDirectory } from '../../store/data-directory.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { storeOptions, type TestHooks } from '../support/databases.ts'
import { isRunning, recordedPid, serverPid, until } from '../support/processes.ts'
import { splitShards } from '../support/split-shards.ts'
import { type FaultQuestdb, startFaultQuestdb } from './fault-questdb.ts'
import type { QuestdbSql } from './questdb-sql.ts'

export interface Databases {
  /** Of shard 1. */
  questdb: QuestdbAddress
  sql: QuestdbSql
  /** From shard 2 on. */
  furtherQuestdbs: readonly FaultQuestdb[]
  /** Starts the next one, of which PostgreSQL knows nothing. */
  addQuestdb(): Promise<void>
  postgresUrl: string
  postgresSocket: string
  pid(server: 'questdb' | 'postgres'): number
  /** Kills the server, when it runs again after the last time. */
  kill(server: 'questdb' | 'postgres'): Promise<void>
}

export type ShardCount = 1 | 2

const dayMs = 86_400_000

/** With two shards half of the devices are on the second one from the start of this day on, UTC. */
export async function startFaultDatabases(t: TestHooks, folder: string, shards: ShardCount = 1): Promise<Databases> {
  const directory = openDataDirectory(join(folder, 'databases'))
  t.teardown(() => directory.close())
  const postgres = await openPostgres(storeOptions(directory), new AbortController().signal)
  t.teardown(() => postgres.close())
  const { address, sql, ...questdb } = await startFaultQuestdb(t, directory)
  const furtherQuestdbs: FaultQuestdb[] = []
  async function addQuestdb(): Promise<void> {
    const further = openDataDirectory(join(folder, `questdb-${furtherQuestdbs.length + 2}`))
    t.teardown(() => further.close())
    furtherQuestdbs.push(await startFaultQuestdb(t, further))
  }
  if (shards === 2) {
    await addQuestdb()
    const fromUs = Math.floor(Date.now() / dayMs) * dayMs * 1000
    await splitShards(postgresUrl(postgres.pool), fromUs)
  }
  return {
    questdb: address,
    sql,
    furtherQuestdbs,
    addQuestdb,
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

/** QUESTDB_HTTP by way of another port, and the other settings by which a service uses these databases. */
export function settingsFor(
  { questdb, furtherQuestdbs, postgresUrl }: Databases,
  questdbPort: number,
): Record<string, string> {
  const shards = furtherQuestdbs.map(({ address }, at) => {
    const { QUESTDB_HTTP, QUESTDB_PG } = questdbSettings(address)
    return `${at + 2}=${QUESTDB_HTTP},${QUESTDB_PG}`
  })
  return {
    ...questdbSettings(questdb, questdbPort),
    ...(shards.length === 0 ? {} : { QUESTDB_SHARDS: shards.join(' ') }),
    DATABASE_URL: postgresUrl,
  }
}
