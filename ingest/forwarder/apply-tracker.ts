/**
 * What may be removed from the journal. QuestDB's 204 means that rows are sequenced; they are safe and visible
 * only when its writer has applied that transaction. So positions that were sent are tied to the sequencer's transaction at
 * that moment, and count as applied when the writer has reached it: of each table that has rows of a record.
 */

import { bug } from '../../store/limits/bug.ts'
import { DirtySet } from './dirty-set.ts'
import type { SentEvent } from './sent-watermark.ts'
import type { TableState } from './table-state.ts'

/** How far both lanes are, as positions in the journal and as ordinals of records. */
export interface Progress {
  live: number
  backfill: number
  liveOrdinal: number
  backfillOrdinal: number
}

export type Lane = 'live' | 'backfill'

/** What was sent at one moment. */
interface Mark {
  progress: Progress
  /** The sequencer's transaction of each table in the first state that was queried after that moment; undefined before. */
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
  /** By table. */
  #highestTxns: readonly number[] = []
  /** Series that got rows since the mark. */
  #dirty = new DirtySet()
  #spare = new DirtySet()
  #sinceUs: number | undefined
  /** The oldest row that was sent since the mark. */
  #oldestUs = Number.POSITIVE_INFINITY
  /** The oldest row of what each lane has in flight: some of it may come into the table now, and some later. */
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

  /** By table, the transaction up to which the rows before `position` came; none before the first. */
  get appliedTxns(): readonly number[] {
    return this.#appliedTxns
  }

  /** Receipt time of the oldest readings that were sent and are not applied. */
  get pendingSinceUs(): number | undefined {
    return this.#mark?.sinceUs ?? this.#sinceUs
  }

  /** A lane is about to send rows, the oldest of which is of this time. */
  sending(lane: Lane, oldestUs: number): void {
    this.#inFlightUs[lane] = Math.min(oldestUs, this.#inFlightUs[lane])
    if (oldestUs >= this.#oldestUs) return
    this.#oldestUs = oldestUs
    this.#onSent({ kind: 'sent', unsequencedUs: this.#unsequencedUs })
  }

  /** Rows of this series were taken. */
  markDirty(seriesNumber: number): void {
    this.#dirty.add(seriesNumber)
  }

  /** A lane's batch was taken whose oldest reading was received at `receiptUs`. */
  sent(lane: Lane, receiptUs: number | undefined): void {
    this.#inFlightUs[lane] = Number.POSITIVE_INFINITY
    this.#sinceUs ??= receiptUs
  }

  /**
   * Marks what the lanes have sent, to be called before the table's state is queried: what is taken while the query is
   * in flight is not known to be in the answer. There is one mark at a time.
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
   * Learns the states of the tables. `applied`: what was marked is in the table. `lost`: the sequencer is behind a transaction
   * that it had given out, so that table is another.
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

  /** Starts again from here: what was sent since may be lost. */
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
    // The first table has a row of each record, and is the one that a view is made of.
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
    // Else the series of the next mark would be bumped with this one, before their rows are visible.
    if (mark.dirty === this.#dirty) throw bug('the series that are applied are those that got rows since')
    this.#spare = mark.dirty
    this.#mark = undefined
  }
}
