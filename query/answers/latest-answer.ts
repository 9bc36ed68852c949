/** Builds the body of `latest/all` inside a worker: raw points while they fit, else means over the finest buckets that do. */

import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { PgConnection, PgRow } from '../../store/questdb/client/questdb-pg.ts'
import type { FleetEntry } from '../fleet.ts'
import type { LatestQuery } from '../queries.ts'
import { QueryFailed } from '../query-failed.ts'
import { ReadingsColumns } from '../questdb/readings-columns.ts'
import { ByteWriter } from './byte-writer.ts'
import { type BucketMinutes, bucketMinutes, countStatement, type LatestRange, pointsStatement } from './latest-sql.ts'
import { createPointHeads, pointBytesMin, writeSeries } from './point-text.ts'

export interface LatestContext {
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
