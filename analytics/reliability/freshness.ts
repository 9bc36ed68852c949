/** The freshness of a device, computed on each request from its last reading. */

import { type Cadence, gapMsAt } from './cadence.ts'

/** Interval of a device whose own is unknown. */
export const expectedDefaultSeconds = 900
const daySeconds = 86_400
/** A device whose clock is ahead of the server's by more gets a warning. */
const skewSecondsMax = 60

export interface FreshnessInput {
  /** The last reading of any metric, null without one. */
  readonly lastMs: number | null
  readonly nowMs: number
  /** False when the device's log is switched off. */
  readonly enabled: boolean
  readonly cadence: Cadence
}

export interface Freshness {
  readonly state: 'never' | 'paused' | 'fresh' | 'late' | 'stale' | 'offline'
  /** Whole seconds since the last reading, 0 when the device is ahead; null without a reading. */
  readonly age_seconds: number | null
  /** Null for an irregular device. */
  readonly next_expected_ms: number | null
  readonly clock_skew: boolean
}

/** A device that has never sent a reading is `never`, even when it is switched off. */
export function freshnessOf({ lastMs, nowMs, enabled, cadence }: FreshnessInput): Freshness {
  if (lastMs === null) return { state: 'never', age_seconds: null, next_expected_ms: null, clock_skew: false }
  const ageSeconds = ageSecondsOf(lastMs, nowMs)
  const { kind, expectedMs } = cadence
  const gapMs = gapMsAt(cadence, cadence.gapMs, lastMs)
  return {
    state: enabled ? ageStateOf(ageSeconds, ageLimits({ kind, expectedMs, gapMs })) : 'paused',
    age_seconds: ageSeconds,
    next_expected_ms: cadence.kind === 'regular' && cadence.expectedMs !== null ? lastMs + cadence.expectedMs : null,
    clock_skew: lastMs - nowMs > skewSecondsMax * 1000,
  }
}

/** Rounded down to the second, and never negative. */
export function ageSecondsOf(timeMs: number, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - timeMs) / 1000))
}

/** Upper age limits of each state, in seconds. */
export interface AgeLimits {
  readonly fresh: number
  readonly late: number
  readonly stale: number
}

/**
 * Period and grace, as in Healthchecks. The grace of a quick device is at least a minute. An irregular one is measured
 * by its longest usual silence G: half its readings come later than its median interval.
 */
export function ageLimits({ kind, expectedMs, gapMs }: Pick<Cadence, 'kind' | 'expectedMs' | 'gapMs'>): AgeLimits {
  const late = lateSeconds(kind, expectedMs, gapMs)
  if (kind === 'irregular' && gapMs !== null) {
    const gap = gapMs / 1000
    return { fresh: gap, late, stale: Math.max(daySeconds, 4 * gap) }
  }
  const expected = expectedMs === null ? expectedDefaultSeconds : expectedMs / 1000
  return { fresh: Math.max(2 * expected, expected + 60), late, stale: Math.max(daySeconds, 10 * expected) }
}

/** The limit `late` of `ageLimits`, without allocations, for calls on each reading. */
export function lateSeconds(kind: Cadence['kind'], expectedMs: number | null, gapMs: number | null): number {
  if (kind === 'irregular' && gapMs !== null) return (2 * gapMs) / 1000
  const expected = expectedMs === null ? expectedDefaultSeconds : expectedMs / 1000
  return Math.max(5 * expected, expected + 300)
}

/** Takes an age in whole seconds. */
export function ageStateOf(ageSeconds: number, limits: AgeLimits): 'fresh' | 'late' | 'stale' | 'offline' {
  if (ageSeconds <= limits.fresh) return 'fresh'
  if (ageSeconds <= limits.late) return 'late'
  return ageSeconds <= limits.stale ? 'stale' : 'offline'
}

/** A metric's last value and its time: a device may be fresh while one of its sensors has been silent for a day. */
export interface LastValue {
  readonly time_ms: number
  readonly value: number
}

/** Null when the metric has no value. */
export function lastValueOf(timesMs: Float64Array, values: Float64Array): LastValue | null {
  for (let index = values.length - 1; index >= 0; index--) {
    const value = values[index] as number
    if (!Number.isNaN(value)) return { time_ms: timesMs[index] as number, value }
  }
  return null
}
