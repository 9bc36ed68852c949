/** What a journal on disk has that QuestDB may lack. */

import { statusAtStart } from '../forwarder/forwarder-status.ts'
import { openDisk } from './disk.ts'
import { recoverJournal } from './recovery.ts'

/** How many records, and the last stamp that was given out for one. Cuts a torn tail off. */
export function unappliedRecords(directory: string): { count: number; lastStampUs: number } {
  const disk = openDisk(directory)
  const { end } = recoverJournal(disk)
  return { count: end.ordinal - statusAtStart(disk, end).appliedOrdinal, lastStampUs: end.lastStampUs }
}
