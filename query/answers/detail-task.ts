/** Fetches for `detail_data`: the readings of a day and the hours of a month. */

import type { DetailQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildDetail, detailWindows } from './detail-answer.ts'

export async function answerDetail(
  { device, points, withTimes, nowMs, rawFromUs }: DetailQuery,
  { source, local, signal, rowsMax }: TaskContext,
): Promise<string> {
  const { symbol } = device
  const { afterMs, throughMs, fromMs, toMs } = detailWindows(nowMs)
  const [series, hourly] = await Promise.all([
    source.series({ symbol, afterUs: afterMs * 1000, throughUs: throughMs * 1000, rowsMax }, signal),
    source.hourly({ symbol, fromUs: fromMs * 1000, toUs: toMs * 1000, rawFromUs }, signal),
  ])
  return buildDetail({ device, series, hourly, nowMs, local, points, withTimes })
}
