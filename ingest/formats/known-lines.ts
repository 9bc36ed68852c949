/**
 * What a thread knows of the lines of all bodies that it has read: names of devices, and the series (measurement and tags) in which
 * they stood, so that a line of a known series is not taken apart again.
 */

import { ByteTable } from './byte-table.ts'
import { KnownNames } from './known-names.ts'
import { createFieldTables, type FieldTable, type LineNames } from './line-protocol-names.ts'

/** A series of a line that names one device, whoever sends it. */
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

  /** Whoever uses it begins a new one then. */
  isFull(): boolean {
    return this.names.isFull() || this.#series.length >= seriesMax || this.#table.bytesUsed >= bytesMax
  }

  /** Undefined where its name stands for another device now, or for none. */
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
