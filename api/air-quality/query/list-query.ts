/** Parses the query of a list: filters, sorting and fields. */

import {
  type ColumnType,
  type ColumnTypes,
  type ColumnValue,
  type Condition,
  type Operator,
  operators,
  type SortColumn,
} from '../../../query/conditions/select-rows.ts'
import { readTimeText } from '../../../store/time-text.ts'
import { type Listed, type Paging, readLimit, readPaging } from './paging.ts'

type Parsed<Value> =
  | { readonly ok: true; readonly value: Value }
  /** Names the wrong part, for a response with status 400. */
  | { readonly ok: false; readonly message: string }

const excerptCharacters = 80

/** Splits at semicolons and skips empty parts. */
function partsOf(text: string): string[] {
  return text.split(';').filter(part => part.trim() !== '')
}

/** Shortens a caller's text for a message. */
function excerpt(text: string): string {
  return text.length <= excerptCharacters ? text : `${text.slice(0, excerptCharacters)}…`
}

const filtersMax = 50
const inValuesMax = 1_000
/** Longer than the texts of any column. */
const valueCharactersMax = 1_000

/** A row has to fit all conditions. A message names the wrong part. */
function parseFilter(text: string, columns: ColumnTypes): Parsed<Condition[]> {
  const parts = partsOf(text)
  if (parts.length > filtersMax) return { ok: false, message: `filter: more than ${filtersMax} filters` }
  const conditions: Condition[] = []
  for (const part of parts) {
    const result = parseCondition(part, columns)
    if ('error' in result) return { ok: false, message: `filter "${excerpt(part)}": ${result.error}` }
    conditions.push(result)
  }
  return { ok: true, value: conditions }
}

function parseCondition(part: string, columns: ColumnTypes): Condition | { error: string } {
  const [column = '', operator, ...texts] = part.split(',')
  const known = Object.hasOwn(columns, column) ? columns[column] : undefined
  if (known === undefined) return { error: `unknown column "${excerpt(column)}"` }
  if (operator === undefined) return { error: 'it must be column,operator,value' }
  if (!isOperator(operator)) return { error: `unknown operator "${excerpt(operator)}"` }
  const [first, ...others] = texts
  if (first === undefined) return { error: 'the value is missing' }
  if (operator !== 'in' && others.length > 0) return { error: 'it must have three parts: column,operator,value' }
  if (texts.length > inValuesMax) return { error: `more than ${inValuesMax} values` }
  const type = operator === 'like' ? 'text' : known.type
  const values: ColumnValue[] = []
  for (const text of texts) {
    const value = text.length > valueCharactersMax ? undefined : readers[type](text)
    if (value === undefined) return { error: `the value "${excerpt(text)}" is ${misfit(type, text)}` }
    values.push(value)
  }
  return { column, operator, values: values as [ColumnValue, ...ColumnValue[]] }
}

function isOperator(text: string): text is Operator {
  return (operators as readonly string[]).includes(text)
}

const readers: Record<ColumnType, (text: string) => ColumnValue | undefined> = {
  text: text => text,
  number: readNumber,
  integer: readInteger,
  time: text => readTimeText(text.trim()),
  boolean: text => booleans.get(text.trim().toLowerCase()),
}

const booleans = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

/** Digits follow digits only behind a point, so matching does not backtrack. */
const decimalNumber = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i

function readNumber(text: string): number | undefined {
  const trimmed = text.trim()
  const value = decimalNumber.test(trimmed) ? Number(trimmed) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

function readInteger(text: string): number | undefined {
  const value = readNumber(text)
  return Number.isInteger(value) ? value : undefined
}

const misfits: Record<ColumnType, string> = {
  text: 'no text',
  number: 'no number',
  integer: 'no whole number',
  time: 'no time',
  boolean: 'neither true nor false',
}

function misfit(type: ColumnType, text: string): string {
  return text.length > valueCharactersMax ? `longer than ${valueCharactersMax} characters` : misfits[type]
}

export interface ListQuery {
  readonly conditions: readonly Condition[]
  readonly order: readonly SortColumn[]
  /** Largest number of rows in total; Infinity without a `limit`. */
  readonly limit: number
  readonly paging: Paging
  /** Arguments as links repeat them. */
  readonly kept: Listed['kept']
}

/** Every order ends with the column `last`. Other arguments are ignored. */
export function readListQuery(query: URLSearchParams, columns: ColumnTypes, last: string): Parsed<ListQuery> {
  const [filter, sort] = ['filter', 'sort'].map(name => query.getAll(name).join(';')) as [string, string]
  const conditions = parseFilter(filter, columns)
  if (!conditions.ok) return conditions
  const order = parseSort(sort, columns, last)
  if (!order.ok) return order
  const limit = readLimit(query)
  return {
    ok: true,
    value: {
      conditions: conditions.value,
      order: order.value,
      limit,
      paging: readPaging(query),
      kept: {
        filter: filter === '' ? undefined : filter,
        sort: sort === '' ? undefined : sort,
        limit: Number.isFinite(limit) ? (query.get('limit') ?? undefined) : undefined,
      },
    },
  }
}

const sortColumnsMax = 8

/** Ends with the column `last`, which orders rows that are equal in the others. */
function parseSort(text: string, columns: ColumnTypes, last: string): Parsed<SortColumn[]> {
  const parts = partsOf(text)
  if (parts.length > sortColumnsMax) return { ok: false, message: `sort: more than ${sortColumnsMax} columns` }
  const order: SortColumn[] = []
  for (const part of parts) {
    const result = parseSortColumn(part, columns)
    if ('error' in result) return { ok: false, message: `sort "${excerpt(part)}": ${result.error}` }
    // A repeated column does not change the order.
    if (!order.some(({ column }) => column === result.column)) order.push(result)
  }
  if (!order.some(({ column }) => column === last)) order.push({ column: last, direction: 'asc' })
  return { ok: true, value: order }
}

function parseSortColumn(part: string, columns: ColumnTypes): SortColumn | { error: string } {
  const [column = '', direction = 'asc', ...others] = part.split(',')
  if (!Object.hasOwn(columns, column)) return { error: `unknown column "${excerpt(column)}"` }
  if (direction !== 'asc' && direction !== 'desc') return { error: `unknown direction "${excerpt(direction)}"` }
  if (others.length > 0) return { error: 'it must be column,direction' }
  return { column, direction }
}
