/** Fetches for `daily_summary`: the readings of the days, the one before them, and the times before that for the cadence. */

import { furtherSamples } from '../kinds/further-samples.ts'
import type { DailyQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildDaily, dailyStartMs } from './daily-answer.ts'
import { earlierTimes } from './device-cadence.ts'

export async function answerDaily(query: DailyQuery, context: TaskContext): Promise<string> {
  const { device, days, nowMs } = query
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const beforeUs = dailyStartMs(local, nowMs, days) * 1000 - 1
  const throughUs = nowMs * 1000
  // First, for what is read of a station afterwards has also those of its parameters that are only in these days.
  const metrics = await context.inUnits(query.further, [{ fromUs: beforeUs + 1, toUs: throughUs + 1 }])
  const firstUs = (await source.newestUs(symbol, beforeUs, signal)) ?? beforeUs + 1
  const [series, earlierMs] = await Promise.all([
    source.series({ symbol, afterUs: firstUs - 1, throughUs, rowsMax }, signal),
    earlierTimes(device, firstUs - 1, context),
  ])
  const further = await furtherSamples(metrics, { afterUs: firstUs - 1, throughUs }, series, context)
  return buildDaily({ device, series, earlierMs, further, days, nowMs, local })
}
