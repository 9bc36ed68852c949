/** Reads points, and caches their number in each hour and the newest one. */

import { LRUCache } from 'lru-cache'
import type { Station } from '../analysed-device.ts'
import type { PointFilter } from './point-sql.ts'
import type { PointFormat } from './point-texts.ts'
import type { Filtered, Plan, PointsQueries, PointsText, StoredPlan } from './points-queries.ts'
import { createPointsRun, type Outcome, type PointsRunOptions } from './points-run.ts'
import type { HourCounts, PointsCount } from './points-source.ts'

export interface PointsOptions extends PointsRunOptions {
  /** Increases whenever new rows of the series become visible to queries. Without it, nothing is cached. */
  readonly revision?: (seriesNumber: number) => number
}

/** Rows of a list, by index in its order. */
export interface Slice {
  readonly offset: number
  readonly count: number
}

type TextQueries = Omit<PointsQueries, 'hours' | 'count' | 'newest'>

export interface PointsReader {
  /** `isSmall` means that the query probably takes few rows. */
  text<Name extends keyof TextQueries>(
    name: Name,
    query: TextQueries[Name],
    isSmall: boolean,
    client: AbortSignal,
  ): Promise<Outcome<{ text: PointsText }>>
  newest(station: Station, client: AbortSignal): Promise<Outcome<{ text: PointsText }>>
  hours(plan: Plan, client: AbortSignal): Promise<Outcome<{ hours: HourCounts }>>
  /** Counting the hours pays off, although it takes several times as long as counting all rows. */
  isAskedAgain(plan: Plan): boolean
  count(plan: Plan, client: AbortSignal): Promise<Outcome<{ counted: PointsCount }>>
  close(): Promise<void>
}

/** Running means need the rows of one more hour. */
const rowsBesideMax = 1_000
const hoursBytesMax = 16 * 1024 * 1024
/** A small range is read with as many rows again for its means, and counted in as many. */
const smallRowsMax = 500
const hourUs = 3_600_000_000
const newestMax = 10_000
const countedMax = 10_000
const emptyHours: HourCounts = {
  startsUs: new Float64Array(),
  counts: new Float64Array(),
  newestUs: Number.NEGATIVE_INFINITY,
}
export const nothing: PointsText = { bytes: new Uint8Array(), rows: 0, total: 0, newestUs: Number.NEGATIVE_INFINITY }

export function createPointsReader({ revision, ...options }: PointsOptions): PointsReader {
  const { run, close } = createPointsRun(options)
  const newestCache = new LRUCache<string, { version: string; text: PointsText }>({ max: newestMax })
  const countedVersions = new LRUCache<string, string>({ max: countedMax })
  const hoursCache = new LRUCache<string, { version: string; hours: HourCounts }>({
    maxSize: hoursBytesMax,
    sizeCalculation: ({ hours }, key) => key.length + 16 * hours.counts.length + 200,
  })

  async function text<Name extends keyof TextQueries>(
    name: Name,
    query: TextQueries[Name],
    isSmall: boolean,
    client: AbortSignal,
  ): Promise<Outcome<{ text: PointsText }>> {
    const answer = await run(name, query as PointsQueries[Name], isSmall, client)
    return answer.ok ? { ok: true, text: answer.result as PointsText } : answer
  }

  async function newest(station: Station, client: AbortSignal): Promise<Outcome<{ text: PointsText }>> {
    const key = JSON.stringify(station)
    const version = versionOf(station.series.map(({ number }) => number))
    const cached = newestCache.get(key)
    if (cached !== undefined && cached.version === version) return { ok: true, text: cached.text }
    const answer = await run('newest', { station, sinceUs: cached?.text.newestUs }, true, client)
    if (!answer.ok) return answer
    const found = answer.result as PointsText
    if (version !== undefined && found.rows > 0) newestCache.set(key, { version, text: found })
    return { ok: true, text: found }
  }

  /** Read before the rows: later rows have another version. */
  function versionOf(series: readonly number[]): string | undefined {
    return revision && series.map(number => revision(number)).join()
  }

  function isAskedAgain({ filter }: Plan): boolean {
    const query = rangeOf(filter)
    const version = versionOf(filter.series)
    return filter.isEmpty || (version !== undefined && countedVersions.get(keyOf(query)) === version)
  }

  async function count({ filter }: Plan, client: AbortSignal): Promise<Outcome<{ counted: PointsCount }>> {
    const query = rangeOf(filter)
    const version = versionOf(filter.series)
    const answer = await run('count', query, true, client)
    if (!answer.ok) return answer
    if (version !== undefined) countedVersions.set(keyOf(query), version)
    return { ok: true, counted: answer.result as PointsCount }
  }

  async function hoursOf({ filter }: Plan, client: AbortSignal): Promise<Outcome<{ hours: HourCounts }>> {
    const { isEmpty, series, fromUs, toUs } = filter
    if (isEmpty) return { ok: true, hours: emptyHours }
    const query = rangeOf(filter)
    const key = keyOf(query)
    const version = versionOf(series)
    const cached = hoursCache.get(key)
    if (cached !== undefined && cached.version === version) return { ok: true, hours: cached.hours }
    const answer = await run('hours', query, (toUs - fromUs) / hourUs <= smallRowsMax, client)
    if (!answer.ok) return answer
    const hours = answer.result as HourCounts
    if (version !== undefined) hoursCache.set(key, { version, hours })
    return { ok: true, hours }
  }

  return { text, newest, hours: hoursOf, isAskedAgain, count, close }
}

function rangeOf({ series, fromUs, toUs, parts }: PointFilter): Filtered {
  return { series, fromUs, toUs, parts }
}

/** JSON writes both infinities as null, but each can occur only at its own end of a range. */
function keyOf(query: Filtered): string {
  return JSON.stringify(query)
}

/** Reads rows of a plan in the order of their ids, among the counted ones. */
export function readSlice(
  { text }: PointsReader,
  { list, filter }: StoredPlan,
  direction: 'asc' | 'desc',
  { rows: total, newestUs }: PointsCount,
  slice: Slice,
  client: AbortSignal,
): Promise<Outcome<{ text: PointsText }>> {
  // Newer rows would shift the indexes from the end.
  const toUs = Math.min(filter.toUs, newestUs + 1)
  const query = { station: list.station, ...rangeOf(filter), toUs, direction, total, ...slice, format: 'json' as const }
  return text('slice', query, slice.count <= smallRowsMax, client)
}

/** Reads rows of a plan with stored columns only; `total` is their number. */
export function readStored(
  { text }: PointsReader,
  plan: StoredPlan,
  hours: HourCounts,
  slice: Slice,
  format: PointFormat,
  client: AbortSignal,
): Promise<Outcome<{ text: PointsText }>> {
  const { time, sql, byId, list } = plan
  const { isEmpty: _, others: __, fromUs, toUs, ...filtered } = plan.filter
  const { station } = list
  const whole = { fromUs, toUs, offset: slice.offset, rows: Number.POSITIVE_INFINITY }
  const located = time === undefined ? whole : locate(hours, time, slice.offset, slice.count)
  const range = { fromUs: Math.max(fromUs, located.fromUs), toUs: Math.min(toUs, located.toUs) }
  const query = { station, ...filtered, ...range, format }
  // Where few other rows are near, one read of all is faster than one for the rows and one for their means.
  const isRange = byId !== undefined && (located.offset === 0 || located.rows <= rowsBesideMax)
  if (isRange && (format !== 'json' || located.rows <= rowsBesideMax)) {
    const { offset, rows: rowsExpected } = located
    const asked = { ...query, direction: byId, offset, count: slice.count, rowsExpected }
    return text('range', asked, rowsExpected <= smallRowsMax, client)
  }
  return text('page', { ...query, order: sql, offset: located.offset, count: slice.count }, false, client)
}

export function readFromMemory(
  { text }: PointsReader,
  { list, filter }: Plan,
  slice: Slice,
  format: PointFormat,
  client: AbortSignal,
): Promise<Outcome<{ text: PointsText }>> {
  if (filter.isEmpty) return Promise.resolve({ ok: true, text: nothing })
  const { series, fromUs, toUs } = filter
  const { station, conditions, order } = list
  return text('memory', { station, series, fromUs, toUs, conditions, order, ...slice, format }, false, client)
}

interface Located {
  /** Microseconds, whole hours; `toUs` is not included. */
  readonly fromUs: number
  readonly toUs: number
  /** Number of rows in these hours that precede the requested ones, in the requested direction. */
  readonly offset: number
  readonly rows: number
}

/**
 * Locates the pages of a list among its rows. The rows of each hour are counted, which costs little more than counting
 * all. A page is then read from its own hours, so it costs the same at any offset.
 */
export function totalOf({ counts }: HourCounts): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The hours that contain the `count` rows from `offset` on. These must exist. */
function locate(hours: HourCounts, direction: 'asc' | 'desc', offset: number, count: number): Located {
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
