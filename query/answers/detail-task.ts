/** Fetches for `detail_data`: the readings of a day, the hours of a month, and the times before that day for the cadence. */

import type { DetailQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildDetail, detailWindows } from './detail-answer.ts'
import { earlierTimes } from './device-cadence.ts'

export async function answerDetail(
  { device, nowMs, hourSources, ...how }: DetailQuery,
  context: TaskContext,
): Promise<string> {
  const { source, local, signal, rowsMax } = context
  const { symbol } = device
  const { afterMs, throughMs, fromMs, toMs } = detailWindows(nowMs)
  const [series, hourly, earlierMs] = await Promise.all([
    source.series({ symbol, afterUs: afterMs * 1000, throughUs: throughMs * 1000, rowsMax }, signal),
    source.hourly({ symbol, fromUs: fromMs * 1000, toUs: toMs * 1000, ...hourSources }, signal),
    earlierTimes(device, afterMs * 1000, context),
  ])
  return buildDetail({ device, series, earlierMs, hourly, nowMs, local, ...how })
}
