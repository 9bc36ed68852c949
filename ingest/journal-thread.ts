/**
 * The journal's thread: sleeps until a group is handed over, writes and syncs it by synchronous calls, says what became
 * of it. One thread with nothing else to do, because a sync that waits for anything else makes every sender wait.
 */

import { parentPort, workerData } from 'node:worker_threads'
import { openDisk } from './disk.ts'
import { groupHeaderLength } from './group.ts'
import { withDiskFaults } from './injected-faults.ts'
import { command, controlAt, type JournalThreadData, type JournalThreadMessage, timesAt } from './journal-shared.ts'
import { SegmentWriter } from './segment-writer.ts'

const { directory, end, reserveBytes, segmentBytes, shared, faults }: JournalThreadData = workerData
const disk = withDiskFaults(openDisk(directory), faults)
const writer = new SegmentWriter({ disk, end, reserveBytes, segmentBytes })
const { control, times, slots, durableEnd } = shared

function answer(message: JournalThreadMessage): void {
  parentPort?.postMessage(message)
}

function commitSlot(): void {
  const slot = slots[control[controlAt.slot] === 0 ? 0 : 1]
  const group = {
    recordCount: control[controlAt.recordCount] ?? 0,
    backfillCount: control[controlAt.backfillCount] ?? 0,
    receiptUs: times[timesAt.receiptUs] ?? 0,
    highestStampUs: times[timesAt.highestStampUs] ?? 0,
  }
  const length = groupHeaderLength + (control[controlAt.bodyLength] ?? 0)
  const { outcome, end, error } = writer.commit(slot.subarray(0, length), group)
  Atomics.store(durableEnd, 0, BigInt(end))
  answer({ kind: 'committed', outcome, end, reason: error instanceof Error ? error.message : undefined })
}

for (;;) {
  Atomics.wait(control, controlAt.command, command.none)
  const given = Atomics.exchange(control, controlAt.command, command.none)
  if (given === command.stop) break
  if (given === command.commit) commitSlot()
}
writer.close()
answer({ kind: 'stopped' })
