/** Reads aggregates of readings of one device, or of points of one station, by buckets of time, inside a thread. */

import { bug } from '../../store/limits/bug.ts'
import { whole } from '../questdb/sql-literals.ts'
import type { ReplicaReads } from '../replica-reads.ts'
import { fillCustomBuckets } from './custom-buckets.ts'
import { columnsOf } from './export-columns.ts'
import type { ExportContent, ExportRange } from './export-queries.ts'
import { rowsFromSql, valuesTableOf } from './export-rows.ts'
import type { ReadPiece } from './read-piece.ts'

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
