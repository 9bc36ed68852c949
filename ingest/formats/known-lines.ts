/**
 * A thread's cache over all bodies: device names, and the series (measurement and tags) that contained them, so that a known
 * series is not parsed again.
 */

import { ByteTable } from './byte-table.ts'
import { KnownNames } from './known-names.ts'
import { createFieldTables, type FieldTable, type LineNames } from './line-protocol-names.ts'

/** A series whose lines name the same device for every sender. */
export interface KnownSeries {
  /** The place of the device's name. */
  readonly place: number
  readonly fields: FieldTable
}

/** A series takes some 150 bytes. */
const seriesMax = 1_000_000
const bytesMax = 64 * 1024 * 1024

export class KnownLines {
  readonly names = new KnownNames()
  readonly fieldsOf: (measurement: string) => FieldTable
  readonly #table = new ByteTable()
  readonly #series: KnownSeries[] = []

  constructor(names: LineNames) {
    this.fieldsOf = createFieldTables(names)
  }

  /** The owner then creates a new cache. */
  isFull(): boolean {
    return this.names.isFull() || this.#series.length >= seriesMax || this.#table.bytesUsed >= bytesMax
  }

  /** Undefined where its name now belongs to another device or to none. */
  find(source: Uint8Array, start: number, end: number): KnownSeries | undefined {
    const number = this.#table.find(source, start, end)
    const series = number === -1 ? undefined : this.#series[number]
    return series === undefined || !this.names.isCurrent(series.place) ? undefined : series
  }

  add(source: Uint8Array, start: number, end: number, series: KnownSeries): void {
    if (this.isFull()) return
    const number = this.#table.add(source, start, end)
    if (number !== -1) this.#series[number] = series
  }
}
