/** Hours of one metric as JSON text. Hours without a value are left out. */

import type { HourlyColumns } from '../series.ts'
import { type PointStyle, pointEnd, pointStart } from './point-text.ts'

/** `members` of each hour come first, each followed by a comma. */
export function hoursText(style: PointStyle, startsMs: Float64Array, columns: HourlyColumns, members = ''): string {
  const { mean, min, max, count } = columns
  const points: string[] = []
  for (let row = 0; row < count.length; row++) {
    if (count[row] === 0) continue
    const startMs = startsMs[row] as number
    const aggregates = `"mean":${mean[row]},"min":${min[row]},"max":${max[row]},"count":${count[row]}`
    points.push(pointStart(style, startMs) + members + aggregates + pointEnd(style, startMs))
  }
  return `[${points.join(',')}]`
}
