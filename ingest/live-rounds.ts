/** Reads the journal in rounds for the live lane. One can be prepared while the one before it is on its way. */

import type { Disk } from './disk.ts'
import { LivePlanner, type Planned } from './live-lane.ts'
import { SegmentReader } from './segment-reader.ts'

export class LiveRounds {
  readonly #planner: LivePlanner
  /** Taken in turns. */
  readonly #readers: [SegmentReader, SegmentReader]
  #turn: 0 | 1 = 0

  constructor(disk: Disk, connectionCount: number) {
    this.#planner = new LivePlanner(connectionCount)
    this.#readers = [new SegmentReader(disk), new SegmentReader(disk)]
  }

  /**
   * The round that begins at the position, or undefined when there is nothing whole before the end. Its bytes stay as
   * they are until the next round but one is read.
   */
  read(position: number, end: number): Planned | undefined {
    const turn = this.#turn === 0 ? 1 : 0
    const chunk = this.#readers[turn].read(position, end)
    if (chunk.next === position) return undefined
    this.#turn = turn
    return this.#planner.plan(chunk)
  }

  /** A round was not taken: QuestDB may know none of its devices. */
  forget(): void {
    this.#planner.forget()
  }

  close(): void {
    for (const reader of this.#readers) reader.close()
  }
}
