/** The states of a device, and the times at which they change without readings. */

import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { ageLimits, ageSecondsOf, ageStateOf, lateSeconds } from '../../analytics/reliability/freshness.ts'

/** Worst first, as in lists. `silent` is called stale or offline in the statistics, `off` is called paused. */
export const liveStates = ['silent', 'late', 'never', 'fresh', 'off'] as const
export type LiveState = (typeof liveStates)[number]

/** Indexes into `liveStates`. */
export const stateAt = { silent: 0, late: 1, never: 2, fresh: 3, off: 4 } as const

export type LiveCounts = Readonly<Record<LiveState, number>>

/** `counts` is indexed like `liveStates`. */
export function namedCounts(counts: Int32Array): LiveCounts {
  return Object.fromEntries(liveStates.map((state, at) => [state, counts[at]])) as Record<LiveState, number>
}

/** Kinds of a cadence, as stored in a column. */
const kinds = ['unknown', 'regular', 'irregular'] as const
export const kindAt = { unknown: 0, regular: 1, irregular: 2 } as const

export interface LiveCadence {
  /** Index into `kinds`. */
  readonly kind: number
  /** NaN while unknown. */
  readonly expectedMs: number
  readonly gapMs: number
}

export interface StateUntil {
  /** Index into `liveStates`. */
  readonly state: number
  /** The state changes then if no reading comes; Infinity when it stays. */
  readonly untilMs: number
}

/** The state of an active device whose last reading is at `lastMs`. */
export function stateByAge(lastMs: number, nowMs: number, cadence: LiveCadence): StateUntil {
  const limits = ageLimits(namedCadence(cadence))
  const state = ageStateOf(ageSecondsOf(lastMs, nowMs), limits)
  if (state === 'fresh') return { state: stateAt.fresh, untilMs: passes(lastMs, limits.fresh) }
  if (state === 'late') return { state: stateAt.late, untilMs: passes(lastMs, limits.late) }
  return { state: stateAt.silent, untilMs: Number.POSITIVE_INFINITY }
}

/** The cadence in the words of the statistics. */
export function namedCadence({ kind, expectedMs, gapMs }: LiveCadence): Pick<Cadence, 'kind' | 'expectedMs' | 'gapMs'> {
  return {
    kind: kinds[kind] ?? 'unknown',
    expectedMs: Number.isNaN(expectedMs) ? null : expectedMs,
    gapMs: Number.isNaN(gapMs) ? null : gapMs,
  }
}

/** True if `stateByAge` returns silent. Called for each reading of a history. */
export function isSilent(lastMs: number, nowMs: number, kind: number, expectedMs: number, gapMs: number): boolean {
  const [expected, gap] = [Number.isNaN(expectedMs) ? null : expectedMs, Number.isNaN(gapMs) ? null : gapMs]
  return ageSecondsOf(lastMs, nowMs) > lateSeconds(kinds[kind] ?? 'unknown', expected, gap)
}

/** Ages count whole seconds. */
function passes(lastMs: number, limitSeconds: number): number {
  return lastMs + (Math.floor(limitSeconds) + 1) * 1000
}
