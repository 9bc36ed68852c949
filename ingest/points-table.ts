/** The table of the points, for the journal and the forwarder, and the encoding of a point as a record. */

import { pointsTable } from '../store/tables.ts'
import { layoutOf, offsetOf, type RecordWriter, writeHeader } from './journal/record.ts'
import type { PointValues } from './point.ts'
import type { TableDescription } from './table.ts'

/** A point's series, as the journal needs it. */
export interface SeriesRef {
  /** The registry's number of the station's parameter. */
  readonly number: number
  /** The unit: ASCII, which line protocol does not escape. */
  readonly symbol: string
}

export const points: TableDescription = {
  name: pointsTable,
  timestamp: 'ts',
  key: [],
  seriesColumn: 'series',
  labels: ['unit'],
  columns: [
    { name: 'value', type: 'double' },
    { name: 'stored_at', type: 'timestamp' },
  ],
  recordKind: 2,
  symbolBytesMax: 16,
}

const layout = layoutOf(points)

export const pointWriter: RecordWriter<SeriesRef, PointValues> = {
  length: ({ symbol }) => layout.lengthMin + symbol.length,
  write(view, offset, series, timeUs, isBackfill, { value, storedAtUs }) {
    const { symbol } = series
    const length = layout.lengthMin + symbol.length
    writeHeader(view, offset, length, layout.kind, series.number, timeUs, isBackfill)
    const valuesAt = offset + offsetOf.values
    view.setFloat64(valuesAt, value, true)
    view.setFloat64(valuesAt + 8, storedAtUs, true)
    const symbolAt = offset + layout.symbolsAt
    view.setUint8(symbolAt, symbol.length)
    for (let index = 0; index < symbol.length; index++) view.setUint8(symbolAt + 1 + index, symbol.charCodeAt(index))
    return offset + length
  },
}

export interface SeriesPoint {
  series: SeriesRef
  values: PointValues
}

/** Returns records for the journal, which chooses their lanes. */
export function encodePoints(list: readonly SeriesPoint[]): Uint8Array {
  const bytes = new Uint8Array(list.reduce((sum, { series, values }) => sum + pointWriter.length(series, values), 0))
  const view = new DataView(bytes.buffer)
  let offset = 0
  for (const { series, values } of list) {
    offset = pointWriter.write(view, offset, series, values.timestampMs * 1000, false, values)
  }
  return bytes
}
