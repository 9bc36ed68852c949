/**
 * The journal in the main thread: records are collected in one shared slot while the journal's thread syncs the other. No timer
 * delays a lone reading. Under load the groups grow to everything that arrived during the last sync. They are written to the
 * medium: segments on the local disk, or a topic.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { bug } from '../../store/limits/bug.ts'
import type { Log } from '../../store/log.ts'
import { systemTiming, type Timing } from '../timing.ts'
import { BulkPace } from './bulk-pace.ts'
import { groupHeaderLength } from './group.ts'
import {
  controlAt,
  createJournalShared,
  createSlot,
  emptySlot,
  type JournalShared,
  type JournalThreadMessage,
  type Slot,
  slotBytes,
  timesAt,
} from './journal-shared.ts'
import type { JournalMedium, JournalThread } from './medium.ts'
import type { Outcome, Settle } from './outcome.ts'
import { chooseLanes, type RecordWriter, type Timed } from './record.ts'
import type { Stamper } from './stamp.ts'
import { createStoredListeners, type StoredListener, type StoredListeners } from './stored-records.ts'
import { EndedSeries } from './tombstones.ts'
import { clockStepUs } from './wall-clock.ts'

export interface JournalOptions<Series, Values extends Timed> {
  /** Writer of the table whose records are in the journal. */
  writer: RecordWriter<Series, Values>
  medium: JournalMedium
  /** Older client times go to the backfill lane. */
  liveWindowUs: number
  nowUs: () => number
  log: Log
  /** Called when the journal's thread has died: nothing can be acknowledged any more. */
  onFatal: (error: Error) => void
  /** Replaces the system's timer. */
  after?: Timing['after']
}

export interface JournalStatus {
  /** Bytes between the oldest segment and the durable end. */
  bytes: number
  bytesMax: number
  end: number
  /** Records accepted since the journal began. */
  ordinal: number
  /** Groups and records made durable since the start. */
  groups: number
  records: number
  tornBytes: number
  /** The highest assigned stamp, epoch microseconds; above the clock when that was ahead before. */
  highestStampUs: number
  /** Reason why no record can be accepted at present. */
  issue: string | undefined
}

/** Records on disk, up to `end` in the slot. */
interface StoredGroup {
  readonly slot: Slot
  readonly end: number
  readonly count: number
}

const probeMs = 1000

/** Share of bulk data in a group. The rest stays free for live readings, so that an import never makes a sender wait for a second group. */
const bulkShare = 1 / 4

export class Journal<Series, Values extends Timed> {
  readonly shared: JournalShared
  /**
   * Limit of bulk data in a group, and size up to which bulk data is stored or refused as a whole. In the largest group, these are some
   * 14,000 records, which listeners process in a few milliseconds of one turn.
   */
  readonly bulkBytesMax: number
  readonly #groupBytesMax: number
  readonly #options: JournalOptions<Series, Values>
  readonly #writer: RecordWriter<Series, Values>
  readonly #medium: JournalMedium
  readonly #stamper: Stamper
  readonly #thread: JournalThread
  readonly #after: Timing['after']
  #filling: Slot
  #syncing: Slot
  #receiptUs = 0
  #inFlight = false
  /** The thread has died, so waiting calls fail. */
  #hasFailed = false
  #scheduled = false
  #closing: Promise<void> | undefined
  #waitingForRoom: (() => void)[] = []
  readonly #pace = new BulkPace()
  readonly #ended = new EndedSeries()
  readonly #stored: StoredListeners
  /** A group on disk that the listeners have not received yet. Its bytes stay until its slot is filled again. */
  #pending: StoredGroup | undefined
  #rollsNext = false
  #end: number
  #ordinal: number
  #groups = 0
  #records = 0
  #lastReason: string | undefined
  #cancelProbe: (() => void) | undefined

  /** Starts the thread. Records can be appended at once. */
  constructor(options: JournalOptions<Series, Values>) {
    const { medium, onFatal } = options
    this.#options = options
    this.#writer = options.writer
    this.#medium = medium
    this.#stamper = medium.stamper
    this.#groupBytesMax = Math.min(slotBytes, medium.groupBytesMax ?? slotBytes)
    this.bulkBytesMax = Math.floor(bulkShare * (this.#groupBytesMax - groupHeaderLength))
    this.#stored = createStoredListeners(options.log)
    this.#end = medium.end.position
    this.#ordinal = medium.end.ordinal
    this.shared = createJournalShared(this.#end)
    this.#filling = createSlot(this.shared.slots[0])
    this.#syncing = createSlot(this.shared.slots[1])
    this.#after = options.after ?? systemTiming.after
    this.#thread = medium.startThread(this.shared, {
      onMessage: message => {
        if (message.kind === 'committed') this.#committed(message)
      },
      onError: error => {
        this.#hasFailed = true
        onFatal(error)
      },
    })
  }

  /** Appends one record, stamped unless it has its own time or a reserved stamp. `settle` is called when its group is on disk. */
  append(series: Series, values: Values, settle: Settle, reservedUs?: number): void {
    const refusal = this.#refusal()
    const slot = this.#filling
    if (refusal !== undefined || slot.used + this.#writer.length(series, values) > this.#groupBytesMax) {
      settle(refusal ?? 'full')
      return
    }
    const { timestampMs } = values
    const givenUs = timestampMs === undefined ? reservedUs : timestampMs * 1000
    const timeUs = givenUs ?? this.#stamper.next()
    if (timeUs === undefined) {
      settle('full')
      return
    }
    this.#open(slot)
    const backfill = givenUs !== undefined && this.#isBackfill(slot, timeUs)
    const end = this.#writer.write(slot.view, slot.used, series, timeUs, backfill, values)
    this.#take(slot, end, 1, backfill ? 1 : 0)
    if (Number.isNaN(slot.singleSinceMs)) slot.singleSinceMs = performance.now()
    slot.waiting.push(settle)
    this.#schedule()
  }

  /**
   * The receipt time of a group determines the lanes of all its records. Of two records with the same time, the later one can be
   * live after a late one only if its group has an earlier receipt time. That happens when the clock was set back. There, as the
   * headers show, the live lane waits for the backfill lane (LiveBatches). So the later record is always sent later, also when
   * the journal is sent again.
   */
  #open(slot: Slot): void {
    if (slot.recordCount > 0) return
    const now = this.#options.nowUs()
    // A small correction does not make the live lane wait.
    if (now > this.#receiptUs || now < this.#receiptUs - clockStepUs) this.#receiptUs = now
    slot.receiptUs = this.#receiptUs
    slot.term = this.term()
  }

  /** The medium's term: records admitted in an earlier one are not stored any more. 0 for a medium with a single term. */
  term(): number {
    return this.#medium.term?.() ?? 0
  }

  /** True for a time that belongs to the backfill lane by the group's receipt time. */
  #isBackfill(slot: Slot, timeUs: number): boolean {
    return timeUs < slot.receiptUs - this.#options.liveWindowUs
  }

  /**
   * Appends whole records, at most `bulkBytesMax` at a time. Resolves when they are on disk. Waits while the current slot has its
   * share of bulk data, and while single readings wait too long (`bulk-pace.ts`). Their lanes are chosen here, in the order of
   * the journal: otherwise an older value could go to another lane than a newer one, and be sent after it. `term`: the term of
   * their admission; nothing is stored in a later one.
   */
  async appendRecords(records: Uint8Array, term = this.term()): Promise<Outcome> {
    if (records.length > this.bulkBytesMax) throw bug(`${records.length} bytes of bulk data come at a time`)
    for (;;) {
      const refusal = this.#refusal()
      if (refusal !== undefined) return refusal
      if (term !== this.term()) return 'full'
      const delayMs = this.#pace.delayMs(performance.now())
      if (delayMs > 0) await sleep(delayMs)
      else if (this.#filling.used + records.length <= groupHeaderLength + this.bulkBytesMax) break
      else await new Promise<void>(resolve => this.#waitingForRoom.push(resolve))
    }
    this.#pace.appended(records.length, performance.now())
    const slot = this.#filling
    this.#open(slot)
    // Filtered only here: one of the series may have been erased during the wait.
    const taken = this.#ended.without(records)
    slot.bytes.set(taken, slot.used)
    const { recordCount, backfillCount } = chooseLanes(slot.view, slot.used, taken.length, timeUs =>
      this.#isBackfill(slot, timeUs),
    )
    this.#take(slot, slot.used + taken.length, recordCount, backfillCount)
    return await this.#settled(slot)
  }

  /** Accounts for the records that have been written to the slot, up to `end`. */
  #take(slot: Slot, end: number, recordCount: number, backfillCount: number): void {
    this.#ended.eraseCustom(slot.view, slot.used, end)
    slot.used = end
    slot.recordCount += recordCount
    slot.backfillCount += backfillCount
  }

  /** Rejects bulk data of these series and values of these custom series from now on. Callers reject single records. */
  refuseSeries(numbers: Iterable<number>): void {
    this.#ended.add(numbers)
  }

  /**
   * Rejects these series. Resolves with the position after their last record, which is in a closed segment, so that it is removed
   * once QuestDB has applied it.
   */
  async endSeries(numbers: Iterable<number>): Promise<number> {
    this.refuseSeries(numbers)
    await this.#syncOrThrow()
    const end = this.#end
    this.#rollsNext = true
    await this.#syncOrThrow()
    return end
  }

  async #syncOrThrow(): Promise<void> {
    const outcome = await this.#sync()
    if (outcome !== 'stored') throw new Error(`the journal accepts no writes at present: ${this.#issue() ?? outcome}`)
  }

  /** Resolves when all earlier records, and the last stamp, are on disk. It needs no room, so it waits for none. */
  async #sync(): Promise<Outcome> {
    const refusal = this.#refusal()
    if (refusal !== undefined) return refusal
    const slot = this.#filling
    this.#open(slot)
    return await this.#settled(slot)
  }

  #settled({ waiting }: Slot): Promise<Outcome> {
    return new Promise(resolve => {
      waiting.push(resolve)
      this.#schedule()
    })
  }

  /**
   * A unique time of receipt for records that are appended as bulk data, epoch microseconds. Undefined while none may be
   * assigned. The group with the records, or an earlier one, makes it durable.
   */
  stampUs(): number | undefined {
    return this.#stamper.next()
  }

  /**
   * Stamps for records that may be appended at any later time, also after a restart and more than once. They are made durable
   * first, so that no other record gets one of them, whatever the clock does.
   */
  async reserveStampsUs(count: number): Promise<number[] | Exclude<Outcome, 'stored'>> {
    const stampsUs: number[] = []
    for (let left = count; left > 0; left--) {
      const stampUs = this.#stamper.next()
      if (stampUs === undefined) return 'full'
      stampsUs.push(stampUs)
    }
    const outcome = await this.#sync()
    return outcome === 'stored' ? stampsUs : outcome
  }

  /**
   * Calls the listener with the records of each group on disk, in the order of the journal, soon after their requests are
   * settled; never with records of another or unknown outcome.
   */
  onStored(listener: StoredListener): void {
    this.#stored.add(listener)
  }

  /** The forwarder has removed everything before this position. */
  trimmed(start: number): void {
    this.#medium.trimmed(start)
  }

  status(): JournalStatus {
    return {
      bytes: this.#medium.bytesUpTo(this.#end),
      bytesMax: this.#medium.bytesMax,
      end: this.#end,
      ordinal: this.#ordinal,
      groups: this.#groups,
      records: this.#records,
      tornBytes: this.#medium.tornBytes,
      highestStampUs: this.#stamper.highestUs(),
      issue: this.#issue(),
    }
  }

  /** Rejects new records, syncs accepted ones, and stops the thread. It may be called twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    while (!this.#hasFailed && (this.#inFlight || this.#scheduled || this.#filling.waiting.length > 0))
      await new Promise(resolve => setTimeout(resolve, 1))
    this.#cancelProbe?.()
    await this.#thread.stop()
  }

  #issue(): string | undefined {
    if (this.#lastReason !== undefined) return `the journal cannot be written: ${this.#lastReason}`
    return this.#refusal() === 'full' ? this.#fullReason() : this.#stamper.issue?.()
  }

  #refusal(): Outcome | undefined {
    if (this.#closing !== undefined) return 'closing'
    return this.#fullReason() === undefined ? undefined : 'full'
  }

  #fullReason(): string | undefined {
    const { bytesMax } = this.#medium
    if (this.#medium.bytesUpTo(this.#end) + this.#filling.used > bytesMax) {
      return `the journal has reached its limit of ${bytesMax} bytes`
    }
    return this.#medium.refusal?.()
  }

  /** Commits the group after the current turn of the event loop, so that all requests of the turn share a sync. */
  #schedule(): void {
    if (this.#inFlight || this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#handOver())
  }

  #handOver(): void {
    this.#scheduled = false
    const slot = this.#filling
    this.#assertHandOver(slot)
    this.#filling = this.#syncing
    this.#syncing = slot
    this.#inFlight = true
    const { control, times, slots } = this.shared
    times[timesAt.receiptUs] = slot.receiptUs
    times[timesAt.lastStampUs] = this.#stamper.lastUs()
    control[controlAt.slot] = slots[0] === slot.bytes ? 0 : 1
    control[controlAt.bodyLength] = slot.used - groupHeaderLength
    control[controlAt.recordCount] = slot.recordCount
    control[controlAt.backfillCount] = slot.backfillCount
    control[controlAt.roll] = this.#rollsNext ? 1 : 0
    this.#rollsNext = false
    const pending = this.#takePending()
    this.#thread.commit(slot.recordCount > 0 ? slot.term : this.term())
    // Listeners are notified after the commit, so that they do not delay a sync. Nothing is appended to the slot
    // before.
    this.#notify(pending)
    this.#wakeBulk()
  }

  /** The journal's thread trusts its input: one slot at a time, with as many records as its group states. */
  #assertHandOver({ used, recordCount, backfillCount }: Slot): void {
    const { used: usedNext, waiting } = this.#syncing
    if (this.#inFlight) throw bug(`a group of ${used} bytes is handed over while another one is in flight`)
    if (usedNext > groupHeaderLength || waiting.length > 0) {
      throw bug(`a slot with ${usedNext} bytes and ${waiting.length} senders is to be filled again`)
    }
    if (used > slotBytes || used > groupHeaderLength !== recordCount > 0 || backfillCount > recordCount) {
      throw bug(`a group has ${recordCount} records, ${backfillCount} of them late, in ${used} bytes`)
    }
  }

  #takePending(): StoredGroup | undefined {
    const pending = this.#pending
    this.#pending = undefined
    return pending
  }

  #notify(pending: StoredGroup | undefined): void {
    if (pending !== undefined) this.#stored.notify(pending.slot.view, groupHeaderLength, pending.end, pending.count)
  }

  #committed({ outcome, end, reason }: Extract<JournalThreadMessage, { kind: 'committed' }>): void {
    const { waiting, recordCount, used, singleSinceMs } = this.#syncing
    if (!this.#inFlight) throw bug(`a group that ends at ${end} is committed, and none was handed over`)
    if (end < this.#end) throw bug(`the journal ended at ${this.#end}, and ends at ${end} now`)
    if (outcome === 'stored' && end === this.#end) {
      throw bug(`a group of ${used} bytes is stored, and the journal still ends at ${end}`)
    }
    if (this.#pending !== undefined) throw bug(`${this.#pending.count} stored records were not reported`)
    this.#report(outcome, reason)
    this.#end = end
    if (outcome === 'stored') {
      this.#ordinal += recordCount
      if (recordCount > 0) this.#groups++
      this.#records += recordCount
      if (recordCount > 0) this.#pending = { slot: this.#syncing, end: used, count: recordCount }
    }
    emptySlot(this.#syncing)
    this.#inFlight = false
    this.#cancelProbe?.()
    if (this.#filling.waiting.length > 0) this.#schedule()
    else if (outcome !== 'stored') this.#probeLater()
    for (const settle of waiting) settle(outcome)
    const nowMs = performance.now()
    if (!Number.isNaN(singleSinceMs)) this.#pace.waited(nowMs - singleSinceMs, nowMs)
    if (!this.#scheduled) setImmediate(() => this.#notify(this.#takePending()))
  }

  /** While the disk fails, an empty group is tried periodically, so that the journal recovers without traffic. */
  #probeLater(): void {
    this.#cancelProbe = this.#after(probeMs, () => {
      if (!this.#inFlight && !this.#scheduled && this.#closing === undefined) this.#handOver()
    })
  }

  /** Logs one line when the disk begins to fail and one when it recovers, instead of one for each group. */
  #report(outcome: Outcome, reason: string | undefined): void {
    if (outcome === 'stored') {
      if (this.#lastReason !== undefined) this.#options.log.info({}, 'journal is writable again')
      this.#lastReason = undefined
    } else if (this.#lastReason === undefined) {
      this.#lastReason = reason ?? outcome
      this.#options.log.error({ outcome, reason }, 'cannot write to the journal')
    }
  }

  #wakeBulk(): void {
    const waiting = this.#waitingForRoom
    this.#waitingForRoom = []
    for (const wake of waiting) wake()
  }
}
