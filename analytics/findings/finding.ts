/**
 * A finding: what somebody should know of a device, and since when. It rests on figures that are significant, and says
 * nothing that grows older by itself.
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

/** The part of the local day in which something comes back. */
export interface DayPattern {
  /** `HH:mm` on the local clock; the end may be on the next day. */
  readonly from: string
  readonly to: string
  /** Local days that were looked at; `count` of the finding is on how many of them. */
  readonly days: number
}

export interface Finding {
  readonly code: FindingCode
  readonly severity: FindingSeverity
  /** Null: of the device as a whole. */
  readonly metric: string | null
  readonly sinceMs: number
  /** Null while it goes on. */
  readonly untilMs: number | null
  /** In the metric's unit; of `battery_days` in days, of `ramp` its change in a day. */
  readonly value: number | null
  /** From where to where it would be as usual; null at an end that has no bound. */
  readonly expected: readonly [number | null, number | null] | null
  /** How often; of `drift` the devices that it was compared with. */
  readonly count: number | null
  readonly pattern: DayPattern | null
  /** Of `rejected`: the reason of most of them, as the rejections have it. */
  readonly reason: string | null
}

/** What most findings have none of. */
export const noDetails = { untilMs: null, value: null, expected: null, count: null, pattern: null, reason: null }
