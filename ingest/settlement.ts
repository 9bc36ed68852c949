/**
 * What may be forgotten. QuestDB's 204 means that rows are sequenced; they are safe and visible only when its writer has
 * applied that transaction. So positions that were sent are tied to the sequencer's transaction at that moment, and count
 * as applied when the writer has reached it.
 */

import type { TableState } from './table-state.ts'
import { TouchedDevices } from './touched.ts'

/** How far both lanes are, as positions in the journal and as ordinals of records. */
export interface Progress {
  live: number
  backfill: number
  liveOrdinal: number
  backfillOrdinal: number
}

/** What was sent at one moment. */
interface Mark {
  progress: Progress
  /** The sequencer's transaction in the first state that was asked for after that moment; undefined before. */
  txn: number | undefined
  touched: TouchedDevices
  sinceUs: number | undefined
}

export class Settlement {
  readonly #revisions: Int32Array
  #applied: Progress
  #mark: Mark | undefined
  #highestTxn = 0
  /** What was touched since the mark. */
  #touched = new TouchedDevices()
  #spare = new TouchedDevices()
  #sinceUs: number | undefined

  constructor(revisions: Int32Array, applied: Progress) {
    this.#revisions = revisions
    this.#applied = applied
  }

  get applied(): Progress {
    return this.#applied
  }

  /** Everything before this position is in the table. */
  get position(): number {
    return Math.min(this.#applied.live, this.#applied.backfill)
  }

  /** Receipt time of the oldest readings that were sent and are not applied. */
  get pendingSinceUs(): number | undefined {
    return this.#mark?.sinceUs ?? this.#sinceUs
  }

  /** Rows of this device were taken. */
  touch(deviceNumber: number): void {
    this.#touched.add(deviceNumber)
  }

  /** A round was taken whose oldest reading was received at `receiptUs`. */
  sent(receiptUs: number): void {
    this.#sinceUs ??= receiptUs
  }

  /**
   * Marks what the lanes have sent, to be called before the table's state is asked for: what is taken while the question is
   * on its way is not known to be in the answer. One mark stands at a time.
   */
  mark(sent: Progress): void {
    const isNew = sent.live !== this.#applied.live || sent.backfill !== this.#applied.backfill
    if (this.#mark !== undefined || !isNew) return
    this.#mark = { progress: { ...sent }, txn: undefined, touched: this.#touched, sinceUs: this.#sinceUs }
    this.#touched = this.#spare
    this.#sinceUs = undefined
  }

  /**
   * Learns the table's state. `applied`: what was marked is in the table. `lost`: the sequencer is behind a transaction
   * that it had given out, so the table is another.
   */
  observe(state: TableState): 'nothing' | 'applied' | 'lost' {
    if (state.sequencerTxn < this.#highestTxn) return 'lost'
    this.#highestTxn = state.sequencerTxn
    const mark = this.#mark
    if (mark === undefined) return 'nothing'
    mark.txn ??= state.sequencerTxn
    if (state.writerTxn < mark.txn) return 'nothing'
    this.#applied = mark.progress
    this.#release(mark)
    return 'applied'
  }

  /** Starts again from here: what was sent since may be lost. */
  rewind(applied: Progress): void {
    this.#applied = applied
    this.#highestTxn = 0
    if (this.#mark !== undefined) this.#release(this.#mark)
    this.#sinceUs = undefined
  }

  #release(mark: Mark): void {
    mark.touched.raise(this.#revisions)
    this.#spare = mark.touched
    this.#mark = undefined
  }
}
