/** Databases for a bench: started by the bench and passed to the service as external ones, so that the bench can count the rows. */

import { postgresUrl } from '../cli/demo/cluster/database-settings.ts'
import { connectQuestdb } from '../ingest/forwarder/questdb.ts'
import { readTableStates } from '../ingest/forwarder/table-state.ts'
import type { Log } from '../store/log.ts'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { measurementsTable, readingsTable } from '../store/tables.ts'
import { startDatabases, type TestHooks } from '../test/support/databases.ts'
import { serverPid } from '../test/support/processes.ts'
import { sleep } from './measure.ts'

export interface BenchStore {
  /** The settings with which the service uses these databases. */
  environment: Record<string, string>
  /** Waits until this many rows are visible, or the count stops growing. Returns the count. */
  countRows(expected: number): Promise<number>
  /** Rows of a statement. */
  query(sql: string): Promise<unknown[][]>
  questdb: QuestdbAddress
  /** The process of QuestDB. */
  questdbPid: number
}

const waitMsMax = 60_000

export async function startBenchStore(hooks: TestHooks, log: Log): Promise<BenchStore> {
  const { store, directory } = await startDatabases(hooks, { log })
  await store.questdb.ready
  const { http, pg } = store.questdb.address
  const credentials = `${pg.user}:${pg.password}`
  const authorization = http.authorization ?? ''
  const [httpUser, httpPassword] = Buffer.from(authorization.slice(6), 'base64').toString().split(':')

  async function query(sql: string): Promise<unknown[][]> {
    const url = `http://${http.host}:${http.port}/exec?query=${encodeURIComponent(sql)}`
    const response = await fetch(url, { headers: { authorization } })
    const answer = (await response.json()) as { dataset?: unknown[][] }
    if (answer.dataset === undefined) throw new Error(`QuestDB answered ${JSON.stringify(answer)}`)
    return answer.dataset
  }

  return {
    query,
    questdb: store.questdb.address,
    questdbPid: serverPid(directory, 'questdb'),
    environment: {
      QUESTDB_HTTP: `http://${httpUser}:${httpPassword}@${http.host}:${http.port}`,
      QUESTDB_PG: `postgresql://${credentials}@${pg.host}:${pg.port}/${pg.database}`,
      DATABASE_URL: postgresUrl(store.postgres),
    },
    countRows: expected => countReadings([query], expected),
  }
}

/** Counts like `countRows`, over several QuestDBs. */
export async function countReadings(queries: readonly BenchStore['query'][], expected: number): Promise<number> {
  let count = -1
  let changedMs = performance.now()
  while (performance.now() - changedMs < waitMsMax) {
    let now = 0
    for (const query of queries) now += Number((await query(`SELECT count() FROM ${readingsTable}`))[0]?.[0])
    if (now !== count) changedMs = performance.now()
    count = now
    if (count >= expected) break
    await sleep(100)
  }
  return count
}

/** Waits until QuestDB shows all that it has taken. */
export async function untilApplied(address: QuestdbAddress): Promise<void> {
  const questdb = connectQuestdb(address.http, 600_000)
  for (;;) {
    const states = await readTableStates(questdb, [readingsTable, measurementsTable])
    if (states.every(({ sequencerTxn, writerTxn }) => sequencerTxn === writerTxn)) break
    await sleep(10)
  }
  questdb.close()
}
