/** Records of any table whose values are numbers. */

import {
  layoutOf,
  offsetOf,
  type RecordWriter,
  type Timed,
  writeHeader,
  writeSymbol,
} from '../../ingest/journal/record.ts'
import { escapeText } from '../../ingest/line-protocol.ts'
import type { TableDescription } from '../../ingest/table.ts'

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
