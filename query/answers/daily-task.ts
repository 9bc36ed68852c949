/** Fetches for `daily_summary`: the readings of the days, and the one before them. */

import type { DailyQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildDaily, dailyStartMs } from './daily-answer.ts'

export async function answerDaily(
  { device, days, nowMs }: DailyQuery,
  { source, local, signal, rowsMax }: TaskContext,
): Promise<string> {
  const { symbol } = device
  const beforeUs = dailyStartMs(local, nowMs, days) * 1000 - 1
  const firstUs = (await source.newestUs(symbol, beforeUs, signal)) ?? beforeUs + 1
  const series = await source.series({ symbol, afterUs: firstUs - 1, throughUs: nowMs * 1000, rowsMax }, signal)
  return buildDaily({ device, series, days, nowMs, local })
}
