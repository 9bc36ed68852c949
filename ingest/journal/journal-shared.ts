/** Memory shared by the main thread and the journal's thread: two slots for groups, and a few numbers. */

import { groupBodyMax, groupHeaderLength } from './group.ts'
import type { Settle } from './outcome.ts'
import type { SegmentWriter } from './segment-writer.ts'

export const slotBytes = groupHeaderLength + groupBodyMax

/** Indices into `control`. The journal's thread sleeps on `command`. */
export const controlAt = { command: 0, slot: 1, bodyLength: 2, recordCount: 3, backfillCount: 4, roll: 5 } as const
export const command = { none: 0, commit: 1, stop: 2 } as const

/** Indices into `times`. Written before the command, read after it. */
export const timesAt = { receiptUs: 0, lastStampUs: 1 } as const

export interface JournalShared {
  control: Int32Array
  times: Float64Array
  slots: [Uint8Array, Uint8Array]
  /** The durable end of the journal, up to which other threads may read. A forwarder without work sleeps on it. */
  durableEnd: BigInt64Array
}

export function createJournalShared(end: number): JournalShared {
  const durableEnd = new BigInt64Array(new SharedArrayBuffer(8))
  durableEnd[0] = BigInt(end)
  return {
    control: new Int32Array(new SharedArrayBuffer(4 * 6)),
    times: new Float64Array(new SharedArrayBuffer(8 * 2)),
    slots: [new Uint8Array(new SharedArrayBuffer(slotBytes)), new Uint8Array(new SharedArrayBuffer(slotBytes))],
    durableEnd,
  }
}

/** Start data of the journal's thread, and its answers. */
export interface JournalThreadData {
  directory: string
  end: { position: number; ordinal: number; lastStampUs: number }
  reserveBytes: number
  segmentBytes: number
  shared: JournalShared
}
export type JournalThreadMessage =
  | { kind: 'committed'; outcome: 'stored' | 'full' | 'unknown'; end: number; reason: string | undefined }
  | { kind: 'stopped' }

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

/** Writes the slot to disk and returns the outcome. */
export function createCommitter(writer: SegmentWriter, shared: JournalShared): () => JournalThreadMessage {
  const { control, times, slots, durableEnd } = shared
  return () => {
    const slot = slots[control[controlAt.slot] === 0 ? 0 : 1]
    const group = {
      recordCount: control[controlAt.recordCount] ?? 0,
      backfillCount: control[controlAt.backfillCount] ?? 0,
      receiptUs: times[timesAt.receiptUs] ?? 0,
      lastStampUs: times[timesAt.lastStampUs] ?? 0,
    }
    if (control[controlAt.roll] === 1) writer.roll()
    const length = groupHeaderLength + (control[controlAt.bodyLength] ?? 0)
    const { outcome, end, error } = writer.commit(slot.subarray(0, length), group)
    Atomics.store(durableEnd, 0, BigInt(end))
    Atomics.notify(durableEnd, 0)
    return { kind: 'committed', outcome, end, reason: error instanceof Error ? error.message : undefined }
  }
}
