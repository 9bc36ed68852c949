/** Series without their mean course of the local day, in which lags are searched. */

import { isRounding, momentsOf } from '../summary/moments.ts'
import { dayRemoved, daySlotMs, daySlots } from '../time/day-slots.ts'
import type { GridFrame } from '../time/grid.ts'
import type { LocalTime } from '../time/local-time.ts'
import { effectiveCount, memoryOf } from './effective-count.ts'

const dayMs = 86_400_000
/** Fewer days have no mean course. */
const daysMin = 3

export interface BeyondDay {
  readonly days: number
  /** Undefined with less than three days, and where only rounding is left. */
  rest(values: Float64Array): Float64Array | undefined
}

/** For series on one grid; `local` is the clock of their days. */
export function createBeyondDay(frame: GridFrame, local: Pick<LocalTime, 'offsetMs'>): BeyondDay {
  const days = (frame.cells * frame.stepMs) / dayMs
  const positionsOf = new Map<number, Float64Array>()

  function rest(values: Float64Array): Float64Array | undefined {
    if (days < daysMin) return
    const slotMs = daySlotMs(frame, momentsOf(values).count)
    const positions = positionsOf.get(slotMs) ?? daySlots(frame, local, slotMs)
    positionsOf.set(slotMs, positions)
    const left = dayRemoved(values, positions, dayMs / slotMs)
    return isRounding(left, values) ? undefined : left
  }

  return { days, rest }
}

/** n_eff of `n` pairs of such series. The mean course costs one day. */
export function effectiveCountBeyondDay(n: number, x: Float64Array, y: Float64Array, days: number): number | null {
  const count = effectiveCount(n, memoryOf(x), memoryOf(y))
  return count === null ? null : count * (1 - 1 / days)
}
