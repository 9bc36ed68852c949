/**
 * Reads the journal in batches for the live lane. One can be prepared while the previous one is in flight. A batch ends where the
 * next group has an earlier receipt time, because the clock was set back. The receipt clock selects the lanes, so a later record
 * may be live though an earlier one with the same time was late. There the live lane waits for the backfill lane.
 */

import { bug } from '../../store/limits/bug.ts'
import type { Disk } from '../journal/disk.ts'
import type { GroupHeader } from '../journal/group.ts'
import { type Chunk, SegmentReader } from '../journal/segment-reader.ts'
import { endBefore, type LivePlanner, type PlannedBatch } from './live-planner.ts'

export interface LiveBatch extends PlannedBatch {
  /** End of the previous batch. */
  from: number
  /** The backfill lane has to reach this point first. */
  waitsForBackfill: boolean
  /** Receipt time of its last group. */
  receiptUs: number
}

export class LiveBatches {
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
