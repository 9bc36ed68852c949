/** SQL of the QuestDB table of values of series: `ts`, `series` and the columns of a value. */

import { bug } from '../../store/limits/bug.ts'
import { measurementsTable } from '../../store/tables.ts'

export interface ValuesTable {
  readonly name: string
  /** SQL of a value, from the columns of the table. */
  readonly value: string
  /** SQL condition: the row has a value. */
  readonly isThere: string
}

/** A row without a value means that the reading which replaced another one lacks it. */
export const measurementValues: ValuesTable = {
  name: measurementsTable,
  value: 'value',
  isThere: 'value IS NOT NULL',
}

export interface ValuesRange {
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Numbers of series in the registry; undefined for all. */
  readonly series: readonly number[] | undefined
}

function valuesWhereSql(table: ValuesTable, { fromUs, toUs, series }: ValuesRange): string {
  const time = `WHERE ts >= ${timeLimit(fromUs)} AND ts < ${timeLimit(toUs)} AND ${table.isThere}`
  if (series === undefined) return time
  return series.length === 0 ? `${time} AND false` : `${time} AND series IN (${series.map(whole).join(', ')})`
}

/** Used behind FROM: rows of `ts`, `series` and `value`, by time. */
export function valuesFromSql(table: ValuesTable, range: ValuesRange): string {
  const where = valuesWhereSql(table, range)
  if (table.value === 'value') return `${table.name} ${where}`
  return `(SELECT ts, series, ${table.value} value FROM ${table.name} ${where})`
}

/** The symbols are our own and need no escape. */
export function quoted(symbol: string): string {
  if (!/^[a-z0-9-]+$/.test(symbol)) throw bug(`invalid symbol ${symbol}`)
  return `'${symbol}'`
}

/** A limit of times. QuestDB stores no row before 1970, and parses some negative limits as the text of a date. */
export function timeLimit(timeUs: number): number {
  return Math.max(0, whole(timeUs))
}

export function whole(number: number): number {
  if (!Number.isSafeInteger(number)) throw bug(`not a whole number in SQL: ${number}`)
  return number
}
