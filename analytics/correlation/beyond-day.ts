/** Series without their mean course of the local day, in which lags are searched. */

import { isRounding, momentsOf } from '../summary/moments.ts'
import { closeRound } from '../time/fill-gaps.ts'
import { type GridFrame, gridStepsSeconds } from '../time/grid.ts'
import type { LocalTime } from '../time/local-time.ts'
import { effectiveCount, memoryOf } from './autocorrelation.ts'

const dayMs = 86_400_000
/** Fewer days have no mean course. */
const daysMin = 3

export interface BeyondDay {
  readonly days: number
  /** Undefined with less than three days, and where only rounding is left. */
  rest(values: Float64Array): Float64Array | undefined
}

/** All series are on one grid. `local` is the clock of their days. */
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

const hourMs = 3_600_000
/** Values required for the mean of a slot. */
const valuesOfSlotMin = 5

/**
 * The width of a slot of the day: the grid's step, or up to an hour, where a step has too few values. Slots wider than
 * a cell leave a little of the day in all series alike.
 */
export function daySlotMs({ stepMs }: Pick<GridFrame, 'stepMs'>, observed: number): number {
  const widestMs = Math.max(hourMs, stepMs)
  const widths = gridStepsSeconds
    .map(seconds => seconds * 1000)
    .filter(slotMs => slotMs >= stepMs && slotMs <= widestMs)
  return widths.find(slotMs => (observed * slotMs) / dayMs >= valuesOfSlotMin) ?? widestMs
}

/** The middle of each cell within the local day, in slots: a whole number is the start of one. */
export function daySlots(
  { startMs, stepMs, cells }: GridFrame,
  local: Pick<LocalTime, 'offsetMs'>,
  slotMs: number,
): Float64Array {
  const positions = new Float64Array(cells)
  for (let cell = 0; cell < cells; cell++) {
    const middleMs = startMs + (cell + 0.5) * stepMs
    const localMs = (middleMs + local.offsetMs(middleMs)) % dayMs
    positions[cell] = (localMs < 0 ? localMs + dayMs : localMs) / slotMs
  }
  return positions
}

/**
 * The values minus the mean of their time of day, interpolated between the middles of two slots: with plain steps, the
 * remainder of a steep morning would be a sawtooth in all series. `positions` come from `daySlots`, `slots` is their
 * number in a day. NaN stays NaN.
 */
function dayRemoved(values: Float64Array, positions: Float64Array, slots: number): Float64Array {
  const rest = values.slice()
  const profile = slotMeans(values, positions, slots)
  if (profile === undefined) return rest
  for (let cell = 0; cell < rest.length; cell++) {
    const middle = (positions[cell] as number) - 0.5
    const before = Math.floor(middle)
    const share = middle - before
    const mean = (1 - share) * (profile[(before + slots) % slots] as number)
    rest[cell] = (rest[cell] as number) - mean - share * (profile[(before + 1) % slots] as number)
  }
  return rest
}

/** Undefined without any value. An empty slot is interpolated between its neighbours. */
function slotMeans(values: Float64Array, positions: Float64Array, slots: number): Float64Array | undefined {
  const sums = new Float64Array(slots)
  const counts = new Float64Array(slots)
  // Distances from one of the values: pressures would lose digits in plain sums.
  const origin = values.find(value => !Number.isNaN(value))
  if (origin === undefined) return
  for (let cell = 0; cell < values.length; cell++) {
    const value = values[cell] as number
    if (Number.isNaN(value)) continue
    const slot = Math.floor(positions[cell] as number)
    sums[slot] = (sums[slot] as number) + (value - origin)
    counts[slot] = (counts[slot] as number) + 1
  }
  return closeRound(sums.map((sum, slot) => origin + sum / (counts[slot] as number)))
}
