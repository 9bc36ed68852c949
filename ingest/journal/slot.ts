/** The group being collected, in one of the two buffers that the journal's thread shares. */

import { groupHeaderLength } from './group.ts'
import type { Settle } from './outcome.ts'

export interface Slot {
  bytes: Uint8Array
  view: DataView
  used: number
  recordCount: number
  backfillCount: number
  /** Receipt clock at the first record. */
  receiptUs: number
  /** The medium's term at the first record. */
  term: number
  /** Arrival of the first single record, by a monotonic clock; NaN without one. */
  singleSinceMs: number
  waiting: Settle[]
}

export function createSlot(bytes: Uint8Array): Slot {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return {
    bytes,
    view,
    used: groupHeaderLength,
    recordCount: 0,
    backfillCount: 0,
    receiptUs: 0,
    term: 0,
    singleSinceMs: Number.NaN,
    waiting: [],
  }
}

export function emptySlot(slot: Slot): void {
  slot.used = groupHeaderLength
  slot.recordCount = 0
  slot.backfillCount = 0
  slot.singleSinceMs = Number.NaN
  slot.waiting = []
}
