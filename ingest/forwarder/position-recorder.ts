/** Writes to QuestDB how far it is, about once a second. What it has not shown of that is neither committed nor removed. */

import type { Timing } from '../timing.ts'
import { advancePosition, type Exec, shownPosition } from './applied-positions.ts'

export interface PositionRecorderOptions {
  /** Of the journal in QuestDB. */
  id: string
  exec: Exec
  /** What QuestDB is to know a position of the segments by; undefined while that is not known. */
  placeOf: (position: number) => number | undefined
  /** Where the forwarder begins. */
  from: number
  /** QuestDB says that everything before this place is applied; undefined where that is not known. */
  place: number | undefined
  nowMs: () => number
  timing: Pick<Timing, 'monotonicMs' | 'after'>
}

interface Recorded {
  position: number
  place: number | undefined
}

const recordEveryMs = 1000
/** A QuestDB that does not show it by then has lost it. */
const showMsMax = 10_000
const lastLooks = 15
const lastLookMs = 30

export class PositionRecorder {
  readonly #options: PositionRecorderOptions
  #recorded: Recorded
  #written: Recorded | undefined
  #writtenAtMs = Number.NEGATIVE_INFINITY

  constructor(options: PositionRecorderOptions) {
    this.#options = options
    this.#recorded = { position: options.from, place: options.place }
  }

  /** QuestDB says that everything before this position is applied. */
  get position(): number {
    return this.#recorded.position
  }

  /** The same as QuestDB knows it. */
  get place(): number | undefined {
    return this.#recorded.place
  }

  /** Rows from this position on are sent again. */
  rewind(position: number): void {
    const { placeOf } = this.#options
    const place = Math.min(
      this.#recorded.place ?? Number.POSITIVE_INFINITY,
      placeOf(position) ?? Number.POSITIVE_INFINITY,
    )
    this.#recorded = {
      position: Math.min(this.#recorded.position, position),
      place: Number.isFinite(place) ? place : undefined,
    }
    this.#written = undefined
  }

  /** Everything before the position came into the tables up to these transactions. Rejects when QuestDB does not answer. */
  async record(position: number, txns: readonly number[]): Promise<void> {
    const sinceMs = this.#options.timing.monotonicMs() - this.#writtenAtMs
    if (sinceMs >= (this.#written === undefined ? recordEveryMs : showMsMax)) await this.#write(position, txns)
    await this.#look()
  }

  /** At the end, for a moment: without an answer more is sent again after the next start. */
  async recordLast(position: number, txns: readonly number[]): Promise<void> {
    const { timing } = this.#options
    try {
      await this.#write(position, txns)
      for (let look = 0; look < lastLooks && this.#written !== undefined; look++) {
        await new Promise<void>(resolve => timing.after(lastLookMs, resolve))
        await this.#look()
      }
    } catch {
      // That QuestDB does not answer is reported by the others.
    }
  }

  async #write(position: number, txns: readonly number[]): Promise<void> {
    const { id, exec, placeOf, nowMs, timing } = this.#options
    const place = placeOf(position)
    // That of a position in a spool may fall, when more is fetched.
    if (place === undefined || place <= (this.#recorded.place ?? -1)) return
    this.#writtenAtMs = timing.monotonicMs()
    this.#written = { position, place }
    await advancePosition(exec, id, place, txns, nowMs())
  }

  async #look(): Promise<void> {
    const { id, exec } = this.#options
    const written = this.#written
    if (written === undefined || (await shownPosition(exec, id)) !== written.place) return
    // A rewind may have come meanwhile.
    if (this.#written !== written) return
    this.#recorded = written
    this.#written = undefined
  }
}
