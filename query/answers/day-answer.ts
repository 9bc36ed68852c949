/** Builds the body of one device's day inside a worker: every reading, as three series. */

import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { PgConnection } from '../../store/questdb/client/questdb-pg.ts'
import { readingsTable } from '../../store/tables.ts'
import type { DayQuery } from '../queries.ts'
import { QueryFailed } from '../query-failed.ts'
import { ReadingsColumns } from '../questdb/readings-columns.ts'
import { ByteWriter } from './byte-writer.ts'
import { createPointHeads, pointBytesMin, writeSeries } from './point-text.ts'

export interface DayContext {
  readonly connection: Pick<PgConnection, 'read'>
  readonly local: LocalTime
  readonly bodyBytesMax: number
  readonly signal: AbortSignal
}

const metrics = ['temperature', 'humidity', 'pressure'] as const

const text = `SELECT cast(ts AS LONG), ${metrics.join(', ')} FROM ${readingsTable}
  WHERE device = $1 AND ts >= $2 AND ts < $3
    AND (${metrics.map(metric => `${metric} IS NOT NULL`).join(' OR ')})
  ORDER BY ts LIMIT $4`

/** One reading a minute, with some room. */
const rowsExpected = 1500

export async function buildDay(query: DayQuery, context: DayContext): Promise<Uint8Array<ArrayBuffer>> {
  const { connection, local, bodyBytesMax, signal } = context
  // Every row has a point, so more rows than this cannot fit.
  const rowsMax = Math.ceil(bodyBytesMax / pointBytesMin)
  const columns = new ReadingsColumns(metrics.length, rowsExpected)
  const values = [query.symbol, query.startUs, query.endUs, rowsMax]
  await connection.read({ name: 'day', text, values }, signal, row => {
    columns.add(0, Number(row[0]), row, 1)
  })
  const writer = new ByteWriter(bodyBytesMax, columns.length * metrics.length * (pointBytesMin + 8))
  if (columns.length < rowsMax) {
    const heads = createPointHeads(local, query.startUs, query.endUs)
    const order = columns.byGroup(1)[0] as Uint32Array
    for (const [index, metric] of metrics.entries()) {
      writer.ascii(`${index === 0 ? '{' : ','}"${metric}":`)
      writeSeries(writer, heads, columns.timesUs, columns.values(index), order)
    }
    writer.ascii('}')
    const bytes = writer.finish()
    if (bytes !== undefined) return bytes
  }
  throw new QueryFailed('TOO_LARGE', `day exceeds the limit of ${bodyBytesMax} bytes`)
}
