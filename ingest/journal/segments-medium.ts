/** Segments on the local disk as the medium of a journal's groups. */

import type { Log } from '../../store/log.ts'
import { type Disk, openDisk } from './disk.ts'
import type { JournalThreadData } from './journal-shared.ts'
import { startJournalThread } from './journal-worker.ts'
import type { JournalMedium } from './medium.ts'
import { recoverJournal } from './recovery.ts'
import { segmentBytesMax } from './segments.ts'
import type { ClassStamper } from './stamp.ts'
import { openStamper } from './stamp-file.ts'

export interface SegmentsMediumOptions {
  directory: string
  /** The journal rejects records when it holds this many bytes. */
  bytesMax: number
  /** Free space on the file system that the journal leaves to others. */
  reserveBytes: number
  nowUs: () => number
  log: Log
  /** Replaces the directory and the separate thread. */
  disk?: Disk
  startThread?: typeof startJournalThread
}

/** Trimming removes whole segments, so a small journal needs small ones to recover after it was full. */
const segmentsMin = 8

/** Cuts off a torn tail. */
export function openSegmentsMedium(options: SegmentsMediumOptions): JournalMedium & { readonly stamper: ClassStamper } {
  const { directory, bytesMax, reserveBytes, nowUs, log } = options
  const { disk = openDisk(directory), startThread = startJournalThread } = options
  const recovered = recoverJournal(disk)
  const { end, tornBytes } = recovered
  if (tornBytes > 0) log.warn({ bytes: tornBytes }, 'journal ended in an incomplete write; moved to quarantine')
  const segmentBytes = Math.min(segmentBytesMax, Math.floor(bytesMax / segmentsMin))
  let { start } = recovered
  return {
    end,
    tornBytes,
    stamper: openStamper({ disk, lastStampUs: end.lastStampUs, nowUs, log }),
    bytesMax,
    bytesUpTo: position => position - start,
    trimmed(position) {
      start = position
    },
    startThread(shared, hooks) {
      const data: JournalThreadData = { directory, end, reserveBytes, segmentBytes, shared }
      return startThread(data, hooks)
    },
  }
}
