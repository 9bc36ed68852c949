/** The journal of this process as the source of the forwarder's groups. Another thread writes it. */

import { readCheckpoint } from '../journal/checkpoint.ts'
import type { Disk } from '../journal/disk.ts'
import type { Timing } from '../timing.ts'
import type { GroupSource } from './group-source.ts'
import { replayStart } from './segment-retention.ts'

export interface JournalSourceData {
  directory: string
  /** The end, which the journal's thread advances. */
  durableEnd: BigInt64Array
  /** Its end when it was opened. */
  end: { position: number; ordinal: number }
}

export interface JournalSourceOptions extends Omit<JournalSourceData, 'directory'> {
  disk: Disk
  quiesceMs: number
  timing: Timing
}

const nothing = (): void => undefined

export function openJournalSource({ disk, durableEnd, end, quiesceMs, timing }: JournalSourceOptions): GroupSource {
  const endNow = () => Number(Atomics.load(durableEnd, 0))
  return {
    disk,
    endOrdinal: end.ordinal,
    durableEnd: endNow,
    // A QuestDB without sync may have lost applied rows while the service was stopped.
    start(keepMs) {
      return keepMs > 0 ? replayStart({ disk, timing, keepMs }, end.position) : readCheckpoint(disk, end.position)
    },
    // The start took most of the time that a request needs.
    predecessorMs: from => (from < endNow() ? quiesceMs / 3 : 0),
    placeOf: position => position,
    firstPlace: from => from,
    guard: connection => connection,
    letterId: position => position,
    erase: (_, before) => before,
    onSent: nothing,
    onStatus: nothing,
    close: nothing,
  }
}
