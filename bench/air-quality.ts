/**
 * The data points of an air-quality network: stations with eight parameters, a point a minute. Pages of one station with
 * and without filters, one point, the newest one, and all points as CSV, over HTTP.
 *
 * Baseline: the best plain SQL for the same rows, over `pg` in turn with our requests, for the same station; for the CSV,
 * QuestDB's own export. A list is "new" when points of the station came since it was last counted, else "known".
 *
 * Usage: node bench/air-quality.ts [stations] [days] [samples]
 */

import assert from 'node:assert/strict'
import { Agent, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { mean, quantile } from 'simple-statistics'
import type { Station } from '../auth/stations/station.ts'
import { createRandom } from '../demo/weather.ts'
import { basicOf, startAirQuality } from '../test/support/air-quality.ts'
import { startPointsQuestdb } from '../test/support/questdb-points.ts'
import { createBounds } from './bounds.ts'
import { createHooks, hardware, round, sleep } from './measure.ts'

const stationCount = Number(process.argv[2] ?? 20)
const days = Number(process.argv[3] ?? 3)
const samples = Number(process.argv[4] ?? 60)
const parameterCount = 8
const startUs = Date.UTC(2025, 6, 1) * 1000
const minuteUs = 60_000_000
const dayUs = 1440 * minuteUs
const perPage = 50
const rowsOfSeries = days * 1440
const rowsOfStation = rowsOfSeries * parameterCount
/** A filter's range: the middle third of the time. */
const [fromUs, toUs] = [startUs + Math.floor(days / 3) * dayUs, startUs + Math.ceil((2 * days) / 3) * dayUs]
const rowsOfFilter = (toUs - fromUs) / minuteUs
const pageMax = 1.5
const csvMin = 0.7

const { hooks, closeAll } = createHooks()
const bounds = createBounds()
const random = createRandom(20_261_122)
let revision = 0
let isNew = true

/** Made inside QuestDB, a day at a time; `from` is the number of the first series, and the others follow it. */
async function fill(client: pg.Client, from: number): Promise<void> {
  const seriesCount = stationCount * parameterCount
  for (let day = 0; day < days; day++) {
    const time = `${startUs + day * dayUs} + ((x - 1) / ${seriesCount}) * ${minuteUs}`
    const place = `(x - 1) % ${seriesCount}`
    await client.query(`INSERT INTO points SELECT cast(${time} AS TIMESTAMP), cast(${place} + ${from} AS INT),
      round(50 + 40 * sin(x / 90000.0) + 10 * rnd_double(), 1), CASE WHEN (${place}) % 8 < 5 THEN 'ppb' ELSE 'ugm3' END,
      cast(${time} + 1500000 AS TIMESTAMP) FROM long_sequence(${seriesCount * 1440})`)
  }
  for (;;) {
    const { rows } = await client.query(
      `SELECT writerTxn = sequencerTxn AS done FROM wal_tables() WHERE name = 'points'`,
    )
    if (rows[0].done) return
    await sleep(100)
  }
}

type Ask = (path: string) => Promise<Buffer>

function createAsk(port: number, key: string): Ask {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  hooks.teardown(() => agent.destroy())
  return path =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: `/api/v1.0${path}`,
        agent,
        headers: { authorization: basicOf(key) },
      }
      get(options, response => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          if (response.statusCode !== 200) reject(new Error(`${path}: ${response.statusCode} ${Buffer.concat(chunks)}`))
          else resolve(Buffer.concat(chunks))
        })
      }).on('error', reject)
    })
}

interface Kind {
  name: string
  path(station: Station): string
  /** All rows of the response, or more, as plainly as it goes. */
  sql(station: Station): { text: string; values: number[] }[]
  /** How many points the response must have. */
  points: number
}

const seriesOf = (station: Station) => [...station.series.values()]
const columns = 'ts, series, value, unit, stored_at'
const filter = `parameter,eq,pm25;timestamp,ge,${isoOf(fromUs)};timestamp,lt,${isoOf(toUs)}`

function isoOf(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString().slice(0, 19)
}

function pagePath(page: number, more = '') {
  return ({ sn }: Station) => `/device/${sn}/data/?page=${page}&per_page=${perPage}${more}`
}

function filteredSql(limit: string) {
  return ({ series }: Station) => {
    const text = `SELECT ${columns} FROM points WHERE series = $1 AND ts >= $2 AND ts < $3 LIMIT ${limit}`
    return [{ text, values: [series.get('pm25') ?? 0, fromUs, toUs] }]
  }
}

function allSql(limit: string) {
  return (station: Station) => {
    const values = seriesOf(station)
    const where = `series IN (${values.map((_, index) => `$${index + 1}`).join(', ')})`
    return [
      { text: `SELECT count() FROM points WHERE ${where}`, values },
      { text: `SELECT ${columns} FROM points WHERE ${where} LIMIT ${limit}`, values },
    ]
  }
}

function idOf(series: number, timeUs: number): number {
  return ((timeUs - Date.UTC(2000, 0, 1) * 1000) / 1_000_000) * 2 ** 21 + series
}

function lastOf(rows: number): number {
  return rows % perPage === 0 ? perPage : rows % perPage
}

function kinds(): Kind[] {
  const query = `&filter=${encodeURIComponent(filter)}`
  const pages = Math.ceil(rowsOfFilter / perPage)
  const middle = Math.ceil(pages / 2)
  const allPages = Math.ceil(rowsOfStation / perPage)
  const allMiddle = Math.ceil(allPages / 2)
  const between = (page: number) => `${(page - 1) * perPage}, ${page * perPage}`
  const someUs = startUs + Math.floor(rowsOfSeries / 2) * minuteUs
  const of = (name: string, path: Kind['path'], sql: Kind['sql'], points = perPage): Kind => ({
    name,
    path,
    sql,
    points,
  })
  return [
    of('filter, first page', pagePath(1, query), filteredSql(`${perPage}`)),
    of('filter, middle page', pagePath(middle, query), filteredSql(between(middle))),
    of('filter, last page', pagePath(pages, query), filteredSql(`-${lastOf(rowsOfFilter)}`), lastOf(rowsOfFilter)),
    of('all, first page', pagePath(1), allSql(`${perPage}`)),
    of('all, middle page', pagePath(allMiddle), allSql(between(allMiddle))),
    of('all, last page', pagePath(allPages), allSql(`-${lastOf(rowsOfStation)}`), lastOf(rowsOfStation)),
    of(
      'a point by its id',
      ({ sn, series }) => `/device/${sn}/data/${idOf(series.get('pm25') ?? 0, someUs)}`,
      ({ series }) => [
        {
          text: `SELECT ${columns} FROM points WHERE series = $1 AND ts = $2`,
          values: [series.get('pm25') ?? 0, someUs],
        },
      ],
      1,
    ),
    of(
      'latest',
      ({ sn }) => `/device/${sn}/latest`,
      station => {
        const values = seriesOf(station)
        const where = `series IN (${values.map((_, index) => `$${index + 1}`).join(', ')})`
        return [{ text: `SELECT ${columns} FROM points WHERE ${where} ORDER BY ts DESC LIMIT 1`, values }]
      },
      1,
    ),
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

/** In turn, each for another station. */
async function measure(kind: Kind, client: pg.Client, ask: Ask, stations: readonly Station[]): Promise<void> {
  const plain: number[] = []
  const fresh: number[] = []
  const known: number[] = []
  for (let sample = -5; sample < samples; sample++) {
    const station = stations[Math.floor(random() * stations.length)] as Station
    const statements = kind.sql(station)
    const plainMs = await timed(async () => {
      for (const { text, values } of statements) {
        await client.query({ name: `${kind.name} ${text.length}`, text, values, rowMode: 'array' })
      }
    })
    isNew = true
    let body: Buffer = Buffer.alloc(0)
    const newMs = await timed(async () => {
      body = await ask(kind.path(station))
    })
    isNew = false
    await ask(kind.path(station))
    const knownMs = await timed(() => ask(kind.path(station)))
    const answer = JSON.parse(body.toString())
    assert.equal(answer.data?.length ?? 1, kind.points, kind.name)
    if (sample < 0) continue
    plain.push(plainMs)
    fresh.push(newMs)
    known.push(knownMs)
  }
  for (const [name, ms] of [
    ['new', fresh],
    ['known', known],
  ] as const) {
    for (const share of [0.5, 0.95]) {
      const [ours, yardstick] = [quantile(ms, share), quantile(plain, share)]
      const figure = { ms: round(ours), yardstickMs: round(yardstick) }
      bounds.atMost(`${kind.name}, ${name}, p${share * 100}`, ours / yardstick, pageMax, figure)
    }
  }
}

/** All points of a station, by us and by QuestDB. */
async function measureCsv(address: Parameters<typeof exportUrl>[0], ask: Ask, stations: readonly Station[]) {
  const ours: number[] = []
  const plain: number[] = []
  for (let sample = -1; sample < 3; sample++) {
    const station = stations[(sample + 1) % stations.length] as Station
    const sql = `SELECT ${columns} FROM points WHERE series IN (${seriesOf(station).join(', ')})`
    const plainMs = await timed(async () => {
      const response = await fetch(exportUrl(address, sql), { headers: { authorization: address.authorization ?? '' } })
      await response.arrayBuffer()
    })
    let body: Buffer = Buffer.alloc(0)
    const oursMs = await timed(async () => {
      body = await ask(`/device/${station.sn}/data/?format=csv`)
    })
    let lines = 0
    for (let at = body.indexOf('\n'); at >= 0; at = body.indexOf('\n', at + 1)) lines++
    assert.equal(lines, rowsOfStation + 1)
    if (sample < 0) continue
    ours.push(rowsOfStation / oursMs)
    plain.push(rowsOfStation / plainMs)
  }
  const figure = { rowsPerMs: round(mean(ours)), yardstickRowsPerMs: round(mean(plain)), rows: rowsOfStation }
  bounds.atLeast("CSV of a station, share of QuestDB's own rate", mean(ours) / mean(plain), csvMin, figure)
}

function exportUrl({ host, port }: { host: string; port: number; authorization: string | undefined }, sql: string) {
  return `http://${host}:${port}/exp?query=${encodeURIComponent(sql)}`
}

async function bench(): Promise<void> {
  const { address } = await startPointsQuestdb(hooks)
  const air = await startAirQuality(hooks, 60, { questdb: address, revision: () => (isNew ? ++revision : revision) })
  const key = await air.keyOf(await air.person('reader@example.com'))
  const stations: Station[] = []
  for (let number = 0; number < stationCount; number++) stations.push(await air.addStation(`S-${number}`))
  const first = Math.min(...stations.flatMap(seriesOf))
  await air.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = air.app.server.address() as AddressInfo
  const ask = createAsk(port, key)
  const client = new pg.Client({ ...address.pg, ssl: false })
  await client.connect()
  hooks.teardown(() => client.end())
  await fill(client, first)
  for (const kind of kinds()) await measure(kind, client, ask, stations)
  await measureCsv(address.http, ask, stations)
  const rows = stationCount * rowsOfStation
  bounds.conclude({ bench: 'air-quality', stations: stationCount, days, rows, samples, hardware: hardware() })
}

try {
  await bench()
} finally {
  await closeAll()
}
