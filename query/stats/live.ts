/** The part of the statistics that changes without readings. It is written for every request. */

import { rankFindings } from '../../analytics/findings/finding.ts'
import { silentFinding } from '../../analytics/findings/from-reliability.ts'
import type { Cadence } from '../../analytics/reliability/cadence.ts'
import { ageSecondsOf, freshnessOf, type LastValue, lastValueOf } from '../../analytics/reliability/freshness.ts'
import { reliabilityAt } from '../../analytics/reliability/reliability.ts'
import { fullMinute, type ReliabilityRecord } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { bug } from '../../store/limits/bug.ts'
import { type Metric, metrics } from '../../store/tables.ts'
import type { CustomSamples } from '../custom-metric.ts'
import { findingPart, serviceWords, type WordedFinding, wordedFinding } from '../findings/words.ts'
import { mapColumns, type Series } from '../series.ts'
import type { Finding } from '../shapes/findings.ts'
import type { Stats } from '../shapes/stats.ts'

/** Some kilobytes of plain data that can be posted between threads. */
export interface StatsLive {
  /** Time zone of the answer. */
  readonly timeZone: string
  /** Findings of the build, worst first, without a silence that may have begun since. */
  readonly findings: readonly WordedFinding[]
  readonly freshness: LastSeen
  readonly reliability: ReliabilityRecord
}

/** Findings at a moment, worst first. */
function findingsPart(
  { findings, freshness }: Pick<StatsLive, 'findings' | 'freshness'>,
  nowMs: number,
  local: LocalTime,
): Finding[] {
  const silent = silentFinding(freshnessOf({ ...freshness, nowMs }).state, freshness.lastMs)
  // The days left of a battery assume that the device goes on reporting; see `buildInsights`.
  const all =
    silent === undefined
      ? findings
      : [wordedFinding(silent, serviceWords(local, [])), ...findings.filter(({ code }) => code !== 'battery_days')]
  return rankFindings(all).map(finding => findingPart(finding, local))
}

/**
 * `"findings":[…],"freshness":{…},"reliability":{…}` at a moment that is not before the build. See `reliabilityAt` for
 * drift after an old build.
 */
export function liveText(live: Omit<StatsLive, 'timeZone'>, nowMs: number, local: LocalTime): string {
  const { freshness, reliability } = live
  return jsonMembers({
    findings: findingsPart(live, nowMs, local),
    freshness: freshnessPart(freshness, nowMs, local),
    reliability: reliabilityPart(reliability, nowMs, local),
  } satisfies Pick<Stats, 'findings' | 'freshness' | 'reliability'>)
}

/** The reliability of the device up to the full minute of the request. */
function reliabilityPart(record: ReliabilityRecord, nowMs: number, local: LocalTime) {
  const { gaps, windows, ...rest } = reliabilityAt(record, nowMs, local)
  return {
    as_of: local.text(Math.max(record.endMs, fullMinute(nowMs)) * 1000),
    // The record contains these metrics, the five among them.
    windows: windows as Stats['reliability']['windows'],
    ...rest,
    gaps: gaps.map(({ start_ms, end_ms, ...gap }) => ({
      start: textOf(start_ms, local),
      end: textOf(end_ms, local),
      ...gap,
    })),
  }
}

/**
 * The members of an object, for insertion among others. `JSON.stringify` alone would silently write NaN and infinities
 * as null; here they are internal errors. Missing values must be null already.
 */
export function jsonMembers(value: object): string {
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (typeof part === 'number' && !Number.isFinite(part)) throw bug(`${name} is ${part}`)
    return part
  })
  return text.slice(1, -1)
}

/** Summary of the readings for freshness. */
export interface LastSeen {
  readonly lastMs: number | null
  readonly enabled: boolean
  readonly cadence: Cadence
  /** Includes custom metrics. */
  readonly metrics: Readonly<Record<Metric, LastValue | null>>
}

/** The freshness of the device at the second of the request. */
export function lastSeenOf(
  { timesMs, values }: Series,
  custom: readonly CustomSamples[],
  cadence: Cadence,
  enabled: boolean,
): LastSeen {
  const last = {
    ...mapColumns(metrics, metric => lastValueOf(timesMs, values[metric])),
    ...Object.fromEntries(custom.map(({ metric, ...one }) => [metric.name, lastValueOf(one.timesMs, one.values)])),
  }
  return { lastMs: timesMs.at(-1) ?? null, enabled, cadence, metrics: last }
}

function freshnessPart(seen: LastSeen, nowMs: number, local: LocalTime) {
  const { state, age_seconds, next_expected_ms, clock_skew } = freshnessOf({ ...seen, nowMs })
  const { kind, expectedMs, source, regularity } = seen.cadence
  return {
    state,
    as_of: local.text(nowMs * 1000),
    last_seen: textOf(seen.lastMs, local),
    age_seconds,
    expected_interval_seconds: expectedMs === null ? null : expectedMs / 1000,
    interval_source: source,
    cadence: kind,
    regularity,
    next_expected: textOf(next_expected_ms, local),
    clock_skew,
    metrics: mapColumns(Object.keys(seen.metrics) as Metric[], metric =>
      lastValuePart(seen.metrics[metric], nowMs, local),
    ),
  }
}

function lastValuePart(last: LastValue | null, nowMs: number, local: LocalTime) {
  if (last === null) return { last_seen: null, age_seconds: null, value: null }
  return { last_seen: textOf(last.time_ms, local), age_seconds: ageSecondsOf(last.time_ms, nowMs), value: last.value }
}

/** `YYYY-MM-DD HH:mm` on the server's clock. */
export function textOf(timeMs: number | null, local: LocalTime): string | null {
  return timeMs === null ? null : local.text(timeMs * 1000)
}
