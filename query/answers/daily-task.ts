/** Fetches for `daily_summary`: the readings of the days, the one before them, and the times before that for the cadence. */

import { type LocalDay, localDays } from '../../analytics/time/local-days.ts'
import type { LocalTime } from '../../analytics/time/local-time.ts'
import { newestUsOf } from '../asked-window.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import type { DailyQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildDaily } from './daily-answer.ts'
import { earlierTimes } from './device-cadence.ts'

const dayMs = 86_400_000

export async function answerDaily(query: DailyQuery, context: TaskContext): Promise<string> {
  const { device, nowMs } = query
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const buckets = await daysOf(query, context)
  const beforeUs = (buckets[0]?.startMs ?? nowMs) * 1000 - 1
  const throughUs = newestUsOf(query.endMs, nowMs * 1000)
  // Units are read first: a later read of a station then includes parameters that occur only in these days.
  const metrics = await context.inUnits(query.custom, [{ fromUs: beforeUs + 1, toUs: throughUs + 1 }])
  const firstUs = (await source.newestUs(symbol, beforeUs, signal)) ?? beforeUs + 1
  const [series, earlierMs] = await Promise.all([
    source.series({ symbol, afterUs: firstUs - 1, throughUs, rowsMax }, signal),
    earlierTimes(device, firstUs - 1, context),
  ])
  const custom = await customSamples(metrics, { afterUs: firstUs - 1, throughUs }, series, context)
  return buildDaily({ device, series, earlierMs, custom, buckets, nowMs, local })
}

/**
 * The days of the window. Without a requested end, they end with the last reading of a device that has been silent
 * since.
 */
async function daysOf(query: DailyQuery, { source, local, signal }: TaskContext): Promise<LocalDay[]> {
  const { device, days, startMs, endMs, nowMs } = query
  const untilMs = Math.min(nowMs, (endMs ?? Number.POSITIVE_INFINITY) - 1)
  if (startMs !== undefined) return daysFrom(startMs, untilMs, local)
  if (endMs !== undefined) return localDays(local, untilMs, days)
  const newestUs = await source.newestUs(device.symbol, nowMs * 1000, signal)
  return localDays(local, newestUs === undefined ? untilMs : newestUs / 1000, days)
}

function daysFrom(startMs: number, untilMs: number, local: LocalTime): LocalDay[] {
  // Days may be shorter than 24 hours.
  const count = Math.ceil(Math.max(0, untilMs - startMs) / dayMs) + 2
  return localDays(local, untilMs, count).filter(day => day.endMs > startMs)
}
