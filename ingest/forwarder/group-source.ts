/** The source of the forwarder's groups: the journal of this process, or a spool that reads a topic. */

import type { Disk } from '../journal/disk.ts'
import { readCheckpoint } from '../journal/segments.ts'
import type { Timing } from '../timing.ts'
import type { ForwarderStatus } from './forwarder-status.ts'
import type { QuestdbConnection } from './questdb.ts'
import { replayStart } from './segment-retention.ts'
import type { SentEvent } from './sent-watermark.ts'

export interface GroupSource {
  /** Disk of its segments and of the forwarder's files beside them. */
  readonly disk: Disk
  /** Number of records when it was opened. */
  readonly endOrdinal: number
  /** Groups before this position may be read. */
  durableEnd(): number
  /** Resolves when the durable end is another one, or after the time. Without it the forwarder polls. */
  untilEndMoves?(end: number, msMax: number): Promise<unknown>
  /** Start of both lanes. `keepMs` is 0 where applied rows are on QuestDB's disk. */
  start(keepMs: number): number
  /**
   * How long QuestDB has to answer promptly before rows with clients' times are sent, as an earlier process may have left a
   * request in flight; 0 without any. The lanes begin at `from`.
   */
  predecessorMs(from: number): number
  /** QuestDB's number for a position. Undefined while unknown. */
  placeOf(position: number): number | undefined
  /** The same number for the start of the lanes, if QuestDB had all records before it. */
  firstPlace(from: number): number | undefined
  /** Wraps the connection: everything sent to QuestDB passes through it. */
  guard(connection: QuestdbConnection): QuestdbConnection
  /** Id of a dead letter, by the position of its record. */
  letterId(position: number): number
  /**
   * Erases the records of these series: in a journal those before this point, in a topic all. Returns the position after their
   * last record in the source.
   */
  erase(seriesNumbers: readonly number[], before: number): number
  onSent(event: SentEvent): void
  onStatus(status: ForwarderStatus): void
  /** Call it when nothing is sent any more. */
  close(): void
}

export interface JournalSourceData {
  directory: string
  /** The end, which the journal's thread advances. */
  durableEnd: BigInt64Array
  /** Its end when it was opened. */
  end: { position: number; ordinal: number }
}

interface JournalSourceOptions extends Omit<JournalSourceData, 'directory'> {
  disk: Disk
  quiesceMs: number
  timing: Timing
}

const nothing = (): void => undefined

/** The journal of this process as the source of the forwarder's groups. Another thread writes it. */
export function openJournalSource({ disk, durableEnd, end, quiesceMs, timing }: JournalSourceOptions): GroupSource {
  const endNow = () => Number(Atomics.load(durableEnd, 0))
  return {
    disk,
    endOrdinal: end.ordinal,
    durableEnd: endNow,
    untilEndMoves: async (end, msMax) => Atomics.waitAsync(durableEnd, 0, BigInt(end), msMax).value,
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
