/** Fetches for `stats_data`: the readings of the window and of the last thirty days, and the one before them. */

import { detachBuffers } from '../../analytics/detach-buffers.ts'
import { type ResponseTemplate, templateOf } from '../cache/response-template.ts'
import type { StatsLive } from '../stats/live.ts'
import { buildStats, statsAfterMs } from '../stats/stats-answer.ts'
import type { StatsQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'

export async function answerStats(
  { device, days, stepSeconds, nowMs, newestUs }: StatsQuery,
  { source, local, signal, rowsMax }: TaskContext,
): Promise<ResponseTemplate<StatsLive>> {
  const { symbol } = device
  const lastUs = await source.newestUs(symbol, newestUs, signal)
  const throughUs = lastUs ?? newestUs
  const afterUs = Math.round(statsAfterMs(throughUs / 1000, nowMs, days) * 1000)
  const [series, beforeUs] = await Promise.all([
    source.series({ symbol, afterUs, throughUs, rowsMax }, signal),
    lastUs === undefined ? undefined : source.newestUs(symbol, afterUs, signal),
  ])
  const predecessorMs = beforeUs === undefined ? undefined : beforeUs / 1000
  const { head, live, tail } = buildStats({ device, nowMs, local, days, stepSeconds, series, predecessorMs })
  detachBuffers([series.timesMs, ...Object.values(series.values)])
  return templateOf(head, tail, live)
}
