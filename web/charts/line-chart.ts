/**
 * One chart of lines over time, drawn by uPlot. Its times are UTC; uPlot's own shift to a zone is not used, as it is wrong
 * around clock changes.
 */

import 'uplot/dist/uPlot.min.css'
import uPlot from 'uplot'
import type { Zone } from '../text/zone.ts'
import {
  bandsOf,
  type ChartView,
  drawRules,
  rightAxis,
  rightScale,
  rightWidth,
  seriesOf,
  timeAxis,
  valueAxis,
} from './chart-look.ts'
import { edgeColour, wordColour } from './colours.ts'
import type { Block, ChartContent } from './panel.ts'
import type { TimeWindow } from './range.ts'
import { valueRange } from './ticks.ts'

interface ChartOptions {
  readonly height: number
  /** True for the lowest chart, which has the times below it. Others only have the lines of days. */
  readonly hasTimes: boolean
  /** Text and lines are larger by this factor than on a desk. */
  readonly scale: number
  readonly content: ChartContent
  readonly window: TimeWindow
  readonly zone: Zone
  /** The largest distance between the cursor and a selected value; called at each move. */
  readonly reachMs: () => number
  /** The pointer is at this moment, or has left. */
  readonly onPoint: (atMs: number | undefined) => void
  /** A stretch of time was selected with the mouse. */
  readonly onSelect: (fromMs: number, toMs: number) => void
}

export interface LineChart {
  setContent(content: ChartContent): void
  setWindow(window: TimeWindow): void
  setCursor(atMs: number | undefined): void
  /** Takes its width and its colours from the page again. */
  refresh(): void
  close(): void
}

const dragDistanceMin = 6

export function createLineChart(element: HTMLElement, options: ChartOptions): LineChart {
  const { zone, hasTimes, scale, content, window, onPoint } = options
  const colour = (name: string) => getComputedStyle(element).getPropertyValue(name)
  const view: ChartView = { content, window, zone, hasTimes, scale, colour }
  const chart = new uPlot(optionsOf(view, element.clientWidth, options), alignedData(content), element)
  const { over } = chart
  const onMove = ({ pointerType, clientX }: PointerEvent) => {
    if (pointerType === 'mouse') onPoint(chart.posToVal(clientX - over.getBoundingClientRect().left, 'x'))
  }
  over.addEventListener('pointermove', onMove)
  over.addEventListener('pointerleave', () => onPoint(undefined))
  return {
    setContent(next) {
      view.content = next
      chart.setData(alignedData(next), true)
    },
    setWindow(next) {
      view.window = next
      chart.setScale('x', { min: next.fromMs, max: next.toMs })
    },
    setCursor(atMs) {
      const isShown = atMs !== undefined && atMs >= view.window.fromMs && atMs <= view.window.toMs
      chart.setCursor(isShown ? { left: chart.valToPos(atMs, 'x'), top: 1 } : { left: -10, top: -10 }, false)
    },
    refresh() {
      chart.setSize({ width: element.clientWidth, height: options.height })
      chart.redraw(false, true)
    },
    close() {
      // Browsers send no event when the element under the pointer is removed.
      if (over.matches(':hover')) onPoint(undefined)
      chart.destroy()
    },
  }
}

type Select = ChartOptions['onSelect']

function optionsOf(view: ChartView, width: number, { height, reachMs, onSelect }: ChartOptions): uPlot.Options {
  // A block is shown whole, whatever place in it the cursor is nearest to.
  const hasPoints = view.content.blocks === undefined
  const { right } = view.content
  const ofRight = typeof right === 'object' ? right : undefined
  return {
    ms: 1,
    width,
    height,
    padding: [
      8,
      ofRight === undefined ? rightWidth(view.content, view.scale) : rightWidth({}, view.scale),
      view.hasTimes ? 0 : 4,
      0,
    ],
    legend: { show: false },
    cursor: {
      y: false,
      hover: { prox: plot => reachMs() * pixelsPerMs(plot) },
      drag: { x: true, y: false, setScale: false, dist: dragDistanceMin },
      points: { ...(hasPoints ? {} : { show: false }), size: 7, width: 1.5, fill: () => view.colour('--card') },
    },
    scales: {
      // The page's range sets the scale, not the data.
      x: { time: true, auto: false, range: () => [view.window.fromMs, view.window.toMs] },
      y: { range: (_plot, min, max) => valueRange(min, max, view.content) },
      ...(ofRight === undefined ? {} : { [rightScale]: { range: (_plot, min, max) => valueRange(min, max, ofRight) } }),
    },
    axes: [timeAxis(view), valueAxis(view), ...(ofRight === undefined ? [] : [rightAxis(view, ofRight.decimals)])],
    series: seriesOf(view),
    bands: bandsOf(view),
    hooks: {
      drawAxes: [plot => drawSpans(plot, view), plot => drawBlocks(plot, view)],
      draw: [plot => drawRules(plot, view)],
      setSelect: [plot => notifySelection(plot, onSelect)],
    },
  }
}

const pixelsPerMs = (plot: uPlot) => plot.valToPos(1, 'x') - plot.valToPos(0, 'x')

function notifySelection(plot: uPlot, onSelect: Select): void {
  const { left, width } = plot.select
  if (width < dragDistanceMin) return
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  onSelect(plot.posToVal(left, 'x'), plot.posToVal(left + width, 'x'))
}

function alignedData({ columns: { timesMs, lines } }: ChartContent): uPlot.AlignedData {
  return [timesMs, ...lines] as uPlot.AlignedData
}

/** CSS pixels: a short one is seen, too. */
const widthMin = 2

/** Stretches of time that are shaded over the whole height of a chart, below all else. */
function drawSpans(plot: uPlot, { content: { spans = [] }, colour }: ChartView): void {
  if (spans.length === 0) return
  const { ctx, bbox } = plot
  const right = bbox.left + bbox.width
  ctx.save()
  for (const span of spans) {
    const from = Math.max(bbox.left, plot.valToPos(span.fromMs, 'x', true))
    const to = Math.min(right, plot.valToPos(span.toMs, 'x', true))
    if (to < from) continue
    ctx.fillStyle = colour(span.wash)
    ctx.fillRect(from, bbox.top, Math.max(widthMin * devicePixelRatio, to - from), bbox.height)
    // The wash alone is faint.
    ctx.fillStyle = colour(span.colour)
    ctx.fillRect(from, bbox.top, Math.max(widthMin * devicePixelRatio, to - from), 2 * devicePixelRatio)
  }
  ctx.restore()
}

/** CSS pixels: from one bar to the next, and around words. */
const gap = 1
const textMargin = 4
/** A known 0 has this height, to differ from a missing value. */
const heightMin = 1.5

function drawBlocks(plot: uPlot, { content: { blocks = [] }, colour }: ChartView): void {
  if (blocks.length === 0) return
  const { ctx, bbox } = plot
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'center'
  const looks = new Map([...new Set(blocks.map(block => block.colour))].map(name => [name, lookOf(name, colour)]))
  for (const block of blocks) {
    const place = placeOf(plot, block)
    const look = looks.get(block.colour)
    if (place === undefined || look === undefined) continue
    const { left, top, width, height } = place
    ctx.fillStyle = look.edge
    ctx.fillRect(left, top, width, height)
    const inset = devicePixelRatio
    if (look.fill !== look.edge && width > 2 * inset && height > 2 * inset) {
      ctx.fillStyle = look.fill
      ctx.fillRect(left + inset, top + inset, width - 2 * inset, height - 2 * inset)
    }
    if (block.text === undefined || ctx.measureText(block.text).width + 2 * textMargin * devicePixelRatio > width)
      continue
    ctx.fillStyle = look.words
    ctx.fillText(block.text, left + width / 2, top + height / 2)
  }
  ctx.restore()
}

const lookOf = (name: string, colour: ChartView['colour']) => ({
  fill: colour(name),
  edge: colour(edgeColour(name)),
  words: colour(wordColour(name)),
})

/** The visible part in canvas pixels, or undefined. */
function placeOf(plot: uPlot, { fromMs, toMs, low, high }: Block) {
  const { left, width, top, height } = plot.bbox
  const [start, end] = [plot.valToPos(fromMs, 'x', true), plot.valToPos(toMs, 'x', true)]
  const [from, to] = [Math.max(left, start), Math.min(left + width, end)]
  if (to <= from) return undefined
  const room = end - start > 4 * gap * devicePixelRatio ? gap * devicePixelRatio : 0
  const ground = Math.min(top + height, plot.valToPos(low, 'y', true))
  const tall = Math.max(heightMin * devicePixelRatio, ground - plot.valToPos(high, 'y', true))
  return { left: from, top: ground - tall, width: Math.max(devicePixelRatio / 2, to - from - room), height: tall }
}
