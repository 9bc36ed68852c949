/**
 * When the disk will be full, from how much was used on the days before. The growth is Theil–Sen's slope, the median of the
 * slopes of all pairs of days, which a day of a backlog or of an erase does not change.
 */

import type { DiskSample } from './samples.ts'

export interface Forecast {
  /** Undefined as long as there are too few days to tell. */
  growthBytesPerDay: number | undefined
  /** Undefined when it is not known, or nothing grows. */
  daysUntilFull: number | undefined
}

const dayMs = 86_400_000
/** With fewer days one of them decides. */
const daysMin = 4

/**
 * `daysUntilExpiry`: from then on as much goes as comes, so a disk that lasts until then does not get full by this growth.
 * Undefined when nothing expires, or does already and so is part of the growth.
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

/** Of all parts together, by day in UTC. */
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
