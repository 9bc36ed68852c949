/** Reads points from QuestDB, inside a worker: few rows over the PostgreSQL protocol, many as Parquet. */

import { bug } from '../../store/limits/bug.ts'
import type { PgConnection, Statement } from '../../store/questdb/client/questdb-pg.ts'
import { pointsTable, pointUnits } from '../../store/tables.ts'
import { QueryFailed } from '../query-failed.ts'
import type { QuestdbExport } from '../questdb/questdb-export.ts'
import { type PointRows, pointRows } from './point-rows.ts'
import type { SqlPart } from './point-sql.ts'

interface RowsRequest {
  readonly series: readonly number[]
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  readonly parts?: readonly SqlPart[]
  /** Our own column names; by default by time, which leaves series of one time in any order. */
  readonly order?: string
  /** Number of rows to skip if there is an order. */
  readonly offset?: number
  /** First and last index in the order of time if there is no order. Negative ones count from the end. */
  readonly places?: readonly [number, number]
  readonly rowsMax: number
  /** Selects the protocol; by default `rowsMax`. */
  readonly rowsExpected?: number
}

/** Rejects with a QueryFailed or a QuestdbError for external failures. */
export interface PointsSource {
  /** More rows than `rowsMax` are TOO_LARGE. With an order, the rest is left out. */
  rows(asked: RowsRequest, signal: AbortSignal): Promise<PointRows>
  /** Each hour with rows has its start in microseconds, their count and the newest time. Hours ascend. */
  hours(asked: RangeRequest, signal: AbortSignal): Promise<HourCounts>
  count(asked: RangeRequest, signal: AbortSignal): Promise<PointsCount>
}

type RangeRequest = Pick<RowsRequest, 'series' | 'fromUs' | 'toUs' | 'parts'>

export interface HourCounts {
  readonly startsUs: Float64Array
  readonly counts: Float64Array
  readonly newestUs: number
}

export interface PointsCount {
  readonly rows: number
  /** -Infinity without rows. */
  readonly newestUs: number
}

/** With more rows, Parquet is faster. */
const parquetRowsMin = 2_000
const columnCount = 5
const namesMax = 200
const nameableCharactersMax = 2_000
const unitNumber = `CASE unit ${pointUnits.map((unit, index) => `WHEN '${unit}' THEN ${index}.0`).join(' ')} ELSE -1.0 END`
const columnsSql = `cast(ts AS DOUBLE), cast(series AS DOUBLE), value, ${unitNumber}, cast(stored_at AS DOUBLE)`
// A double may be formatted as a power of ten, which costs more than an integer.
const textColumnsSql = `cast(ts AS LONG), series, value, ${unitNumber}, cast(stored_at AS LONG)`

/** Without an export all rows come over the PostgreSQL protocol. */
export function createPointsSource(
  connection: Pick<PgConnection, 'read'>,
  questdbExport?: Pick<QuestdbExport, 'read'>,
): PointsSource {
  const named = createNames()

  async function readOverPg(statement: SqlPart, signal: AbortSignal): Promise<PointRows> {
    const columns: number[][] = Array.from({ length: columnCount }, () => [])
    await connection.read(named(bound(statement)), signal, row => {
      for (const [index, column] of columns.entries()) column.push(Number(row[index]))
    })
    return pointRows(columns.map(column => Float64Array.from(column)))
  }

  async function readMany(asked: RowsRequest, rowsMax: number, signal: AbortSignal): Promise<PointRows> {
    // Without names, Parquet would have duplicate column names.
    const columnsNamed = columnsSql.split(', ').map((column, index) => `${column} c${index}`)
    const sql = inline(selectSql(columnsNamed.join(', '), asked, rowsMax))
    const columns = await questdbExport?.read({ sql, columnCount, rowsMax }, signal)
    return columns === undefined
      ? await readOverPg(selectSql(textColumnsSql, asked, rowsMax), signal)
      : pointRows(columns)
  }

  return {
    async rows(asked, signal) {
      const isCut = asked.order !== undefined
      // One more than the limit reveals that there are too many.
      const rowsMax = isCut ? asked.rowsMax : asked.rowsMax + 1
      const rows =
        (asked.rowsExpected ?? rowsMax) < parquetRowsMin
          ? await readOverPg(selectSql(textColumnsSql, asked, rowsMax), signal)
          : await readMany(asked, rowsMax, signal)
      if (!isCut && rows.length > asked.rowsMax) {
        throw new QueryFailed('TOO_LARGE', `more than ${asked.rowsMax} points`)
      }
      return rows
    },

    async count(asked, signal) {
      const { text, values } = whereSql(asked)
      // The newest time has a statement of its own: within the count, it would double the time.
      const newest = `SELECT cast(ts AS LONG) FROM ${pointsTable} WHERE ${text} ORDER BY ts DESC LIMIT 1`
      let newestUs = Number.NEGATIVE_INFINITY
      await connection.read(named(bound({ text: newest, values })), signal, ([timeUs]) => {
        newestUs = Number(timeUs)
      })
      if (newestUs === Number.NEGATIVE_INFINITY) return { rows: 0, newestUs }
      const upToIt = whereSql({ ...asked, toUs: newestUs + 1 })
      const sql = `SELECT count() FROM ${pointsTable} WHERE ${upToIt.text}`
      let rows = 0
      await connection.read(named(bound({ text: sql, values: upToIt.values })), signal, ([count]) => {
        rows = Number(count)
      })
      return { rows, newestUs }
    },

    async hours(asked, signal) {
      const { text, values } = whereSql(asked)
      const hours = `SELECT ts, count() points, max(ts) newest FROM ${pointsTable} WHERE ${text} SAMPLE BY 1h`
      const sql = `SELECT cast(ts AS LONG), points, cast(newest AS LONG) FROM (${hours})`
      const starts: number[] = []
      const counts: number[] = []
      let newestUs = Number.NEGATIVE_INFINITY
      await connection.read(named(bound({ text: sql, values })), signal, ([start, count, newest]) => {
        starts.push(Number(start))
        counts.push(Number(count))
        newestUs = Number(newest)
      })
      return { startsUs: Float64Array.from(starts), counts: Float64Array.from(counts), newestUs }
    },
  }
}

function selectSql(columns: string, asked: RowsRequest, rowsMax: number): SqlPart {
  const { text, values } = whereSql(asked)
  const { order, offset = 0, places } = asked
  const ordered = order === undefined ? '' : `ORDER BY ${order}`
  const select = `SELECT ${columns} FROM ${pointsTable} WHERE ${text} ${ordered}`
  if (places !== undefined) {
    const [first, end] = places
    // A range up to the last row has no second number.
    return end === 0
      ? { text: `${select} LIMIT ?`, values: [...values, first] }
      : { text: `${select} LIMIT ?, ?`, values: [...values, first, end] }
  }
  return offset === 0
    ? { text: `${select} LIMIT ?`, values: [...values, rowsMax] }
    : { text: `${select} LIMIT ?, ?`, values: [...values, offset, offset + rowsMax] }
}

function whereSql({ series, fromUs, toUs, parts = [] }: RangeRequest): SqlPart {
  const all: SqlPart[] = [
    // QuestDB compiles comparisons to machine code, but no IN.
    { text: `(${series.map(() => 'series = ?').join(' OR ')})`, values: series },
    ...(Number.isFinite(fromUs) ? [{ text: 'ts >= ?', values: [fromUs] }] : []),
    ...(Number.isFinite(toUs) ? [{ text: 'ts < ?', values: [toUs] }] : []),
    ...parts,
  ]
  return { text: all.map(({ text }) => text).join(' AND '), values: all.flatMap(({ values }) => values) }
}

/**
 * Names of prepared statements. Compiling one takes longer than most of them run, so the first ones that come are
 * prepared, which are the usual ones. Others are compiled on each use.
 */
function createNames(): (statement: SqlPart) => Statement {
  const names = new Map<string, string>()
  return statement => {
    const { text } = statement
    if (!names.has(text) && names.size < namesMax && text.length <= nameableCharactersMax) {
      names.set(text, `points-${names.size}`)
    }
    const name = names.get(text)
    return name === undefined ? statement : { ...statement, name }
  }
}

/** Turns each `?` into a bind. */
function bound({ text, values }: SqlPart): SqlPart {
  let count = 0
  return { text: text.replaceAll('?', () => `$${++count}`), values }
}

/** Turns each `?` into the digits of its number, because `/exp` has no binds. */
function inline({ text, values }: SqlPart): string {
  let index = 0
  return text.replaceAll('?', () => {
    const value = values[index++]
    if (value === undefined || !Number.isFinite(value)) throw bug(`invalid number in SQL: ${value}`)
    return String(value)
  })
}
