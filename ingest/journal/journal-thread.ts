/**
 * The journal's thread: sleeps until it gets a group, writes and syncs it by synchronous calls, and reports the outcome. It does
 * nothing else, because any delay of a sync delays every sender.
 */

import { parentPort, workerData } from 'node:worker_threads'
import { openDisk } from './disk.ts'
import {
  command,
  controlAt,
  createCommitter,
  type JournalThreadData,
  type JournalThreadMessage,
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
