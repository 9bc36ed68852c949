/**
 * Conditions and orders of points as SQL. A caller's texts never become part of it: numbers become binds or digits, and
 * names come from our columns. Conditions on texts are decided here, since a station has few parameters and units.
 */

import { bug } from '../../store/limits/bug.ts'
import { pointUnits } from '../../store/tables.ts'
import type { Station } from '../analysed-device.ts'
import {
  type ColumnValue,
  type Condition,
  type Operator,
  type SortColumn,
  selectRows,
} from '../conditions/select-rows.ts'
import type { PointColumn } from './point-columns.ts'
import { placeOfId } from './point-rows.ts'

/** Text with a number for each `?`. */
export interface SqlPart {
  readonly text: string
  readonly values: readonly number[]
}

/** Condition of the rows to read. */
export interface PointFilter {
  /** No row can match. */
  readonly isEmpty: boolean
  readonly series: readonly number[]
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  readonly parts: readonly SqlPart[]
  /** Conditions that only rows in memory can decide. */
  readonly others: readonly Condition[]
}

const compared: Record<Exclude<Operator, 'in' | 'like'>, string> = {
  eq: '=',
  ne: '!=',
  lt: '<',
  gt: '>',
  le: '<=',
  ge: '>=',
}
/**
 * QuestDB treats doubles that differ by less than 1e-10 as equal, wherever it compares or sorts them. A product with
 * this power of two, 2^332, is exact and keeps neighbouring doubles apart.
 */
const beyondTolerance = String(2 ** 332).replace('+', '')
/** Chains of alternatives are parsed by recursion. */
const alternativesMax = 100

export function pointFilter({ sn, series }: Station, conditions: readonly Condition[]): PointFilter {
  const ofTexts = conditions.filter(({ column }) => column === 'sn' || column === 'parameter')
  const ofUnits = conditions.filter(({ column }) => column === 'unit')
  const seriesColumns = {
    sn: { type: 'text', value: () => sn },
    parameter: { type: 'text', value: ({ parameter }: Station['series'][number]) => parameter },
  } as const
  const fitting = selectRows(seriesColumns, ofTexts, [], series)
  const unitColumns = { unit: { type: 'text', value: (unit: string) => unit } } as const
  const fittingUnits = selectRows(unitColumns, ofUnits, [], pointUnits)
  const range = timeRange(conditions, timestampColumns)
  const parts: SqlPart[] = []
  const others: Condition[] = []
  for (const condition of conditions) {
    if (ofTexts.includes(condition) || ofUnits.includes(condition) || isInRange(condition)) continue
    const part = partOf(condition)
    if (part === undefined) others.push(condition)
    else parts.push(part)
  }
  if (fittingUnits.length < pointUnits.length) parts.push(unitsPart(fittingUnits))
  return {
    isEmpty: fitting.length === 0 || fittingUnits.length === 0 || range.fromUs >= range.toUs,
    series: fitting.map(({ number }) => number),
    ...range,
    parts,
    others,
  }
}

const timestampColumns: readonly string[] = ['timestamp', 'timestamp_local']

/** The time range expresses the whole condition. */
function isInRange({ column, operator }: Condition): boolean {
  return timestampColumns.includes(column) && !['ne', 'in', 'like'].includes(operator)
}

/** The times that conditions on these columns allow, in whole microseconds; `toUs` is not included. */
export function timeRange(
  conditions: readonly Condition[],
  columns: readonly string[],
): { fromUs: number; toUs: number } {
  let fromUs = Number.NEGATIVE_INFINITY
  let toUs = Number.POSITIVE_INFINITY
  for (const { column, operator, values } of conditions) {
    if (!columns.includes(column) || operator === 'like' || operator === 'ne') continue
    const times = values.map(numberOf)
    const [first, last] = [Math.min(...times), Math.max(...times)]
    if (operator === 'gt') fromUs = Math.max(fromUs, first + 1)
    else if (operator === 'ge' || operator === 'eq' || operator === 'in') fromUs = Math.max(fromUs, first)
    if (operator === 'lt') toUs = Math.min(toUs, last)
    else if (operator === 'le' || operator === 'eq' || operator === 'in') toUs = Math.min(toUs, last + 1)
  }
  return { fromUs, toUs }
}

/** The names are our own. */
function unitsPart(names: readonly string[]): SqlPart {
  return { text: `unit IN (${names.map(name => `'${name}'`).join(', ')})`, values: [] }
}

type Compare = (operator: keyof typeof compared, value: number) => SqlPart

const comparisons: Partial<Record<PointColumn, Compare>> = {
  timestamp: (operator, value) => ({ text: `ts ${compared[operator]} ?`, values: [value] }),
  timestamp_local: (operator, value) => ({ text: `ts ${compared[operator]} ?`, values: [value] }),
  last_updated: (operator, value) => ({ text: `stored_at ${compared[operator]} ?`, values: [value] }),
  value_1min: (operator, value) => {
    return { text: `(value - ?) * ${beyondTolerance} ${compared[operator]} 0.0`, values: [value] }
  },
  id: compareIds,
}

function partOf({ column, operator, values }: Condition): SqlPart | undefined {
  const compare = comparisons[column as PointColumn]
  if (operator === 'like' || compare === undefined || values.length > alternativesMax) return undefined
  if (operator !== 'in') return compare(operator, numberOf(values[0]))
  const parts = values.map(value => compare('eq', numberOf(value)))
  return { text: `(${parts.map(({ text }) => text).join(' OR ')})`, values: parts.flatMap(part => part.values) }
}

function numberOf(value: ColumnValue): number {
  if (typeof value !== 'number') throw bug(`numeric column compared with a ${typeof value}`)
  return value
}

/** Exceeds all ids, and is still exact. */
const idMax = 2 ** 53 - 1

function compareIds(operator: keyof typeof compared, value: number): SqlPart {
  const isWhole = Number.isInteger(value) && value >= 0 && value <= idMax
  if (operator === 'eq' || operator === 'ne') {
    if (!isWhole) return { text: operator === 'eq' ? 'series < 0' : 'series >= 0', values: [] }
    const { timeUs, series } = placeOfId(value)
    const joined = operator === 'eq' ? 'AND' : 'OR'
    return { text: `(ts ${compared[operator]} ? ${joined} series ${compared[operator]} ?)`, values: [timeUs, series] }
  }
  const limited = Math.min(Math.max(value, -1), idMax)
  // Ids are whole: below 1.5 means at most 1, above it at least 2.
  const isUpper = operator === 'lt' || operator === 'le'
  const whole = isUpper ? Math.floor(limited) : Math.ceil(limited)
  const included = operator === 'le' || operator === 'ge' || whole !== limited
  const { timeUs, series } = placeOfId(whole)
  const sign = isUpper ? '<' : '>'
  // The first comparison bounds the partitions.
  return {
    text: `(ts ${sign}= ? AND (ts ${sign} ? OR series ${sign}${included ? '=' : ''} ?))`,
    values: [timeUs, timeUs, series],
  }
}

/** Columns that sort rows by time. */
const timeColumns: readonly string[] = ['id', 'timestamp', 'timestamp_local']

export interface PointOrder {
  /** Direction of time, if time sorts first. */
  readonly time: 'asc' | 'desc' | undefined
  /** Undefined when only memory can sort in this order. */
  readonly sql: string | undefined
}

export function pointOrder({ series }: Station, order: readonly SortColumn[]): PointOrder {
  const varying = order.filter(({ column }) => column !== 'sn')
  const [first] = varying
  const time = first !== undefined && timeColumns.includes(first.column) ? first.direction : undefined
  const expressions: string[] = []
  for (const { column, direction } of varying) {
    const found = orderExpressions(column, series)
    if (found === undefined) return { time, sql: undefined }
    expressions.push(...found.map(text => `${text} ${direction}`))
    if (column === 'id') break
  }
  return { time, sql: expressions.join(', ') }
}

function orderExpressions(column: string, series: Station['series']): string[] | undefined {
  switch (column) {
    case 'id':
      return ['ts', 'series']
    case 'timestamp':
    case 'timestamp_local':
      return ['ts']
    case 'last_updated':
      return ['stored_at']
    case 'value_1min':
      return [`value * ${beyondTolerance}`]
    case 'unit':
      return ['unit']
    case 'parameter':
      return [parameterRank(series)]
    default:
      return undefined
  }
}

/** Ranks series by the names of their parameters. */
function parameterRank(series: Station['series']): string {
  const ranked = series.toSorted((a, b) => (a.parameter < b.parameter ? -1 : 1))
  return `CASE series ${ranked.map(({ number }, rank) => `WHEN ${number} THEN ${rank}`).join(' ')} ELSE -1 END`
}
