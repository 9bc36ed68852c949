/** Lines of several devices and metrics as panels: the first two units have an axis each, further units a panel each. */

import type { Annotation } from '../../../auth/annotations/annotation.ts'
import { annotationPanel, marksOf, withAnnotations } from '../../charts/annotation-marks.ts'
import { coloursOf } from '../../charts/colours.ts'
import { breakAtGaps, joinColumns, usualGapMs, valueAt } from '../../charts/line-data.ts'
import type { Panel, Readout } from '../../charts/panel.ts'
import type { TimeWindow } from '../../charts/range.ts'
import { type TwinTable, tableRows } from '../../charts/table-rows.ts'
import { decimalText } from '../../text/numbers.ts'
import { nameWithin, type Quantity, withUnit } from '../../text/quantities.ts'
import type { Times } from '../../theme/times.ts'
import { t } from '../../words/words.ts'
import type { ChosenLine } from './chosen-lines.ts'

type Look = NonNullable<Readout['look']>

export interface DrawnLine extends ChosenLine {
  readonly quantity: Quantity
  /** The index among the chosen lines. */
  readonly place: number
  readonly look: Look
  readonly timesMs: readonly number[]
  /** Values are in the shown unit. */
  readonly values: readonly number[]
}

/** Dashes by index, so that lines differ also without colour. */
const dashes = [[], [8, 4], [2, 3], [9, 3, 2, 3], [14, 4], [9, 3, 2, 3, 2, 3], [4, 4], [2, 7]] as const

/** The looks of the chosen lines, in their order. */
export function looksOf(lines: readonly ChosenLine[]): Look[] {
  return coloursOf(lines.map(({ metric }) => metric)).map((colour, place) => ({ colour, dash: dashes[place] ?? [] }))
}

const mainHeight = 260
const smallHeight = 130

export function linePanels(lines: readonly DrawnLine[], stepMs: number): Panel[] {
  const byUnit = Map.groupBy(lines, ({ quantity }) => quantity.unit)
  const [left, right, ...others] = [...byUnit.values()]
  if (left === undefined) return []
  const main = panelOf('main', [left, right ?? []], mainHeight, stepMs)
  const small = others.map((ofUnit, place) => panelOf(`unit ${place}`, [ofUnit, []], smallHeight, stepMs))
  const room = small.map(panel =>
    right === undefined ? panel : { ...panel, content: { ...panel.content, right: 'room' as const } },
  )
  return [main, ...room]
}

type Sides = readonly [left: readonly DrawnLine[], right: readonly DrawnLine[]]

function panelOf(key: string, [left, right]: Sides, height: number, stepMs: number): Panel {
  const lines = [...left, ...right]
  const gapMs = (line: DrawnLine) => usualGapMs(line.timesMs, stepMs)
  const decimals = decimalsOf(left)
  return {
    key,
    title: titleOf([left, right]),
    unit: '',
    decimals,
    height,
    content: {
      columns: joinColumns(lines.map(line => breakAtGaps(line.timesMs, [line.values], gapMs(line)))),
      lines: lines.map(({ place, look }) => ({
        ...look,
        width: 1.75,
        isRight: right.some(one => one.place === place),
      })),
      decimals,
      ...(right.length === 0 ? {} : { right: { decimals: decimalsOf(right) } }),
    },
    readouts: lines.map(line => readoutOf(line, gapMs(line))),
    reachMs: Math.max(...lines.map(gapMs)),
  }
}

function decimalsOf(lines: readonly DrawnLine[]): number {
  return Math.max(0, ...lines.map(({ quantity }) => quantity.decimals))
}

function titleOf([left, right]: Sides): string {
  const unitOf = (lines: readonly DrawnLine[]) => lines[0]?.quantity.unit || t('without a unit')
  return right.length === 0
    ? unitOf(left)
    : t('Left: {left}; right: {right}', { left: unitOf(left), right: unitOf(right) })
}

function lineName({ device, quantity }: Pick<DrawnLine, 'device' | 'quantity'>): string {
  return `${device}, ${nameWithin(quantity)}`
}

function readoutOf(line: DrawnLine, reachMs: number): Readout {
  const { quantity, timesMs, values, look } = line
  return {
    label: lineName(line),
    look,
    quantity,
    timesMs,
    values,
    textAt(atMs) {
      const value = valueAt({ timesMs, values }, atMs, reachMs)
      return value === null ? null : withUnit(decimalText(value, quantity.decimals), quantity)
    },
  }
}

/** Pixels between two panels and above the first one, and of the times below, at a scale of 1. */
const aroundPanel = 34
const belowPanels = 28
const heightMin = 100

/** Panels share the height in proportion. */
export function sharedHeight(panels: readonly Panel[], heightPx: number, scale: number): Panel[] {
  const free = heightPx - (panels.length + 1) * aroundPanel * scale - belowPanels * scale
  const sum = panels.reduce((total, { height }) => total + height, 0)
  return panels.map(panel => ({ ...panel, height: Math.max(heightMin, Math.floor((free * panel.height) / sum)) }))
}

export function lineTable(lines: readonly DrawnLine[], { fromMs, toMs }: TimeWindow, times: Times): TwinTable {
  const columns = lines.map(line => {
    const { unit, decimals } = line.quantity
    return { name: unit === '' ? lineName(line) : `${lineName(line)}, ${unit}`, decimals }
  })
  return {
    caption: t('Means by step, the newest first'),
    headName: t('From'),
    columns,
    rows: tableRows(lines, fromMs, toMs).map(({ atMs, values }) => ({
      key: atMs,
      head: times.exact(atMs),
      cells: values,
    })),
  }
}

interface Written {
  readonly shown: readonly Annotation[]
  /** True if the chart has several devices. */
  readonly hasNames: boolean
}

/** The panels with annotations in them, and a timeline of these below. */
export function annotatedPanels(
  panels: readonly Panel[],
  { shown, hasNames }: Written,
  { window, times }: { readonly window: TimeWindow; readonly times: Times },
): Panel[] {
  const timeline = annotationPanel(marksOf(shown, window, times, hasNames))
  if (panels.length === 0 || timeline === undefined) return [...panels]
  const hasRight = panels.some(({ content }) => content.right !== undefined)
  const below = hasRight ? { ...timeline, content: { ...timeline.content, right: 'room' as const } } : timeline
  return [...panels.map(panel => withAnnotations(panel, shown)), below]
}
