/** An anomaly: an episode of suspect readings in one metric, of silence, or of another level. */

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
  'excursion',
] as const
type AnomalyCode = (typeof anomalyCodes)[number]

export interface Anomaly extends Pick<Finding, 'metric' | 'value' | 'expected' | 'count'> {
  readonly code: AnomalyCode
  readonly startMs: number
  /** Null while it continues at the end of the examined time. */
  readonly endMs: number | null
  /** Time of `value`, for a spike or a jump: the readings beside it are suspect, too. */
  readonly valueMs?: number
}

/** Newest first; anomalies with the same start are ordered by code and metric. */
export function inOrder(a: AnomalyKey, b: AnomalyKey): number {
  return b.startMs - a.startMs || compared(a.code, b.code) || compared(a.metric ?? '', b.metric ?? '')
}

/** Unique for each anomaly of a device. */
export type AnomalyKey = Pick<Anomaly, 'startMs' | 'code' | 'metric'>

function compared(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
