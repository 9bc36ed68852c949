/** A line of few values without axes, one above each bar of the strip of hours. */

import { linearScale, linePath } from '../charts/paths.ts'
import { hourStep } from './hour-strip.tsx'

const height = 22
/** Room for the line's width. */
const edge = 2

export interface SparklineProps {
  /** One an hour, null where there is none. */
  values: readonly (number | null)[]
  /** The height stands for at least this. */
  spanMin: number
  /** The content in a sentence for screen readers. */
  label: string
}

export function Sparkline({ values, spanMin, label }: SparklineProps) {
  const known = values.filter(value => value !== null)
  const [low, high] = [Math.min(...known), Math.max(...known)]
  const margin = Math.max(0, spanMin - (high - low)) / 2
  const y = linearScale([low - margin, high + margin], [height - edge, edge])
  const width = values.length * hourStep - 1
  const spots = values.map((value, hour) => [hour * hourStep + edge, value === null ? null : y(value)] as const)
  return (
    <svg class="sparkline" role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} {...{ width, height }}>
      <path d={linePath(spots)} />
    </svg>
  )
}
