/**
 * The write path of one table: a journal that makes its rows durable, and a thread that takes them from there to QuestDB.
 * `table` says what the rows look like and `writer` makes their records; nothing else in here depends on the table.
 */

import type { Log } from '../store/log.ts'
import type { QuestdbHttp } from '../store/questdb/client/questdb-address.ts'
import { createDeadLetters, type DeadLetters, lettersIn } from './dead-letters.ts'
import { revisionSlots } from './forwarder/dirty-set.ts'
import { startForwarder } from './forwarder/forwarder-handle.ts'
import type { ForwarderStart } from './forwarder/forwarder-messages.ts'
import { type ForwarderStatus, statusAtStart } from './forwarder/forwarder-status.ts'
import type { JournalSourceData } from './forwarder/journal-source.ts'
import { openDisk } from './journal/disk.ts'
import { bulkBytesMax, Journal, type JournalStatus } from './journal/journal.ts'
import type { Outcome } from './journal/outcome.ts'
import { liveWindowUs, offsetOf, type RecordWriter, type Timed } from './journal/record.ts'
import { openSegmentsMedium } from './journal/segments-medium.ts'
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
  /** How long applied segments are kept for a QuestDB that does not sync what it applies. */
  keepMs: number
  clock: Pick<WallClock, 'nowUs'>
  log: Log
  /** Called when a thread has died: the process cannot keep its promise any more. */
  onFatal: (error: Error) => void
}

interface JournalFiles {
  /**
   * Forwards nothing until `release`, one holder at a time. Resolves when QuestDB has applied all that was sent; then, until
   * `release`, no file of the journal is removed and the checkpoint stays, while rows are still taken.
   */
  hold(): Promise<void>
  release(): void
}

/** A journal that other processes read and write as well. */
export interface SharedJournal {
  /** The same in all processes and never that of another journal. */
  readonly journalId: string
  /** Listeners were told all records before this position, `place` of StoredRecords, that they are ever told. */
  nextPosition(): number
  /** For how long others may have stored records that listeners were not told; 0 while that is a moment. */
  untoldSeconds(): number
  /** Why they cannot be told at present. */
  issue(): string | undefined
  /** Resolves when listeners were told all that was stored at the call. Rejects while that is not known, and when the signal aborts. */
  untilTold(signal: AbortSignal): Promise<void>
}

export interface ErasedRecords {
  /** The position in the journal that all of their rows stand before. */
  before: number
  /** Names of damaged dead letters, which may have values of them. */
  damaged: string[]
}

/** What the QuestDB of a replica shows of the rows. */
export interface ShownReplica {
  readonly number: number
  /** Everything before this position in the journal; undefined while that is not known. */
  applied(): number | undefined
  /** The same, with what a forwarder before this one had applied: it is there, unless QuestDB is found to have lost rows. */
  shown(): number | undefined
  /** Raised whenever rows of the series became visible. Two series may share one. */
  revision(seriesNumber: number): number
  /**
   * The time of the oldest row that was sent since this transaction of QuestDB's table, microseconds; Infinity when there is none,
   * -Infinity when that is not known. Transactions must be passed in ascending order.
   */
  oldestSentSince(txn: number): number
  /** Calls the listener whenever QuestDB may have lost what it had applied, and the journal is sent again. */
  onLost(listener: (reason: string) => void): void
  /** The reason why it has to be a new copy of another replica; undefined while it is in use. */
  lost(): string | undefined
  /** The difference that the last comparison found; undefined for none. */
  differs(): string | undefined
}

export interface WritePath<Series, Values extends Timed> {
  /**
   * Takes one row; its promise resolves when it is on disk, or says why nothing was stored. `reservedUs`: a stamp that was reserved, for a row without a
   * time of its own; again with the same one, the row replaces itself.
   */
  accept(series: Series, values: Values, reservedUs?: number): Promise<Outcome>
  /**
   * Takes whole records of any length; resolves when all are on disk, or with the first refusal. `term`: what `term()` was when it was
   * found out that they may be stored, where that was before the call.
   */
  append(records: Uint8Array, term?: number): Promise<Outcome>
  /** What was let in in an earlier term is not stored any more. Always 0 where no other process changes who is let in. */
  term(): number
  /**
   * A time of receipt for records that have none of their own, epoch microseconds; no other record gets the same. Undefined while
   * none may be given out.
   */
  stampUs(): number | undefined
  /** Stamps that are on the disk: no other record gets one of them, also after a restart. */
  reserveStampsUs(count: number): Promise<number[] | Exclude<Outcome, 'stored'>>
  /**
   * Calls the listener with all records that become durable, by whichever way they came, in the order of the journal; what
   * was in the journal at the start is not reported, but for a shared journal: of that the first listener is told all that QuestDB
   * may have lacked then. `onMissed` is called when there were records that the listener was not told.
   */
  onStored(listener: StoredListener, onMissed?: () => void): void
  /** The replicas by number. A journal on disk has one. */
  readonly replicas: readonly [ShownReplica, ...ShownReplica[]]
  /** Calls the listener as each replica does. */
  onLost(listener: (reason: string) => void): void
  /**
   * From now on no row of these series goes to QuestDB, whatever is sent again and over any restart; custom series stand
   * as `erasedCustom` gives them. They must have been removed. Resolves when that is on the disk, no request is in flight and the dead
   * letters have nothing of them. Rejects while the journal takes nothing.
   */
  erase(seriesNumbers: readonly number[]): Promise<ErasedRecords>
  /** Takes no bulk data of these series any more, nor values of these custom series: another node erases them. */
  refuseSeries(seriesNumbers: readonly number[]): void
  /** Undefined where no other process has to do with the journal. */
  shared: SharedJournal | undefined
  /** For copies of the journal's files; undefined where it has none on this machine. */
  files: JournalFiles | undefined
  status(): { journal: JournalStatus; forwarder: ForwarderStatus }
  /** The position that all rows stand before which were stored before the call, by whichever node. */
  endOfAll(): Promise<number>
  deadLetters: DeadLetters
  /** Syncs what was taken and stops. Rows that are not forwarded stay in the journal. May be called twice. */
  close(): Promise<void>
}

/** Where this process forwards what is in its journal. */
export interface ForwardingWritePath<Series, Values extends Timed> extends WritePath<Series, Values> {
  /** Times of receipt go on above these, as `StampState.highestUs` has them, of journals that were topics. */
  raiseStamps(highestUs: readonly number[]): void
  /**
   * Begins to forward: QuestDB is there, and we know whether it syncs what it applies. `customSeries`: the number of each
   * series that has custom ones, and of one of those, in turns. Without a place QuestDB keeps no positions of the journal.
   */
  startForwarding(
    questdb: QuestdbHttp,
    appliedIsSynced: boolean,
    customSeries?: Uint32Array,
    place?: ForwarderStart['place'],
  ): void
  /** Sends nothing to QuestDB, or goes on. */
  pause(isPaused: boolean): void
  /** Sends again what stands at the position or behind it. */
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

/** Resolves when all is stored, or with the first refusal. */
export async function appendInPieces(
  journal: Pick<Journal<never, never>, 'appendRecords' | 'term'>,
  records: Uint8Array,
  term = journal.term(),
): Promise<Outcome> {
  for (const piece of piecesOf(records)) {
    const outcome = await journal.appendRecords(piece, term)
    if (outcome !== 'stored') return outcome
  }
  return 'stored'
}

/** Whole records, as many to a piece as are stored or refused as a whole. */
export function* piecesOf(records: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength)
  for (let from = 0; from < records.length; ) {
    const to = pieceEnd(view, from)
    yield records.subarray(from, to)
    from = to
  }
}

/** As many whole records from `from` on as make one piece end here. */
function pieceEnd(view: DataView, from: number): number {
  let to = from
  while (to < view.byteLength) {
    const length = view.getUint16(to + offsetOf.length, true)
    if (to > from && to + length - from > bulkBytesMax) break
    to += length
  }
  return to
}
