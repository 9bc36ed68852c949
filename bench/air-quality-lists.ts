/** Requests of `bench/air-quality.ts`, as API paths and as the best plain SQL for the same rows. */

import { connect } from 'node:net'
import { median, quantile } from 'simple-statistics'
import { pointId } from '../query/points/point-rows.ts'
import { createPointTexts, writePoints } from '../query/points/point-texts.ts'
import type { SliceQuery } from '../query/points/points-queries.ts'
import { createPointsSource } from '../query/points/points-source.ts'
import { pointsTasks } from '../query/points/points-tasks.ts'
import type { RunningMeans } from '../query/points/running-means.ts'
import { createPgConnection } from '../store/questdb/client/questdb-pg.ts'
import { pointsTable } from '../store/tables.ts'
import type { AirQualityServer, BenchStation } from './air-quality-server.ts'
import type { Bounds } from './bounds.ts'
import { type Hooks, round } from './measure.ts'

/** A reading a minute of each series, from `startUs` on. */
interface Setting {
  readonly startUs: number
  readonly days: number
  readonly parameterCount: number
}

interface Statement {
  readonly text: string
  readonly values: number[]
}

export interface Kind {
  readonly name: string
  path(station: BenchStation): string
  /** The last one gives the rows of the response, in any order. */
  sql(station: BenchStation): Statement[]
  /** The number of points in the response. */
  readonly points: number
}

export const minuteUs = 60_000_000
const dayUs = 1440 * minuteUs
const perPage = 50
/** The parameter that is filtered by. */
const filtered = 'pm25'
const columns = 'cast(ts AS LONG), series, value, unit, cast(stored_at AS LONG)'

export function kindsOf(setting: Setting): Kind[] {
  const { startUs, days, parameterCount } = setting
  const rows = days * 1440 * parameterCount
  const someUs = startUs + Math.floor((days * 1440) / 2) * minuteUs
  const one = `SELECT ${columns} FROM ${pointsTable} WHERE series = $1 AND ts = $2`
  return [
    ...filteredKinds(setting),
    ...pagesOf(rows).map(({ name, page, limit, points }) => ({
      name: `all, ${name}`,
      path: pagePath(page),
      sql: allSql(limit),
      points,
    })),
    {
      name: 'a point by its id',
      path: ({ sn, series }) => `/device/${sn}/data/${pointId({ timeUs: someUs, series: numberOf(series) })}`,
      sql: ({ series }) => [{ text: one, values: [numberOf(series), someUs] }],
      points: 1,
    },
    { name: 'latest', path: ({ sn }) => `/device/${sn}/latest`, sql: newestSql, points: 1 },
  ]
}

/** One parameter in the middle third of the time. */
function filteredKinds({ startUs, days }: Setting): Kind[] {
  const fromUs = startUs + Math.floor(days / 3) * dayUs
  const toUs = startUs + Math.ceil((2 * days) / 3) * dayUs
  const filter = `parameter,eq,${filtered};timestamp,ge,${isoOf(fromUs)};timestamp,lt,${isoOf(toUs)}`
  return pagesOf((toUs - fromUs) / minuteUs).map(({ name, page, limit, points }) => ({
    name: `filter, ${name}`,
    path: pagePath(page, `&filter=${encodeURIComponent(filter)}`),
    sql: ({ series }) => [
      {
        text: `SELECT ${columns} FROM ${pointsTable} WHERE series = $1 AND ts >= $2 AND ts < $3 LIMIT ${limit}`,
        values: [numberOf(series), fromUs, toUs],
      },
    ],
    points,
  }))
}

/** The first, the middle and the last one, with the LIMIT by which QuestDB finds it soonest. */
function pagesOf(rows: number) {
  const last = Math.ceil(rows / perPage)
  const middle = Math.ceil(last / 2)
  const rest = rows - (last - 1) * perPage
  return [
    { name: 'first page', page: 1, limit: `${perPage}`, points: perPage },
    { name: 'middle page', page: middle, limit: `${(middle - 1) * perPage}, ${middle * perPage}`, points: perPage },
    { name: 'last page', page: last, limit: `-${rest}`, points: rest },
  ]
}

function pagePath(page: number, more = '') {
  return ({ sn }: BenchStation) => `/device/${sn}/data/?page=${page}&per_page=${perPage}${more}`
}

/** Includes the exact total, like the response. */
function allSql(limit: string) {
  return ({ series }: BenchStation) => {
    const values = Object.values(series)
    const where = anyOf(values)
    return [
      { text: `SELECT count() FROM ${pointsTable} WHERE ${where}`, values },
      { text: `SELECT ${columns} FROM ${pointsTable} WHERE ${where} LIMIT ${limit}`, values },
    ]
  }
}

/** All of the newest time. */
function newestSql({ series }: BenchStation) {
  const values = Object.values(series)
  const text = `SELECT ${columns} FROM ${pointsTable} WHERE ${anyOf(values)} ORDER BY ts DESC LIMIT 1`
  return [{ text, values }]
}

/** QuestDB compiles comparisons to machine code, but no IN. */
function anyOf(series: readonly number[]): string {
  return `(${series.map((_, index) => `series = $${index + 1}`).join(' OR ')})`
}

function numberOf(series: BenchStation['series']): number {
  return series[filtered] ?? Number.NaN
}

function isoOf(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString().slice(0, 19)
}

/** One connection to an HTTP server that asks for one resource after the other, with little work of its own. */
export interface HttpConnection {
  /** Resolves with the body. Rejects unless the status is 200. */
  get(path: string): Promise<Buffer>
  close(): void
}

const headerEnd = Buffer.from('\r\n\r\n')

/** Supports responses with a Content-Length only. */
export function openHttpConnection(port: number, authorization: string): HttpConnection {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  let waiting: { resolve(body: Buffer): void; reject(error: Error): void } | undefined
  let chunks: Buffer[] = []
  socket.on('data', chunk => {
    chunks.push(chunk)
    const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    chunks = [bytes]
    const start = bytes.indexOf(headerEnd) + headerEnd.length
    if (start < headerEnd.length) return
    const head = bytes.toString('latin1', 0, start)
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1])
    if (bytes.length < start + length) return
    chunks = []
    const body = bytes.subarray(start)
    if (head.startsWith('HTTP/1.1 200 ')) waiting?.resolve(body)
    else waiting?.reject(new Error(`${head}${body}`))
  })
  socket.on('error', error => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('the connection was closed')))

  return {
    get: path =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n\r\n`)
      }),
    close: () => void socket.destroy(),
  }
}

interface MeansSetting {
  fromUs: number
  toUs: number
  /** Rows of a station. */
  rows: number
  samples: number
}

const addedMax = 1.5
const warmups = 50
const timeZone = 'Asia/Kolkata'
const rowsMax = 100_000
const pages = [50, 1_000, 10_000]
const noMeans: RunningMeans = { at: () => [Number.NaN, Number.NaN, Number.NaN] }

/**
 * The cost of running means: the service's query with the rows of the hour before, against the same query without
 * means. The two alternate in this process.
 */
export async function measureMeans(
  hooks: Hooks,
  bounds: Bounds,
  { questdb, stations }: AirQualityServer,
  setting: MeansSetting,
): Promise<void> {
  const connection = createPgConnection(questdb.pg, { connectTimeoutMs: 5_000, statementTimeoutMs: 60_000 })
  hooks.teardown(connection.close)
  const context = { source: createPointsSource(connection), rowsMax, signal: new AbortController().signal }

  /** The same page without means. */
  async function readPlain({ station, offset, count, format, direction: _, total: __, ...range }: SliceQuery) {
    const beside = range.series.length - 1
    const places = [Math.max(0, offset - beside), offset + count + beside] as const
    const asked = { ...range, places, rowsMax, rowsExpected: count + 2 * beside }
    writePoints(format, station, await context.source.rows(asked, context.signal), createPointTexts(timeZone), noMeans)
  }

  for (const count of pages.filter(rows => rows <= setting.rows / 4)) {
    const withMeans: number[] = []
    const plain: number[] = []
    for (let sample = -warmups; sample < setting.samples; sample++) {
      const query = queryOf(stations[(sample + warmups) % stations.length] as BenchStation, count, setting)
      const startedMs = performance.now()
      await pointsTasks.slice(query, context)
      const betweenMs = performance.now()
      await readPlain(query)
      if (sample < 0) continue
      withMeans.push(betweenMs - startedMs)
      plain.push(performance.now() - betweenMs)
    }
    const [ours, yardstick] = [median(withMeans), median(plain)]
    bounds.atMost(`a page of ${count} with running means, times without, p50`, ours / yardstick, addedMax, {
      p50Ms: round(ours),
      p95Ms: round(quantile(withMeans, 0.95)),
      yardstickMs: round(yardstick),
      samples: setting.samples,
    })
  }
}

/** A query in the middle of all points. */
function queryOf({ sn, series }: BenchStation, count: number, { fromUs, toUs, rows }: MeansSetting): SliceQuery {
  const list = Object.entries(series).map(([parameter, number]) => ({ parameter, number }))
  return {
    station: { sn, timeZone, series: list },
    series: list.map(({ number }) => number),
    fromUs,
    toUs,
    parts: [],
    direction: 'asc',
    offset: Math.floor(rows / 4),
    count,
    total: rows,
    format: 'json',
  }
}
