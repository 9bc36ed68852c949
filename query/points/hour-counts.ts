/**
 * Locates the pages of a list among its rows. The rows of each hour are counted, which costs little more than counting
 * all. A page is then read from its own hours, so it costs the same at any offset.
 */

import type { HourCounts } from './points-source.ts'

const hourUs = 3_600_000_000

export interface Located {
  /** Microseconds, whole hours; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Number of rows in these hours that precede the requested ones, in the requested direction. */
  readonly offset: number
  readonly rows: number
}

export function totalOf({ counts }: HourCounts): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The hours that contain the `count` rows from `offset` on. These must exist. */
export function locate(hours: HourCounts, direction: 'asc' | 'desc', offset: number, count: number): Located {
  const { startsUs, counts } = hours
  const length = counts.length
  const at = (place: number) => (direction === 'asc' ? place : length - 1 - place)
  let first = 0
  let before = 0
  for (; first < length - 1; first++) {
    const rows = counts[at(first)] as number
    if (before + rows > offset) break
    before += rows
  }
  let last = first
  let rows = counts[at(first)] ?? 0
  while (before + rows < offset + count && last < length - 1) rows += counts[at(++last)] as number
  const [earliest, latest] = direction === 'asc' ? [first, last] : [last, first]
  return {
    fromUs: startsUs[at(earliest)] as number,
    toUs: (startsUs[at(latest)] as number) + hourUs,
    offset: offset - before,
    rows,
  }
}

/** Offset and count of pieces of whole hours, each with about this many rows. */
export function* pieces(
  hours: HourCounts,
  direction: 'asc' | 'desc',
  rowsWanted: number,
): Generator<{ offset: number; count: number }> {
  const counts = direction === 'asc' ? hours.counts : hours.counts.toReversed()
  let offset = 0
  let count = 0
  for (const rows of counts) {
    count += rows
    if (count < rowsWanted) continue
    yield { offset, count }
    offset += count
    count = 0
  }
  if (count > 0) yield { offset, count }
}
