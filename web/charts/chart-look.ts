/** Axes, lines and rules of a chart as uPlot options. */

import type uPlot from 'uplot'
import type { Zone } from '../text/zone.ts'
import { lonePlaces } from './line-data.ts'
import type { ChartContent } from './panel.ts'
import type { TimeWindow } from './range.ts'
import { timeTicks } from './time-ticks.ts'
import { axisText } from './value-scale.ts'

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
/** So much room a written time needs. */
const timeWidth = 72

/** The scale of lines on the right axis. */
export const rightScale = 'right'

/** The only vertical lines are the beginnings of days. */
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
    grid: {
      width: 1,
      stroke: () => colour('--line'),
      filter: plot => ticks(plot).map(({ atMs, isDay }) => (isDay ? atMs : null)),
    },
    ticks: { show: hasTimes, size: 4, width: 1, stroke: () => colour('--edge') },
  }
}

export function valueAxis(view: ChartView): uPlot.Axis {
  const { scale } = view
  const { ticks } = view.content
  return {
    size: valuesWidth * scale,
    font: fontOf(view),
    space: 34 * scale,
    gap: 6,
    stroke: () => view.colour('--soft'),
    ...(ticks === undefined ? numberTicks(view.content.decimals) : wordTicks(view)),
    grid: { show: false },
    ticks: { show: false },
  }
}

/** The axis for lines in another unit. */
export function rightAxis(view: ChartView, decimals: number): uPlot.Axis {
  return { ...valueAxis(view), ...numberTicks(decimals), scale: rightScale, side: 1 }
}

function numberTicks(decimals: number): Pick<uPlot.Axis, 'values'> {
  return { values: (_plot, splits) => splits.map(value => axisText(value, splits, decimals)) }
}

function wordTicks({ content: { ticks = [] } }: ChartView): Pick<uPlot.Axis, 'splits' | 'values'> {
  return { splits: () => ticks.map(({ value }) => value), values: () => ticks.map(({ text }) => text) }
}

export function seriesOf({ content: { lines, band }, colour, scale }: ChartView): uPlot.Series[] {
  const drawn = lines.map((line, place) => ({
    width: line.width * scale,
    ...(line.isRight ? { scale: rightScale } : {}),
    ...(line.dash?.length ? { dash: line.dash.map(length => length * scale * devicePixelRatio) } : {}),
    stroke: () => (line.width === 0 ? 'transparent' : colour(line.colour)),
    points: pointsOf(line.points ?? (band?.includes(place) ? 'none' : 'lone'), () => colour(line.colour), colour),
  }))
  return [{}, ...drawn]
}

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

export function bandsOf({ content: { band }, colour }: ChartView): uPlot.Band[] {
  return band === undefined ? [] : [{ series: [band[0] + 1, band[1] + 1], fill: () => colour('--accent-wash') }]
}

export function drawRules({ ctx, bbox, valToPos }: uPlot, { content: { rules = [] }, colour }: ChartView): void {
  const ratio = devicePixelRatio
  const right = bbox.left + bbox.width
  ctx.save()
  ctx.fillStyle = colour('--soft')
  ctx.font = `${12 * ratio}px system-ui, sans-serif`
  ctx.textAlign = 'right'
  for (const { value, text, isDashed } of rules) {
    const y = Math.round(valToPos(value, 'y', true))
    ctx.lineWidth = ratio
    ctx.strokeStyle = colour('--edge')
    ctx.setLineDash(isDashed ? [4 * ratio, 4 * ratio] : [])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(right, y)
    ctx.stroke()
    // A stroke in the background's colour keeps the text readable above lines.
    ctx.lineWidth = 4 * ratio
    ctx.strokeStyle = colour('--card')
    ctx.setLineDash([])
    ctx.strokeText(text, right, y - 4 * ratio)
    ctx.fillText(text, right, y - 4 * ratio)
  }
  ctx.restore()
}
