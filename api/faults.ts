/**
 * Faults on order, for the tests in test/faults: read from the environment by config.ts, and refused unless FAULTS says
 * that this is a test. They stand in no table of settings, for nobody who runs the service may want them.
 */

import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { erasePoints, type FailPoint, failPoints, type InjectedFaults } from '../ingest/journal/injected-faults.ts'

export interface Faults {
  ingest: InjectedFaults
  /** The wall clock is off by so much from a moment after the start on. */
  clockJumps: { afterMs: number; offsetMs: number }[]
  /** The wall clock is off by as many seconds as this file says. */
  clockFile: string | undefined
}

/** Epoch milliseconds. */
export type Clock = () => number

const points = [...failPoints, ...erasePoints].join('|')

const FaultSettings = z.object({
  /** `after-append:17` dies at the 17th pass. */
  FAIL_POINT: z
    .string()
    .regex(new RegExp(`^(${points}):[1-9]\\d*$`))
    .transform(text => {
      const [name, pass] = text.split(':')
      return { name: name as FailPoint, pass: Number(pass) }
    })
    .optional(),
  /** `200..5000`, milliseconds. */
  FAULT_SYNC_MS: z
    .string()
    .regex(/^\d+\.\.\d+$/)
    .transform(text => {
      const [min = 0, max = 0] = text.split('..').map(Number)
      return { min, max }
    })
    .optional(),
  FAULT_LOSE_UNSYNCED: z.literal('1').optional(),
  /** `2:3600,4:-300`: two seconds after the start the clock is an hour ahead, after four five minutes behind. */
  FAULT_CLOCK: z
    .string()
    .regex(/^\d+(\.\d+)?:-?\d+(,\d+(\.\d+)?:-?\d+)*$/)
    .transform(text =>
      text.split(',').map(jump => {
        const [after = 0, offset = 0] = jump.split(':').map(Number)
        return { afterMs: after * 1000, offsetMs: offset * 1000 }
      }),
    )
    .optional(),
  /** For a test that sets the clock itself: a file with the seconds by which it is off, empty or missing for none. */
  FAULT_CLOCK_FILE: z.string().optional(),
})
const names = Object.keys(FaultSettings.shape)

/** Undefined without FAULTS=1; throws a sentence when faults are ordered without it, or wrongly. */
export function readFaults(environment: Record<string, string | undefined>): Faults | undefined {
  if (environment['FAULTS'] !== '1') {
    const ordered = names.filter(name => environment[name] !== undefined)
    if (ordered.length > 0) throw new Error(`${ordered.join(', ')} is for tests of faults, which set FAULTS=1`)
    return undefined
  }
  const parsed = FaultSettings.safeParse(environment)
  if (!parsed.success) throw new Error(`${parsed.error.issues[0]?.path.join('.')} orders no fault that is known`)
  const { FAIL_POINT, FAULT_SYNC_MS, FAULT_LOSE_UNSYNCED, FAULT_CLOCK, FAULT_CLOCK_FILE } = parsed.data
  return {
    ingest: { failPoint: FAIL_POINT, syncDelayMs: FAULT_SYNC_MS, losesUnsynced: FAULT_LOSE_UNSYNCED === '1' },
    clockJumps: FAULT_CLOCK ?? [],
    clockFile: FAULT_CLOCK_FILE,
  }
}

/** The wall clock in epoch milliseconds, wrong on order. */
export function createClockMs(faults: Faults | undefined): Clock {
  if (faults?.clockFile !== undefined) return createFileClock(faults.clockFile)
  if (faults === undefined || faults.clockJumps.length === 0) return Date.now
  const startedMs = performance.now()
  return () => {
    const elapsedMs = performance.now() - startedMs
    return Date.now() + (faults.clockJumps.findLast(jump => jump.afterMs <= elapsedMs)?.offsetMs ?? 0)
  }
}

function createFileClock(path: string): Clock {
  return () => Date.now() + readSeconds(path) * 1000
}

function readSeconds(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return 0
  }
}
