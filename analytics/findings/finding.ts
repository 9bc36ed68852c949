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
  /** The unit is the metric's. `battery_days` has days, and `ramp` the daily change. */
  readonly value: number | null
  /** The usual range; null at an unbounded end. */
  readonly expected: readonly [number | null, number | null] | null
  /** Number of occurrences; for `drift` the number of compared devices. */
  readonly count: number | null
  readonly pattern: DayPattern | null
  /** Finding `rejected` has the most frequent reason of the rejections. */
  readonly reason: string | null
}

/** Defaults of the fields that most findings leave empty. */
export const noDetails = { untilMs: null, value: null, expected: null, count: null, pattern: null, reason: null }

/** The findings that make sense for a metric, by its kind. */

interface Allowed {
  /** Values are missing although the device reports. Metrics sent only on a change or an event may be silent. */
  readonly silentMetric: boolean
  /** The value never changes: a door, a meter and rain may stand still for days. */
  readonly stuck: boolean
}

export const findingsOfKind: Readonly<Record<'gauge' | 'counter' | 'direction' | 'state' | 'rate', Allowed>> = {
  gauge: { silentMetric: true, stuck: true },
  direction: { silentMetric: true, stuck: true },
  counter: { silentMetric: true, stuck: false },
  rate: { silentMetric: false, stuck: false },
  state: { silentMetric: false, stuck: false },
}

/** An anomaly: an episode of suspect readings in one metric, of silence, or of another level. */
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

/** Longer lists are not read. */
export const findingsMax = 10

type Ranked = Pick<Finding, 'code' | 'severity' | 'metric' | 'sinceMs' | 'untilMs'> & {
  /** Set in a list of several devices. */
  readonly device?: string
}

/** Keeps one at a time for each device, code and metric: of two that overlap, the first in the order stays. */
export function rankFindings<Some extends Ranked>(all: readonly Some[], max = findingsMax): Some[] {
  const keptByKey = new Map<string, Some[]>()
  const kept: Some[] = []
  for (const finding of [...all].sort(worstFirst)) {
    // A level that changes on may be a step first, and a ramp after some days.
    const code = finding.code === 'ramp' ? 'level_change' : finding.code
    const key = JSON.stringify([finding.device, code, finding.metric])
    const same = keptByKey.get(key) ?? []
    if (same.some(other => overlap(other, finding))) continue
    keptByKey.set(key, [...same, finding])
    kept.push(finding)
    if (kept.length === max) break
  }
  return kept
}

function worstFirst(a: Ranked, b: Ranked): number {
  const [rankOfA, rankOfB] = [a, b].map(({ severity }) => findingSeverities.indexOf(severity)) as [number, number]
  return rankOfA - rankOfB || Number(a.untilMs !== null) - Number(b.untilMs !== null) || b.sinceMs - a.sinceMs
}

function overlap(a: Ranked, b: Ranked): boolean {
  const isBefore = (one: Ranked, other: Ranked) => one.untilMs !== null && one.untilMs < other.sinceMs
  return !isBefore(a, b) && !isBefore(b, a)
}
