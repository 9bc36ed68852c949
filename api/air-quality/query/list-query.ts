/** Reads what a request asks of a list: which rows, in which order, how many, and which page of them. */

import type { ColumnTypes, Condition, SortColumn } from '../../../query/conditions/condition.ts'
import type { Listed } from './envelope.ts'
import { parseFilter } from './filter.ts'
import { type Paging, readLimit, readPaging } from './paging.ts'
import type { Parsed } from './parts.ts'
import { parseSort } from './sort.ts'

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
