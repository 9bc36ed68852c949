/**
 * The backfill lane: late rows, sorted by time before they go to QuestDB. It never passes the live lane: of two records with one
 * key the later must be sent later, in whichever lane it is.
 *
 * QuestDB applies transactions in order, so live rows become visible only after late rows that were sent before them. That is at
 * most `unappliedMax` batches. With one, QuestDB was idle from the end of its work until the next poll and the next request.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from '../journal/disk.ts'
import { oldestReceiptUs } from '../journal/group.ts'
import { SegmentReader } from '../journal/segment-reader.ts'
import type { Sleeper } from '../timing.ts'
import type { BackfillPlanner } from './backfill-planner.ts'
import { type Batch, bytesWorthSending } from './batch.ts'
import type { FileRetry } from './issue-log.ts'
import type { LaneBarrier, LaneRange, LaneSender } from './lane-sender.ts'

export interface BackfillLaneOptions {
  disk: Disk
  planner: BackfillPlanner
  /** The pause after a small batch. */
  paceMs: number
  sender: LaneSender
  barrier: LaneBarrier
  retry: FileRetry
  sleeper: Sleeper
  /** Late rows before this position are in the table. */
  applied: () => number
}

interface Prepared {
  /** Start position of the lane. */
  from: number
  batch: Batch
  range: LaneRange
}

/** The sender wakes an idle lane when the other one advances. */
const idleMs = 1000
const applyPollMs = 40
const unappliedMax = 2
/** Limit of the bytes scanned for late records before other work has its turn. */
const scanBytesMax = 64 * 1024 * 1024

export class BackfillLane {
  readonly #options: BackfillLaneOptions
  readonly #reader: SegmentReader
  #prepared: Prepared | undefined
  /** Ends of the batches with rows that may not be applied, in the order of sending. */
  #unapplied: number[] = []

  constructor(options: BackfillLaneOptions) {
    this.#options = options
    this.#reader = new SegmentReader(options.disk)
  }

  /** Runs until the forwarder stops. */
  async run(): Promise<void> {
    const { barrier, retry, sleeper } = this.#options
    while (!sleeper.stopped) {
      await barrier.pass()
      // Records collected before an error are collected again.
      this.#prepared ??= await retry.attempt('backfill', () => this.#prepare())
      if (this.#prepared === undefined) await sleeper.idle(idleMs)
      else if (hasRows(this.#prepared) && this.#isFull()) await sleeper.sleep(applyPollMs)
      else await this.#send(this.#prepared)
    }
  }

  /** Both lanes may have moved, and the rows may have been erased. */
  dropPrepared(): void {
    this.#options.planner.clear()
    this.#prepared = undefined
    this.#unapplied = []
  }

  close(): void {
    this.#reader.close()
  }

  #isFull(): boolean {
    const applied = this.#options.applied()
    this.#unapplied = this.#unapplied.filter(end => end > applied)
    return this.#unapplied.length >= unappliedMax
  }

  async #send(prepared: Prepared): Promise<void> {
    const { paceMs, planner, sender, sleeper } = this.#options
    const { batch, range, from } = prepared
    const { backfill } = sender.sent
    if (from !== backfill) throw bug(`the backfill lane is at ${backfill}, and its batch begins at ${from}`)
    if (await sender.send('backfill', batch, oldestReceiptUs(range.groups))) {
      sender.advance('backfill', range)
      if (hasRows(prepared)) this.#unapplied.push(range.next)
    }
    planner.clear()
    this.#prepared = undefined
    if (hasRows(prepared) && range.next - backfill < bytesWorthSending) await sleeper.sleep(paceMs)
  }

  #prepare(): Prepared | undefined {
    const { planner } = this.#options
    planner.clear()
    const { backfill: from } = this.#options.sender.sent
    const range = this.#collect()
    if (range === undefined) {
      planner.shrink()
      return undefined
    }
    return { from, batch: planner.plan(), range }
  }

  /** Collects late records up to the live lane's position. Undefined when all are scanned. */
  #collect(): LaneRange | undefined {
    const { planner, sender } = this.#options
    const { live, backfill } = sender.sent
    const range: LaneRange = { groups: [], next: backfill }
    let position = backfill
    const scanEnd = position + scanBytesMax
    while (position < Math.min(live, scanEnd)) {
      const chunk = this.#reader.read(position, live)
      if (chunk.next === position || !planner.collect(chunk)) break
      position = chunk.next
      range.groups.push(...chunk.groups)
      range.next = position
    }
    return position === backfill ? undefined : range
  }
}

function hasRows({ batch }: Prepared): boolean {
  return batch.parts.length > 0
}
