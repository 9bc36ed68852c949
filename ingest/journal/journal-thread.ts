/**
 * The journal's thread: sleeps until it gets a group, writes and syncs it by synchronous calls, and reports the outcome. It does
 * nothing else, because any delay of a sync delays every sender.
 */

import { parentPort, workerData } from 'node:worker_threads'
import { openDisk } from './disk.ts'
import { groupHeaderLength } from './group.ts'
import {
  command,
  controlAt,
  type JournalShared,
  type JournalThreadData,
  type JournalThreadMessage,
  timesAt,
} from './journal-shared.ts'
import { SegmentWriter } from './segment-writer.ts'

const { directory, end, reserveBytes, segmentBytes, shared }: JournalThreadData = workerData
const disk = openDisk(directory)
const writer = new SegmentWriter({ disk, end, reserveBytes, segmentBytes })
const { control } = shared
const commit = createCommitter(writer, shared)

function answer(message: JournalThreadMessage): void {
  parentPort?.postMessage(message)
}

for (;;) {
  Atomics.wait(control, controlAt.command, command.none)
  const given = Atomics.exchange(control, controlAt.command, command.none)
  if (given === command.stop) break
  if (given === command.commit) answer(commit())
}
writer.close()
answer({ kind: 'stopped' })

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
