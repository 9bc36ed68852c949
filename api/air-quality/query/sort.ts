/** Reads `sort=column,asc;column,desc` against the columns of a list. */

import type { ColumnTypes, SortColumn } from '../../../query/conditions/condition.ts'
import { excerpt, type Parsed, partsOf } from './parts.ts'

const sortColumnsMax = 8

/** Ends with the column `last`, which tells rows apart that are equal in all others. */
export function parseSort(text: string, columns: ColumnTypes, last: string): Parsed<SortColumn[]> {
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
