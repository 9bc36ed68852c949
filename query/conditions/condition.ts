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
