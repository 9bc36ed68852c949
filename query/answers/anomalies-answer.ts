/** The anomalies of a device: a page of episodes, newest first. */

import { type Anomaly, type AnomalyKey, inOrder } from '../../analytics/findings/finding.ts'
import { findingText } from '../../analytics/findings/finding-text.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { type CustomMetric, descriptionsOf } from '../custom-metric.ts'
import { serviceWords } from '../findings/words.ts'
import type { Anomalies, Anomaly as AnomalyShape } from '../shapes/anomalies.ts'
import { answerContext } from './answer-text.ts'

export interface AnomaliesPage {
  /** The page begins after this id; undefined for the first page. */
  readonly after: string | undefined
  readonly limit: number
}

export interface AnomaliesInput extends AnomaliesPage {
  readonly device: string
  readonly startMs: number
  /** Not included, and not later than now. */
  readonly endMs: number
  /** In any order; anomalies outside the range are left out. */
  readonly found: readonly Anomaly[]
  readonly custom: readonly CustomMetric[]
  readonly nowMs: number
  readonly local: LocalTime
}

export function buildAnomalies(input: AnomaliesInput): string {
  const { device, startMs, endMs, after, limit, custom, nowMs, local } = input
  const all = input.found.filter(one => one.startMs < endMs && (one.endMs ?? endMs) >= startMs).sort(inOrder)
  const last = after === undefined ? undefined : keyOf(after)
  const from = last === undefined ? 0 : all.findIndex(one => inOrder(one, last) > 0)
  const rest = from < 0 ? [] : all.slice(from, from + limit)
  const isLast = from < 0 || from + limit >= all.length
  return JSON.stringify({
    device,
    ...answerContext(local, nowMs),
    start: local.text(startMs * 1000),
    end: local.text(endMs * 1000),
    anomalies: anomalyParts(rest, custom, local),
    anomalies_total: all.length,
    next: isLast ? null : idOf(rest.at(-1) as Anomaly),
    ...(custom.length === 0 ? {} : { metrics: descriptionsOf(custom) }),
  } satisfies Anomalies)
}

function anomalyParts(some: readonly Anomaly[], custom: readonly CustomMetric[], local: LocalTime): AnomalyShape[] {
  const words = serviceWords(local, custom)
  return some.map(one => {
    const { code, metric, startMs, endMs, value, valueMs, expected, count } = one
    const about = { code, metric, value, expected, sinceMs: valueMs ?? startMs, untilMs: endMs }
    return {
      id: idOf(one),
      code,
      metric,
      start: local.text(startMs * 1000),
      end: endMs === null ? null : local.text(endMs * 1000),
      value,
      value_at: valueMs === undefined ? null : local.text(valueMs * 1000),
      expected,
      count,
      // In a finding, the count would be the number of its episodes.
      reason: findingText({ ...about, count: null, pattern: null, reason: null }, words),
    }
  })
}

function idOf({ startMs, code, metric }: AnomalyKey): string {
  return [startMs, code, metric ?? ''].join('.')
}

/** Parses any text of an id's form: an anomaly of any code may have been the last one. */
function keyOf(id: string): AnomalyKey {
  const [startMs, code, metric] = id.split('.')
  return { startMs: Number(startMs), code: code as AnomalyKey['code'], metric: metric || null }
}
