/** The live lane: rows go to QuestDB as they arrive, batch after batch. The next one is prepared while one is in flight. */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from '../journal/disk.ts'
import { oldestReceiptUs } from '../journal/group.ts'
import type { Timing } from '../timing.ts'
import { bytesWorthSending } from './batch.ts'
import type { FileRetry } from './file-retry.ts'
import type { LaneBarrier } from './lane-barrier.ts'
import type { LaneSender } from './lane-sender.ts'
import { type LiveBatch, LiveBatches } from './live-batches.ts'
import type { LivePlanner } from './live-planner.ts'
import type { SegmentRetention } from './segment-retention.ts'
import type { Sleeper } from './sleeper.ts'

export interface LiveLaneOptions {
  disk: Disk
  planner: LivePlanner
  /** Minimum interval of batches under steady load, unless a large one is waiting. */
  paceMs: number
  durableEnd: () => number
  sender: LaneSender
  barrier: LaneBarrier
  retry: FileRetry
  retention: SegmentRetention
  sleeper: Sleeper
  timing: Timing
}

const idleMs = 40

export class LiveLane {
  readonly #options: LiveLaneOptions
  readonly #batches: LiveBatches
  /** The next batch, if it is prepared while another is in flight. */
  #next: LiveBatch | undefined
  #batchAtMs = Number.NEGATIVE_INFINITY
  /** Position where a batch waits for the backfill lane. */
  #waitsAt = -1
  /** Receipt time of the last group that was sent. */
  #receiptUs = Number.NEGATIVE_INFINITY

  constructor(options: LiveLaneOptions) {
    this.#options = options
    this.#batches = new LiveBatches(options.disk, options.planner)
  }

  /** Runs until the forwarder stops. */
  async run(): Promise<void> {
    const { barrier, retry, sender, sleeper } = this.#options
    while (!sleeper.stopped) {
      await barrier.pass()
      if (this.#waitsAt === sender.sent.live && sender.sent.backfill < this.#waitsAt) {
        await sleeper.sleep(idleMs)
        continue
      }
      const current = this.#next ?? (await retry.attempt('live', () => this.#prepareDue()))
      this.#next = undefined
      if (current === undefined) {
        await sleeper.sleep(idleMs)
        continue
      }
      if (current.waitsForBackfill && sender.sent.backfill < sender.sent.live) {
        // The batch is planned again afterwards: it may replace custom values that the other lane sends meanwhile.
        this.#waitsAt = sender.sent.live
        continue
      }
      const sending = this.#send(current)
      this.#next = await retry.attempt('live', () => this.#prepareNext(current))
      if (!(await sending)) this.dropPrepared()
    }
  }

  /** The lane may have moved, and the prepared batch may contain erased rows. QuestDB may lack its symbols. */
  dropPrepared(): void {
    this.#next = undefined
    this.#batches.forgetSymbols()
  }

  close(): void {
    this.#batches.close()
  }

  async #send({ from, chunk, batch, receiptUs }: LiveBatch): Promise<boolean> {
    const { retention, retry, sender, timing } = this.#options
    const { live, backfill } = sender.sent
    if (from !== live) throw bug(`the live lane is at ${live}, and its batch begins at ${from}`)
    this.#batchAtMs = timing.monotonicMs()
    if (!(await retry.untilDone('quarantine', () => retention.quarantine(chunk)))) return false
    if (!(await sender.send('live', batch, oldestReceiptUs(chunk.groups)))) return false
    const hasBackfill = chunk.groups.some(group => group.backfillCount > 0)
    sender.advance('live', chunk)
    // The other lane has no rows in here and need not read it.
    if (!hasBackfill && backfill === live && sender.sent.backfill === live) sender.advance('backfill', chunk)
    this.#receiptUs = receiptUs
    return true
  }

  #prepareDue(): LiveBatch | undefined {
    const { live } = this.#options.sender.sent
    const end = this.#options.durableEnd()
    return this.#isDue(end - live) ? this.#batches.read(live, end, this.#receiptUs) : undefined
  }

  /** Prepares a large next batch while one is in flight. A small one waits for more rows. */
  async #prepareNext({ chunk, receiptUs }: LiveBatch): Promise<LiveBatch | undefined> {
    const end = this.#options.durableEnd()
    if (end - chunk.next < bytesWorthSending) return undefined
    // The requests are passed to their sockets before the processor works on the next rows.
    await new Promise(resolve => setImmediate(resolve))
    return this.#batches.read(chunk.next, end, receiptUs)
  }

  /**
   * A commit in sync mode costs QuestDB two dozen syncs, and the journal's own sync waits behind them. So under steady load a few
   * rows wait briefly for more. After a pause, and for a backlog, a batch begins at once.
   */
  #isDue(bytes: number): boolean {
    const { timing, paceMs } = this.#options
    if (bytes === 0) return false
    return bytes >= bytesWorthSending || timing.monotonicMs() - this.#batchAtMs >= paceMs
  }
}
