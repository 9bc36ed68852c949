/** Fetches for `compare_data`: the newest reading of each device, and the hours of both before that. */

import type { CompareQuery } from '../task.ts'
import type { TaskContext } from '../task-context.ts'
import { buildCompare, compareWindow } from './compare-answer.ts'

export async function answerCompare(
  { a, b, preset, withTimes, nowMs, newestUs, hourSources }: CompareQuery,
  { source, local, signal }: TaskContext,
): Promise<string> {
  const devices = a.symbol === b.symbol ? [a] : [a, b]
  const lastReadingsMs: (number | undefined)[] = []
  for (const { symbol } of devices) {
    const { expiredBeforeUs } = hourSources
    const lastUs =
      (await source.newestUs(symbol, newestUs, signal)) ??
      // The window ends at a full hour, so that hour tells as much as the reading did.
      (Number.isFinite(expiredBeforeUs) ? await source.newestExpiredHourUs(symbol, expiredBeforeUs, signal) : undefined)
    lastReadingsMs.push(lastUs === undefined ? undefined : lastUs / 1000)
  }
  const window = compareWindow(preset, lastReadingsMs, nowMs)
  const hours = { fromUs: window.startMs * 1000, toUs: window.endMs * 1000, ...hourSources }
  const hourlyOfA = await source.hourly({ symbol: a.symbol, ...hours }, signal)
  const hourlyOfB = devices.length === 1 ? hourlyOfA : await source.hourly({ symbol: b.symbol, ...hours }, signal)
  return buildCompare({
    a: { device: a, hourly: hourlyOfA },
    b: { device: b, hourly: hourlyOfB },
    preset,
    ...window,
    nowMs,
    local,
    withTimes,
  })
}
