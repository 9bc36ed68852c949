/** Makes our tables in QuestDB and looks whether those that are there can hold what we promise. */

import { metrics, readingsTable, readingsTableSql } from '../tables.ts'
import type { QuestdbClient } from './client/questdb-client.ts'

const timeoutMs = 10_000

/** Throws a sentence when a table of our name is not ours. */
export async function ensureTables(client: QuestdbClient): Promise<void> {
  await client.exec(readingsTableSql, timeoutMs)
  const sql = `SELECT "column", type, designated, upsertKey FROM table_columns('${readingsTable}')`
  const found = new Map((await client.exec(sql, timeoutMs)).map(([name, ...rest]) => [String(name), rest.join(' ')]))
  for (const [name, wanted] of Object.entries(readingsColumns)) {
    const is = found.get(name) ?? 'missing'
    // Without the upsert keys a record that is sent twice would be stored twice.
    if (is !== wanted) {
      throw new Error(
        `its table ${readingsTable} is not ours: the column ${name} is "${is}" where "${wanted}" is needed ` +
          '(type, designated timestamp, upsert key); rename that table, or give another QuestDB',
      )
    }
  }
}

const readingsColumns: Record<string, string> = {
  ts: 'TIMESTAMP true true',
  device: 'SYMBOL false true',
  ...Object.fromEntries(metrics.map(metric => [metric, 'DOUBLE false false'])),
}
