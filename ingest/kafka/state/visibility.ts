/**
 * The visible rows of a topic in a replica's QuestDB, for a process that does not forward the topic itself. It uses the groups
 * that it has read, and the forwarder's published state.
 */

import { revisionSlots } from '../../forwarder/apply-tracker.ts'
import { OldestRows } from '../../forwarder/sent-watermark.ts'
import { groupHeaderLength } from '../../journal/group.ts'
import { offsetOf } from '../../journal/record.ts'
import type { PublishedState } from './forward-status.ts'

interface Mark {
  /** Offset of the next group. */
  offset: number
  /** Rows before it. */
  rows: number
}

/** Beyond this, each second one is dropped: the count of visible rows then lags by a few groups. */
const marksMax = 1024

/** Counts the rows of a topic that were read, and how many of them QuestDB shows. */
class RowCounts {
  #read = 0
  #applied = 0
  #marks: Mark[] = []

  /** Number of rows since the feed began to read. */
  get read(): number {
    return this.#read
  }

  /** A lower bound of the visible ones among them. */
  get applied(): number {
    return this.#applied
  }

  /** The group at this offset has this many rows. */
  add(offset: number, rows: number): void {
    this.#read += rows
    this.#marks.push({ offset: offset + 1, rows: this.#read })
    if (this.#marks.length > marksMax) this.#marks = this.#marks.filter((_, index) => index % 2 === 1)
  }

  /** QuestDB shows all rows before this offset. */
  show(offset: number): void {
    const place = this.#marks.findLastIndex(mark => mark.offset <= offset)
    const mark = this.#marks[place]
    if (mark === undefined) return
    this.#applied = mark.rows
    this.#marks.splice(0, place + 1)
  }
}

const lostReason = 'QuestDB may have lost applied rows; they are sent again'

export class TopicVisibility {
  readonly #series = new UnappliedSeries()
  readonly #rows = new RowCounts()
  readonly #watermark: TopicWatermark
  readonly #lostListeners: ((reason: string) => void)[] = []
  #state: PublishedState | undefined
  #end = 0

  /** `from`: the offset of the first group that is read. */
  constructor(from: number) {
    this.#watermark = new TopicWatermark(from)
  }

  /** QuestDB shows everything before this offset. Undefined before a forwarder's first state. */
  get applied(): number | undefined {
    return this.#state?.applied
  }

  /** Number of rows like `applied`, including rows applied before the present forwarder took over the replica. */
  get shown(): number | undefined {
    return this.#state && Math.max(this.#state.applied, this.#state.appliedBefore ?? 0)
  }

  /** Offset after the last rows that were read. QuestDB may show them before `shown` says so. */
  get end(): number {
    return this.#end
  }

  /** Reason why its replica must be replaced by a copy of another one. Undefined while it is in use. */
  get lost(): string | undefined {
    return this.#state?.lost ?? undefined
  }

  /** Difference found by the last comparison of its replica. Undefined without one. */
  get differs(): string | undefined {
    return this.#state?.differs ?? undefined
  }

  /** Rows that were read here, and how many of them are visible. */
  get rows(): { readonly read: number; readonly applied: number } {
    return this.#rows
  }

  /** The group at this offset, whole and checked. */
  take(offset: number, group: DataView): void {
    let oldestUs = Number.POSITIVE_INFINITY
    let rows = 0
    for (let at = groupHeaderLength; at < group.byteLength; at += group.getUint16(at + offsetOf.length, true)) {
      this.#series.add(offset, group.getUint32(at + offsetOf.series, true))
      const timeUs = group.getFloat64(at + offsetOf.timeUs, true)
      if (timeUs < oldestUs) oldestUs = timeUs
      rows++
    }
    this.#watermark.add(offset, oldestUs)
    if (rows > 0) this.#end = offset + 1
    this.#rows.add(offset, rows)
    this.#rows.show(this.#state?.applied ?? 0)
  }

  /** Groups before this offset are not read. */
  missedBefore(offset: number): void {
    this.#series.doubtBefore(offset)
    this.#watermark.doubtBefore(offset)
  }

  published(state: PublishedState): void {
    const before = this.#state ?? state
    this.#state = state
    const isOther = state.tenure !== before.tenure
    // Another process starts counting at 0.
    const isLost = isOther ? state.losses > 0 : state.losses !== before.losses
    const isRepeated = isLost || isOther
    this.#watermark.published(state, isRepeated)
    this.#series.applied(state.applied, isRepeated)
    this.#rows.show(state.applied)
    if (isLost) for (const listener of this.#lostListeners) listener(lostReason)
  }

  onLost(listener: (reason: string) => void): void {
    this.#lostListeners.push(listener)
  }

  revision(series: number): number {
    return this.#series.revision(series)
  }

  oldestSince(txn: number): number {
    return this.#watermark.oldestSince(txn)
  }
}

interface Pair {
  readonly txn: number
  readonly offset: number
}

/** Some eight minutes at one pair a second. Beyond this, each second one is dropped, and the same share of new ones. */
const pairsMax = 512
/** Valid for every topic: nothing precedes its first offset. */
const atBeginning: Pair = { txn: Number.NEGATIVE_INFINITY, offset: 0 }

/**
 * A low watermark of a topic's rows that reached the table after a transaction, like `SentWatermark` for the rows sent by this
 * process. Pairs published by the forwarder relate rows to transactions: every row before an offset is in the table as of a
 * transaction.
 *
 * `oldestSince(txn)` is at most the time of each row of the topic that was read here and arrived after `txn`. So it never exceeds
 * the forwarder's own watermark for the same rows:
 *
 * - Let (T, O) be the latest pair with T <= txn. Every row before O arrived up to T, so one that arrived after `txn` is at or
 *   after O. The answer is the minimum over all groups from O on, whether they were sent or not.
 * - A merged range has the minimum of its groups and counts when its last one is at or after O: so it counts when any of its
 *   groups does. A dropped pair makes O lower, and so the minimum covers more groups.
 * - A row that is sent again arrives with a later transaction than earlier pairs state. This affects only rows at or after the
 *   committed offset. So at a takeover, or when QuestDB has lost rows, the offsets of the pairs are lowered to that one. Later
 *   pairs are correct again: they include rows sent again.
 * - Groups before `#completeFrom` were not read here, or were dropped. When O is before it the answer is -Infinity: any row may
 *   have arrived since.
 */
export class TopicWatermark {
  /** Keys are offsets of groups. */
  readonly #rows = new OldestRows()
  #completeFrom: number
  /**
   * Pairs have the order of publication. Transactions ascend, except for a table that was lost in part and restarts at
   * an earlier one.
   */
  #pairs: Pair[] = [atBeginning]
  /** One of this many new pairs is kept, besides the last one. */
  #pairsPerPlace = 1
  /** Number of pairs that replaced the last one. */
  #pairsInPlace = 1
  #committed = Number.POSITIVE_INFINITY

  /** `from`: the offset of the first group that is read. */
  constructor(from: number) {
    this.#completeFrom = from
  }

  /** The oldest row of a group, in the order of the topic. */
  add(offset: number, oldestUs: number): void {
    this.#rows.add(offset, oldestUs)
  }

  /** Groups before this offset are not known. */
  doubtBefore(offset: number): void {
    this.#completeFrom = Math.max(this.#completeFrom, offset)
  }

  /** `isRepeated`: records after the committed offset are sent again. */
  published({ committed, sequenced }: PublishedState, isRepeated: boolean): void {
    // Records committed before this state was known may have been sent again as well.
    const from = Math.min(committed, this.#committed)
    if (isRepeated || committed < this.#committed) this.#lower(from)
    this.#committed = committed
    if (sequenced !== undefined) this.#pair(sequenced)
  }

  /**
   * Time of the oldest row that reached the table after this transaction, in microseconds: Infinity without any, -Infinity while
   * unknown. Transactions must be passed in ascending order.
   */
  oldestSince(txn: number): number {
    const place = this.#pairs.findLastIndex(pair => pair.txn <= txn)
    const pair = this.#pairs[place]
    if (pair === undefined) return Number.NEGATIVE_INFINITY
    this.#pairs.splice(0, place)
    if (this.#pairs.length < pairsMax / 4) this.#pairsPerPlace = Math.max(1, Math.floor(this.#pairsPerPlace / 2))
    this.#forgetBefore(Math.min(pair.offset, this.#committed))
    return pair.offset < this.#completeFrom ? Number.NEGATIVE_INFINITY : this.#rows.oldestBehind(pair.offset - 1)
  }

  /** Pairs stay at or above this offset, unless the committed offset decreases. */
  #forgetBefore(offset: number): void {
    this.#rows.forgetUpTo(offset - 1)
    this.doubtBefore(offset)
  }

  #lower(offset: number): void {
    this.#pairs = this.#pairs.map(pair => (pair.offset > offset ? { txn: pair.txn, offset } : pair))
  }

  #pair(pair: Pair): void {
    const last = this.#pairs.at(-1)
    if (last?.txn === pair.txn && last.offset === pair.offset) return
    if (this.#pairs.length > 1 && this.#pairsInPlace < this.#pairsPerPlace) this.#pairs.pop()
    else this.#pairsInPlace = 0
    this.#pairs.push(pair)
    this.#pairsInPlace++
    if (this.#pairs.length <= pairsMax) return
    this.#pairs = this.#pairs.filter((_, index) => index % 2 === 0)
    this.#pairsPerPlace *= 2
  }
}

const none = Number.POSITIVE_INFINITY

/**
 * The series with rows in the topic that QuestDB does not show yet, and a revision of each series, which is raised when they
 * become visible. A slot of the revisions has the offsets of the first and the last of its groups, so the memory is constant for
 * any backlog: 6 MB.
 */
export class UnappliedSeries {
  readonly #revisions = new Int32Array(revisionSlots)
  /** Added to each of them. */
  #allRevision = 0
  /** Offset of the first group with rows that may not be visible; `none` for a slot without any. */
  readonly #first = new Float64Array(revisionSlots).fill(none)
  readonly #last = new Float64Array(revisionSlots)
  /** The slots with such rows. */
  readonly #slots = new Int32Array(revisionSlots)
  #count = 0
  #applied = 0
  /** Rows before this offset may be applied again, or for the first time, and are not in the slots. */
  #anyBefore = 0

  /** Raised whenever rows of the series became visible. Two series may share a revision. */
  revision(series: number): number {
    return (this.#revisions[series % revisionSlots] as number) + this.#allRevision
  }

  /** A row of the group at this offset. Offsets of calls never decrease. */
  add(offset: number, series: number): void {
    const slot = series % revisionSlots
    // The row is visible already: this process reads later than the forwarder.
    if (offset < this.#applied) {
      this.#revisions[slot] = (this.#revisions[slot] as number) + 1
      return
    }
    if (this.#first[slot] === none) {
      this.#first[slot] = offset
      this.#slots[this.#count++] = slot
    }
    this.#last[slot] = offset
  }

  /** Records before this offset were not read here, or may be applied again: all series may get rows. */
  doubtBefore(offset: number): void {
    this.#anyBefore = Math.max(this.#anyBefore, offset)
    this.#allRevision++
  }

  /**
   * QuestDB shows all rows before this offset. `isRepeated`: visible rows may have disappeared, and return one after the other, older
   * values first.
   */
  applied(offset: number, isRepeated: boolean): void {
    if (isRepeated || offset < this.#applied) this.doubtBefore(this.#applied)
    else if (offset > this.#applied && this.#applied < this.#anyBefore) this.#allRevision++
    this.#applied = offset
    const count = this.#count
    this.#count = 0
    for (let index = 0; index < count; index++) this.#advance(this.#slots[index] as number, offset)
  }

  #advance(slot: number, applied: number): void {
    if ((this.#first[slot] as number) < applied) {
      this.#revisions[slot] = (this.#revisions[slot] as number) + 1
      if ((this.#last[slot] as number) < applied) {
        this.#first[slot] = none
        return
      }
      // Its next group is at most at the last offset: from here on, each advance may make it visible.
      this.#first[slot] = applied
    }
    this.#slots[this.#count++] = slot
  }
}
