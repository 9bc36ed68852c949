/** The states of a device, and when time alone changes one. */

import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { ageLimits, ageSecondsOf, ageStateOf, lateSeconds } from '../../analytics/reliability/freshness.ts'

/** Worst first, as lists have them. `silent` is what the statistics call stale or offline, `off` what they call paused. */
export const liveStates = ['silent', 'late', 'never', 'fresh', 'off'] as const
export type LiveState = (typeof liveStates)[number]

/** Places in `liveStates`. */
export const stateAt = { silent: 0, late: 1, never: 2, fresh: 3, off: 4 } as const

export type LiveCounts = Readonly<Record<LiveState, number>>

/** `counts`: by places in `liveStates`. */
export function namedCounts(counts: Int32Array): LiveCounts {
  return Object.fromEntries(liveStates.map((state, at) => [state, counts[at]])) as Record<LiveState, number>
}

/** Of a cadence, as a column has them. */
const kinds = ['unknown', 'regular', 'irregular'] as const
export const kindAt = { unknown: 0, regular: 1, irregular: 2 } as const

export interface LiveCadence {
  /** A place in `kinds`. */
  readonly kind: number
  /** NaN while unknown. */
  readonly expectedMs: number
  readonly gapMs: number
}

export interface StateUntil {
  /** A place in `liveStates`. */
  readonly state: number
  /** From then on it is another one if no reading comes; Infinity when it stays. */
  readonly untilMs: number
}

/** Of a device that logs and whose last reading is at `lastMs`. */
export function stateByAge(lastMs: number, nowMs: number, cadence: LiveCadence): StateUntil {
  const limits = ageLimits(namedCadence(cadence))
  const state = ageStateOf(ageSecondsOf(lastMs, nowMs), limits)
  if (state === 'fresh') return { state: stateAt.fresh, untilMs: passes(lastMs, limits.fresh) }
  if (state === 'late') return { state: stateAt.late, untilMs: passes(lastMs, limits.late) }
  return { state: stateAt.silent, untilMs: Number.POSITIVE_INFINITY }
}

/** As the statistics have it. */
export function namedCadence({ kind, expectedMs, gapMs }: LiveCadence): Pick<Cadence, 'kind' | 'expectedMs' | 'gapMs'> {
  return {
    kind: kinds[kind] ?? 'unknown',
    expectedMs: Number.isNaN(expectedMs) ? null : expectedMs,
    gapMs: Number.isNaN(gapMs) ? null : gapMs,
  }
}

/** Whether `stateByAge` says silent. Of a history, each reading asks that. */
export function isSilent(lastMs: number, nowMs: number, kind: number, expectedMs: number, gapMs: number): boolean {
  const [expected, gap] = [Number.isNaN(expectedMs) ? null : expectedMs, Number.isNaN(gapMs) ? null : gapMs]
  return ageSecondsOf(lastMs, nowMs) > lateSeconds(kinds[kind] ?? 'unknown', expected, gap)
}

/** Ages count whole seconds. */
function passes(lastMs: number, limitSeconds: number): number {
  return lastMs + (Math.floor(limitSeconds) + 1) * 1000
}
