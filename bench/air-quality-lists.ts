/** Requests of `bench/air-quality.ts`, as API paths and as the best plain SQL for the same rows. */

import { pointId } from '../query/points/point-id.ts'
import { pointsTable } from '../store/tables.ts'
import type { BenchStation } from './air-quality-server.ts'

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
