/** An anomaly: an episode of what the tests of quality find suspect in one metric, of silence, or of another level. */

import type { Finding } from './finding.ts'

export const anomalyCodes = [
  'out_of_range',
  'error_code',
  'spike',
  'jump',
  'flat_line',
  'outage',
  'silent_metric',
  'level_change',
  'ramp',
  'unusual',
] as const
type AnomalyCode = (typeof anomalyCodes)[number]

export interface Anomaly extends Pick<Finding, 'metric' | 'value' | 'expected' | 'count'> {
  readonly code: AnomalyCode
  readonly startMs: number
  /** Null while it goes on at the end of the time that was looked at. */
  readonly endMs: number | null
  /** When `value` was read, of a spike and of a jump: the readings beside it are suspect, too. */
  readonly valueMs?: number
}

/** Newest first; two that begin together in the order of their codes and metrics. */
export function inOrder(a: AnomalyKey, b: AnomalyKey): number {
  return b.startMs - a.startMs || compared(a.code, b.code) || compared(a.metric ?? '', b.metric ?? '')
}

/** No two have the same. */
export type AnomalyKey = Pick<Anomaly, 'startMs' | 'code' | 'metric'>

function compared(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
