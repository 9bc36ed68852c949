/** One device's local day: cached until the device gets new readings. */

import type { z } from 'zod'
import type { LocalTime } from '../analytics/time/local-time.ts'
import type { PgConnection } from '../store/questdb/client/questdb-pg.ts'
import { readingsTable } from '../store/tables.ts'
import { ByteWriter } from './answers/byte-writer.ts'
import { createPointHeads, pointBytesMin, writeSeries } from './answers/point-text.ts'
import { type Answer, type Body, bodyOf, encodeBody } from './cache/body.ts'
import type { Serve } from './cache/response-cache.ts'
import type { QueryDevice } from './fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { DayQuery } from './queries.ts'
import { QueryFailed } from './query-failed.ts'
import { ReadingsColumns } from './questdb/readings-columns.ts'
import type { Replicas } from './replicas.ts'
import type { RunQuery } from './run-query.ts'
import { byAirMetric, Points } from './shapes/parts.ts'

export interface DayOptions {
  readonly runQuery: RunQuery
  readonly serve: Serve
  readonly local: LocalTime
  readonly now: () => number
  readonly revision: (deviceNumber: number) => number
  readonly replicas: Replicas
  readonly limits: Pick<QueryLimits, 'aheadMs'>
}

export type Day = (device: QueryDevice, date: string, client: AbortSignal) => Answer | Promise<Answer>

const todayMaxAgeSeconds = 5
/** A day that is over changes only when old readings arrive. */
const pastMaxAgeSeconds = 60

const emptyDay: Body = bodyOf(encodeBody(new TextEncoder().encode('{"temperature":[],"humidity":[],"pressure":[]}')))

export function createDay({ runQuery, serve, local, now, revision, replicas, limits }: DayOptions): Day {
  return (device, date, client) => {
    const range = local.day(date)
    if (range === undefined) return { ok: false, code: 'DATE_INVALID' }
    const nowUs = now() * 1000
    const maxAgeSeconds = range.endUs > nowUs ? todayMaxAgeSeconds : pastMaxAgeSeconds
    // Readings are neither far in the future nor from before 1970, and a zone may have skipped a day.
    const startUs = Math.max(range.startUs, replicas.hourSources().expiredBeforeUs)
    const isEmpty = startUs > nowUs + limits.aheadMs * 1000 || range.endUs <= 0 || startUs >= range.endUs
    if (isEmpty) return { ok: true, body: emptyDay, maxAgeSeconds }
    return serve({
      key: `day/${device.number}/${date}`,
      version: `${revision(device.number)}@${startUs}`,
      // A day of an older version is served only when QuestDB does not answer.
      freshMs: 0,
      staleMs: 0,
      maxAgeSeconds: () => maxAgeSeconds,
      build(_askedAtMs, signal) {
        return runQuery('day', () => ({ symbol: device.symbol, startUs, endUs: range.endUs }), signal)
      },
      client,
    })
  }
}

interface DayContext {
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

/** Builds the body of one device's day inside a worker: every reading, as three series. */
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

export const DayReadings = byAirMetric(Points)

/** Response of `data/day/<device>/<date>`. */
export type DayReadings = z.infer<typeof DayReadings>
