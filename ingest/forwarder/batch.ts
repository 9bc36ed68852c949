/** A batch of a lane. Its rows are sent in one or more requests. */

import { bug } from '../../store/limits/bug.ts'
import { offsetOf } from '../journal/record.ts'
import { type Absent, noneAbsent } from './row-format.ts'

/** Some ten thousand rows, which are sent without waiting for more. */
export const bytesWorthSending = 700 * 1024

export interface Batch {
  bytes: Uint8Array
  view: DataView
  parts: Part[]
  /** Numbers of the series with rows in it, possibly with duplicates. */
  series: Iterable<number>
  /** Some rows have the client's time, so a later value for the same series and time is possible. */
  hasClientTimes: boolean
  /** The time of its oldest row; Infinity without rows. */
  oldestUs: number
  /** Custom series that records omit and may erase, by the records' offsets. Most records omit none. */
  absent: ReadonlyMap<number, Absent>
  /** Position in the journal of the record at this offset. */
  positionOf: (offset: number) => number
}

/** Offsets of records in their order over one connection; -1 is skipped. */
export interface Part {
  connection: number
  offsets: Int32Array
  count: number
}

/** The custom series that the record at this offset may erase. */
export function absentAt({ absent }: Batch, offset: number): Absent {
  return absent.size === 0 ? noneAbsent : (absent.get(offset) ?? noneAbsent)
}

/**
 * Finds rows with the same series and time. The last write wins in QuestDB, so of several such rows only the last by journal
 * position is sent.
 */
export class KeyTable {
  #slots = new Int32Array(0)
  #mask = 0

  /** Removes all rows, and makes room for this many. */
  clear(rowsMax: number): void {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, rowsMax * 2)))
    if (this.#slots.length < size) this.#slots = new Int32Array(size)
    this.#slots.fill(-1, 0, size)
    this.#mask = size - 1
  }

  /** Sets row `index` for the key of `offsets[index]` and returns the previous row, or -1. */
  put(view: DataView, offsets: Int32Array, index: number): number {
    const offset = offsets[index] as number
    const series = view.getUint32(offset + offsetOf.series, true)
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    let slot = hashOfKey(series, timeUs) & this.#mask
    for (let step = 0; ; step++) {
      if (step > this.#mask) throw bug(`row ${index} finds no place among ${this.#mask + 1}`)
      const other = this.#slots[slot] as number
      if (other === -1) break
      const otherOffset = offsets[other] as number
      const same =
        view.getFloat64(otherOffset + offsetOf.timeUs, true) === timeUs &&
        view.getUint32(otherOffset + offsetOf.series, true) === series
      if (same) {
        this.#slots[slot] = index
        return other
      }
      slot = (slot + 1) & this.#mask
    }
    this.#slots[slot] = index
    return -1
  }
}

function hashOfKey(series: number, timeUs: number): number {
  const mixed = Math.imul(series, 0x9e37_79b1) ^ Math.imul((timeUs % 4_294_967_296) | 0, 0x85eb_ca6b)
  return mixed ^ (mixed >>> 15)
}
