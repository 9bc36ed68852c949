/** Memory shared by the main thread and the journal's thread: two slots for groups, and a few numbers. */

import { groupBodyMax, groupHeaderLength } from './group.ts'

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
  /** The durable end of the journal, up to which other threads may read. */
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
