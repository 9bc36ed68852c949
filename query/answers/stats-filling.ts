/** What goes into the gap of the statistics at a moment: freshness and reliability, which change while nothing comes. */

import { freshnessOf } from '../../analytics/reliability/freshness.ts'
import { fullMinute } from '../../analytics/reliability/reliability-record.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import type { Filling } from '../kept/live-body.ts'
import { liveText, type StatsLive } from '../stats/live.ts'

export function fillStats(live: StatsLive, nowMs: number, local: LocalTime): Filling {
  const { lastMs, cadence } = live.freshness
  const { state } = freshnessOf({ ...live.freshness, nowMs })
  const isSilent = lastMs !== null && cadence.gapMs !== null && fullMinute(nowMs) - lastMs > cadence.gapMs
  return { text: liveText(live, nowMs, local), tag: isSilent ? `${state}-silent` : state }
}
