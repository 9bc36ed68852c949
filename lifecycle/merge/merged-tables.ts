/** The tables of a shard whose rows are nowhere else: names and the hourly view are made anew of what PostgreSQL and the readings say. */

import {
  expiredHoursTable,
  expiredSeriesHoursTable,
  hourlyColumns,
  measurementsTable,
  metrics,
  readingsTable,
  seriesHourColumns,
} from '../../store/tables.ts'

export interface MergedTable {
  readonly name: string
  /** With the time, what a row is known by: a symbol of a device, or the number of a series. */
  readonly key: 'device' | 'series'
  readonly columns: readonly MergedColumn[]
}

interface MergedColumn {
  readonly name: string
  readonly type: 'DOUBLE' | 'LONG' | 'TIMESTAMP'
}

export const mergedTables: readonly MergedTable[] = [
  { name: readingsTable, key: 'device', columns: metrics.map(name => ({ name, type: 'DOUBLE' })) },
  { name: measurementsTable, key: 'series', columns: [{ name: 'value', type: 'DOUBLE' }] },
  {
    name: expiredHoursTable,
    key: 'device',
    columns: hourlyColumns.map(({ name, aggregate }) => ({ name, type: aggregate === 'count' ? 'LONG' : 'DOUBLE' })),
  },
  { name: expiredSeriesHoursTable, key: 'series', columns: seriesHourColumns },
]
