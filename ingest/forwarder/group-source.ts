/** Where the groups come from that the forwarder sends: the journal of this process, or a spool that reads a topic. */

import type { Disk } from '../journal/disk.ts'
import type { ForwarderStatus } from './forwarder-status.ts'
import type { QuestdbConnection } from './questdb.ts'
import type { SentEvent } from './sent-watermark.ts'

export interface GroupSource {
  /** Of its segments, and of what the forwarder keeps beside them. */
  readonly disk: Disk
  /** Records that it had when it was opened. */
  readonly endOrdinal: number
  /** Groups before this position may be read. */
  durableEnd(): number
  /** Where both lanes begin; `keepMs` is 0 where QuestDB has on its disk what it has applied. */
  start(keepMs: number): number
  /**
   * For how long QuestDB has to answer promptly before rows with times of clients are sent, as a process before this one may have
   * left a request in flight; 0 when there is none. The lanes begin at `from`.
   */
  predecessorMs(from: number): number
  /** What QuestDB is to know a position by; undefined until that is known. */
  placeOf(position: number): number | undefined
  /** The same of where the lanes begin, if QuestDB had all before it. */
  firstPlace(from: number): number | undefined
  /** What goes to QuestDB passes through here. */
  guard(connection: QuestdbConnection): QuestdbConnection
  /** The id of a dead letter, by the position of its record. */
  letterId(position: number): number
  /**
   * Records of these series are erased: of a journal those before this point, of a topic all. The position that those of them which
   * it has stand before.
   */
  erase(seriesNumbers: readonly number[], before: number): number
  onSent(event: SentEvent): void
  onStatus(status: ForwarderStatus): void
  /** Nothing is sent any more. */
  close(): void
}
