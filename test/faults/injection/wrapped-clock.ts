/** A wall clock that is wrong: by jumps that are known at the start, or by as much as a file says. */

import type * as clock from '../../../service/clock.ts'
import { clockFileMs } from '../clock-file.ts'
import { faults } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof clock = await import(realModule(import.meta.url))
const startedMs = performance.now()
const { FAULT_CLOCK: jumps = [], FAULT_CLOCK_FILE: file } = faults

export const systemClock: clock.Clock = () => real.systemClock() + offsetMs()

function offsetMs(): number {
  if (file !== undefined) return clockFileMs(file)
  const elapsedMs = performance.now() - startedMs
  return jumps.findLast(jump => jump.afterMs <= elapsedMs)?.offsetMs ?? 0
}
