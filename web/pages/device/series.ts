/** What charts over a range are given of a device: values as they are stored, by kind. */

import type { RangeReadings } from '../../../api/read/readings-shape.ts'
import type { ReadingEvent } from '../../../query/live/events/event-shape.ts'
import type { Stretch } from '../../charts/stretch.ts'
import type { Descriptions } from '../../text/quantities.ts'

export interface GaugeSeries {
  readonly kind: 'gauge'
  readonly metric: string
  /** Ascending, in milliseconds since 1970. */
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
  /** Extremes, where the values are means. */
  readonly extremes?: { readonly lows: readonly number[]; readonly highs: readonly number[] }
  /** The line is broken where points are further apart; null: nowhere. */
  readonly gapMs: number | null
}

export interface DirectionSeries {
  readonly kind: 'direction'
  readonly metric: string
  readonly timesMs: readonly number[]
  /** Degrees from north. */
  readonly values: readonly number[]
  /** Of what each is the mean; undefined for values as they came. */
  readonly stepMs: number | undefined
}

/** Of a counter what it grew by, of a rate what it sums up to. */
export interface Amount extends Stretch {
  readonly value: number
  /** Of it, what a counter grew by in a gap that ends here, so that nobody knows when. */
  readonly ofGap: number
}

export interface AmountSeries {
  readonly kind: 'counter' | 'rate'
  readonly metric: string
  /** Ascending; those of which nothing is known are left out. */
  readonly bars: readonly Amount[]
}

/** A state, from a share of the height of its stretch to another one: all of it in a timeline. */
export interface StateBlock extends Stretch {
  readonly state: number
  readonly low: number
  readonly high: number
}

export interface StateSeries {
  readonly kind: 'state'
  readonly metric: string
  /** Ascending; of what is unknown there is none. */
  readonly blocks: readonly StateBlock[]
  /** Whether they are shares of hours or days, not one state after the other. */
  readonly isShares: boolean
}

export type MetricSeries = GaugeSeries | DirectionSeries | AmountSeries | StateSeries

export interface RangeSeries {
  /** In the order in which they are shown; none is empty. */
  readonly series: readonly MetricSeries[]
  /** Of what each value of a gauge is the mean; undefined for readings as they came. */
  readonly stepMs?: number | undefined
  /** What the answers that the series are of say of their metrics. */
  readonly described?: Descriptions | undefined
  /** The units that those without descriptions name: codes by metric. */
  readonly units?: Readonly<Record<string, string>> | undefined
}

/** A reading that has just come. */
export type LiveReading = Pick<ReadingEvent['data'], 'ts' | 'values'>

/** The values of one name, in the rows where `present` has a value. */
export function column(rows: RangeReadings, name: string, present = name) {
  const has = rows.filter(row => row[present] !== undefined)
  return { timesMs: has.map(({ ts }) => ts), values: has.map(row => row[name] as number) }
}
