/** Parses `filter=column,op,value;column,in,v1,v2` with the columns of a list. */

import { readTimeText } from '../../../ingest/formats/time-text.ts'
import {
  type ColumnType,
  type ColumnTypes,
  type ColumnValue,
  type Condition,
  type Operator,
  operators,
} from '../../../query/conditions/condition.ts'
import { excerpt, type Parsed, partsOf } from './parts.ts'

const filtersMax = 50
const inValuesMax = 1_000
/** Longer than the texts of any column. */
const valueCharactersMax = 1_000

/** A row has to fit all conditions. A message names the wrong part. */
export function parseFilter(text: string, columns: ColumnTypes): Parsed<Condition[]> {
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
