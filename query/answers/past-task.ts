/** Fetches for `past_window_data`: the readings of five days. */

import type { PastQuestion } from '../task.ts'
import type { TaskSurroundings } from '../task-surroundings.ts'
import { buildPast, type PastInput, pastDays } from './past-answer.ts'

export async function answerPast(
  { device, nowMs }: PastQuestion,
  { source, local, signal, rowsMax }: TaskSurroundings,
): Promise<string> {
  const days: PastInput['days'][number][] = []
  for (const day of pastDays(local, nowMs)) {
    const range = { afterUs: day.startMs * 1000 - 1, throughUs: day.endMs * 1000 - 1 }
    days.push({ ...day, series: await source.series({ symbol: device.symbol, ...range, rowsMax }, signal) })
  }
  return buildPast({ device, days, nowMs, local })
}
