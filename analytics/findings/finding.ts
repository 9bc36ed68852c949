/**
 * A finding: a fact about a device that needs attention, with its beginning. It depends only on significant figures,
 * and its text does not become outdated by itself.
 */

export const findingCodes = [
  'silent',
  'silent_metric',
  'outage',
  'outage_pattern',
  'stuck',
  'out_of_range',
  'error_code',
  'level_change',
  'ramp',
  'unusual',
  'drift',
  'battery_level',
  'battery_days',
  'rejected',
  'spikes',
  'excursion',
] as const
export type FindingCode = (typeof findingCodes)[number]

/** Worst first. */
export const findingSeverities = ['critical', 'warning', 'info'] as const
type FindingSeverity = (typeof findingSeverities)[number]

/** The part of the local day in which a pattern recurs. */
export interface DayPattern {
  /** `HH:mm` on the local clock. The end may be on the next day. */
  readonly from: string
  readonly to: string
  /** Number of examined local days; `count` of the finding is the number of days with the pattern. */
  readonly days: number
}

export interface Finding {
  readonly code: FindingCode
  readonly severity: FindingSeverity
  /** Null for a finding about the whole device. */
  readonly metric: string | null
  readonly sinceMs: number
  /** Null while it continues. */
  readonly untilMs: number | null
  /** In the metric's unit; for `battery_days` in days, for `ramp` the daily change. */
  readonly value: number | null
  /** The usual range; null at an unbounded end. */
  readonly expected: readonly [number | null, number | null] | null
  /** Number of occurrences; for `drift` the number of compared devices. */
  readonly count: number | null
  readonly pattern: DayPattern | null
  /** For `rejected`: the most frequent reason, as in the rejections. */
  readonly reason: string | null
}

/** Defaults of the fields that most findings leave empty. */
export const noDetails = { untilMs: null, value: null, expected: null, count: null, pattern: null, reason: null }
