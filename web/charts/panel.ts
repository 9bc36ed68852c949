/** What a chart over time is given to show. */

import type { Columns } from './line-data.ts'

interface LineStyle {
  /** A custom property of the style sheet, as `--accent`. */
  readonly colour: string
  /** 0 for a line that only bounds an area, or of which there are only points. */
  readonly width: number
  /** `all`: each value is one, and no line joins them; `hollow`: the same with hollow ones; `none`: not even of lone values. */
  readonly points?: 'all' | 'hollow' | 'none'
  /** CSS pixels by turns drawn and left out; a line without gaps where it is missing or empty. */
  readonly dash?: readonly number[]
  /** Of the axis on the right. */
  readonly isRight?: boolean
}

/** A rectangle over a stretch of time: a bar of an amount, a state of a timeline. */
export interface Block {
  readonly fromMs: number
  /** Not included. */
  readonly toMs: number
  /** Values of its lower and its upper edge; the same ones are drawn as a thin line. */
  readonly low: number
  readonly high: number
  /** A custom property, as that of a line. */
  readonly colour: string
  /** Written inside where there is room. */
  readonly text?: string
}

/** A stretch of time that is shaded over the whole height. */
interface Span {
  readonly fromMs: number
  readonly toMs: number
  /** Custom properties: of the area, and of the line along its upper edge. */
  readonly wash: string
  readonly colour: string
}

/** A horizontal line, such as a mean. */
export interface Rule {
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
  readonly spans?: readonly Span[] | undefined
  /** Ascending by time, drawn below the lines. */
  readonly blocks?: readonly Block[]
  /** The ends of the axis, where they do not follow from the values. */
  readonly range?: readonly [low: number, high: number]
  /** What is written on the axis, where that is not its numbers. */
  readonly ticks?: readonly { readonly value: number; readonly text: string }[]
  /** Of the values, on the axis. */
  readonly decimals: number
  /** On the right: another axis for the lines that are of it, or as much room as one takes, below a chart that has one. */
  readonly right?: { readonly decimals: number } | 'room' | undefined
  /** For amounts: the axis begins at 0, or ends there where all are negative. */
  readonly isFromZero?: boolean
}

/** A line whose value at the cursor is shown. */
export interface Readout {
  /** What tells it from the others of its panel; nothing where it is the only one. */
  readonly label?: string
  readonly colour?: string
  /** The same as its line, drawn beside the label. */
  readonly look?: { readonly colour: string; readonly dash: readonly number[] }
  /** The moments that the cursor stops at. */
  readonly timesMs: readonly number[]
  readonly values: readonly (number | null)[]
  /** What is shown at a moment where that is no number with the unit of the panel; null where there is nothing. */
  readonly textAt?: (atMs: number) => string | null
}

/** What a colour stands for. */
interface Key {
  readonly colour: string
  readonly label: string
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
  /** What is told instead of them behind the window, where it is still to come; `content` has it as lines of its own. */
  readonly ahead?: Readout | undefined
  /** Of the values of the first readout; `content` has them as a line of its own. */
  readonly marks?: Marks | undefined
  /** Of blocks of several colours. */
  readonly keys?: readonly Key[]
  /** How far from a value the cursor may be to tell it; further away there is a gap. */
  readonly reachMs: number
}
