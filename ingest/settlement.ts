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

interface Mark {
  progress: Progress
  txn: number
  touched: TouchedDevices
  sinceUs: number | undefined
}

export class Settlement {
  readonly #revisions: Int32Array
  #applied: Progress
  #mark: Mark | undefined
  #highestTxn = 0
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

  /** Rows of this device were taken; the oldest of the round was received at `receiptUs`. */
  touch(deviceNumber: number): void {
    this.#touched.add(deviceNumber)
  }

  sent(receiptUs: number): void {
    this.#sinceUs ??= receiptUs
  }

  /**
   * Learns the table's state; `sent` is how far the lanes were *before* the state was asked for. Returns true when more
   * was applied. `lost` is told when the sequencer is behind a transaction that it had given out: the table is another.
   */
  observe(state: TableState, sent: Progress): 'nothing' | 'applied' | 'lost' {
    if (state.sequencerTxn < this.#highestTxn) return 'lost'
    this.#highestTxn = state.sequencerTxn
    const wasApplied = this.#takeApplied(state)
    if (this.#mark !== undefined) return 'nothing'
    if (sent.live === this.#applied.live && sent.backfill === this.#applied.backfill) {
      return wasApplied ? 'applied' : 'nothing'
    }
    this.#mark = { progress: { ...sent }, txn: state.sequencerTxn, touched: this.#touched, sinceUs: this.#sinceUs }
    this.#touched = this.#spare
    this.#sinceUs = undefined
    return this.#takeApplied(state) || wasApplied ? 'applied' : 'nothing'
  }

  /** True when the writer has come to the mark. */
  #takeApplied(state: TableState): boolean {
    const mark = this.#mark
    if (mark === undefined || state.writerTxn < mark.txn) return false
    this.#applied = mark.progress
    mark.touched.raise(this.#revisions)
    this.#spare = mark.touched
    this.#mark = undefined
    return true
  }

  /** Starts again from here: what was sent since may be lost. */
  rewind(applied: Progress): void {
    this.#applied = applied
    this.#highestTxn = 0
    this.#mark?.touched.raise(this.#revisions)
    this.#mark = undefined
    this.#sinceUs = undefined
  }
}
