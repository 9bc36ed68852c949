/** Rows of a round: where their records stand, which of them are overtaken, and their bytes for QuestDB. */

import { metrics, readingsTable } from '../store/tables.ts'
import { encodeName, type LineProtocolBuffer } from './line-protocol.ts'
import { flagBackfill, offsetOf } from './record.ts'

const table = encodeName(readingsTable)
const deviceColumn = encodeName('device')
const metricColumns = metrics.map(encodeName)

/** The longest row: names, a symbol of 64 characters, five doubles and a time. */
export const rowBytesMax = 320

/** Writes the record at `offset` as one row; metrics that the device did not give are left out, and so become null. */
export function encodeRow(into: LineProtocolBuffer, bytes: Uint8Array, view: DataView, offset: number): void {
  const symbolStart = offset + offsetOf.symbol
  into.table(table)
  into.plainSymbol(deviceColumn, bytes, symbolStart, symbolStart + view.getUint8(offset + offsetOf.symbolLength))
  for (let index = 0; index < metricColumns.length; index++) {
    const value = view.getFloat64(offset + offsetOf.values + 8 * index, true)
    const column = metricColumns[index]
    if (!Number.isNaN(value) && column !== undefined) into.double(column, value)
  }
  into.at(view.getFloat64(offset + offsetOf.timeUs, true))
}

export function isBackfill(view: DataView, offset: number): boolean {
  return (view.getUint8(offset + offsetOf.flags) & flagBackfill) !== 0
}

/**
 * Finds rows with the same device and time. The last write wins in QuestDB, so of several such rows only the last by
 * journal position is sent. Only clients' times can meet, and those are whole milliseconds.
 */
export class KeyTable {
  #slots: Int32Array
  #mask: number

  constructor(rowsMax: number) {
    const size = 2 ** Math.ceil(Math.log2(Math.max(16, rowsMax * 2)))
    this.#slots = new Int32Array(size).fill(-1)
    this.#mask = size - 1
  }

  clear(): void {
    this.#slots.fill(-1)
  }

  /**
   * Remembers that row `index` has the key of `offsets[index]` and returns the row that had it before, or -1.
   */
  put(view: DataView, offsets: Int32Array, index: number): number {
    const offset = offsets[index] as number
    const device = view.getUint32(offset + offsetOf.deviceNumber, true)
    const timeUs = view.getFloat64(offset + offsetOf.timeUs, true)
    let slot = hash(device, timeUs) & this.#mask
    for (;;) {
      const other = this.#slots[slot] as number
      if (other === -1) break
      const otherOffset = offsets[other] as number
      const same =
        view.getFloat64(otherOffset + offsetOf.timeUs, true) === timeUs &&
        view.getUint32(otherOffset + offsetOf.deviceNumber, true) === device
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

function hash(device: number, timeUs: number): number {
  const mixed = Math.imul(device, 0x9e37_79b1) ^ Math.imul((timeUs % 4_294_967_296) | 0, 0x85eb_ca6b)
  return mixed ^ (mixed >>> 15)
}
