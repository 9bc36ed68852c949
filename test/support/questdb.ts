/** A real QuestDB for a test of the reads, and readings put into it past the ingest. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { openDataDirectory } from '../../store/data-directory.ts'
import { openQuestdb } from '../../store/questdb/questdb.ts'
import { questdbRoot } from '../../store/questdb/questdb-server.ts'
import { type Metric, measurementsTable, metrics, readingsTable } from '../../store/tables.ts'
import { closing, storeOptions, type TestHooks, temporaryFolder } from './databases.ts'
import { until } from './processes.ts'
import { longLists, traceBy } from './sent-statements.ts'
import { borrowQuestdb } from './worker-questdb.ts'

export interface TestReading extends Partial<Record<Metric, number>> {
  readonly symbol: string
  /** ISO 8601, to the microsecond. */
  readonly time: string
}

/** A value of a metric without a column. */
export interface TestCustomValue {
  readonly series: number
  /** ISO 8601, to the microsecond. */
  readonly time: string
  /** Null where a reading that replaced another one has none. */
  readonly value: number | null
}

/** One without PostgreSQL beside it, with its tables in place: the one that the runner lends, unless it is to be the test's own. */
export async function startQuestdb(t: TestHooks, { isOwn = false } = {}) {
  let found: readonly string[] = []
  // This teardown is last, since those after one that throws do not run.
  t.teardown(() => {
    if (found.length > 0) throw new Error(`a list of top rows has a large limit: ${found.join('\n')}`)
  })
  const directory = closing(t, openDataDirectory(join(temporaryFolder(t), 'data')))
  const lent = isOwn ? undefined : await borrowQuestdb(t)
  const address = lent === undefined ? {} : { questdbHttp: lent.QUESTDB_HTTP, questdbPg: lent.QUESTDB_PG }
  const questdb = await openQuestdb({ ...storeOptions(directory), ...address }, new AbortController().signal)
  t.teardown(() => questdb.close())
  await questdb.ready
  const client = new pg.Client({ ...questdb.address.pg, ssl: false })
  await client.connect()
  t.teardown(() => client.end())
  const root = lent?.root ?? questdbRoot(directory)
  const statements = await traceBy(client, root)
  t.teardown(async () => {
    // A test may have closed it.
    found = await longLists(statements).catch(() => [])
  })

  async function applied(): Promise<void> {
    const names = `'${readingsTable}', '${measurementsTable}'`
    const sql = `SELECT count() AS behind FROM wal_tables() WHERE name IN (${names}) AND writerTxn <> sequencerTxn`
    await until('the rows are visible', async () => Number((await client.query(sql)).rows[0].behind) === 0)
  }

  async function insert(table: string, rows: readonly string[]): Promise<void> {
    for (let i = 0; i < rows.length; i += 1000) {
      await client.query(`INSERT INTO ${table} VALUES ${rows.slice(i, i + 1000).join(', ')}`)
    }
    await applied()
  }

  return {
    address: questdb.address,
    /** Directory of QuestDB, with its `db`. */
    root,
    /** Resolves when the readings are visible. */
    write: (readings: readonly TestReading[]) =>
      insert(
        readingsTable,
        readings.map(({ symbol, time, ...values }) => {
          return `('${time}', '${symbol}', ${metrics.map(metric => `${values[metric] ?? null}`).join(', ')})`
        }),
      ),
    /** Resolves when the values are visible. */
    writeCustom: (values: readonly TestCustomValue[]) =>
      insert(
        measurementsTable,
        values.map(({ series, time, value }) => `('${time}', ${series}, ${value})`),
      ),
    /** The rows of a Parquet file, as QuestDB reads it. */
    async readParquet(file: Uint8Array, columns: string): Promise<unknown[][]> {
      // The one folder from which it reads files.
      const folder = join(root, 'import')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'test.parquet'), file)
      const text = `SELECT ${columns} FROM read_parquet('test.parquet')`
      return (await client.query({ text, rowMode: 'array' })).rows
    },
    /** Removes all readings and values. */
    async clear() {
      await client.query(`TRUNCATE TABLE ${readingsTable}`)
      await client.query(`TRUNCATE TABLE ${measurementsTable}`)
      await applied()
    },
  }
}
