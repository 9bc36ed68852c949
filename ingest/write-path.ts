/**
 * The write path of one table: a journal that makes its rows durable, and a thread that forwards them to QuestDB. `table`
 * describes the rows and `writer` encodes their records; nothing else in here depends on the table.
 */

import type { Log } from '../store/log.ts'
import type { QuestdbHttp } from '../store/questdb/client/questdb-address.ts'
import { createDeadLetters, type DeadLetters, lettersIn } from './dead-letters.ts'
import { revisionSlots } from './forwarder/apply-tracker.ts'
import { startForwarder } from './forwarder/forwarder-handle.ts'
import { type ForwarderStart, type ForwarderStatus, statusAtStart } from './forwarder/forwarder-status.ts'
import type { JournalSourceData } from './forwarder/group-source.ts'
import { openDisk } from './journal/disk.ts'
import { Journal, type JournalStatus } from './journal/journal.ts'
import { openSegmentsMedium } from './journal/medium.ts'
import type { Outcome } from './journal/outcome.ts'
import { liveWindowUs, offsetOf, type RecordWriter, type Timed } from './journal/record.ts'
import type { StoredListener } from './journal/stored-records.ts'
import type { WallClock } from './journal/wall-clock.ts'
import type { TableDescription } from './table.ts'

export interface WritePathOptions<Series, Values extends Timed> {
  table: TableDescription
  writer: RecordWriter<Series, Values>
  /** The journal's own directory. */
  directory: string
  journalBytesMax: number
  reserveBytes: number
  /** Retention of applied segments for a QuestDB that does not sync applied rows. */
  keepMs: number
  clock: Pick<WallClock, 'nowUs'>
  log: Log
  /** Called when a thread has died: the process can no longer guarantee durability. */
  onFatal: (error: Error) => void
}

interface JournalFiles {
  /**
   * Stops forwarding until `release`, for one holder at a time. Resolves when QuestDB has applied all sent rows. Until `release`,
   * journal files and the checkpoint stay, while rows are still accepted.
   */
  hold(): Promise<void>
  release(): void
}

/** A journal that other processes read and write as well. */
export interface SharedJournal {
  /** Equal in all processes, and unique to this journal. */
  readonly journalId: string
  /** Listeners have received all records before this position, the `place` of StoredRecords, or never will. */
  nextPosition(): number
  /** The time for which records of others may be missing from listeners; 0 while that is normal. */
  unreadSeconds(): number
  /** Reason why records cannot be passed to listeners at present. */
  issue(): string | undefined
  /**
   * Resolves when listeners have received all records stored at the call. Rejects while that is unknown, and when the signal
   * aborts.
   */
  untilNotified(signal: AbortSignal): Promise<void>
}

export interface ErasedRecords {
  /** All erased rows lie before this position in the journal. */
  before: number
  /** Names of damaged dead letters, which may contain erased values. */
  damaged: string[]
}

/** The rows that a replica's QuestDB shows. */
export interface ShownReplica {
  readonly number: number
  /** All rows before this position in the journal are applied. Undefined while unknown. */
  applied(): number | undefined
  /** Includes rows applied by an earlier forwarder: they are visible unless QuestDB is found to have lost rows. */
  shown(): number | undefined
  /** Position after the last rows that this process knows. QuestDB may show them before `shown` says so. */
  end(): number
  /** Raised whenever rows of the series became visible. Two series may share a revision. */
  revision(seriesNumber: number): number
  /**
   * Time of the oldest row sent since this transaction of QuestDB's table, in microseconds: Infinity without any, -Infinity while
   * unknown. Transactions must be passed in ascending order.
   */
  oldestSentSince(txn: number): number
  /** Calls the listener whenever QuestDB may have lost applied rows, and the journal is sent again. */
  onLost(listener: (reason: string) => void): void
  /** Reason why it must be replaced by a copy of another replica. Undefined while it is in use. */
  lost(): string | undefined
  /** Difference found by the last comparison. Undefined without one. */
  differs(): string | undefined
}

export interface WritePath<Series, Values extends Timed> {
  /**
   * Accepts one row. Its promise resolves when it is on disk, or with the reason for which nothing was stored. `reservedUs`: a
   * reserved stamp for a row without a time. With the same stamp again, the row replaces itself.
   */
  accept(series: Series, values: Values, reservedUs?: number): Promise<Outcome>
  /**
   * Accepts whole records of any length. Resolves when all are on disk, or with the first refusal, and with `unknown` if a part of them
   * is stored by then. `term`: the result of `term()` when the records were authorized, if before the call.
   */
  append(records: Uint8Array, term?: number): Promise<Outcome>
  /** Records admitted in an earlier term are not stored any more. Always 0 where no other process changes permissions. */
  term(): number
  /** A unique time of receipt for records without a time, epoch microseconds. Undefined while none may be assigned. */
  stampUs(): number | undefined
  /** Reserves durable stamps: no other record gets one of them, even after a restart. */
  reserveStampsUs(count: number): Promise<number[] | Exclude<Outcome, 'stored'>>
  /**
   * Calls the listener with all records that become durable, in the order of the journal. Records in the journal at the start are
   * not reported. For a shared journal the first listener gets all records that QuestDB may have lacked then. `onMissed` is
   * called when the listener missed records.
   */
  onStored(listener: StoredListener, onMissed?: () => void): void
  /** The replicas by number. A journal on disk has one. */
  readonly replicas: readonly [ShownReplica, ...ShownReplica[]]
  /** Calls the listener on a loss at any replica. */
  onLost(listener: (reason: string) => void): void
  /**
   * No row of these series goes to QuestDB any more, also when rows are sent again and after a restart. Custom series are given
   * as `erasedCustom` numbers. They must have been removed. Resolves when that is on disk, no request is in flight and the dead
   * letters contain nothing of them. Rejects while the journal refuses writes.
   */
  erase(seriesNumbers: readonly number[]): Promise<ErasedRecords>
  /** Refuses bulk data of these series, and values of these custom series: another node erases them. */
  refuseSeries(seriesNumbers: readonly number[]): void
  /** Undefined where no other process uses the journal. */
  shared: SharedJournal | undefined
  /** Copies of the journal use its files. Undefined where it has none on this machine. */
  files: JournalFiles | undefined
  status(): { journal: JournalStatus; forwarder: ForwarderStatus }
  /** Position after all rows that any node stored before the call. */
  endOfAll(): Promise<number>
  deadLetters: DeadLetters
  /** Syncs accepted rows and stops. Rows not yet forwarded stay in the journal. It may be called twice. */
  close(): Promise<void>
}

/** Present where this process forwards its own journal. */
export interface ForwardingWritePath<Series, Values extends Timed> extends WritePath<Series, Values> {
  /** Raises times of receipt above these values, in the form of `StampState.highestUs`, for journals that were topics. */
  raiseStamps(highestUs: readonly number[]): void
  /**
   * Starts forwarding once QuestDB is reachable and its commit mode is known. `customSeries`: pairs of a series and one of its
   * custom series. Without a place QuestDB stores no positions of the journal.
   */
  startForwarding(
    questdb: QuestdbHttp,
    appliedIsSynced: boolean,
    customSeries?: Uint32Array,
    place?: ForwarderStart['place'],
  ): void
  /** Pauses or resumes sending to QuestDB. */
  pause(isPaused: boolean): void
  /** Sends records from the position on again. */
  rewind(position: number, reason: string): void
}

export function openWritePath<Series, Values extends Timed>(
  options: WritePathOptions<Series, Values>,
): ForwardingWritePath<Series, Values> {
  const { table, writer, directory, reserveBytes, keepMs, clock, log, onFatal } = options
  const { nowUs } = clock
  const medium = openSegmentsMedium({ directory, bytesMax: options.journalBytesMax, reserveBytes, nowUs, log })
  const journal = new Journal({ writer, medium, liveWindowUs, nowUs, log, onFatal })
  const revisions = new Int32Array(new SharedArrayBuffer(4 * revisionSlots))
  const source: JournalSourceData = { directory, durableEnd: journal.shared.durableEnd, end: medium.end }
  const forwarder = startForwarder({
    module: new URL('./forwarder/forwarder-thread.ts', import.meta.url),
    table,
    source,
    revisions,
    status: statusAtStart(openDisk(directory), medium.end),
    onStatus: status => journal.trimmed(status.start),
    log,
    onFatal,
  })
  let closing: Promise<void> | undefined

  const append = (records: Uint8Array, term?: number) => appendInPieces(journal, records, term)
  async function close(): Promise<void> {
    await journal.close()
    await forwarder.stop()
  }

  return {
    accept: (series, values, reservedUs) => acceptInto(journal, series, values, reservedUs),
    append,
    term: () => journal.term(),
    stampUs: () => journal.stampUs(),
    raiseStamps: medium.stamper.raise,
    reserveStampsUs: count => journal.reserveStampsUs(count),
    onStored: listener => journal.onStored(listener),
    replicas: [
      {
        number: 1,
        applied: () => forwarder.status().applied,
        shown: () => forwarder.status().applied,
        end: () => Number(Atomics.load(journal.shared.durableEnd, 0)),
        revision: seriesNumber => revisions[seriesNumber % revisionSlots] ?? 0,
        oldestSentSince: forwarder.oldestSentSince,
        onLost: forwarder.onLost,
        lost: () => undefined,
        differs: () => undefined,
      },
    ],
    startForwarding(questdb, isSynced, customSeries = new Uint32Array(), place) {
      forwarder.start({ questdb, isSynced, customSeries, place, keepMs, keepBytesMax: options.journalBytesMax / 2 })
    },
    pause: forwarder.pause,
    rewind: forwarder.rewind,
    onLost: forwarder.onLost,
    async erase(seriesNumbers) {
      const before = await journal.endSeries(seriesNumbers)
      return { before, damaged: await forwarder.erase(seriesNumbers, before) }
    },
    refuseSeries: numbers => journal.refuseSeries(numbers),
    shared: undefined,
    files: { hold: forwarder.hold, release: forwarder.release },
    status: () => ({ journal: journal.status(), forwarder: forwarder.status() }),
    endOfAll: async () => journal.status().end,
    deadLetters: createDeadLetters(table, lettersIn(table, directory, forwarder.lettersRemoved), append),
    close() {
      closing ??= close()
      return closing
    },
  }
}

export function acceptInto<Series, Values extends Timed>(
  journal: Pick<Journal<Series, Values>, 'append'>,
  series: Series,
  values: Values,
  reservedUs: number | undefined,
): Promise<Outcome> {
  return new Promise(resolve => journal.append(series, values, resolve, reservedUs))
}

/** Resolves when all are stored, or with the first refusal. If a part is stored by then, the outcome is unknown. */
export async function appendInPieces(
  journal: Pick<Journal<never, never>, 'appendRecords' | 'bulkBytesMax' | 'term'>,
  records: Uint8Array,
  term = journal.term(),
): Promise<Outcome> {
  let isPartStored = false
  for (const piece of piecesOf(records, journal.bulkBytesMax)) {
    const outcome = await journal.appendRecords(piece, term)
    // Other data took the room, or the service began to stop.
    if (outcome !== 'stored') return isPartStored ? 'unknown' : outcome
    isPartStored = true
  }
  return 'stored'
}

/** Whole records, in pieces that are each stored or refused as a whole. */
export function* piecesOf(records: Uint8Array, bytesMax: number): Generator<Uint8Array> {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  for (let from = 0; from < records.length; ) {
    const to = pieceEnd(view, from, bytesMax)
    yield records.subarray(from, to)
    from = to
  }
}

/** Returns the end of a piece that starts at `from`. */
function pieceEnd(view: DataView, from: number, bytesMax: number): number {
  let to = from
  while (to < view.byteLength) {
    const length = view.getUint16(to + offsetOf.length, true)
    if (to > from && to + length - from > bytesMax) break
    to += length
  }
  return to
}
