/**
 * The mean over time of the line through the samples: Σ dᵢ(xᵢ + xᵢ₊₁)/2 / Σ dᵢ over neighbours no further apart than G.
 * Gaps are neither counted nor bridged. numpy: `trapezoid` per segment with d ≤ G.
 */

import { lowerBound } from '../lower-bound.ts'
import { type GapThresholds, StretchCursor } from '../reliability/cadence.ts'

/**
 * Mean of the samples in [startMs, endMs). Segments across an edge are cut there, at the line's value, so the arrays
 * should include the samples around the stretch. Without a segment it is the plain mean of the samples, NaN without
 * any. NaN values are missing; times ascend; without a threshold all intervals are gaps.
 */
export function timeWeightedMean(
  timesMs: Float64Array,
  values: Float64Array,
  gaps: GapThresholds,
  startMs = Number.NEGATIVE_INFINITY,
  endMs = Number.POSITIVE_INFINITY,
): number {
  const cursor = new StretchCursor(gaps)
  let timeBefore = Number.NaN
  let valueBefore = Number.NaN
  let origin = Number.NaN
  let count = 0
  let sum = 0
  let area = 0
  let lengthMs = 0
  for (let index = presentBefore(values, lowerBound(timesMs, startMs)); index < timesMs.length; index++) {
    const value = values[index] as number
    if (Number.isNaN(value)) continue
    const timeMs = timesMs[index] as number
    // Distances from the first value keep the digits, and keep the mean of equal values equal to them.
    if (Number.isNaN(origin)) origin = value
    const betweenMs = timeMs - timeBefore
    // Before the first sample it is NaN, which is not below anything.
    if (betweenMs > 0 && betweenMs <= (cursor.at(timeBefore)?.gapMs ?? 0)) {
      const fromMs = Math.max(timeBefore, startMs)
      const untilMs = Math.min(timeMs, endMs)
      const share = middleOf(timeBefore, timeMs, fromMs, untilMs)
      area += (untilMs - fromMs) * (valueBefore - origin + (value - valueBefore) * share)
      lengthMs += untilMs - fromMs
    }
    if (timeMs >= endMs) break
    if (timeMs >= startMs) {
      count++
      sum += value - origin
    }
    timeBefore = timeMs
    valueBefore = value
  }
  if (count === 0) return Number.NaN
  return origin + (lengthMs > 0 ? area / lengthMs : sum / count)
}

/** The position on a segment, 0 … 1, of the middle of a part of it: a line's mean over a stretch is its value there. */
function middleOf(startMs: number, endMs: number, fromMs: number, untilMs: number): number {
  // Nearly all segments are inside, and need no division.
  if (fromMs === startMs && untilMs === endMs) return 0.5
  return (fromMs - startMs + (untilMs - startMs)) / 2 / (endMs - startMs)
}

/** The index of the last value before this one, 0 without any. */
function presentBefore(values: Float64Array, place: number): number {
  for (let index = place - 1; index > 0; index--) if (!Number.isNaN(values[index] as number)) return index
  return 0
}
