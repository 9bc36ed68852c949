/** The data of a chart over time. */

import type { Columns } from './line-data.ts'

interface LineStyle {
  /** A custom property of the style sheet, as `--accent`. */
  readonly colour: string
  /** 0 for the edge of an area, and for lines that only have points. */
  readonly width: number
  /** `all`: each value is one, and no line joins them; `hollow`: the same with hollow ones; `none`: not even of lone values. */
  readonly points?: 'all' | 'hollow' | 'none'
  /** CSS pixels by turns drawn and left out. A line without gaps where it is missing or empty. */
  readonly dash?: readonly number[]
  /** True for a line on the right axis. */
  readonly isRight?: boolean
}

/** A rectangle over a stretch of time: a bar of an amount, a state of a timeline. */
export interface Block {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
  /** Values of its lower and its upper edge. The same ones are drawn as a thin line. */
  readonly low: number
  readonly high: number
  /** A custom property, as for lines. */
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
  /** Written at its right end: in the chart, or beside it where there is room for labels. */
  readonly text: string
  readonly isDashed: boolean
}

export interface ChartContent {
  readonly columns: Columns
  /** Lines are in drawing order: a later line covers earlier ones. */
  readonly lines: readonly LineStyle[]
  /** The places of two lines between which an area is filled in the colour of the first of them. */
  readonly bands?: readonly (readonly [upper: number, lower: number])[] | undefined
  readonly rules?: readonly Rule[] | undefined
  readonly spans?: readonly Span[] | undefined
  /** Ascending by time, drawn below the lines. */
  readonly blocks?: readonly Block[]
  /** The ends of the axis, where they do not follow from the values. */
  readonly range?: readonly [low: number, high: number]
  /** Labels in place of numbers on the axis. */
  readonly ticks?: readonly { readonly value: number; readonly text: string }[]
  /** Decimals on the axis. */
  readonly decimals: number
  /** The second axis on the right, the same room in a chart below one that has it, or room for the texts of rules. */
  readonly right?: { readonly decimals: number } | 'room' | 'labels' | undefined
  /** Charts of amounts: the axis begins at 0, or ends there where all values are negative. */
  readonly isFromZero?: boolean
}

/** A line whose value at the cursor is shown. */
export interface Readout {
  /** A name among the readouts of a panel; absent where it is the only one. */
  readonly label?: string
  readonly colour?: string
  /** The same as its line, drawn beside the label. */
  readonly look?: { readonly colour: string; readonly dash: readonly number[] }
  /** The moments that the cursor stops at. */
  readonly timesMs: readonly number[]
  readonly values: readonly (number | null)[]
  /** The text at a moment where a number with the panel's unit does not fit; null without a value. */
  readonly textAt?: (atMs: number) => string | null
  /** Numbers are written in this in place of the panel's. With `textAt`, only the extremes are. */
  readonly quantity?: { readonly unit: string; readonly decimals: number }
}

/** An entry of the legend, for an area or for blocks. */
interface Key {
  readonly colour: string
  readonly label: string
}

/** Values that are pointed out, by hollow points. */
export interface Marks {
  /** The name in the legend and after a value at the cursor. */
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
  /** The readout behind the window, where a forecast replaces the values. `content` has its lines. */
  readonly ahead?: Readout | undefined
  /** Marks on values of the first readout. `content` draws them as a separate line. */
  readonly marks?: Marks | undefined
  /** The legend of areas and of blocks in several colours. */
  readonly keys?: readonly Key[]
  /** Beyond this distance between cursor and value, the readout shows a gap. */
  readonly reachMs: number
}

export interface Stretch {
  readonly fromMs: number
  /** Exclusive. */
  readonly toMs: number
}

/** The blocks that contain a moment, ascending. Shares and simultaneous blocks overlap. */
export function blocksAt<Block extends Stretch>(blocks: readonly Block[], atMs: number): Block[] {
  return blocks.filter(({ fromMs, toMs }) => fromMs <= atMs && atMs < toMs)
}

interface TimelineStretch extends Stretch {
  readonly text: string
  /** A custom property. */
  readonly colour: string
}

interface Timeline {
  readonly key: string
  readonly title: string
  /** Ascending by their beginnings; at least one. */
  readonly stretches: readonly TimelineStretch[]
  /** The readout at a moment. */
  readonly textAt: (atMs: number) => string | null
}

const timelineHeight = 48
/** More at the same time are drawn over each other. */
const rowsMax = 5

export function timelinePanel({ key, title, stretches, textAt }: Timeline): Panel {
  const rows = rowsOf(stretches)
  const rowCount = Math.max(...rows) + 1
  const startsMs = [...new Set(stretches.map(({ fromMs }) => fromMs))]
  return {
    key,
    title,
    unit: '',
    decimals: 0,
    height: timelineHeight + 24 * (rowCount - 1),
    content: {
      columns: { timesMs: startsMs, lines: [startsMs.map(() => 0)] },
      lines: [{ colour: '--accent', width: 0, points: 'none' }],
      blocks: stretches.map(({ fromMs, toMs, text, colour }, place) => {
        const row = rows[place] as number
        return { fromMs, toMs, low: row, high: row + 0.9, colour, text }
      }),
      range: [0, rowCount],
      ticks: [],
      decimals: 0,
    },
    readouts: [{ timesMs: startsMs, values: [], textAt }],
    reachMs: 0,
  }
}

/** The first row that is free, from below. */
function rowsOf(stretches: readonly Stretch[]): number[] {
  const endsMs: number[] = []
  return stretches.map(({ fromMs, toMs }) => {
    const free = endsMs.findIndex(endMs => endMs <= fromMs)
    const row = free === -1 ? Math.min(endsMs.length, rowsMax - 1) : free
    endsMs[row] = toMs
    return row
  })
}
