/** Reads aggregates of readings of one device, or of points of one station, by buckets of time, inside a thread. */

import { directionOf } from '../../analytics/direction/degrees.ts'
import { confirmedIncreaseSql, ownIncreaseSql, valuesBeforeSql } from '../../store/counter-sql.ts'
import { bug } from '../../store/limits/bug.ts'
import type { ReplicaReads } from '../contexts.ts'
import { type ValuesTable, valuesFromSql, whole } from '../questdb/values-table.ts'
import type { ExportContent, ExportRange, ReadPiece } from './export-queries.ts'
import { rowsFromSql, valuesTableOf } from './export-rows.ts'
import {
  columnsOf,
  type ExportColumn,
  type ExportMetric,
  metricAt,
  placeOfSeries,
  type SeriesTable,
  seriesToName,
} from './series-table.ts'

/**
 * A piece has at most as many buckets as it may have rows, with or without readings, so that each reading is
 * aggregated once. Buckets are aligned to 1970. The first and the last one are cut by the range.
 */
export async function readBuckets(
  reader: ReplicaReads['reader'],
  range: ExportRange & ExportContent,
  stepUs: number,
  rowsMax: number,
  signal: AbortSignal,
): Promise<ReadPiece> {
  const step = whole(stepUs)
  const toUs = Math.min(range.toUs, (Math.floor(range.fromUs / step) + rowsMax) * step)
  const columns = columnsOf(stepUs, range.metrics)
  const ofReadings = columns.filter(({ sql }) => sql !== undefined)
  const aggregates = ['count() readings', ...ofReadings.map(({ sql }) => sql)].join(', ')
  const names = ['bucket', 'readings', ...ofReadings.map(({ name }) => name)]
  const columnCount = names.length
  const rowsSql = rowsFromSql({ ...range, toUs })
  const bucketsSql = `SELECT cast(ts AS LONG) / ${step} * ${step} bucket, ${aggregates} FROM ${rowsSql} GROUP BY bucket`
  const columnsSql = names.map(name => `cast(${name} AS DOUBLE) ${name}`).join(', ')
  const sql = `SELECT ${columnsSql} FROM (${bucketsSql}) ORDER BY bucket`
  const [timesUs, readings, ...figures] = await reader.read({ sql, columnCount, rowsMax }, signal)
  if (readings === undefined) throw bug(`second column missing among ${columnCount}`)
  for (const [index, { isCount }] of ofReadings.entries()) if (isCount) withoutZeros(figures[index])
  const values = columns.map(column => {
    const index = ofReadings.indexOf(column)
    return index < 0 ? new Float64Array(timesUs.length).fill(Number.NaN) : (figures[index] as Float64Array)
  })
  const buckets = { ...range, toUs, stepUs, table: valuesTableOf(range) }
  await fillCustomBuckets(reader, buckets, columns, { timesUs, values }, signal)
  const rows = {
    timesUs,
    values,
    devices: new Float64Array(timesUs.length).fill(onlyDevice(range)),
    order: Uint32Array.from(timesUs.keys()),
  }
  const readingsRead = readings.reduce((sum, count) => sum + count, 0)
  return { rows, readingsRead, nextUs: toUs < range.toUs ? toUs : undefined }
}

/** A metric without values in a bucket has neither aggregates nor a count. */
function withoutZeros(counts: Float64Array | undefined): void {
  for (const [row, count] of counts?.entries() ?? []) if (count === 0) counts?.fill(Number.NaN, row, row + 1)
}

function onlyDevice({ symbols, station }: ExportRange): number {
  if (station !== undefined) return station.id
  if (symbols?.length !== 1) throw bug(`buckets requested for ${symbols?.length ?? 'all'} devices instead of one`)
  return Number(symbols[0]?.split('-').at(-1))
}

interface BucketsAsked {
  readonly fromUs: number
  /** The end is not part of the range. */
  readonly toUs: number
  readonly stepUs: number
  readonly metrics: readonly ExportMetric[]
  /** The series of one device. */
  readonly series: SeriesTable
  readonly table: ValuesTable
}

/** The order of QuestDB's columns, behind bucket and series. */
const aggregates = {
  count: 'count(value)',
  mean: 'avg(value)',
  sum: 'sum(value)',
  last: 'last(value)',
  min: 'min(value)',
  max: 'max(value)',
  sine: 'avg(sin(radians(value)))',
  cosine: 'avg(cos(radians(value)))',
} as const
type Aggregate = keyof typeof aggregates
const aggregateNames = Object.keys(aggregates) as Aggregate[]
/** Shorter resultants are rounding errors of directions that cancel out. */
const resultantMin = 1e-12

/** Writes the figures into the columns, whose rows are the buckets, ascending. */
async function fillCustomBuckets(
  reader: ReplicaReads['reader'],
  asked: BucketsAsked,
  columns: readonly ExportColumn[],
  { timesUs, values }: { readonly timesUs: Float64Array; readonly values: readonly Float64Array[] },
  signal: AbortSignal,
): Promise<void> {
  const { metrics, series } = asked
  if (series.length === 0 || timesUs.length === 0) return
  const rows = new Map(Array.from(timesUs, (timeUs, row) => [timeUs, row]))
  const columnsOfMetric = metrics.map((_, metric) =>
    [...columns.entries()].filter(([, column]) => column.metric === metric),
  )

  /** `kind` is the figure's name. */
  function put(timeUs: number, ofSeries: number, figureOf: (column: ExportColumn, kind: string) => number): void {
    const row = rows.get(timeUs)
    const metric = metricAt(series, placeOfSeries(series, ofSeries))
    if (row === undefined) return
    for (const [index, column] of columnsOfMetric[metric] ?? []) {
      const figure = figureOf(column, (metrics[metric] as ExportMetric).kind)
      if (!Number.isNaN(figure)) (values[index] as Float64Array)[row] = figure
    }
  }

  // Values may be visible before their readings are.
  const rowsMax = (Math.ceil((asked.toUs - asked.fromUs) / asked.stepUs) + 1) * (seriesToName(series)?.length ?? 0)
  const columnCount = 2 + aggregateNames.length
  const figures = await reader.read({ sql: figuresSql(asked), columnCount, rowsMax }, signal)
  const of = (name: Aggregate, row: number) => figures[2 + aggregateNames.indexOf(name)]?.[row] as number
  for (let row = 0; row < figures[0].length; row++) {
    put(figures[0][row] as number, figures[1]?.[row] as number, ({ figure }, kind) => {
      if (figure === 'increase' || figure === undefined) return Number.NaN
      return figure === 'mean' && kind === 'direction'
        ? meanDirection(of('sine', row), of('cosine', row))
        : of(figure, row)
    })
  }
  const counters = countersIn(asked)
  if (counters.length === 0) return
  const request = { sql: increasesSql(asked, counters), columnCount: 3, rowsMax }
  const [bucketsUs, ofSeries, increases] = await reader.read(request, signal)
  for (let row = 0; row < bucketsUs.length; row++) {
    put(bucketsUs[row] as number, ofSeries?.[row] as number, ({ figure }) => {
      return figure === 'increase' ? (increases?.[row] as number) : Number.NaN
    })
  }
}

function meanDirection(sine: number, cosine: number): number {
  return Math.hypot(sine, cosine) < resultantMin ? Number.NaN : directionOf(sine, cosine)
}

function countersIn({ metrics, series }: BucketsAsked): number[] {
  return (seriesToName(series) ?? []).filter(one => {
    return metrics[metricAt(series, placeOfSeries(series, one))]?.kind === 'counter'
  })
}

function figuresSql({ fromUs, toUs, stepUs, series, table }: BucketsAsked): string {
  const named = aggregateNames.map(name => `${aggregates[name]} ${name}`)
  const values = valuesFromSql(table, { fromUs, toUs, series: seriesToName(series) })
  const buckets = `SELECT ${bucketSql(stepUs)}, series, ${named.join(', ')} FROM ${values} GROUP BY bucket, series`
  const columns = aggregateNames.map(name => `cast(${name} AS DOUBLE) ${name}`)
  return `SELECT ${keySql}, ${columns.join(', ')} FROM (${buckets}) ORDER BY bucket`
}

interface IncreasesAsked {
  readonly fromUs: number
  /** The end is not part of the range. */
  readonly toUs: number
  readonly stepUs: number
  readonly table: ValuesTable
}

/** The increase of a total counts from a value at most this long before the bucket. */
const lookbackUs = 86_400_000_000

/** The bucket and the series of a row of figures. */
const keySql = 'cast(bucket AS DOUBLE) bucket, cast(series AS DOUBLE) series'

function bucketSql(stepUs: number): string {
  return `cast(ts AS LONG) / ${whole(stepUs)} * ${whole(stepUs)} bucket`
}

/** Selects the bucket, the series and the increase. An increase between two buckets counts in the later one. */
function increasesSql({ fromUs, toUs, stepUs, table }: IncreasesAsked, counters: readonly number[]): string {
  const values = valuesFromSql(table, { fromUs: Math.max(0, fromUs - lookbackUs), toUs, series: counters })
  const pairs = `SELECT ts, series, value, ${valuesBeforeSql} FROM ${values}`
  const grown = `${ownIncreaseSql} + ${confirmedIncreaseSql}`
  const buckets = `SELECT ${bucketSql(stepUs)}, series, sum(${grown}) increase FROM (${pairs}) WHERE before IS NOT NULL AND ts >= ${whole(fromUs)} GROUP BY bucket, series`
  return `SELECT ${keySql}, increase FROM (${buckets}) ORDER BY bucket`
}
