/** Filters and sorts rows in memory. */

import { bug } from '../../store/limits/bug.ts'

/** The rows that match all conditions, in the requested order. The sort is stable. */
export function selectRows<Row>(
  columns: Columns<Row>,
  conditions: readonly Condition[],
  order: readonly SortColumn[],
  rows: readonly Row[],
): Row[] {
  const tests = conditions.map(condition => createTest(columnOf(columns, condition.column), condition))
  const comparators = order.map(({ column, direction }) => createComparator(columnOf(columns, column), direction))
  return rows.filter(row => tests.every(test => test(row))).sort((a, b) => compareBy(comparators, a, b))
}

/** Compares as UTF-8 and databases do; UTF-16 has the characters beyond U+FFFF before U+E000. */
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return a.length - b.length
  return codeUnitRank(a.charCodeAt(at)) - codeUnitRank(b.charCodeAt(at))
}

/** Surrogates stand for characters that sort after all others. */
function codeUnitRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x1_0000 : unit
}

function columnOf<Row>(columns: Columns<Row>, name: string): Column<Row> {
  const column = columns[name]
  if (column === undefined) throw bug(`unknown column ${name} in a condition`)
  return column
}

function createTest<Row>({ value, text }: Column<Row>, { operator, values }: Condition): (row: Row) => boolean {
  if (operator === 'like') {
    const like = createLike(String(values[0]))
    return row => {
      const found = value(row)
      return found !== null && like(text === undefined ? String(found) : text(row))
    }
  }
  const fits = createValueTest(operator, values)
  return row => {
    const found = value(row)
    return found !== null && fits(found)
  }
}

function createValueTest(
  operator: Exclude<Condition['operator'], 'like'>,
  values: Condition['values'],
): (found: ColumnValue) => boolean {
  const [first] = values
  const set = new Set(values)
  switch (operator) {
    case 'eq':
      return found => found === first
    case 'ne':
      return found => found !== first
    case 'lt':
      return found => compareValues(found, first) < 0
    case 'gt':
      return found => compareValues(found, first) > 0
    case 'le':
      return found => compareValues(found, first) <= 0
    case 'ge':
      return found => compareValues(found, first) >= 0
    case 'in':
      return found => set.has(found)
  }
}

function createComparator<Row>({ value }: Column<Row>, direction: SortColumn['direction']) {
  const sign = direction === 'asc' ? 1 : -1
  return (a: Row, b: Row) => sign * compareNullable(value(a), value(b))
}

function compareBy<Row>(comparators: readonly ((a: Row, b: Row) => number)[], a: Row, b: Row): number {
  for (const compare of comparators) {
    const difference = compare(a, b)
    if (difference !== 0) return difference
  }
  return 0
}

function compareNullable(a: ColumnValue | null, b: ColumnValue | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return compareValues(a, b)
}

/** Both values belong to one column, so they have one type. */
function compareValues(a: ColumnValue, b: ColumnValue): number {
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b)
  // A difference of infinities would be NaN.
  if (a === b) return 0
  return a < b ? -1 : 1
}

const any = '%'
const one = '_'

/**
 * The test for one pattern. Runs of `%` are merged and a pattern longer than the text is not tried, so the cost is
 * bounded by the text, whatever the pattern.
 */
export function createLike(pattern: string): (text: string) => boolean {
  const parts = [...pattern].filter((character, index, all) => character !== any || all[index - 1] !== any)
  const lengthMin = parts.filter(character => character !== any).length
  return text => {
    const characters = [...text]
    return characters.length >= lengthMin && fits(parts, characters)
  }
}

/** Each `%` takes as little as possible, and one more character whenever the rest does not match. Only the last one is retried. */
function fits(parts: readonly string[], characters: readonly string[]): boolean {
  let part = 0
  let at = 0
  let lastAny = -1
  let retryAt = 0
  while (at < characters.length) {
    if (parts[part] === any) {
      lastAny = part++
      retryAt = at
    } else if (part < parts.length && (parts[part] === one || parts[part] === characters[at])) {
      part++
      at++
    } else if (lastAny >= 0) {
      part = lastAny + 1
      at = ++retryAt
    } else {
      return false
    }
  }
  return part === parts.length || (part === parts.length - 1 && parts[part] === any)
}

/** Filters and orders of a list, as request parsers pass them to the code that selects the rows. */

/** An `integer` column has whole numbers, so a fraction matches no row. */
export type ColumnType = 'number' | 'integer' | 'text' | 'time' | 'boolean'

/** A time is in epoch microseconds. */
export type ColumnValue = number | string | boolean

export const operators = ['eq', 'ne', 'lt', 'gt', 'ge', 'le', 'in', 'like'] as const
export type Operator = (typeof operators)[number]

export interface Condition {
  readonly column: string
  readonly operator: Operator
  /** Values have the column's type, except for the pattern of `like`. Only `in` has more than one. */
  readonly values: readonly [ColumnValue, ...ColumnValue[]]
}

export interface SortColumn {
  readonly column: string
  readonly direction: 'asc' | 'desc'
}

/** A column by which a list can be filtered and sorted. */
export interface Column<Row> {
  readonly type: ColumnType
  /** The compared value; null never matches, and sorts last. */
  readonly value: (row: Row) => ColumnValue | null
  /** The text that `like` matches: the value as the response shows it. Without it, the value as text. */
  readonly text?: (row: Row) => string
}

export type ColumnTypes = Readonly<Record<string, { readonly type: ColumnType }>>
export type Columns<Row> = Readonly<Record<string, Column<Row>>>
