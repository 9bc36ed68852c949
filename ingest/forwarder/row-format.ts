/** The rows of records, and their length in line protocol. */

import { bug } from '../../store/limits/bug.ts'
import { customAt, customCount, customLength, layoutOf, offsetInCustom, offsetOf } from '../journal/record.ts'
import type { CustomTable, TableDescription } from '../table.ts'
import { isUsual, lowDigits, TableRows } from './table-rows.ts'

/** The format of a record's rows: one in the table, and one in the custom table for each custom value. */
export class RowFormat {
  readonly rows: TableRows
  readonly custom: TableRows | undefined
  /** Maximum length of a record's rows. */
  readonly bytesMax: number
  readonly #lengthMin: number

  constructor(table: TableDescription) {
    this.rows = new TableRows(table)
    this.#lengthMin = layoutOf(table).lengthMin
    this.custom = table.custom === undefined ? undefined : new TableRows(customRows(table.custom))
    // A record has values of some of its device's series and omits the others.
    const customBytesMax = (table.custom?.valuesMax ?? 0) * (this.custom?.rowBytesMax ?? 0)
    this.bytesMax = this.rows.rowBytesMax + customBytesMax
  }

  /** Length of the rows that `RowBuffer.add` creates for the record at `offset`. */
  lengthOf(view: DataView, offset: number, absent: Absent): number {
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    const timeLength = isUsual(Math.floor(timeUs / lowDigits)) ? 16 : String(timeUs).length
    const mask = this.rows.maskOf(view, offset + offsetOf.values)
    const length = this.rows.rowLength(this.symbolBytes(view, offset), mask, timeLength)
    const count = customCount(view, offset)
    return length + (count + absent.length === 0 ? 0 : this.#customLength(view, offset, count, absent, timeLength))
  }

  #customLength(view: DataView, offset: number, count: number, absent: Absent, timeLength: number): number {
    const rows = customRowsOf(this)
    let length = absent.length * rows.rowLength(0, 0, timeLength)
    const valuesAt = customAt(view, offset, count) + offsetInCustom.value
    for (let index = 0; index < count; index++) {
      length += rows.rowLength(0, rows.maskOf(view, valuesAt + index * offsetInCustom.next), timeLength)
    }
    return length
  }

  /** Total length of the symbols of the record at `offset`. */
  symbolBytes(view: DataView, offset: number): number {
    const length = view.getUint16(offset + offsetOf.length, true)
    return length - this.#lengthMin - customLength(customCount(view, offset))
  }
}

/**
 * Numbers of series that get an empty row at the time of a record, because it replaces another one that may have values of them.
 */
export type Absent = readonly number[]
export const noneAbsent: Absent = []

function customRows({ name, timestamp, seriesColumn, valueColumn }: CustomTable): TableDescription {
  const columns = [{ name: valueColumn, type: 'double' }] as const
  return { name, timestamp, key: [], seriesColumn, labels: [], columns, recordKind: 0, symbolBytesMax: 0 }
}

function customRowsOf({ custom }: RowFormat): TableRows {
  if (custom === undefined) throw bug('a record has custom values, and its table has no room for them')
  return custom
}
