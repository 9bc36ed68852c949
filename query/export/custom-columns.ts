/** Joins values without a column in the table of readings with their readings, by time and device. */

import { eachCustomValue } from '../questdb/custom-values.ts'
import type { ValuesTable } from '../questdb/values-table.ts'
import type { ReplicaReads } from '../replica-reads.ts'
import { type ExportMetric, isBuiltIn } from './export-columns.ts'
import { deviceAt, metricAt, placeOfSeries, type SeriesTable, seriesToName } from './series-table.ts'

/** Rows of an export; see export-rows.ts. */
interface Rows {
  readonly timesUs: Float64Array
  readonly devices: Float64Array
  readonly order: Uint32Array
}

interface RowsWithValues extends Rows {
  /** One array for each column. */
  readonly values: readonly Float64Array[]
}

interface CustomAsked {
  readonly metrics: readonly ExportMetric[]
  readonly series: SeriesTable
  readonly table: ValuesTable
}

/** Returns a column for each metric; columns that the rows lack are read here. */
export async function withCustom(
  reader: ReplicaReads['reader'],
  { values: ofBuiltIn, ...rows }: RowsWithValues,
  { metrics, series, table }: CustomAsked,
  signal: AbortSignal,
): Promise<RowsWithValues> {
  const { timesUs, order } = rows
  let next = 0
  const values = metrics.map(metric => {
    return isBuiltIn(metric) ? (ofBuiltIn[next++] as Float64Array) : new Float64Array(timesUs.length).fill(Number.NaN)
  })
  if (order.length === 0 || series.length === 0) return { ...rows, values }
  const fromUs = timesUs[order[0] as number] as number
  const toUs = (timesUs[order.at(-1) as number] as number) + 1
  const rowOf = createRowFinder(rows)
  const take = (timeUs: number, ofSeries: number, value: number) => {
    const place = placeOfSeries(series, ofSeries)
    if (place < 0) return
    const row = rowOf(timeUs, deviceAt(series, place))
    if (row >= 0) (values[metricAt(series, place)] as Float64Array)[row] = value
  }
  await eachCustomValue(reader, { fromUs, toUs, series: seriesToName(series), table }, take, signal)
  return { ...rows, values }
}

/** Finds the row of a device at times that ascend; -1 where there is none. */
function createRowFinder({ timesUs, devices, order }: Rows): (timeUs: number, device: number) => number {
  /** The first row, in their order, that is not before the last time. */
  let at = 0

  function isBefore(place: number, timeUs: number, device: number): boolean {
    const row = order[place] as number
    const rowUs = timesUs[row] as number
    return rowUs < timeUs || (rowUs === timeUs && (devices[row] as number) < device)
  }

  return (timeUs, device) => {
    while (at < order.length && isBefore(at, timeUs, 0)) at++
    let low = at
    let high = at
    // The steps double: in a range of one device, the first row mostly matches.
    for (let step = 1; high < order.length && isBefore(high, timeUs, device); step *= 2) {
      low = high + 1
      high = Math.min(order.length, high + step)
    }
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(middle, timeUs, device)) low = middle + 1
      else high = middle
    }
    const row = order[low]
    return row !== undefined && timesUs[row] === timeUs && devices[row] === device ? row : -1
  }
}
