/** Which readings have a gap before them, for loops that need it more than once. */

import { type GapThresholds, StretchCursor } from './cadence.ts'

/** One a time, 0 for the first; times ascend. Without a threshold all others are 1: no two readings are neighbours. */
export function gapMarks(timesMs: Float64Array, gaps: GapThresholds): Uint8Array {
  const marks = new Uint8Array(timesMs.length)
  const cursor = new StretchCursor(gaps)
  for (let index = 1; index < timesMs.length; index++) {
    const beforeMs = timesMs[index - 1] as number
    if ((timesMs[index] as number) - beforeMs > (cursor.at(beforeMs)?.gapMs ?? 0)) marks[index] = 1
  }
  return marks
}
