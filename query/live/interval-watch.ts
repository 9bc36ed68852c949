/** Notices, by counting, that a device no longer reports as it was estimated to. */

import { bug } from '../../store/limits/bug.ts'
import type { LiveColumns } from './columns.ts'
import { kindAt } from './live-state.ts'

/** As the statistics divide the times where they look for changes of the interval. */
const blockIntervals = 20
const singleMin = 2
const farMax = 2
const nearShare = 0.1
/** A first estimate can be made of three intervals. */
const firstReadings = 4

/**
 * The interval up to a reading that came in the order of time, Infinity for the first one; true when the expected interval
 * should be estimated anew. That is so after a block that has few single intervals or many that are not multiples of one.
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
    throw bug(`of ${count} intervals ${singles[slot]} are single and ${far[slot]} are not a multiple`)
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
