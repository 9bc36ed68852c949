/** Messages between the main thread and the worker of the points: plain data. */

import type { Condition, SortColumn } from '../conditions/condition.ts'
import type { SqlPart } from './point-sql.ts'
import type { PointFormat } from './point-texts.ts'
import type { HourCounts, PointsCount } from './points-source.ts'
import type { Station } from './station.ts'

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
