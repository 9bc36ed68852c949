/** Commits one group. The thread has it in a file of its own, so that simulations can run it. */

import { groupHeaderLength } from './group.ts'
import { controlAt, type JournalShared, type JournalThreadMessage, timesAt } from './journal-shared.ts'
import type { SegmentWriter } from './segment-writer.ts'

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
    return { kind: 'committed', outcome, end, reason: error instanceof Error ? error.message : undefined }
  }
}
