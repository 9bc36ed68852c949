/**
 * Fetches for `stats_data`: the readings of the window and of the last thirty days, and the one before them. An answer
 * about an earlier moment has no dynamic part.
 */

import { detachBuffers } from '../../store/limits/detach-buffers.ts'
import { metrics as columns } from '../../store/tables.ts'
import { type ResponseTemplate, templateOf } from '../cache/response-template.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import { QueryFailed } from '../query-failed.ts'
import { liveText, type StatsLive } from '../stats/live.ts'
import { buildStats, statsAfterMs } from '../stats/stats-answer.ts'
import type { StatsQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'

export async function answerStats(
  { device, days, startMs, endMs, stepSeconds, rejected, nowMs, newestUs, ...query }: StatsQuery,
  context: TaskContext,
): Promise<string | ResponseTemplate<StatsLive>> {
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const lastUs = await source.newestUs(symbol, newestUs, signal)
  const throughUs = lastUs ?? newestUs
  const afterUs = Math.round(statsAfterMs(throughUs / 1000, nowMs, days) * 1000)
  const metrics = await context.inUnits(query.custom, [{ fromUs: afterUs + 1, toUs: throughUs + 1 }])
  const [series, beforeUs] = await Promise.all([
    source.series({ symbol, afterUs, throughUs, rowsMax }, signal),
    lastUs === undefined ? undefined : source.newestUs(symbol, afterUs, signal),
  ])
  const custom = await customSamples(metrics, { afterUs, throughUs }, series, context)
  // Custom metrics may have as many numbers as the readings themselves.
  if (series.timesMs.length * metrics.length > rowsMax * columns.length) {
    throw new QueryFailed(
      'TOO_LARGE',
      `${metrics.length} metrics of ${series.timesMs.length} readings exceed the limit of values`,
    )
  }
  const predecessorMs = beforeUs === undefined ? undefined : beforeUs / 1000
  const { head, live, tail } = buildStats({
    device,
    nowMs,
    local,
    days,
    startMs,
    stepSeconds,
    series,
    custom,
    predecessorMs,
    rejected,
  })
  detachBuffers([series.timesMs, ...Object.values(series.values)])
  return endMs === undefined ? templateOf(head, tail, live) : head + liveText(live, nowMs, local) + tail
}
