/** Fetches for `past_window_data`: the readings of five days. */

import type { PastQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildPast, type PastInput, pastDays } from './past-answer.ts'

export async function answerPast(
  { device, nowMs }: PastQuery,
  { source, local, signal, rowsMax }: TaskContext,
): Promise<string> {
  const days: PastInput['days'][number][] = []
  for (const day of pastDays(local, nowMs)) {
    const range = { afterUs: day.startMs * 1000 - 1, throughUs: day.endMs * 1000 - 1 }
    days.push({ ...day, series: await source.series({ symbol: device.symbol, ...range, rowsMax }, signal) })
  }
  return buildPast({ device, days, nowMs, local })
}
