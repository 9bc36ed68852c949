/**
 * The latest readings. Every dashboard polls them, so a body is cached, built at most once a minute, and served while
 * the next one is built.
 */

import { z } from 'zod'
import type { LocalTime } from '../analytics/time/local-time.ts'
import type { PgConnection, PgRow, Statement } from '../store/questdb/client/questdb-pg.ts'
import { readingsTable } from '../store/tables.ts'
import { ByteWriter } from './answers/byte-writer.ts'
import { createPointHeads, pointBytesMin, writeSeries } from './answers/point-text.ts'
import type { Answer } from './cache/body.ts'
import type { Serve } from './cache/response-cache.ts'
import { encodeFleet, type FleetEntry, namedInSqlMax, type QueryDevice } from './fleet.ts'
import type { QueryLimits } from './limits.ts'
import type { LatestQuery } from './queries.ts'
import { QueryFailed } from './query-failed.ts'
import { ReadingsColumns } from './questdb/readings-columns.ts'
import type { RunQuery } from './run-query.ts'
import { LocalMinute, Points } from './shapes/parts.ts'

export interface LatestOptions {
  readonly runQuery: RunQuery
  readonly serve: Serve
  readonly fleetText: (devices: readonly QueryDevice[]) => string
  readonly setKey: (devices: readonly QueryDevice[]) => string
  readonly limits: QueryLimits
}

export interface Latest {
  all(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer>
  of(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer>
  /** Drops all answers that were built before or are being built. */
  deviceRemoved(): void
}

interface Wanted {
  readonly key: string
  readonly hours: number
  readonly narrowed: boolean
  readonly fleet: () => string
  readonly client?: AbortSignal
}

const hourMs = 3_600_000

export function createLatest({ runQuery, serve, fleetText, setKey, limits }: LatestOptions): Latest {
  /** Part of each key, so that a build that includes a removed device is not found later. */
  let removals = 0

  function all(hours: number, devices: () => readonly QueryDevice[]): Answer | Promise<Answer> {
    return latest({
      key: `latest/${hours}`,
      hours,
      narrowed: false,
      fleet: () => fleetText(devices()),
    })
  }

  function of(hours: number, devices: readonly QueryDevice[], client: AbortSignal): Answer | Promise<Answer> {
    const key = `latest/${hours}/${setKey(devices)}`
    const narrowed = devices.length <= namedInSqlMax
    return latest({ key, hours, narrowed, fleet: () => encodeFleet(devices), client })
  }

  function latest({ key, client, ...wanted }: Wanted): Answer | Promise<Answer> {
    return serve({
      key: `${key}@${removals}`,
      // It depends on the moment and on every device.
      version: undefined,
      freshMs: limits.rebuildMs,
      staleMs: limits.staleMs,
      maxAgeSeconds: ageMs => Math.max(0, Math.floor((limits.rebuildMs - ageMs) / 1000)),
      build(askedAtMs, signal) {
        return runQuery('latest', () => queryOf(wanted, askedAtMs), signal)
      },
      client,
    })
  }

  function queryOf(
    { hours, narrowed, fleet }: Pick<Wanted, 'hours' | 'narrowed' | 'fleet'>,
    nowMs: number,
  ): LatestQuery {
    const startUs = (nowMs - hours * hourMs) * 1000
    return { fleet: fleet(), narrowed, nowUs: nowMs * 1000, startUs, endUs: (nowMs + limits.aheadMs) * 1000 }
  }

  return {
    all,
    of,
    deviceRemoved() {
      removals += 1
    },
  }
}

/** Possible lengths of a bucket, finest first. */
const bucketMinutes = [1, 5, 15, 60, 360, 1440] as const
type BucketMinutes = (typeof bucketMinutes)[number]

interface LatestRange {
  /** Devices to read; undefined for all. */
  readonly symbols: readonly string[] | undefined
  readonly startUs: number
  readonly endUs: number
}

/**
 * Rows `device, rows, temperatures, humidities`: the number of points of each device; with `bucket`, the number of
 * bucket means.
 */
function countStatement(range: LatestRange, bucket: BucketMinutes | undefined): Statement {
  const counts = 'SELECT device, count(), count(temperature), count(humidity)'
  const source = bucket === undefined ? readingsTable : `(${meansSql} ${whereSql(range, 2)} ${sampleSql(bucket)})`
  const where = bucket === undefined ? whereSql(range, 2) : ''
  return statement(range, `latest-count-${bucket ?? 'raw'}`, `${counts} FROM ${source} ${where}`, [])
}

/** Rows `device, time in µs, temperature, humidity` in the order of time. QuestDB samples in UTC, so hours are true hours. */
export function pointsStatement(range: LatestRange, bucket: BucketMinutes | undefined, rowsMax: number): Statement {
  const columns = 'SELECT device, cast(ts AS LONG), temperature, humidity'
  const where = `${whereSql(range, 3)} AND (temperature IS NOT NULL OR humidity IS NOT NULL)`
  // The LIMIT is outside: inside, QuestDB would apply it before it has sorted the means.
  const text =
    bucket === undefined
      ? `${columns} FROM ${readingsTable} ${where} ORDER BY ts LIMIT $3`
      : `${columns} FROM (${meansSql} ${where} ${sampleSql(bucket)}) LIMIT $3`
  return statement(range, `latest-points-${bucket ?? 'raw'}`, text, [rowsMax])
}

const meansSql = `SELECT ts, device, avg(temperature) AS temperature, avg(humidity) AS humidity FROM ${readingsTable}`

function sampleSql(bucket: BucketMinutes): string {
  return `SAMPLE BY ${bucket}m ALIGN TO CALENDAR`
}

/** `$1` and `$2` are the range. The symbols follow after `$fixedBinds`. */
function whereSql(range: LatestRange, fixedBinds: number): string {
  const time = 'WHERE ts >= $1 AND ts < $2'
  if (range.symbols === undefined) return time
  return `${time} AND device IN (${range.symbols.map((_, index) => `$${fixedBinds + 1 + index}`).join(', ')})`
}

/** Only the query about all devices has the same text every time, and is worth preparing. */
function statement(range: LatestRange, name: string, text: string, more: readonly number[]): Statement {
  const values = [range.startUs, range.endUs, ...more, ...(range.symbols ?? [])]
  return range.symbols === undefined ? { name, text, values } : { text, values }
}

interface LatestContext {
  readonly connection: Pick<PgConnection, 'read'>
  readonly local: LocalTime
  readonly bodyBytesMax: number
  readonly signal: AbortSignal
}

interface Counted {
  readonly points: number
  /** Rows of the fleet, and rows of other devices, which are skipped. */
  readonly rows: number
  readonly rowsOfOthers: number
}

/** Bytes of a typical value beyond its first digit. It only estimates the first size of the buffer. */
const valueBytesGuess = 4

/** Builds the body of `latest/all` inside a worker: raw points while they fit, else means over the finest buckets that do. */
export async function buildLatest(
  query: LatestQuery,
  fleet: readonly FleetEntry[],
  context: LatestContext,
): Promise<Uint8Array<ArrayBuffer>> {
  const { bodyBytesMax } = context
  const groups = new Map(fleet.map((entry, index) => [entry.symbol, index]))
  const symbols = query.narrowed ? [...groups.keys()] : undefined
  const range = { symbols, startUs: query.startUs, endUs: query.endUs }
  const frameBytes = Buffer.byteLength(fleet.map(entry => entry.head).join(seriesFrame)) + seriesFrame.length

  let pointsTooMany = Number.POSITIVE_INFINITY
  for (const bucket of [undefined, ...bucketMinutes]) {
    if (frameBytes >= bodyBytesMax) break
    const counted = fleet.length === 0 ? noRows : await countPoints(range, bucket, groups, context)
    const bytesExpected = frameBytes + counted.points * (pointBytesMin + 1)
    // Buckets of one reading each would repeat the readings.
    if (bytesExpected - fleet.length * 2 >= bodyBytesMax || counted.points >= pointsTooMany) continue
    pointsTooMany = counted.points
    const columns = await readPoints(range, bucket, groups, counted, context)
    if (columns === undefined) continue
    const writer = new ByteWriter(bodyBytesMax, bytesExpected + counted.points * valueBytesGuess)
    writeLatest(writer, query, bucket, fleet, columns, context.local)
    const bytes = writer.finish()
    if (bytes !== undefined) return bytes
  }
  throw new QueryFailed('TOO_LARGE', `means over a day exceed ${bodyBytesMax} bytes`)
}

const noRows: Counted = { points: 0, rows: 0, rowsOfOthers: 0 }

async function countPoints(
  range: LatestRange,
  bucket: BucketMinutes | undefined,
  groups: ReadonlyMap<string, number>,
  { connection, signal }: LatestContext,
): Promise<Counted> {
  let points = 0
  let rows = 0
  let rowsOfOthers = 0
  await connection.read(countStatement(range, bucket), signal, ([device, count, temperatures, humidities]: PgRow) => {
    if (groups.has(String(device))) {
      rows += Number(count)
      points += Number(temperatures) + Number(humidities)
    } else {
      rowsOfOthers += Number(count)
    }
  })
  return { points, rows, rowsOfOthers }
}

/** Returns the points, or undefined when there are too many for any body. */
async function readPoints(
  range: LatestRange,
  bucket: BucketMinutes | undefined,
  groups: ReadonlyMap<string, number>,
  counted: Counted,
  { connection, signal, bodyBytesMax }: LatestContext,
): Promise<ReadingsColumns | undefined> {
  const columns = new ReadingsColumns(2, counted.rows)
  if (groups.size === 0) return columns
  // Rows may have come in since they were counted. Every row has a point, so more rows than this cannot fit anyway.
  const rowsMax = Math.ceil(bodyBytesMax / pointBytesMin) + 2 * counted.rowsOfOthers
  let rowsSeen = 0
  await connection.read(pointsStatement(range, bucket, rowsMax), signal, row => {
    rowsSeen++
    const group = groups.get(String(row[0]))
    if (group !== undefined) columns.add(group, Number(row[1]), row, 2)
  })
  return rowsSeen < rowsMax ? columns : undefined
}

const seriesFrame = ',"humidity":[],"temperature":[]},'

function writeLatest(
  writer: ByteWriter,
  query: LatestQuery,
  bucket: BucketMinutes | undefined,
  fleet: readonly FleetEntry[],
  columns: ReadingsColumns,
  local: LocalTime,
): void {
  const bucketUs = (bucket ?? 0) * 60_000_000
  // The first bucket may begin before the range.
  const heads = createPointHeads(local, query.startUs - bucketUs, query.endUs)
  const orders = columns.byGroup(fleet.length)
  const { timesUs } = columns
  writer.ascii(`{"cached_at":"${local.text(query.nowUs)}",`)
  if (bucket !== undefined) writer.ascii(`"bucket_seconds":${bucket * 60},`)
  writer.ascii('"data":[')
  let separator = ''
  for (const [index, { head }] of fleet.entries()) {
    if (writer.full) return
    const order = orders[index] as Uint32Array
    writer.utf8(separator + head)
    writer.ascii(',"humidity":')
    writeSeries(writer, heads, timesUs, columns.values(1), order)
    writer.ascii(',"temperature":')
    writeSeries(writer, heads, timesUs, columns.values(0), order)
    writer.ascii('}')
    separator = ','
  }
  writer.ascii(']}')
}

/** Response of `latest/all/<hour>`. */
const DeviceReadings = z.strictObject({
  device: z.string(),
  device_loc: z.string(),
  humidity: Points,
  temperature: Points,
})

export const LatestReadings = z.strictObject({
  cached_at: LocalMinute,
  /** Length of the buckets; absent when the points are readings. */
  bucket_seconds: z.literal(bucketMinutes.map(minutes => minutes * 60)).optional(),
  data: z.array(DeviceReadings),
})
export type LatestReadings = z.infer<typeof LatestReadings>
