/** A real QuestDB for a test of the reads, and readings put into it past the ingest. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { openDataDirectory } from '../../store/data-directory.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { openQuestdb } from '../../store/questdb/questdb.ts'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { type Metric, metrics, readingsTable } from '../../store/tables.ts'
import { storeOptions, type TestHooks, temporaryFolder } from './databases.ts'
import { until } from './processes.ts'

export interface TestReading extends Partial<Record<Metric, number>> {
  readonly symbol: string
  /** ISO 8601, to the microsecond. */
  readonly time: string
}

export interface TestQuestdb {
  readonly address: QuestdbAddress
  /** Resolves when the readings are visible. */
  write(readings: readonly TestReading[]): Promise<void>
  /** Removes all readings. */
  clear(): Promise<void>
  /** The rows of a Parquet file, as QuestDB reads it. */
  readParquet(file: Uint8Array, columns: string): Promise<unknown[][]>
}

/** One without PostgreSQL beside it, with its tables in place. */
export async function startQuestdb(t: TestHooks): Promise<TestQuestdb> {
  const directory = openDataDirectory(join(temporaryFolder(t), 'data'))
  t.teardown(() => directory.close())
  const questdb = await openQuestdb(storeOptions(directory), new AbortController().signal)
  t.teardown(() => questdb.close())
  await questdb.ready
  const client = new pg.Client({ ...questdb.address.pg, ssl: false })
  await client.connect()
  t.teardown(() => client.end())

  async function applied(): Promise<void> {
    const sql = `SELECT writerTxn = sequencerTxn AS done FROM wal_tables() WHERE name = '${readingsTable}'`
    await until('the rows are visible', async () => (await client.query(sql)).rows[0].done)
  }

  return {
    address: questdb.address,
    async write(readings) {
      const rows = readings.map(({ symbol, time, ...values }) => {
        return `('${time}', '${symbol}', ${metrics.map(metric => `${values[metric] ?? null}`).join(', ')})`
      })
      for (let i = 0; i < rows.length; i += 1000) {
        await client.query(`INSERT INTO ${readingsTable} VALUES ${rows.slice(i, i + 1000).join(', ')}`)
      }
      await applied()
    },
    async readParquet(file, columns) {
      // The one folder from which it reads files.
      const folder = join(questdbRoot(directory), 'import')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'test.parquet'), file)
      const text = `SELECT ${columns} FROM read_parquet('test.parquet')`
      return (await client.query({ text, rowMode: 'array' })).rows
    },
    async clear() {
      await client.query(`TRUNCATE TABLE ${readingsTable}`)
      await applied()
    },
  }
}
