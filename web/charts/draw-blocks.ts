/** Draws the blocks of a chart: bars of amounts, and states. */

import type uPlot from 'uplot'
import { edgeColour, wordColour } from './block-look.ts'
import type { ChartView } from './chart-look.ts'
import type { Block } from './panel.ts'

/** CSS pixels: from one bar to the next, and around words. */
const gap = 1
const textMargin = 4
/** A known 0 has this height, to differ from a missing value. */
const heightMin = 1.5

export function drawBlocks(plot: uPlot, { content: { blocks = [] }, colour }: ChartView): void {
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
