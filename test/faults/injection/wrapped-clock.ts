/** A wall clock that is wrong: by jumps that are known at the start, or by as much as a file says. */

import { readFileSync } from 'node:fs'
import type * as clock from '../../../service/clock.ts'
import { faults } from './fail-point.ts'
import { realModule } from './replacements.ts'

const real: typeof clock = await import(realModule(import.meta.url))
const startedMs = performance.now()
const { FAULT_CLOCK: jumps = [], FAULT_CLOCK_FILE: file } = faults

export const systemClock: clock.Clock = () => real.systemClock() + offsetMs()

function offsetMs(): number {
  if (file !== undefined) return readSeconds(file) * 1000
  const elapsedMs = performance.now() - startedMs
  return jumps.findLast(jump => jump.afterMs <= elapsedMs)?.offsetMs ?? 0
}

function readSeconds(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return 0
  }
}
