/** Small SVG charts: a few lines with a short text beside them. */

import type { ComponentChildren } from 'preact'
import { areaPath, linePath, type Spot } from './paths.ts'

/** Units of the drawing, which is shown about as large. */
const chartWidth = 360
const chartHeight = 150
export const plot = { left: 8, right: 352, top: 18, bottom: 128 } as const

export interface SmallChartProps {
  readonly title: ComponentChildren
  /** The content in a sentence for screen readers. */
  readonly label: string
  /** The height of the drawing, which begins at `top`. */
  readonly height?: number
  readonly top?: number
  readonly children: ComponentChildren
}

export function SmallChart({ title, label, top = 0, height = chartHeight - top, children }: SmallChartProps) {
  return (
    <figure class="small-chart">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 ${top} ${chartWidth} ${height}`} role="img" aria-label={label}>
        {children}
      </svg>
    </figure>
  )
}

export interface AxisTick {
  readonly x: number
  readonly text: string
}

/** A thin line below the plot with a few labels. */
export function TimeAxis({ ticks }: { ticks: readonly AxisTick[] }) {
  return (
    <g class="axis">
      <path d={`M${plot.left} ${plot.bottom}H${plot.right}`} />
      {ticks.map(({ x, text }) => (
        <g key={text}>
          <path d={`M${x} ${plot.bottom}v4`} />
          <text x={x} y={plot.bottom + 17} text-anchor={anchorAt(x)}>
            {text}
          </text>
        </g>
      ))}
    </g>
  )
}

/** Words at the edges stay inside. */
function anchorAt(x: number): 'start' | 'middle' | 'end' {
  if (x < plot.left + 16) return 'start'
  return x > plot.right - 16 ? 'end' : 'middle'
}

export function Line({ spots, kind = '' }: { spots: readonly Spot[]; kind?: string }) {
  return <path class={`line ${kind}`} d={linePath(spots)} />
}

export function Area({ lower, upper, kind = '' }: { lower: readonly Spot[]; upper: readonly Spot[]; kind?: string }) {
  return <path class={`area ${kind}`} d={areaPath(lower, upper)} />
}

export interface MarkProps {
  readonly x: number
  readonly y: number
  readonly text: string
  readonly isBelow?: boolean
}

/** A dot with its words. */
export function Mark({ x, y, text, isBelow = false }: MarkProps) {
  return (
    <g class="mark">
      <circle cx={x} cy={y} r={3} />
      <text x={x} y={isBelow ? y + 16 : y - 8} text-anchor={x < 60 ? 'start' : x > chartWidth - 60 ? 'end' : 'middle'}>
        {text}
      </text>
    </g>
  )
}
