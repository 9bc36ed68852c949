/** Filters and orders of a list, as the readers of its texts hand them to whatever selects the rows. */

/** An `integer` is a whole number: no fraction is a value of such a column. */
export type ColumnType = 'number' | 'integer' | 'text' | 'time' | 'boolean'

/** A time is in epoch microseconds. */
export type ColumnValue = number | string | boolean

export const operators = ['eq', 'ne', 'lt', 'gt', 'ge', 'le', 'in', 'like'] as const
export type Operator = (typeof operators)[number]

export interface Condition {
  readonly column: string
  readonly operator: Operator
  /** Of the column's type, but for `like` its pattern; one value, except for `in`. */
  readonly values: readonly [ColumnValue, ...ColumnValue[]]
}

export interface SortColumn {
  readonly column: string
  readonly direction: 'asc' | 'desc'
}

/** What a list lets filter and sort by. */
export interface Column<Row> {
  readonly type: ColumnType
  /** What is compared; null never matches, and sorts behind all else. */
  readonly value: (row: Row) => ColumnValue | null
  /** What `like` looks at: the value as the response shows it. Without it, the value as text. */
  readonly text?: (row: Row) => string
}

export type ColumnTypes = Readonly<Record<string, { readonly type: ColumnType }>>
export type Columns<Row> = Readonly<Record<string, Column<Row>>>
