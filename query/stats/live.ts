/** The part of the statistics that goes on changing while no reading comes: it is written for every request. */

import type { ReliabilityRecord } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { Stats } from '../shapes/stats.ts'
import { freshnessPart, type LastSeen } from './freshness.ts'
import { jsonMembers } from './json-text.ts'
import { reliabilityPart } from './reliability.ts'

/** Some kilobytes of plain data that can be posted between threads. */
export interface StatsLive {
  /** Of the answer. */
  readonly timeZone: string
  readonly freshness: LastSeen
  readonly reliability: ReliabilityRecord
}

/**
 * `"freshness":{…},"reliability":{…}` at a moment not before that of the build. See `reliabilityAt` for what drifts when
 * the build is long ago.
 */
export function liveText(
  { freshness, reliability }: Omit<StatsLive, 'timeZone'>,
  nowMs: number,
  local: LocalTime,
): string {
  return jsonMembers({
    freshness: freshnessPart(freshness, nowMs, local),
    reliability: reliabilityPart(reliability, nowMs, local),
  } satisfies Pick<Stats, 'freshness' | 'reliability'>)
}
