/** Series of a device for charts over a range: stored values by kind. */

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
  /** The step of means; undefined for single values. */
  readonly stepMs: number | undefined
}

/** The increase of a counter, or the sum of a rate. */
export interface Amount extends Stretch {
  readonly value: number
  /** The part that a counter grew in a gap that ends here, at unknown times. */
  readonly ofGap: number
}

export interface AmountSeries {
  readonly kind: 'counter' | 'rate'
  readonly metric: string
  /** Ascending; bars without a known amount are left out. */
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
  /** Ascending; unknown states are left out. */
  readonly blocks: readonly StateBlock[]
  /** True for shares of hours or days, false for one state after the other. */
  readonly isShares: boolean
}

export type MetricSeries = GaugeSeries | DirectionSeries | AmountSeries | StateSeries

export interface RangeSeries {
  /** In display order. Each has values. */
  readonly series: readonly MetricSeries[]
  /** The step of gauges' means; undefined for single readings. */
  readonly stepMs?: number | undefined
  /** Descriptions of metrics from the series' answers. */
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
