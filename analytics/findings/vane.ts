/** A vane that is frozen: its direction stands still, although there is wind. */

import { lowerBound, upperBound } from '../lower-bound.ts'
import { flatBit } from '../quality/quality-marks.ts'
import type { JudgedMetric } from './quality-anomalies.ts'

/** Share of a flat line's readings with a known speed. */
const windyShareMin = 0.5

export interface VaneSpeeds {
  /** Speeds at the times of the directions, NaN where missing. */
  readonly speeds: Float64Array
  /** A vane turns from this speed on. */
  readonly calmBelow: number
}

/** The marks of a vane without flat lines in which it was mostly calm. */
export function frozenMarks(
  { timesMs, marks }: Pick<JudgedMetric, 'timesMs' | 'marks'>,
  lines: readonly { readonly startMs: number; readonly endMs: number }[],
  { speeds, calmBelow }: VaneSpeeds,
): Uint8Array {
  const left = marks.slice()
  for (const { startMs, endMs } of lines) {
    const [from, to] = [lowerBound(timesMs, startMs), upperBound(timesMs, endMs)]
    const known = speeds.subarray(from, to).filter(speed => !Number.isNaN(speed))
    const windy = known.filter(speed => speed >= calmBelow).length
    if (known.length > 0 && windy >= windyShareMin * known.length) continue
    for (let index = from; index < to; index++) (left[index] as number) &= ~flatBit
  }
  return left
}
