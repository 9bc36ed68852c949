/**
 * The data points of an air-quality network: stations with eight parameters, a point a minute. Pages of one station
 * with and without filters, one point, the newest one, and all points as CSV, over HTTP. Results are compared with
 * QuestDB's rows. Baseline: the best plain SQL for the same rows, over `pg` in turn with our requests, for the same
 * station. For the CSV, it is QuestDB's own export. A list is "new" if points of the station arrived since the last
 * request, and "known" after two requests since then. Further: the cost of running means on a page, and the rate of
 * points against readings by the same way.
 *
 * Usage: node bench/air-quality.ts [stations] [days] [samples] [rounds] [rows]
 */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:http'
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { median, quantile } from 'simple-statistics'
import { createRandom } from '../cli/demo/noise.ts'
import { pointId } from '../query/points/point-rows.ts'
import { pointsTable } from '../store/tables.ts'
import { measureIngest } from './air-quality-ingest.ts'
import {
  type HttpConnection,
  type Kind,
  kindsOf,
  measureMeans,
  minuteUs,
  openHttpConnection,
} from './air-quality-lists.ts'
import type { AirQualityServer, BenchStation } from './air-quality-server.ts'
import { createBounds } from './bounds.ts'
import { createHooks, ratios, round, sleep, spread, startProcess, stopProcess } from './measure.ts'

const stationCount = Number(process.argv[2] ?? 20)
const days = Number(process.argv[3] ?? 30)
const samples = Number(process.argv[4] ?? 60)
const rounds = Number(process.argv[5] ?? 5)
/** Points per run, for each kind and way of ingest. */
const ingestRows = Number(process.argv[6] ?? 200_000)
const parameterCount = 8
const startUs = Date.UTC(2025, 6, 1) * 1000
const dayUs = 1440 * minuteUs
const rowsOfStation = days * 1440 * parameterCount
const pageMax = 1.5
const lastPageMax = 2
const csvMin = 0.7
const warmups = 150

const { hooks, closeAll } = createHooks()
const bounds = createBounds()
const random = createRandom(20_261_122)

/** Shared by all measurements. */
interface Bench {
  readonly server: AirQualityServer
  readonly http: HttpConnection
  readonly client: pg.Client
  /** Counts as new points of all stations. */
  pointsCame(): Promise<void>
}

/** Rows made inside QuestDB, a day at a time. `from` is the number of the first series, which the others follow. */
async function fill(client: pg.Client, from: number): Promise<void> {
  const seriesCount = stationCount * parameterCount
  for (let day = 0; day < days; day++) {
    const time = `${startUs + day * dayUs} + ((x - 1) / ${seriesCount}) * ${minuteUs}`
    const place = `(x - 1) % ${seriesCount}`
    await client.query(`INSERT INTO ${pointsTable} SELECT cast(${time} AS TIMESTAMP), cast(${place} + ${from} AS INT),
      round(50 + 40 * sin(x / 90000.0) + 10 * rnd_double(), 1), CASE WHEN (${place}) % 8 < 5 THEN 'ppb' ELSE 'ugm3' END,
      cast(${time} + 1500000 AS TIMESTAMP) FROM long_sequence(${seriesCount * 1440})`)
  }
  for (;;) {
    const { rows } = await client.query(
      `SELECT writerTxn = sequencerTxn AS done FROM wal_tables() WHERE name = '${pointsTable}'`,
    )
    if (rows[0].done) return
    await sleep(100)
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

interface Times {
  readonly plain: number[]
  readonly fresh: number[]
  readonly known: number[]
}

/** Each request reads another station. */
async function measureRound(kind: Kind, bench: Bench, count: number): Promise<Times> {
  const { client, http, server, pointsCame } = bench
  const times: Times = { plain: [], fresh: [], known: [] }
  for (let sample = 0; sample < count; sample++) {
    const station = server.stations[Math.floor(random() * stationCount)] as BenchStation
    const path = `/api/v1.0${kind.path(station)}`
    let rows: unknown[][] = []
    const plainMs = await timed(async () => {
      for (const { text, values } of kind.sql(station)) {
        const answer = await client.query({ name: `${kind.name} ${text.length}`, text, values, rowMode: 'array' })
        rows = answer.rows
      }
    })
    await pointsCame()
    let body: Buffer = Buffer.alloc(0)
    const freshMs = await timed(async () => {
      body = await http.get(path)
    })
    await http.get(path)
    const knownMs = await timed(() => http.get(path))
    verify(kind, body, rows)
    times.plain.push(plainMs)
    times.fresh.push(freshMs)
    times.known.push(knownMs)
  }
  return times
}

/** The points are the rows that QuestDB gave. */
function verify(kind: Kind, body: Buffer, rows: readonly unknown[][]): void {
  const answer = JSON.parse(body.toString())
  const points: { id: number; value_1min: number; value_60min: number | null }[] = answer.data ?? [answer]
  assert.equal(points.length, kind.points, kind.name)
  const idOf = ([timeUs, series]: readonly unknown[]) => pointId({ timeUs: Number(timeUs), series: Number(series) })
  const expected = new Map(rows.map(row => [idOf(row), Number(row[2])]))
  const found = points.filter(({ id, value_1min }) => expected.get(id) === value_1min)
  // Where several series have the same time, QuestDB may return another one.
  if (kind.name !== 'latest') assert.equal(found.length, points.length, kind.name)
}

/** Medians of the rounds, in milliseconds. */
type Medians = Record<'fresh' | 'known', number>

async function measure(kind: Kind, bench: Bench): Promise<Medians> {
  await measureRound(kind, bench, warmups)
  const all: Times[] = []
  for (let turn = 0; turn < rounds; turn++) all.push(await measureRound(kind, bench, samples))
  for (const name of ['fresh', 'known'] as const) {
    for (const share of [0.5, 0.95]) {
      const ours = all.map(times => quantile(times[name], share))
      const plain = all.map(times => quantile(times.plain, share))
      const list = ratios(ours, plain)
      const figure = { ratios: spread(list), ms: spread(ours), yardstickMs: spread(plain) }
      const which = name === 'fresh' ? 'new' : 'known'
      bounds.atMost(`${kind.name}, ${which}, p${share * 100}`, median(list), pageMax, figure)
    }
  }
  const medianOf = (name: keyof Medians) => median(all.map(times => quantile(times[name], 0.5)))
  return { fresh: medianOf('fresh'), known: medianOf('known') }
}

/** No cost may grow with the offset. */
function compareLastPages(medians: ReadonlyMap<string, Medians>): void {
  for (const list of ['filter', 'all']) {
    const first = medians.get(`${list}, first page`)
    const last = medians.get(`${list}, last page`)
    assert(first !== undefined && last !== undefined)
    for (const [name, which] of [
      ['fresh', 'new'],
      ['known', 'known'],
    ] as const) {
      const figure = { p50Ms: round(last[name]), yardstickMs: round(first[name]) }
      bounds.atMost(`${list}, last page, times the first, ${which}, p50`, last[name] / first[name], lastPageMax, figure)
    }
  }
}

/** The whole body. */
function download(url: string, authorization: string): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { authorization } }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(chunks)
        else reject(new Error(`${url}: ${response.statusCode} ${Buffer.concat(chunks)}`))
      })
    }).on('error', reject)
  })
}

/** All points of a station, by us and by QuestDB. */
async function measureCsv({ server }: Bench): Promise<void> {
  const { port, authorization, questdb, stations } = server
  const { host, port: questdbPort, authorization: questdbAuthorization = '' } = questdb.http
  const ours: number[] = []
  const plain: number[] = []
  for (let sample = -2; sample < rounds; sample++) {
    const station = stations[(sample + 2) % stations.length] as BenchStation
    const series = Object.values(station.series).join(', ')
    const sql = `SELECT ts, series, value, unit, stored_at FROM ${pointsTable} WHERE series IN (${series})`
    const exportUrl = `http://${host}:${questdbPort}/exp?query=${encodeURIComponent(sql)}`
    const plainMs = await timed(() => download(exportUrl, questdbAuthorization))
    const oursUrl = `http://127.0.0.1:${port}/api/v1.0/device/${station.sn}/data/?format=csv`
    let chunks: Buffer[] = []
    const oursMs = await timed(async () => {
      chunks = await download(oursUrl, authorization)
    })
    verifyCsv(Buffer.concat(chunks).toString('latin1'), station)
    if (sample < 0) continue
    ours.push(rowsOfStation / oursMs)
    plain.push(rowsOfStation / plainMs)
  }
  const list = ratios(ours, plain)
  bounds.atLeast("CSV of a station, share of the rate of QuestDB's own", median(list), csvMin, {
    ratios: spread(list),
    rowsPerMs: spread(ours),
    yardstickRowsPerMs: spread(plain),
    rows: rowsOfStation,
  })
}

function verifyCsv(text: string, station: BenchStation): void {
  const ids = text
    .split('\r\n')
    .slice(1, -1)
    .map(line => Number(line.slice(0, line.indexOf(','))))
  assert.equal(ids.length, rowsOfStation)
  const numbers = Object.values(station.series).sort((a, b) => a - b)
  for (const [row, id] of ids.entries()) {
    const timeUs = startUs + Math.floor(row / parameterCount) * minuteUs
    if (id !== pointId({ timeUs, series: numbers[row % parameterCount] ?? 0 })) assert.fail(`line ${row}: ${id}`)
  }
}

async function bench(): Promise<void> {
  const child = startProcess('air-quality-server.ts', [String(stationCount)])
  hooks.teardown(() => stopProcess(child))
  const [server] = (await once(child, 'message')) as [AirQualityServer]
  const http = openHttpConnection(server.port, server.authorization)
  hooks.teardown(() => http.close())
  const client = new pg.Client({ ...server.questdb.pg, ssl: false })
  await client.connect()
  hooks.teardown(() => client.end())
  const first = Math.min(...server.stations.flatMap(({ series }) => Object.values(series)))
  await fill(client, first)
  const pointsCame = async () => {
    child.send('points came')
    await once(child, 'message')
  }
  const parts = { server, http, client, pointsCame }
  const medians = new Map<string, Medians>()
  for (const kind of kindsOf({ startUs, days, parameterCount })) medians.set(kind.name, await measure(kind, parts))
  compareLastPages(medians)
  await measureCsv(parts)
  const range = { fromUs: startUs, toUs: startUs + days * dayUs, rows: rowsOfStation }
  await measureMeans(hooks, bounds, server, { ...range, samples })
}

/** Uses separate databases. */
async function benchIngest(): Promise<void> {
  const { hooks, closeAll } = createHooks()
  try {
    await measureIngest(hooks, bounds, { rows: ingestRows, pairs: rounds })
  } finally {
    await closeAll()
  }
}

try {
  await bench()
} finally {
  await closeAll()
}
await benchIngest()
const rows = stationCount * rowsOfStation
bounds.conclude({ bench: 'air-quality', stations: stationCount, days, rows, samples, ingestRows })
