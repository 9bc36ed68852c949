/** Marks the readings after a gap, for loops that need it more than once. */

import { type GapThresholds, StretchCursor } from './cadence.ts'

/**
 * One for each time, 0 for the first; times ascend. Without a threshold all others are 1, because readings then have no
 * neighbours.
 */
export function gapMarks(timesMs: Float64Array, gaps: GapThresholds): Uint8Array {
  const marks = new Uint8Array(timesMs.length)
  const cursor = new StretchCursor(gaps)
  for (let index = 1; index < timesMs.length; index++) {
    const beforeMs = timesMs[index - 1] as number
    if ((timesMs[index] as number) - beforeMs > (cursor.at(beforeMs)?.gapMs ?? 0)) marks[index] = 1
  }
  return marks
}
