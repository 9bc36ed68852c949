/** Points put into a real QuestDB past the ingest. */

import pg from 'pg'
import type { TestHooks } from './databases.ts'
import { until } from './processes.ts'
import { startQuestdb } from './questdb.ts'

export interface TestPoint {
  readonly timeUs: number
  readonly series: number
  readonly value: number
  readonly unit: string
  readonly storedUs: number
}

const tableSql = `CREATE TABLE IF NOT EXISTS points (ts TIMESTAMP, series INT, value DOUBLE, unit SYMBOL, stored_at TIMESTAMP)
  TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(ts, series)`

export async function startPointsQuestdb(t: TestHooks) {
  const { address } = await startQuestdb(t)
  const client = new pg.Client({ ...address.pg, ssl: false })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(tableSql)
  async function applied(): Promise<void> {
    const sql = `SELECT writerTxn = sequencerTxn AS done FROM wal_tables() WHERE name = 'points'`
    await until('the points are visible', async () => (await client.query(sql)).rows[0].done)
  }

  /** Resolves when the points are visible. */
  async function write(points: readonly TestPoint[]): Promise<void> {
    const rows = points.map(({ timeUs, series, value, unit, storedUs }) => {
      return `(${timeUs}, ${series}, ${value}, '${unit}', ${storedUs})`
    })
    for (let i = 0; i < rows.length; i += 1000) {
      await client.query(`INSERT INTO points VALUES ${rows.slice(i, i + 1000).join(', ')}`)
    }
    await applied()
  }

  async function clear(): Promise<void> {
    await client.query('TRUNCATE TABLE points')
    await applied()
  }

  return { address, write, clear }
}
