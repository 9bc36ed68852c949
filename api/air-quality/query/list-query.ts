/** Parses the arguments of a list: conditions, order, limit and page. */

import type { ColumnTypes, Condition, SortColumn } from '../../../query/conditions/condition.ts'
import type { Listed } from './envelope.ts'
import { parseFilter } from './filter.ts'
import { type Paging, readLimit, readPaging } from './paging.ts'
import { excerpt, type Parsed, partsOf } from './parts.ts'

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
