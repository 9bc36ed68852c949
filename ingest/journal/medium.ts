/**
 * The medium of a journal's groups. Code above the journal does not depend on its kind. Segments on the local disk are
 * one.
 */

import { Worker } from 'node:worker_threads'
import type { Log } from '../../store/log.ts'
import { threadLimits } from '../../store/thread-limits.ts'
import { type Disk, openDisk } from './disk.ts'
import {
  command,
  controlAt,
  type JournalShared,
  type JournalThreadData,
  type JournalThreadMessage,
} from './journal-shared.ts'
import { recoverJournal } from './recovery.ts'
import { segmentBytesMax } from './segments.ts'
import type { ClassStamper, Stamper } from './stamp.ts'
import { openStamper } from './stamp-file.ts'

export interface JournalMedium {
  /** End when it is opened: the position of the next group, and the number of records before it. */
  readonly end: { readonly position: number; readonly ordinal: number }
  /** Bytes after the last whole group that were cut off when it was opened. */
  readonly tornBytes: number
  /** Assigns stamps above all stamps in the groups. */
  readonly stamper: Stamper
  /** Reason why it rejects records, apart from its size. */
  refusal?(): string | undefined
  /**
   * Increases when an admission may have expired meanwhile. Constant without it. `JournalThread.commit` gets the term of a
   * group's first record.
   */
  term?(): number
  /** Maximum length of a group with its header, if less than a slot's. */
  readonly groupBytesMax?: number
  /** It rejects records when it holds this many bytes. */
  readonly bytesMax: number
  /** Its size when its last group ends at `end`. */
  bytesUpTo(end: number): number
  /** Everything before this position has been removed. */
  trimmed(start: number): void
  startThread(shared: JournalShared, hooks: JournalThreadHooks): JournalThread
}

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

export interface JournalThread {
  /**
   * Passes on the slot that `control` names. `term`: the medium's term when its first record arrived, or the current one without
   * records.
   */
  commit(term: number): void
  /** Resolves when the thread has ended. Nothing may be in flight. */
  stop(): Promise<void>
}

export interface JournalThreadHooks {
  onMessage: (message: JournalThreadMessage) => void
  onError: (error: Error) => void
}

function startJournalThread(workerData: JournalThreadData, hooks: JournalThreadHooks): JournalThread {
  const worker = new Worker(new URL('./journal-thread.ts', import.meta.url), {
    name: 'journal',
    workerData,
    resourceLimits: threadLimits.journal,
  })
  return threadHandle(worker, workerData.shared, hooks)
}

/** Handle of a thread that sleeps on `command` and answers with messages. */
export function threadHandle(
  worker: Worker,
  { control }: Pick<JournalShared, 'control'>,
  hooks: JournalThreadHooks,
): JournalThread {
  let mayEnd = false
  worker.on('message', hooks.onMessage)
  worker.on('error', error => {
    mayEnd = true
    hooks.onError(error)
  })
  // Registered now, as the thread may end before stop().
  const exited = new Promise<void>(resolve => {
    worker.once('exit', status => {
      if (!mayEnd) hooks.onError(new Error(`the journal's thread ended unexpectedly, with status ${status}`))
      resolve()
    })
  })

  function give(what: number): void {
    Atomics.store(control, controlAt.command, what)
    Atomics.notify(control, controlAt.command)
  }

  return {
    commit: () => give(command.commit),
    async stop() {
      mayEnd = true
      give(command.stop)
      await exited
    },
  }
}
