/** Fetches for `past_window_data`: the readings of five days. */

import { newestUsOf } from '../asked-window.ts'
import { customSamples } from '../kinds/custom-samples.ts'
import type { PastQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { earlierTimes } from './device-cadence.ts'
import { buildPast, type PastInput, pastDays } from './past-answer.ts'

export async function answerPast({ device, nowMs, ...query }: PastQuery, context: TaskContext): Promise<string> {
  const { source, local, signal, rowsMax } = context
  // The end of a range is not included, so it may belong to another day.
  const asked = pastDays(local, Math.min(nowMs, (query.endMs ?? Number.POSITIVE_INFINITY) - 1))
  const ranges = asked.map(({ startMs, endMs }) => ({ fromUs: startMs * 1000, toUs: endMs * 1000 }))
  const custom = await context.inUnits(query.custom, ranges)
  const days: PastInput['days'][number][] = []
  for (const day of asked) {
    const afterUs = day.startMs * 1000 - 1
    const endUs = Math.min(day.endMs, query.endMs ?? day.endMs) * 1000
    const series = await source.series({ symbol: device.symbol, afterUs, throughUs: endUs - 1, rowsMax }, signal)
    // An amount that is dated with the end of the day belongs to that day.
    const range = { afterUs, throughUs: endUs < day.endMs * 1000 ? endUs - 1 : endUs, untilUs: nowMs * 1000 }
    const samples = await customSamples(custom, range, series, context)
    days.push({ ...day, series, custom: samples })
  }
  // Without custom metrics the answer does not depend on the device's interval.
  const timesMs =
    custom.length === 0
      ? new Float64Array(0)
      : await earlierTimes(device, newestUsOf(query.endMs, nowMs * 1000), context)
  return buildPast({ device, days, timesMs, nowMs, local })
}
