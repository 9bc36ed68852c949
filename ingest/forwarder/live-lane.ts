/** The live lane: rows go to QuestDB as they arrive, batch after batch. The next one is prepared while one is in flight. */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from '../journal/disk.ts'
import { type GroupHeader, oldestReceiptUs } from '../journal/group.ts'
import { type Chunk, SegmentReader } from '../journal/segment-reader.ts'
import type { Sleeper, Timing } from '../timing.ts'
import { bytesWorthSending } from './batch.ts'
import type { FileRetry } from './issue-log.ts'
import type { LaneBarrier, LaneSender } from './lane-sender.ts'
import { endBefore, type LivePlanner, type PlannedBatch } from './live-planner.ts'
import type { SegmentRetention } from './segment-retention.ts'

export interface LiveLaneOptions {
  disk: Disk
  planner: LivePlanner
  /** Minimum interval of batches under steady load, unless a large one is waiting. */
  paceMs: number
  durableEnd: () => number
  /** Resolves when the durable end is another one, or after the time. Without it the lane polls. */
  untilEndMoves?: ((end: number, msMax: number) => Promise<unknown>) | undefined
  sender: LaneSender
  barrier: LaneBarrier
  retry: FileRetry
  retention: SegmentRetention
  sleeper: Sleeper
  timing: Timing
}

const pollMs = 40
/** An idle lane only wakes this often if no group comes and the barrier has no work. */
const idleMs = 1000

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
        await sleeper.sleep(pollMs)
        continue
      }
      const current = this.#next ?? (await retry.attempt('live', () => this.#prepareDue()))
      this.#next = undefined
      if (current === undefined) {
        await this.#untilDue()
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

  #untilDue(): Promise<void> {
    const { durableEnd, sender, sleeper, untilEndMoves } = this.#options
    const end = durableEnd()
    if (untilEndMoves === undefined || end > sender.sent.live) return sleeper.sleep(pollMs)
    return sleeper.idle(idleMs, untilEndMoves(end, idleMs))
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

interface LiveBatch extends PlannedBatch {
  /** End of the previous batch. */
  from: number
  /** The backfill lane has to reach this point first. */
  waitsForBackfill: boolean
  /** Receipt time of its last group. */
  receiptUs: number
}

/**
 * Reads the journal in batches for the live lane. One can be prepared while the previous one is in flight. A batch ends where the
 * next group has an earlier receipt time, because the clock was set back. The receipt clock selects the lanes, so a later record
 * may be live though an earlier one with the same time was late. There the live lane waits for the backfill lane.
 */
class LiveBatches {
  readonly #planner: LivePlanner
  /** Used alternately. */
  readonly #readers: [SegmentReader, SegmentReader]
  #turn: 0 | 1 = 0

  constructor(disk: Disk, planner: LivePlanner) {
    this.#planner = planner
    this.#readers = [new SegmentReader(disk), new SegmentReader(disk)]
  }

  /**
   * The batch at the position, or undefined without a whole group before the end. Its bytes stay valid until the batch after the
   * next is read. `receiptUs` is the receipt time of the previous batch.
   */
  read(position: number, end: number, receiptUs: number): LiveBatch | undefined {
    const turn = this.#turn === 0 ? 1 : 0
    const chunk = this.#readers[turn].read(position, end)
    if (chunk.next === position) return undefined
    this.#turn = turn
    const planned = this.#planner.plan(untilStepBack(chunk))
    if (planned.chunk.next <= position) throw bug(`a batch from ${position} on goes to ${planned.chunk.next}`)
    const groups = planned.chunk.groups.filter(hasRecords)
    return {
      ...planned,
      from: position,
      waitsForBackfill: (groups[0]?.receiptUs ?? receiptUs) < receiptUs,
      receiptUs: groups.at(-1)?.receiptUs ?? receiptUs,
    }
  }

  /** A batch was not delivered: QuestDB may lack its symbols. */
  forgetSymbols(): void {
    this.#planner.forgetSymbols()
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
  }
}

/** Other groups only open a segment or test the disk. */
const hasRecords = (group: GroupHeader) => group.recordCount > 0

function untilStepBack(chunk: Chunk): Chunk {
  let receiptUs = Number.NEGATIVE_INFINITY
  const index = chunk.groups.findIndex(group => {
    if (!hasRecords(group)) return false
    const isEarlier = group.receiptUs < receiptUs
    receiptUs = group.receiptUs
    return isEarlier
  })
  return index === -1 ? chunk : endBefore(chunk, index)
}
