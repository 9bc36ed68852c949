/** The same readings in one QuestDB, and dealt to two by a placement in which devices move at the starts of days. */

import pg from 'pg'
import { expiringMeasurements, expiringReadings } from '../../lifecycle/retention/expiring-tables.ts'
import { bucketCount, bucketOf, type Placement, shardAt } from '../../placement/placement.ts'
import type { AnalysedDevice } from '../../query/analysed-device.ts'
import type { ExportMetric } from '../../query/export/export-columns.ts'
import type { FurtherMetric } from '../../query/further-metric.ts'
import type { InsightsDevice, InsightsKnown } from '../../query/insights-fleet.ts'
import type { MetricKind } from '../../query/shapes/kinds.ts'
import type { QuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { expiredHoursTableSql, expiredSeriesHoursTableSql, hourlyView, readingsTable } from '../../store/tables.ts'
import { makeDevice } from '../query/query-at.ts'
import type { TestHooks } from '../support/databases.ts'
import { until } from '../support/processes.ts'
import { startQuestdb, type TestFurtherValue, type TestQuestdb, type TestReading } from '../support/questdb.ts'

const minuteMs = 60_000
export const startMs = Date.UTC(2026, 4, 2)
export const nowMs = Date.UTC(2026, 4, 20, 15, 20)
/** Devices move when these days begin. */
const [seventeenth, twentieth] = [Date.UTC(2026, 4, 17), Date.UTC(2026, 4, 20)]
/** The readings before it have expired. */
export const expiredBeforeUs = Date.UTC(2026, 4, 5) * 1000

/** On which shard each is before the 17th, before the 20th, and then; and when it fell silent. */
const histories = {
  first: { shards: [1, 1, 1] },
  second: { shards: [2, 2, 2] },
  moved: { shards: [1, 1, 2] },
  back: { shards: [1, 2, 1] },
  other: { shards: [2, 2, 1] },
  // Since before it came back to the shard on which it has older readings.
  silent: { shards: [2, 1, 2], untilMs: Date.UTC(2026, 4, 18, 9) },
} as const
type Name = keyof typeof histories
export const names = Object.keys(histories) as Name[]

type MadeDevice = AnalysedDevice & InsightsDevice
const unset = { profile: 'none' as const, tags: [], battery_type: null, battery_cells: null }

export const devices = Object.fromEntries(
  names.map((name, place): [Name, MadeDevice] => {
    const more = { log_switch: true, altitude_m: null, quality_limits: null, ...unset }
    // The interval of every second one is estimated.
    return [name, { ...makeDevice(name), ...more, expected_interval_seconds: place % 2 === 0 ? 900 : null }]
  }),
) as Record<Name, MadeDevice>

export const placement: Placement = [Number.NEGATIVE_INFINITY, seventeenth * 1000, twentieth * 1000].map(
  (fromUs, epoch) => {
    const shards = new Uint8Array(bucketCount).fill(1)
    for (const name of names) shards[bucketOf(devices[name].number)] = histories[name].shards[epoch] as number
    return { fromUs, shards }
  },
)

const kinds: Readonly<Record<string, MetricKind>> = {
  co2: 'gauge',
  rain: 'rate',
  total: 'counter',
  door: 'state',
  wind: 'direction',
  gust: 'gauge',
}
const furtherNames = Object.keys(kinds)
const seriesOf = (device: AnalysedDevice, name: string) => 10 * device.number + furtherNames.indexOf(name)

/** Nobody is silent, and nothing has further gauges. */
export const nothingElse: InsightsKnown = { gaugesOf: () => [], silenceOf: () => undefined }

export function furtherOf(name: Name): FurtherMetric[] {
  const device = devices[name]
  return furtherNames.map(metric => {
    const about = { name: metric, title: metric, kind: kinds[metric] as MetricKind, unit: null, decimals: 2 }
    const speed = { name: 'gust', calmBelow: null, series: seriesOf(device, 'gust'), column: undefined }
    const places = { series: seriesOf(device, metric), column: undefined, quality: null }
    return { ...about, ...places, speed: metric === 'wind' ? speed : undefined }
  })
}

export const exportMetrics: readonly ExportMetric[] = furtherNames.map(name => ({
  name,
  kind: kinds[name] as MetricKind,
}))

/** The series of a device, its number, and the places of its metrics among `count` others. */
export function seriesEntries(name: Name, before: number): number[] {
  const device = devices[name]
  return furtherNames.flatMap((metric, place) => [seriesOf(device, metric), device.number, before + place])
}

/** Numbers whose sums have no rounding, so that they are the same in any order. */
function readingsOf(name: Name): { readings: TestReading[]; values: TestFurtherValue[] } {
  const device = devices[name]
  const { untilMs = nowMs } = { untilMs: nowMs, ...histories[name] }
  const shift = names.indexOf(name)
  const readings: TestReading[] = []
  const values: TestFurtherValue[] = []
  for (let at = 0, timeMs = startMs; timeMs <= untilMs; at++, timeMs = startMs + at * 15 * minuteMs) {
    // Some devices share their times, and some outages last for hours.
    if ((at + 40 * shift) % 300 < 20) continue
    const time = new Date(timeMs + (shift % 3) * 7000).toISOString().replace('Z', '000Z')
    const [temperature, pressure] = [((at * 7 + shift * 3) % 80) / 4, at % 2 === 0 ? 1000 + (at % 16) : undefined]
    const battery_percentage = 100 - at / 32 - shift
    const reading = { symbol: device.symbol, time, temperature, battery_percentage }
    const humidity = at % 5 === 0 ? {} : { humidity: 40 + (at % 33) }
    readings.push({ ...reading, ...humidity, ...(pressure !== undefined && { pressure }) })
    // Now and then the counter comes without the others, and starts again.
    const further = {
      co2: 400 + (at % 64) / 2,
      rain: (at % 8) / 4,
      total: (at % 700) / 4,
      door: Math.floor(at / 9) % 2,
    }
    const wind = { wind: 90, gust: (at % 12) / 2 }
    for (const [metric, value] of Object.entries({ ...further, ...(at % 7 === 0 ? {} : wind) })) {
      values.push({ series: seriesOf(device, metric), time, value })
    }
  }
  return { readings, values }
}

export interface MadeShards {
  /** With all rows. */
  readonly whole: TestQuestdb
  /** With the rows that the placement gives each. */
  readonly shards: readonly [TestQuestdb, TestQuestdb]
}

export async function startMadeShards(t: TestHooks): Promise<MadeShards> {
  const [whole, first, second] = await Promise.all([startQuestdb(t), startQuestdb(t), startQuestdb(t)])
  const made = names.map(name => ({ number: devices[name].number, ...readingsOf(name) }))

  async function fill(questdb: TestQuestdb, shard: number | undefined): Promise<void> {
    const isThere = (number: number) => (row: { readonly time: string }) =>
      shard === undefined || shardAt(placement, number, Date.parse(row.time) * 1000) === shard
    await questdb.write(made.flatMap(({ number, readings }) => readings.filter(isThere(number))))
    await questdb.writeFurther(made.flatMap(({ number, values }) => values.filter(isThere(number))))
    await fillHours(questdb)
  }

  await Promise.all([fill(whole, undefined), fill(first, 1), fill(second, 2)])
  return { whole, shards: [first, second] }
}

/** What is kept of the expired hours, and the view. */
async function fillHours({ address }: TestQuestdb): Promise<void> {
  const client = new pg.Client({ ...address.pg, ssl: false })
  await client.connect()
  const before = { fromMs: 0, toMs: expiredBeforeUs / 1000 }
  for (const sql of [expiredHoursTableSql, expiredSeriesHoursTableSql]) await client.query(sql)
  for (const { hoursTable, hourColumns, hoursSql } of [expiringReadings, expiringMeasurements]) {
    await client.query(`INSERT INTO ${hoursTable} SELECT ${hourColumns} FROM (${hoursSql(before)})`)
  }
  const countOf = async (sql: string) => Number(Object.values((await client.query(sql)).rows[0])[0])
  const count = await countOf(`SELECT count(temperature) FROM ${readingsTable}`)
  await until('the view has all readings, and the hours are there', async () => {
    await client.query(`REFRESH MATERIALIZED VIEW ${hourlyView} INCREMENTAL`)
    const behind = 'SELECT count() FROM wal_tables() WHERE writerTxn <> sequencerTxn'
    const seen = await countOf(`SELECT sum(temperature_count) FROM ${hourlyView}`)
    return seen === count && (await countOf(behind)) === 0
  })
  await client.end()
}

/** Nobody answers over HTTP, so that everything goes through the gate. */
export const throughGate = ({ pg }: QuestdbAddress): QuestdbAddress => {
  return { pg, http: { host: '127.0.0.1', port: 1, tls: false, authorization: undefined } }
}
