/** Messages between the main thread and the worker of the points: plain data. */

import type { Station } from '../analysed-device.ts'
import type { Condition, SortColumn } from '../conditions/select-rows.ts'
import { meanColumns } from './point-columns.ts'
import { type PointFilter, pointFilter, pointOrder, type SqlPart, timeRange } from './point-sql.ts'
import type { PointFormat } from './point-texts.ts'
import type { HourCounts, PointsCount } from './points-source.ts'

export interface Filtered {
  readonly series: readonly number[]
  /** Microseconds; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  readonly parts: readonly SqlPart[]
}

export interface PageQuery extends Filtered {
  readonly station: Station
  readonly order: string
  readonly offset: number
  readonly count: number
  readonly format: PointFormat
}

/** All rows of a range, in ascending or descending order of ids, which needs no sorting. */
export interface RangeQuery extends Filtered {
  readonly station: Station
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  readonly count: number
  /** Expected rows in the range. */
  readonly rowsExpected: number
  readonly format: PointFormat
}

/** Rows of a range by their index, in ascending or descending order of ids. */
export interface SliceQuery extends Filtered {
  readonly station: Station
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  readonly count: number
  readonly total: number
  readonly format: PointFormat
}

export interface MemoryQuery extends Omit<Filtered, 'parts'> {
  readonly station: Station
  readonly conditions: readonly Condition[]
  readonly order: readonly SortColumn[]
  readonly offset: number
  readonly count: number
  readonly format: PointFormat
}

export interface PlaceQuery {
  readonly station: Station
  readonly series: number
  readonly timeUs: number
}

export interface NewestQuery {
  readonly station: Station
  /** The previously known newest time, in microseconds. It limits the search. */
  readonly sinceUs: number | undefined
}

export interface PointsQueries {
  readonly hours: Filtered
  readonly count: Filtered
  readonly slice: SliceQuery
  readonly page: PageQuery
  readonly range: RangeQuery
  readonly memory: MemoryQuery
  readonly place: PlaceQuery
  readonly newest: NewestQuery
}

/** `hours` returns the hours, `count` the count, all others text. */
export type PointsResult = HourCounts | PointsCount | PointsText

export interface PointsText {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Number of rows in the text. */
  readonly rows: number
  /** `memory` only: number of matching rows, including those outside the page. */
  readonly total: number
  /** The newest time: for `memory` of the matching rows, -Infinity without any; for `newest` of the point. */
  readonly newestUs: number
}

export interface PointList {
  readonly station: Station
  readonly conditions: readonly Condition[]
  /** Ends with `id`. */
  readonly order: readonly SortColumn[]
  /** The most rows in total. */
  readonly limit: number
}

export interface Plan {
  readonly list: PointList
  readonly filter: PointFilter
  /** Undefined when it is filtered or sorted in memory. */
  readonly sql: string | undefined
  readonly time: 'asc' | 'desc' | undefined
  /** Set when the rows come in the order of their ids, or the reverse. */
  readonly byId: 'asc' | 'desc' | undefined
}

/** A list that QuestDB filters and sorts. */
export type StoredPlan = Plan & { readonly sql: string }

const meanRangeUsMax = 31 * 86_400_000_000

/** Undefined for a running mean without bounds of time. */
export function planOf(list: PointList): Plan | undefined {
  const { station, conditions, order } = list
  const filter = pointFilter(station, conditions)
  const { time, sql } = pointOrder(station, order)
  const isMean = ({ column }: { column: string }) => (meanColumns as readonly string[]).includes(column)
  if (conditions.some(isMean) || order.some(isMean)) {
    const { fromUs, toUs } = timeRange(conditions, ['timestamp'])
    // The end is not included.
    if (!(toUs - 1 - fromUs <= meanRangeUsMax)) return undefined
  }
  return {
    list,
    filter,
    sql: filter.others.length > 0 ? undefined : sql,
    time,
    byId: idDirection(order),
  }
}

function idDirection(order: readonly SortColumn[]): 'asc' | 'desc' | undefined {
  const end = order.findIndex(({ column }) => column === 'id')
  const varying = order.slice(0, end + 1).filter(({ column }) => column !== 'sn')
  const direction = varying.at(-1)?.direction
  const isOfTime = varying.every(({ column, direction: other }) => {
    return ['id', 'timestamp', 'timestamp_local'].includes(column) && other === direction
  })
  return isOfTime ? direction : undefined
}

export function isStored(plan: Plan): plan is StoredPlan {
  return plan.sql !== undefined
}
