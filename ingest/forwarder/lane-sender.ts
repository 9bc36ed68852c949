/** Sends the batches of both lanes and tracks their progress. */

import { bug } from '../../store/limits/bug.ts'
import type { Chunk } from '../journal/segment-reader.ts'
import type { ApplyTracker, Lane, Progress } from './apply-tracker.ts'
import type { Batch } from './batch.ts'
import type { Delivery } from './delivery.ts'
import type { Sleeper } from './sleeper.ts'

export interface LaneSenderOptions {
  delivery: Delivery
  applyTracker: ApplyTracker
  sleeper: Sleeper
  /** Start of both lanes. */
  from: Progress
  /** Resolves when no request of an earlier process can be in flight any more. Undefined without any. */
  awaitPredecessor: (() => Promise<void>) | undefined
}

/** A range of the journal that a lane has finished: its groups, and the next position. */
export type LaneRange = Pick<Chunk, 'groups' | 'next'>

const stuckMs = 1000

export class LaneSender {
  readonly #options: LaneSenderOptions
  readonly #sent: Progress
  #predecessorGone: Promise<void> | undefined
  #unsentSinceUs: number | undefined
  /** Batches in flight: at most one of each lane. */
  #sending = 0

  constructor(options: LaneSenderOptions) {
    this.#options = options
    this.#sent = { ...options.from }
  }

  get sent(): Readonly<Progress> {
    return this.#sent
  }

  /** Receipt time of the oldest rows in flight. */
  get unsentSinceUs(): number | undefined {
    return this.#unsentSinceUs
  }

  /** Returns false when the batch was not accepted completely and has to be planned again. */
  async send(lane: Lane, batch: Batch, receiptUs: number | undefined): Promise<boolean> {
    if (batch.parts.length === 0) return true
    if (batch.oldestUs === Number.POSITIVE_INFINITY) throw bug(`a batch of the ${lane} lane has rows and no time`)
    this.#unsentSinceUs ??= receiptUs
    this.#sending++
    try {
      return await this.#deliver(lane, batch, receiptUs)
    } finally {
      this.#sending--
    }
  }

  async #deliver(lane: Lane, batch: Batch, receiptUs: number | undefined): Promise<boolean> {
    const { applyTracker, delivery, sleeper } = this.#options
    if (batch.hasClientTimes) await this.#awaitPredecessor()
    applyTracker.sending(lane, batch.oldestUs)
    const outcome = await delivery.deliver(batch)
    if (outcome === 'stuck') await sleeper.sleep(stuckMs)
    if (outcome !== 'sent') return false
    applyTracker.sent(lane, receiptUs)
    this.#unsentSinceUs = undefined
    for (const series of batch.series) applyTracker.markDirty(series)
    return true
  }

  /** The lane has sent its rows of the range. */
  advance(lane: Lane, { groups, next }: LaneRange): void {
    const last = groups.at(-1)
    if (next < this.#sent[lane]) throw bug(`the ${lane} lane is at ${this.#sent[lane]} and goes on to ${next}`)
    if (lane === 'backfill' && next > this.#sent.live) {
      throw bug(`the backfill lane goes on to ${next} and passes the live lane, which is at ${this.#sent.live}`)
    }
    this.#sent[lane] = next
    // The ordinal may decrease: a rewind that could not read the record at its position kept the previous ordinal.
    if (last !== undefined) this.#sent[`${lane}Ordinal`] = last.firstOrdinal + last.recordCount
  }

  /** Sets both lanes back to this position. */
  rewind(position: number, ordinal: number): void {
    if (this.#sending > 0) throw bug(`${this.#sending} batches are being sent while both lanes go back`)
    Object.assign(this.#sent, { live: position, backfill: position, liveOrdinal: ordinal, backfillOrdinal: ordinal })
  }

  /** An older value in flight from an earlier process must not arrive after a newer one. */
  async #awaitPredecessor(): Promise<void> {
    if (this.#options.awaitPredecessor === undefined) return
    this.#predecessorGone ??= this.#options.awaitPredecessor()
    await this.#predecessorGone
  }
}
