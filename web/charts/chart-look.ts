/** Axes, lines and rules of a chart as uPlot options. */

import type uPlot from 'uplot'
import type { Zone } from '../text/zone.ts'
import { lonePlaces } from './line-data.ts'
import type { ChartContent } from './panel.ts'
import { spreadLabels } from './paths.ts'
import type { TimeWindow } from './range.ts'
import { axisText, timeTicks, valueTicks } from './ticks.ts'

/** The current view. uPlot reads it at each drawing. */
export interface ChartView {
  content: ChartContent
  window: TimeWindow
  readonly zone: Zone
  readonly hasTimes: boolean
  /** Text and lines are larger by this factor than on a desk. */
  readonly scale: number
  /** The value of a custom property, which follows the colour scheme. */
  readonly colour: (name: string) => string
}

const fontOf = ({ scale }: ChartView) => `${12 * scale}px system-ui, sans-serif`
/** All charts of a page begin at the same place, so that their times are below each other. */
export const valuesWidth = 52
export const timesHeight = 28
/** The room for labels of rules beside a chart. */
const labelsWidth = 84
/** Room of a written time, in pixels. */
const timeWidth = 72

/** The scale of lines on the right axis. */
export const rightScale = 'right'

/** The width beside the lines on the right: an axis or labels, and a margin. */
export function rightWidth({ right }: Pick<ChartContent, 'right'>, scale: number): number {
  const width = right === undefined ? 0 : right === 'labels' ? labelsWidth : valuesWidth
  return 12 + width * scale
}

export function timeAxis(view: ChartView): uPlot.Axis {
  const { hasTimes, zone, colour, scale } = view
  const ticks = ({ bbox }: uPlot) => {
    const { fromMs, toMs } = view.window
    return timeTicks(zone, fromMs, toMs, Math.max(2, bbox.width / devicePixelRatio / (timeWidth * scale)))
  }
  return {
    size: hasTimes ? timesHeight * scale : 0,
    font: fontOf(view),
    gap: 4,
    stroke: () => colour('--soft'),
    splits: plot => ticks(plot).map(({ atMs }) => atMs),
    values: plot => (hasTimes ? ticks(plot).map(({ text }) => text) : []),
    grid: { width: 1, stroke: () => colour('--line') },
    ticks: { show: hasTimes, size: 4, width: 1, stroke: () => colour('--edge') },
  }
}

export function valueAxis(view: ChartView): uPlot.Axis {
  const { scale } = view
  const { ticks } = view.content
  return {
    size: valuesWidth * scale,
    font: fontOf(view),
    gap: 6,
    stroke: () => view.colour('--soft'),
    ...(ticks === undefined ? numberTicks(view.content.decimals) : wordTicks(view)),
    grid: { width: 1, stroke: () => view.colour('--line') },
    ticks: { show: false },
  }
}

/** The axis for lines in another unit. */
export function rightAxis(view: ChartView, decimals: number): uPlot.Axis {
  return { ...valueAxis(view), ...numberTicks(decimals), scale: rightScale, side: 1, grid: { show: false } }
}

function numberTicks(decimals: number): Pick<uPlot.Axis, 'splits' | 'values'> {
  return {
    splits: (_plot, _axis, low, high) => valueTicks(low, high),
    values: (_plot, splits) => splits.map(value => axisText(value, splits, decimals)),
  }
}

function wordTicks({ content: { ticks = [] } }: ChartView): Pick<uPlot.Axis, 'splits' | 'values'> {
  return { splits: () => ticks.map(({ value }) => value), values: () => ticks.map(({ text }) => text) }
}

export function seriesOf({ content, colour, scale }: ChartView): uPlot.Series[] {
  const { lines, bands = [] } = content
  const drawn = lines.map((line, place) => ({
    width: line.width * scale,
    ...(line.isRight ? { scale: rightScale } : {}),
    ...(line.dash?.length ? { dash: line.dash.map(length => length * scale * devicePixelRatio) } : {}),
    ...(isAlone(content, line) ? { fill: () => washOf(colour(line.colour)), fillTo: floorOf } : {}),
    stroke: () => (line.width === 0 ? 'transparent' : colour(line.colour)),
    points: pointsOf(
      line.points ?? (bands.some(band => band.includes(place)) ? 'none' : 'lone'),
      () => colour(line.colour),
      colour,
    ),
  }))
  return [{}, ...drawn]
}

const floorOf: uPlot.Series.FillTo = ({ scales }) => scales['y']?.min ?? 0

/** True for the only line of a chart without bands: it is filled below. */
function isAlone({ lines, bands = [] }: ChartContent, { width }: ChartContent['lines'][number]): boolean {
  return bands.length === 0 && width > 0 && lines.filter(one => one.width > 0).length === 1
}

/** The colour, written as `#rrggbb`, with a low opacity. */
const washOf = (colour: string) => `${colour.trim()}2b`

type Points = NonNullable<ChartContent['lines'][number]['points']> | 'lone'

function pointsOf(points: Points, own: () => string, colour: ChartView['colour']): uPlot.Series.Points {
  switch (points) {
    case 'none':
      return { show: false }
    case 'all':
      return { show: true, size: 4, width: 0, stroke: own, fill: own }
    case 'hollow':
      return { show: true, size: 9, width: 1.5, stroke: own, fill: () => colour('--card') }
    case 'lone':
      // A value between two gaps would not be seen as a line.
      return { show: true, size: 4, fill: own, filter: (plot, series) => lonePlaces(plot.data[series] ?? []) }
  }
}

export function bandsOf({ content: { bands = [], lines }, colour }: ChartView): uPlot.Band[] {
  return bands.map(([upper, lower]) => {
    return { series: [upper + 1, lower + 1], fill: () => washOf(colour(lines[upper]?.colour ?? '')) }
  })
}

export function drawRules({ ctx, bbox, valToPos }: uPlot, { content, colour }: ChartView): void {
  const { rules = [] } = content
  const isBeside = content.right === 'labels'
  const ratio = devicePixelRatio
  const right = bbox.left + bbox.width
  ctx.save()
  ctx.fillStyle = colour('--soft')
  ctx.font = `${12 * ratio}px system-ui, sans-serif`
  ctx.textAlign = isBeside ? 'left' : 'right'
  ctx.textBaseline = isBeside ? 'middle' : 'alphabetic'
  const heights = rules.map(({ value }) => Math.round(valToPos(value, 'y', true)))
  const beside = spreadLabels(heights, 14 * ratio, bbox.top + 7 * ratio, bbox.top + bbox.height)
  for (const [place, { text, isDashed }] of rules.entries()) {
    const y = heights[place] as number
    ctx.lineWidth = ratio
    ctx.strokeStyle = colour('--edge')
    ctx.setLineDash(isDashed ? [4 * ratio, 4 * ratio] : [])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(right, y)
    ctx.stroke()
    if (isBeside) {
      ctx.fillText(text, right + 8 * ratio, beside[place] as number)
      continue
    }
    // A stroke in the background's colour keeps the text readable above lines.
    ctx.lineWidth = 4 * ratio
    ctx.strokeStyle = colour('--card')
    ctx.setLineDash([])
    ctx.strokeText(text, right, y - 4 * ratio)
    ctx.fillText(text, right, y - 4 * ratio)
  }
  ctx.restore()
}
