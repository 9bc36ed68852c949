/** What a chart over time is given to show. */

import type { Columns } from './line-data.ts'

interface LineStyle {
  /** A custom property of the style sheet, as `--accent`. */
  readonly colour: string
  /** 0 for a line that only bounds an area, or of which there are only points. */
  readonly width: number
  /** Each value is a hollow point. */
  readonly isHollow?: boolean
}

/** A horizontal line, such as a mean. */
interface Rule {
  readonly value: number
  /** Written at its right end. */
  readonly text: string
  readonly isDashed: boolean
}

export interface ChartContent {
  readonly columns: Columns
  /** In the order in which they are drawn: a later one covers those before it. */
  readonly lines: readonly LineStyle[]
  /** The places of two lines between which the area is filled, as the first of them is drawn. */
  readonly band?: readonly [upper: number, lower: number] | undefined
  readonly rules?: readonly Rule[] | undefined
  /** Of the values, on the axis. */
  readonly decimals: number
  /** For amounts: the axis begins at 0. */
  readonly isFromZero?: boolean
}

/** A line whose value at the cursor is told. */
export interface Readout {
  /** What tells it from the others of its panel; nothing where it is the only one. */
  readonly label?: string
  readonly colour?: string
  readonly timesMs: readonly number[]
  readonly values: readonly (number | null)[]
}

/** Values that are pointed out, by hollow points. */
export interface Marks {
  /** What they are, in the legend and after a value at the cursor. */
  readonly label: string
  /** Ascending. */
  readonly timesMs: readonly number[]
  readonly values: readonly number[]
}

export interface Panel {
  readonly key: string
  readonly title: string
  readonly unit: string
  readonly decimals: number
  readonly height: number
  readonly content: ChartContent
  readonly readouts: readonly Readout[]
  /** Of the values of the first readout; `content` has them as a line of its own. */
  readonly marks?: Marks | undefined
  /** How far from a value the cursor may be to tell it; further away there is a gap. */
  readonly reachMs: number
}
