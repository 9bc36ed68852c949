/** The dynamic part of the statistics: freshness and reliability, which change while nothing comes. */

import { gapMsAt } from '../../analytics/reliability/cadence.ts'
import { freshnessOf } from '../../analytics/reliability/freshness.ts'
import { fullMinute } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { DynamicPart } from '../cache/response-template.ts'
import { liveText, type StatsLive } from '../stats/live.ts'

export function statsDynamicPart(live: StatsLive, nowMs: number, local: LocalTime): DynamicPart {
  const { lastMs, cadence } = live.freshness
  const { state } = freshnessOf({ ...live.freshness, nowMs })
  const gapMs = lastMs === null ? null : gapMsAt(cadence, cadence.gapMs, lastMs)
  const isSilent = lastMs !== null && gapMs !== null && fullMinute(nowMs) - lastMs > gapMs
  return { text: liveText(live, nowMs, local), tag: isSilent ? `${state}-silent` : state }
}
