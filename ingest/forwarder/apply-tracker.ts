/**
 * Decides which positions of the journal are applied. QuestDB's 204 means that rows are sequenced. They are safe and
 * visible only once its writer has applied that transaction. So sent positions are tied to the sequencer's transaction
 * at that time. They count as applied when the writer has reached it, in each table with rows of a record.
 */

import { bug } from '../../store/limits/bug.ts'
import type { SentEvent } from './sent-watermark.ts'
import type { TableState } from './table-state.ts'

/** Progress of both lanes, as positions in the journal and as ordinals of records. */
export interface Progress {
  live: number
  backfill: number
  liveOrdinal: number
  backfillOrdinal: number
}

export type Lane = 'live' | 'backfill'

/** Progress at one time. */
interface Mark {
  progress: Progress
  /** The sequencer's transaction of each table in the first state queried after that time. Undefined before. */
  txns: readonly number[] | undefined
  dirty: DirtySet
  sinceUs: number | undefined
  oldestUs: number
}

export class ApplyTracker {
  readonly #revisions: Int32Array
  readonly #onSent: (event: SentEvent) => void
  #applied: Progress
  #appliedTxns: readonly number[] = []
  #mark: Mark | undefined
  /** The highest transaction of each table that QuestDB has reported. */
  #highestTxns: readonly number[] = []
  /** Series with new rows since the mark. */
  #dirty = new DirtySet()
  #spare = new DirtySet()
  #sinceUs: number | undefined
  /** The oldest row sent since the mark. */
  #oldestUs = Number.POSITIVE_INFINITY
  /** The oldest row that each lane has in flight: parts of a batch may reach the table now, and others later. */
  readonly #inFlightUs = { live: Number.POSITIVE_INFINITY, backfill: Number.POSITIVE_INFINITY }

  constructor(revisions: Int32Array, applied: Progress, onSent: (event: SentEvent) => void) {
    this.#revisions = revisions
    this.#applied = applied
    this.#onSent = onSent
  }

  get applied(): Progress {
    return this.#applied
  }

  /** Everything before this position is in the table. */
  get position(): number {
    return Math.min(this.#applied.live, this.#applied.backfill)
  }

  /** Each table has the transaction that includes the rows before `position`. Undefined before the first. */
  get appliedTxns(): readonly number[] {
    return this.#appliedTxns
  }

  /** Receipt time of the oldest readings that are sent but not applied. */
  get pendingSinceUs(): number | undefined {
    return this.#mark?.sinceUs ?? this.#sinceUs
  }

  /** Call it before a lane sends rows. `oldestUs` is the time of the oldest one. */
  sending(lane: Lane, oldestUs: number): void {
    this.#inFlightUs[lane] = Math.min(oldestUs, this.#inFlightUs[lane])
    if (oldestUs >= this.#oldestUs) return
    this.#oldestUs = oldestUs
    this.#onSent({ kind: 'sent', unsequencedUs: this.#unsequencedUs })
  }

  /** QuestDB has accepted rows of this series. */
  markDirty(seriesNumber: number): void {
    this.#dirty.add(seriesNumber)
  }

  /** QuestDB has accepted a lane's batch whose oldest reading was received at `receiptUs`. */
  sent(lane: Lane, receiptUs: number | undefined): void {
    this.#inFlightUs[lane] = Number.POSITIVE_INFINITY
    this.#sinceUs ??= receiptUs
  }

  /**
   * Marks the progress of the lanes. Call it before querying the table's state: rows accepted during the query may not be in the
   * answer. Only one mark exists at a time.
   */
  mark(sent: Progress): void {
    const { live, backfill } = this.#applied
    if (sent.live < live || sent.backfill < backfill) {
      throw bug(`sent up to ${sent.live} and ${sent.backfill}, applied up to ${live} and ${backfill}`)
    }
    const isNew = sent.live !== this.#applied.live || sent.backfill !== this.#applied.backfill
    if (this.#mark !== undefined || !isNew) return
    const [dirty, sinceUs, oldestUs] = [this.#dirty, this.#sinceUs, this.#oldestUs]
    this.#mark = { progress: { ...sent }, txns: undefined, dirty, sinceUs, oldestUs }
    this.#dirty = this.#spare
    this.#sinceUs = undefined
    this.#oldestUs = Math.min(this.#inFlightUs.live, this.#inFlightUs.backfill)
  }

  /**
   * Compares the states of the tables. `applied`: the marked rows are in the table. `lost`: the sequencer is behind a transaction
   * that it had assigned, so the table was replaced.
   */
  observe(states: readonly TableState[]): 'nothing' | 'applied' | 'lost' {
    const sequencerTxns = states.map(({ sequencerTxn }) => sequencerTxn)
    if (sequencerTxns.some((txn, table) => txn < (this.#highestTxns[table] ?? 0))) return 'lost'
    this.#highestTxns = sequencerTxns
    const mark = this.#mark
    if (mark === undefined) return 'nothing'
    const txns = mark.txns ?? this.#sequence(mark, sequencerTxns)
    if (states.some(({ writerTxn }, table) => writerTxn < (txns[table] ?? 0))) return 'nothing'
    this.#applied = mark.progress
    this.#appliedTxns = txns
    this.#release(mark)
    return 'applied'
  }

  /** Restarts from here: rows sent since may be lost. */
  rewind(applied: Progress): void {
    const { live, backfill } = this.#applied
    if (applied.live > live || applied.backfill > backfill) {
      throw bug(`applied up to ${live} and ${backfill}, goes back to ${applied.live} and ${applied.backfill}`)
    }
    this.#oldestUs = Number.POSITIVE_INFINITY
    this.#inFlightUs.live = this.#inFlightUs.backfill = Number.POSITIVE_INFINITY
    this.#applied = applied
    this.#appliedTxns = []
    this.#highestTxns = []
    if (this.#mark !== undefined) this.#release(this.#mark)
    this.#sinceUs = undefined
  }

  #sequence(mark: Mark, txns: readonly number[]): readonly number[] {
    mark.txns = txns
    const { oldestUs, progress } = mark
    // The first table has a row of each record, and is the base of the view.
    const [txn] = txns
    if (txn !== undefined && oldestUs < Number.POSITIVE_INFINITY) {
      const position = Math.min(progress.live, progress.backfill)
      this.#onSent({ kind: 'sent', unsequencedUs: this.#unsequencedUs, sequenced: { txn, oldestUs, position } })
    }
    return txns
  }

  get #unsequencedUs(): number {
    const mark = this.#mark
    return mark?.txns === undefined ? Math.min(this.#oldestUs, mark?.oldestUs ?? this.#oldestUs) : this.#oldestUs
  }

  #release(mark: Mark): void {
    mark.dirty.bump(this.#revisions)
    // A shared set would bump the series of the next mark before their rows are visible.
    if (mark.dirty === this.#dirty) throw bug('the series that are applied are those that got rows since')
    this.#spare = mark.dirty
    this.#mark = undefined
  }
}

/** Number of revisions. Two series with the same slot only invalidate each other's cached answers. */
export const revisionSlots = 2 ** 18

class DirtySet {
  readonly #isDirty = new Uint8Array(revisionSlots)
  readonly #slots = new Int32Array(revisionSlots)
  #count = 0

  add(seriesNumber: number): void {
    const slot = seriesNumber % revisionSlots
    if (this.#isDirty[slot] === 1) return
    this.#isDirty[slot] = 1
    this.#slots[this.#count++] = slot
  }

  /** Raises the revision of every series in the set and empties it. */
  bump(revisions: Int32Array): void {
    for (let index = 0; index < this.#count; index++) {
      const slot = this.#slots[index] as number
      Atomics.add(revisions, slot, 1)
      this.#isDirty[slot] = 0
    }
    this.#count = 0
  }
}
