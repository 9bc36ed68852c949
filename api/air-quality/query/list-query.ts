/** Reads what a request asks of a list: which rows, in which order, how many, and which page of them. */

import type { ColumnTypes, Condition, SortColumn } from '../../../query/conditions/condition.ts'
import type { Listed } from './envelope.ts'
import { parseFilter } from './filter.ts'
import { type Paging, readLimit, readPaging } from './paging.ts'
import { excerpt, type Parsed, partsOf } from './parts.ts'

export interface ListQuery {
  readonly conditions: readonly Condition[]
  readonly order: readonly SortColumn[]
  /** The most rows in total; Infinity without a `limit`. */
  readonly limit: number
  readonly paging: Paging
  /** As the links repeat it. */
  readonly kept: Listed['kept']
}

/** `last` is the column that ends every order. Other arguments are ignored. */
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

/** Ends with the column `last`, which tells rows apart that are equal in all others. */
function parseSort(text: string, columns: ColumnTypes, last: string): Parsed<SortColumn[]> {
  const parts = partsOf(text)
  if (parts.length > sortColumnsMax) return { ok: false, message: `sort: more than ${sortColumnsMax} columns` }
  const order: SortColumn[] = []
  for (const part of parts) {
    const result = parseSortColumn(part, columns)
    if ('error' in result) return { ok: false, message: `sort "${excerpt(part)}": ${result.error}` }
    // A column that was sorted by before orders nothing any more.
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
