/** A second table beside the readings: points of stations, by parameter. */

import {
  layoutOf,
  offsetOf,
  type RecordWriter,
  type Timed,
  writeHeader,
  writeSymbol,
} from '../../ingest/journal/record.ts'
import { escapeText } from '../../ingest/line-protocol.ts'
import { symbolColumns, type TableDescription } from '../../ingest/table.ts'

export const points: TableDescription = {
  name: 'station_points',
  timestamp: 'ts',
  key: ['station', 'parameter'],
  labels: ['unit'],
  columns: [
    { name: 'value', type: 'double' },
    { name: 'value_15min', type: 'double' },
    { name: 'stored_at', type: 'timestamp' },
  ],
  recordKind: 2,
  symbolBytesMax: 300,
}

export const pointsTableSql = `CREATE TABLE station_points (
  ts TIMESTAMP,
  ${symbolColumns(points)
    .map(name => `${name} SYMBOL`)
    .join(', ')},
  ${points.columns.map(({ name, type }) => `${name} ${type.toUpperCase()}`).join(', ')}
) TIMESTAMP(ts) PARTITION BY DAY WAL DEDUP UPSERT KEYS(${[points.timestamp, ...points.key].join(', ')})`

export interface SeriesRef {
  number: number
  /** Escaped once. */
  symbols: readonly Uint8Array[]
}

export function seriesOf(number: number, symbols: readonly string[]): SeriesRef {
  return { number, symbols: symbols.map(escapeText) }
}

export interface PointValues extends Timed {
  /** In the order of the table's columns, NaN for a missing one. */
  values: readonly number[]
}

export function pointWriter(table: TableDescription): RecordWriter<SeriesRef, PointValues> {
  const { kind, lengthMin, symbolsAt } = layoutOf(table)
  const length = ({ symbols }: SeriesRef) => symbols.reduce((sum, symbol) => sum + symbol.length, lengthMin)
  return {
    length,
    write(view, offset, series, timeUs, isBackfill, { values }) {
      writeHeader(view, offset, length(series), kind, series.number, timeUs, isBackfill)
      for (const [index, value] of values.entries()) {
        view.setFloat64(offset + offsetOf.values + 8 * index, value, true)
      }
      return series.symbols.reduce((at, symbol) => writeSymbol(view, at, symbol), offset + symbolsAt)
    },
  }
}
