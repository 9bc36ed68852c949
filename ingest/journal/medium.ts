/** The medium of a journal's groups. Code above the journal does not depend on its kind. */

import type { JournalShared } from './journal-shared.ts'
import type { JournalThread, JournalThreadHooks } from './journal-worker.ts'
import type { Stamper } from './stamp.ts'

export interface JournalMedium {
  /** End when it is opened: the position of the next group, and the number of records before it. */
  readonly end: { readonly position: number; readonly ordinal: number }
  /** Bytes after the last whole group that were cut off when it was opened. */
  readonly tornBytes: number
  /** Assigns stamps above all stamps in the groups. */
  readonly stamper: Stamper
  /** Why it rejects records, apart from its size. */
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
