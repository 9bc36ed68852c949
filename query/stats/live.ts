/** The part of the statistics that changes without readings. It is written for every request. */

import { silentFinding } from '../../analytics/findings/from-reliability.ts'
import { rankFindings } from '../../analytics/findings/rank.ts'
import { freshnessOf } from '../../analytics/reliability/freshness.ts'
import { reliabilityAt } from '../../analytics/reliability/reliability.ts'
import { fullMinute, type ReliabilityRecord } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { findingPart, type WordedFinding, wordedFinding } from '../findings/worded-finding.ts'
import { serviceWords } from '../findings/words.ts'
import type { Finding } from '../shapes/findings.ts'
import type { Stats } from '../shapes/stats.ts'
import { freshnessPart, type LastSeen, textOf } from './freshness.ts'
import { jsonMembers } from './json-text.ts'

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
