/**
 * Which rows of a topic the QuestDB of a replica shows, as a process knows it that does not forward the topic itself: by the groups that it has read,
 * and by what the forwarder publishes.
 */

import { OldestRows } from '../forwarder/oldest-rows.ts'
import { groupHeaderLength } from '../journal/group.ts'
import { offsetOf } from '../journal/record.ts'
import type { PublishedState } from './published-state.ts'
import { UnappliedSeries } from './unapplied-series.ts'

interface Mark {
  /** Of the next group. */
  offset: number
  /** Rows before it. */
  rows: number
}

/** Beyond, each second one is left out: a count of what is shown is then that of a few groups before. */
const marksMax = 1024

/** How many rows of a topic were read, and how many of them QuestDB shows. */
class RowCounts {
  #read = 0
  #applied = 0
  #marks: Mark[] = []

  /** Since the feed began to read. */
  get read(): number {
    return this.#read
  }

  /** Of these, at least so many show. */
  get applied(): number {
    return this.#applied
  }

  /** The group at this offset has so many rows. */
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

  /** `from`: the offset of the first group that is read. */
  constructor(from: number) {
    this.#watermark = new TopicWatermark(from)
  }

  /** QuestDB shows everything before this offset; undefined before the first word of a forwarder. */
  get applied(): number | undefined {
    return this.#state?.applied
  }

  /** As `applied`, with what was applied before the process that forwards took the replica over. */
  get shown(): number | undefined {
    return this.#state && Math.max(this.#state.applied, this.#state.appliedBefore ?? 0)
  }

  /** The reason why its replica has to be a new copy of another one; undefined while it is in use. */
  get lost(): string | undefined {
    return this.#state?.lost ?? undefined
  }

  /** The difference that the last comparison found in its replica; undefined for none. */
  get differs(): string | undefined {
    return this.#state?.differs ?? undefined
  }

  /** Rows that were read here, and of these, how many show. */
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
    // Another process begins to count at 0.
    const isLost = isOther ? state.losses > 0 : state.losses !== before.losses
    const isAnew = isLost || isOther
    this.#watermark.published(state, isAnew)
    this.#series.applied(state.applied, isAnew)
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

/** Some eight minutes of them at one a second. Beyond, each second one is left out, and of those that come as many. */
const pairsMax = 512
/** True of every topic: there is nothing before its first offset. */
const atBeginning: Pair = { txn: Number.NEGATIVE_INFINITY, offset: 0 }

/**
 * A low watermark of the rows of a topic that came into the table behind a transaction, as `SentWatermark` is one of the rows
 * that this process has sent. Which transaction a row came with is known by pairs that the forwarder publishes: every row before an
 * offset came up to a transaction.
 *
 * `oldestSince(txn)` is never later than the time of a row of the topic that was read here and came behind `txn`, so never later
 * than what the forwarder's own watermark says of the same rows:
 *
 * - Let (T, O) be the latest pair with T <= txn. Every row before O came up to T, so one that came behind `txn` stands at O or
 *   behind it. The answer is the minimum over all groups from O on, whether they were sent or not.
 * - A range that is merged has the minimum of its groups and counts when its last one is at O or behind it: so it counts when any
 *   of its groups does. A pair that is left out makes O lower, and the minimum one over more groups.
 * - A row that is sent again comes with a later transaction than the pairs of before say. Only rows at or behind the committed
 *   offset are, so at a takeover, or when QuestDB has lost rows, the offsets of the pairs go down to that one. A pair of
 *   after that is true again: it counts what was sent again.
 * - Groups before `#completeFrom` were not read here, or are forgotten. When O is before it the answer is -Infinity: any row may
 *   have come since.
 */
export class TopicWatermark {
  /** By the offset of the group. */
  readonly #rows = new OldestRows()
  #completeFrom: number
  /** As they were published. Transactions ascend, but for a table that was lost in part and counts anew from an earlier one on. */
  #pairs: Pair[] = [atBeginning]
  /** Of so many that come one stays, besides the last one. */
  #pairsPerPlace = 1
  /** That came in the place of the last one. */
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

  /** `isAnew`: what stands behind the committed offset is sent again. */
  published({ committed, sequenced }: PublishedState, isAnew: boolean): void {
    // What was committed before this state is known may have been sent again as well.
    const from = Math.min(committed, this.#committed)
    if (isAnew || committed < this.#committed) this.#lower(from)
    this.#committed = committed
    if (sequenced !== undefined) this.#pair(sequenced)
  }

  /**
   * The time of the oldest row that came into the table behind this transaction, microseconds; Infinity when there is none,
   * -Infinity when that is not known. Transactions must be passed in ascending order.
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

  /** No pair goes below this offset, unless what is committed does. */
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
