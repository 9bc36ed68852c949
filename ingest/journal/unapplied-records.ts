/** The records of a journal on disk that QuestDB may lack. */

import { statusAtStart } from '../forwarder/forwarder-status.ts'
import { openDisk } from './disk.ts'
import { recoverJournal } from './recovery.ts'
import { readStamps } from './stamp-file.ts'

/** Their number, and the highest stamp of each class, as in `StampState`. Cuts off a torn tail. */
export function unappliedRecords(directory: string): { count: number; highestUs: readonly number[] } {
  const disk = openDisk(directory)
  const { end } = recoverJournal(disk)
  const { highestUs } = readStamps(disk, end.lastStampUs)
  return { count: end.ordinal - statusAtStart(disk, end).appliedOrdinal, highestUs }
}
