/** Runs the queries of points inside a worker. */

import type { Station } from '../analysed-device.ts'
import { selectRows } from '../conditions/select-rows.ts'
import { columnsOf } from './point-columns.ts'
import { type PointRows, pickRows, pointRows } from './point-rows.ts'
import { createPointTexts, type PointFormat, writePoints } from './point-texts.ts'
import type {
  MemoryQuery,
  NewestQuery,
  PageQuery,
  PlaceQuery,
  PointsQueries,
  PointsResult,
  PointsText,
  RangeQuery,
  SliceQuery,
} from './points-queries.ts'
import type { PointsSource } from './points-source.ts'
import { createRunningMeans, type RunningMeans, windowUs } from './running-means.ts'

interface PointsContext {
  readonly source: PointsSource
  /** The most rows of one answer. */
  readonly rowsMax: number
  readonly signal: AbortSignal
}

const minuteUs = 60_000_000
/** Rows of a page that are further apart are read separately, with the rows for their means. */
const gapUs = 6 * windowUs

async function buildPage(query: PageQuery, context: PointsContext): Promise<PointsText> {
  const { station, count, format, ...asked } = query
  const rows = await context.source.rows({ ...asked, rowsMax: count }, context.signal)
  const means = createRunningMeans(await readWindows(rows, context))
  return textOf(format, station, rows, means)
}

/**
 * All rows of a range in the order of their ids: one read for the rows and their means, if the conditions concern only
 * series and time.
 */
async function buildRange(query: RangeQuery, context: PointsContext): Promise<PointsText> {
  const { station, series, fromUs, toUs, parts, direction, offset, count, rowsExpected, format } = query
  const { source, rowsMax, signal } = context
  const isWhole = parts.length === 0
  const readFromUs = isWhole ? fromUs - windowUs : fromUs
  const read = await source.rows({ series, fromUs: readFromUs, toUs, parts, rowsMax, rowsExpected }, signal)
  const sorted = sortedByTime(read)
  const means = createRunningMeans(isWhole ? sorted : await readWindows(sorted, context))
  const before = sorted.timesUs.findIndex(timeUs => timeUs >= fromUs)
  const first = before < 0 ? sorted.length : before
  const positions = Uint32Array.from({ length: sorted.length - first }, (_, index) => first + index)
  if (direction === 'desc') positions.reverse()
  return textOf(format, station, pickRows(sorted, positions.subarray(offset, offset + count)), means)
}

async function buildSlice(query: SliceQuery, context: PointsContext): Promise<PointsText> {
  const { station, direction, offset, count, total, format, ...range } = query
  const first = direction === 'asc' ? offset : total - offset - count
  // QuestDB returns the series of one time in any order, so all of them are read at both ends.
  const beside = range.series.length - 1
  const [from, to] = [Math.max(0, first - beside), Math.min(total, first + count + beside)]
  // QuestDB reaches either end without a scan between.
  const places = from > total / 2 ? ([from - total, to - total] as const) : ([from, to] as const)
  const asked = { ...range, places, rowsMax: context.rowsMax, rowsExpected: to - from }
  const sorted = sortedByTime(await context.source.rows(asked, context.signal))
  const positions = Uint32Array.from({ length: Math.min(count, sorted.length) }, (_, index) => first - from + index)
  if (direction === 'desc') positions.reverse()
  const rows = pickRows(sorted, positions)
  const means = createRunningMeans(await readWindows(rows, context))
  return textOf(format, station, rows, means)
}

async function buildFromMemory(query: MemoryQuery, context: PointsContext): Promise<PointsText> {
  const { station, series, fromUs, toUs, conditions, order, offset, count, format } = query
  const { source, rowsMax, signal } = context
  const rows = sortedByTime(await source.rows({ series, fromUs: fromUs - windowUs, toUs, rowsMax }, signal))
  const means = createRunningMeans(rows)
  const columns = columnsOf(station, rows, createPointTexts(station.timeZone), means)
  const inRange = [...rows.timesUs.keys()].filter(row => (rows.timesUs[row] as number) >= fromUs)
  const selected = selectRows(columns, conditions, order, inRange)
  const newestUs = selected.reduce((newest, row) => Math.max(newest, rows.timesUs[row] as number), -Infinity)
  const page = pickRows(rows, selected.slice(offset, offset + count))
  return { ...textOf(format, station, page, means), total: selected.length, newestUs }
}

async function buildPoint({ station, series, timeUs }: PlaceQuery, context: PointsContext): Promise<PointsText> {
  const { source, rowsMax, signal } = context
  const window = {
    series: [series],
    fromUs: timeUs - windowUs,
    toUs: timeUs + 1,
    rowsMax,
    rowsExpected: windowUs / minuteUs,
  }
  const rows = sortedByTime(await source.rows(window, signal))
  const last = rows.length - 1
  const isThere = rows.timesUs[last] === timeUs
  return textOf('json', station, pickRows(rows, isThere ? [last] : []), createRunningMeans(rows))
}

/** The newest point is never older than the previously newest one. */
async function buildNewest({ station, sinceUs }: NewestQuery, context: PointsContext): Promise<PointsText> {
  const answer = await buildNewestSince(station, sinceUs, context)
  // The previous point was lost, for example by a restore.
  const isMissing = answer.rows === 0 && sinceUs !== undefined
  return isMissing ? await buildNewestSince(station, undefined, context) : answer
}

async function buildNewestSince(
  station: Station,
  sinceUs = Number.NEGATIVE_INFINITY,
  context: PointsContext,
): Promise<PointsText> {
  const series = station.series.map(({ number }) => number)
  const range = { fromUs: sinceUs, toUs: Number.POSITIVE_INFINITY }
  // QuestDB reads backwards only when ordered by time alone. All series may have a point at that time.
  const newest = { series, ...range, order: 'ts DESC', rowsMax: series.length }
  const rows = series.length === 0 ? pointRows(noColumns) : await context.source.rows(newest, context.signal)
  const [timeUs] = rows.timesUs
  if (timeUs === undefined) return textOf('json', station, rows, createRunningMeans(rows))
  const atThatTime = rows.series.filter((_, row) => rows.timesUs[row] === timeUs)
  const point = await buildPoint({ station, series: Math.max(...atThatTime), timeUs }, context)
  return { ...point, newestUs: timeUs }
}

type PointsTasks = {
  readonly [Name in keyof PointsQueries]: (query: PointsQueries[Name], context: PointsContext) => Promise<PointsResult>
}

export const pointsTasks: PointsTasks = {
  hours: (query, { source, signal }) => source.hours(query, signal),
  count: (query, { source, signal }) => source.count(query, signal),
  page: buildPage,
  slice: buildSlice,
  range: buildRange,
  memory: buildFromMemory,
  place: buildPoint,
  newest: buildNewest,
}

const noColumns = Array.from({ length: 5 }, () => new Float64Array())

function textOf(format: PointFormat, station: Station, rows: PointRows, means: RunningMeans): PointsText {
  const bytes = writePoints(format, station, rows, createPointTexts(station.timeZone), means)
  return { bytes, rows: rows.length, total: rows.length, newestUs: Number.NaN }
}

/** The rows with all rows of the hour before each, in the order of time. */
async function readWindows(rows: PointRows, { source, rowsMax, signal }: PointsContext): Promise<PointRows> {
  const series = [...new Set(rows.series)]
  const parts: PointRows[] = []
  let left = rowsMax
  for (const { fromUs, toUs } of windowsOf(rows.timesUs)) {
    const rowsExpected = (series.length * (toUs - fromUs)) / minuteUs
    const part = await source.rows({ series, fromUs, toUs, rowsMax: left, rowsExpected }, signal)
    left -= part.length
    parts.push(part)
  }
  return concatenated(parts)
}

/** Microseconds; `toUs` is not included. Ascending and disjoint. */
function windowsOf(timesUs: Float64Array): { fromUs: number; toUs: number }[] {
  const windows: { fromUs: number; toUs: number }[] = []
  for (const timeUs of timesUs.toSorted()) {
    const last = windows.at(-1)
    if (last !== undefined && timeUs - windowUs <= last.toUs + gapUs) last.toUs = timeUs + 1
    else windows.push({ fromUs: timeUs - windowUs, toUs: timeUs + 1 })
  }
  return windows
}

function concatenated(parts: readonly PointRows[]): PointRows {
  const [first] = parts
  if (first !== undefined && parts.length === 1) return first
  const join = (columnOf: (part: PointRows) => Float64Array) => {
    const column = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      column.set(columnOf(part), at)
      at += part.length
    }
    return column
  }
  const { timesUs, series, values, units, storedUs } = columnReaders
  return pointRows([join(timesUs), join(series), join(values), join(units), join(storedUs)])
}

const columnReaders = {
  timesUs: (part: PointRows) => part.timesUs,
  series: (part: PointRows) => part.series,
  values: (part: PointRows) => part.values,
  units: (part: PointRows) => part.units,
  storedUs: (part: PointRows) => part.storedUs,
}

/** Rows ascend by time, then series. QuestDB returns rows of one time in any order. */
function sortedByTime(rows: PointRows): PointRows {
  const { timesUs, series, length } = rows
  const isSorted = (row: number) => {
    const before = timesUs[row - 1] as number
    const now = timesUs[row] as number
    return before < now || (before === now && (series[row - 1] as number) < (series[row] as number))
  }
  let row = 1
  while (row < length && isSorted(row)) row++
  if (row >= length) return rows
  const positions = [...timesUs.keys()].sort((a, b) => {
    return (timesUs[a] as number) - (timesUs[b] as number) || (series[a] as number) - (series[b] as number)
  })
  return pickRows(rows, positions)
}
