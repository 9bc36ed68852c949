/** What the journal's thread does for each group that is handed over, apart from the thread itself. */

import { groupHeaderLength } from './group.ts'
import { controlAt, type JournalShared, type JournalThreadMessage, timesAt } from './journal-shared.ts'
import type { SegmentWriter } from './segment-writer.ts'

/** Puts the slot that was handed over on the disk, and says what became of it. */
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
