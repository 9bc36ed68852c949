/** Sends the batches of both lanes and tracks their progress. */

import { bug } from '../../store/limits/bug.ts'
import type { Chunk } from '../journal/segment-reader.ts'
import type { Sleeper } from '../timing.ts'
import type { ApplyTracker, Lane, Progress } from './apply-tracker.ts'
import type { Batch } from './batch.ts'
import type { Delivery } from './delivery.ts'
import type { FileRetry } from './issue-log.ts'

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
    this.#options.sleeper.wake()
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

/** Reasons of a hold: files are being copied, or QuestDB lacks earlier rows. */
type Holder = 'copy' | 'unfit'

const laneCount = 2
const pollMs = 40

/**
 * The point where both lanes meet between two batches: work that needs them idle, with nothing in flight or prepared, runs here.
 */
export class LaneBarrier {
  readonly #sleeper: Sleeper
  readonly #retry: FileRetry
  /** Drops the batches that the lanes have prepared. */
  readonly #onIdle: () => void
  readonly #work: (() => void)[] = []
  #waitingLanes = 0
  readonly #holders = new Set<Holder>()

  constructor(sleeper: Sleeper, retry: FileRetry, onIdle: () => void) {
    this.#sleeper = sleeper
    this.#retry = retry
    this.#onIdle = onIdle
  }

  /** Runs the work once both lanes are idle. It is retried after a system error. */
  add(work: () => void): void {
    this.#work.push(work)
    this.#sleeper.wake()
  }

  /** Lanes that arrive wait until each holder has released the barrier. */
  hold(holder: Holder): void {
    this.#holders.add(holder)
    this.#sleeper.wake()
  }

  release(holder: Holder): void {
    this.#holders.delete(holder)
  }

  /** Each lane calls this between two batches, and continues when no work is left. */
  async pass(): Promise<void> {
    this.#waitingLanes++
    if (this.#waitingLanes > laneCount) throw bug(`${this.#waitingLanes} of ${laneCount} lanes wait`)
    while ((this.#work.length > 0 || this.#holders.size > 0) && !this.#sleeper.stopped) {
      if (this.#work.length > 0 && this.#waitingLanes === laneCount) {
        await this.#retry.attempt('rewind', () => this.#run())
      } else await this.#sleeper.sleep(pollMs)
    }
    this.#waitingLanes--
  }

  /** Resolves when both lanes were idle at the same time, or the forwarder is stopping. */
  async untilIdle(): Promise<void> {
    let wasIdle = false
    this.add(() => {
      wasIdle = true
    })
    while (!wasIdle && !this.#sleeper.stopped) await this.#sleeper.sleep(pollMs)
  }

  #run(): void {
    this.#onIdle()
    for (let work = this.#work[0]; work !== undefined; work = this.#work[0]) {
      work()
      this.#work.shift()
    }
  }
}
