/** What the groups of a journal are written to. Nothing above the journal knows which kind it is. */

import type { JournalShared } from './journal-shared.ts'
import type { JournalThread, JournalThreadHooks } from './journal-worker.ts'
import type { Stamper } from './stamp.ts'

export interface JournalMedium {
  /** Where it ends when it is opened: the position of the next group, and how many records stand before it. */
  readonly end: { readonly position: number; readonly ordinal: number }
  /** Bytes behind the last whole group that were cut off when it was opened. */
  readonly tornBytes: number
  /** Stamps above all that the groups have. */
  readonly stamper: Stamper
  /** Why it takes nothing more, besides its bytes. */
  refusal?(): string | undefined
  /**
   * Grows when what let records in may have ended meanwhile; without it, it never does. `JournalThread.commit` is given that of the
   * first record of a group.
   */
  term?(): number
  /** It takes nothing more when it holds this many bytes. */
  readonly bytesMax: number
  /** Bytes that it holds when its last group ends at `end`. */
  bytesUpTo(end: number): number
  /** Everything before this position has been removed. */
  trimmed(start: number): void
  startThread(shared: JournalShared, hooks: JournalThreadHooks): JournalThread
}
