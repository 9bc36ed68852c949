/** Stretches of time that are shaded over the whole height of a chart, below all else. */

import type uPlot from 'uplot'
import type { ChartView } from './chart-look.ts'

/** CSS pixels: a short one is seen, too. */
const widthMin = 2

export function drawSpans(plot: uPlot, { content: { spans = [] }, colour }: ChartView): void {
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
