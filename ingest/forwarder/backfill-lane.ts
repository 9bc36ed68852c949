/**
 * The backfill lane: late rows, sorted by time before they go to QuestDB. It never passes the live lane: of two records with
 * one key the later must be sent later, in whichever lane it is.
 */

import type { Disk } from '../journal/disk.ts'
import { oldestReceiptUs } from '../journal/group.ts'
import { SegmentReader } from '../journal/segment-reader.ts'
import type { BackfillPlanner } from './backfill-planner.ts'
import { bytesWorthSending } from './batch.ts'
import type { FileRetry } from './file-retry.ts'
import type { LaneBarrier } from './lane-barrier.ts'
import type { LaneRange, LaneSender } from './lane-sender.ts'
import type { Sleeper } from './sleeper.ts'

export interface BackfillLaneOptions {
  disk: Disk
  planner: BackfillPlanner
  /** The pause behind a small batch. */
  paceMs: number
  sender: LaneSender
  barrier: LaneBarrier
  retry: FileRetry
  sleeper: Sleeper
}

const idleMs = 40
/** At most this much of the journal is scanned for late records before other work has its turn. */
const scanBytesMax = 64 * 1024 * 1024

export class BackfillLane {
  readonly #options: BackfillLaneOptions
  readonly #reader: SegmentReader

  constructor(options: BackfillLaneOptions) {
    this.#options = options
    this.#reader = new SegmentReader(options.disk)
  }

  /** Until the forwarder stops. */
  async run(): Promise<void> {
    const { planner, paceMs, sender, barrier, retry, sleeper } = this.#options
    while (!sleeper.stopped) {
      await barrier.pass()
      const { backfill } = sender.sent
      const collected = await retry.attempt('backfill', () => this.#collect())
      if (collected === undefined) {
        // Whatever was collected before an error is collected again.
        planner.clear()
        await sleeper.sleep(idleMs)
        continue
      }
      const batch = planner.plan()
      if (await sender.send('backfill', batch, oldestReceiptUs(collected.groups))) sender.advance('backfill', collected)
      planner.clear()
      const isSmall = batch.parts.length > 0 && collected.next - backfill < bytesWorthSending
      if (isSmall) await sleeper.sleep(paceMs)
    }
  }

  close(): void {
    this.#reader.close()
  }

  /** Collects late records up to the live lane's position; undefined when there is nothing to scan. */
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
