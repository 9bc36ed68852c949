/**
 * Forecasts when the disk will be full from its use on previous days. The growth is the Theil–Sen slope, the median of
 * the slopes of all pairs of days. Single days of a backlog or an erasure do not change it.
 */

import type { DiskSample } from './samples.ts'

export interface Forecast {
  /** Undefined with too few days. */
  growthBytesPerDay: number | undefined
  /** Undefined if unknown, or without growth. */
  daysUntilFull: number | undefined
}

const dayMs = 86_400_000
/** With fewer days, a single one decides. */
const daysMin = 4

/**
 * From `daysUntilExpiry` on, expiry offsets the growth, so a disk that lasts until then does not get full. Undefined if
 * readings never expire, or already do, which is part of the growth.
 */
export function forecast(
  samples: readonly DiskSample[],
  freeBytes: number,
  daysUntilExpiry = Number.POSITIVE_INFINITY,
): Forecast {
  const days = dailyMedians(samples)
  if (days.length < daysMin) return { growthBytesPerDay: undefined, daysUntilFull: undefined }
  const slopes = days.flatMap((later, at) => {
    return days.slice(0, at).map(earlier => (later.bytes - earlier.bytes) / (later.day - earlier.day))
  })
  const growthBytesPerDay = median(slopes)
  const daysUntilFull = growthBytesPerDay > 0 ? freeBytes / growthBytesPerDay : undefined
  const lasts = daysUntilFull === undefined || daysUntilFull >= daysUntilExpiry
  return { growthBytesPerDay, daysUntilFull: lasts ? undefined : daysUntilFull }
}

/** Sums of all parts by day in UTC. */
function dailyMedians(samples: readonly DiskSample[]): { day: number; bytes: number }[] {
  const byDay = Map.groupBy(samples, ({ atMs }) => Math.floor(atMs / dayMs))
  return [...byDay].map(([day, ofDay]) => {
    return { day, bytes: median(ofDay.map(({ journal, questdb, postgres }) => journal + questdb + postgres)) }
  })
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
}
