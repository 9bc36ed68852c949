/** What crosses between the main thread and the worker of the points: plain data. */

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

/** Rows that QuestDB selects and sorts. */
export interface PageQuery extends Filtered {
  readonly station: Station
  readonly order: string
  readonly offset: number
  readonly count: number
  readonly format: PointFormat
}

/** All rows of a range, in the order of their ids or the reverse of it, which need no sorting. */
export interface RangeQuery extends Filtered {
  readonly station: Station
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  readonly count: number
  /** In the range. */
  readonly rowsExpected: number
  readonly format: PointFormat
}

/** Rows of a range by their place among them, in the order of their ids or the reverse of it. */
export interface SliceQuery extends Filtered {
  readonly station: Station
  readonly direction: 'asc' | 'desc'
  readonly offset: number
  readonly count: number
  /** Rows of the range. */
  readonly total: number
  readonly format: PointFormat
}

/** Rows that are filtered and sorted in memory. */
export interface MemoryQuery extends Omit<Filtered, 'parts'> {
  readonly station: Station
  readonly conditions: readonly Condition[]
  readonly order: readonly SortColumn[]
  readonly offset: number
  readonly count: number
  readonly format: PointFormat
}

/** One point. */
export interface PlaceQuery {
  readonly station: Station
  readonly series: number
  readonly timeUs: number
}

export interface NewestQuery {
  readonly station: Station
  /** What was newest before, in microseconds, if that is known: fewer rows have to be looked through. */
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

/** Of `hours` the hours, of `count` the count; of all others text. */
export type PointsResult = HourCounts | PointsCount | PointsText

export interface PointsText {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Rows in it. */
  readonly rows: number
  /** Of `memory`: rows that fit, also beyond it. */
  readonly total: number
  /** Of `memory`: the newest time of rows that fit; -Infinity without any. Of `newest`: its time. */
  readonly newestUs: number
}
