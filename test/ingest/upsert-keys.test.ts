/** QuestDB replaces a row that is sent again by the keys that journal and forwarder know. */

import { test } from 'tap'
import { points } from '../../ingest/points-table.ts'
import { readings } from '../../ingest/readings-table.ts'
import type { TableDescription } from '../../ingest/table.ts'
import { measurementsTableSql, pointsTableSql, readingsTableSql } from '../../store/tables.ts'

/** The columns by which the described table identifies a row. */
function keysOf({
  timestamp,
  key = [],
  seriesColumn,
}: Partial<Pick<TableDescription, 'timestamp' | 'key' | 'seriesColumn'>>) {
  return [timestamp, ...key, ...(seriesColumn === undefined ? [] : [seriesColumn])]
}

test('each table of rows from a journal stores a row once', t => {
  for (const [createSql, table] of [
    [readingsTableSql, readings],
    [measurementsTableSql, readings.custom ?? {}],
    [pointsTableSql, points],
  ] as const) {
    const [, keys = ''] = / WAL DEDUP UPSERT KEYS\(([^)]*)\)$/.exec(createSql) ?? []
    t.strictSame(keys.split(', '), keysOf(table), createSql)
  }
  t.end()
})
