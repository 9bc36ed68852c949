/** Detects, by counting, that a device no longer reports at its estimated interval. */

import { bug } from '../../store/limits/bug.ts'
import type { LiveColumns } from './columns.ts'
import { kindAt } from './live-state.ts'

/** The statistics use the same block length to find changes of the interval. */
const blockIntervals = 20
const singleMin = 2
const farMax = 2
const nearShare = 0.1
/** Three intervals suffice for a first estimate. */
const firstReadings = 4

/**
 * Takes the interval before a reading that came in the order of time, Infinity for the first one. True when the
 * expected interval should be estimated again: after a block with few single intervals or with many that are not
 * multiples of one.
 */
export function noteInterval(columns: LiveColumns, slot: number, intervalMs: number): boolean {
  const { kinds, intervals, singles, far } = columns
  const count = (intervals[slot] as number) + 1
  intervals[slot] = count
  if (kinds[slot] === kindAt.unknown) return count >= firstReadings && restart(columns, slot)
  if (kinds[slot] === kindAt.irregular) return count >= blockIntervals && restart(columns, slot)
  const multiple = intervalMs / (columns.expectedMs[slot] as number)
  const nearest = Math.round(multiple)
  if (nearest === 1) (singles[slot] as number)++
  if (nearest === 0 || !(Math.abs(multiple - nearest) <= nearShare)) (far[slot] as number)++
  if ((singles[slot] as number) > count || (far[slot] as number) > count) {
    throw bug(`${singles[slot]} single and ${far[slot]} far intervals among ${count}`)
  }
  if (count < blockIntervals) return false
  const isAsExpected = (singles[slot] as number) >= singleMin && (far[slot] as number) <= farMax
  restart(columns, slot)
  return !isAsExpected
}

function restart({ intervals, singles, far }: LiveColumns, slot: number): true {
  intervals[slot] = 0
  singles[slot] = 0
  far[slot] = 0
  return true
}
