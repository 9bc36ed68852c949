/**
 * Writes the applied position to QuestDB about once a second. Only a position that QuestDB shows is committed and allows removal.
 */

import type { Timing } from '../timing.ts'
import { advancePosition, type Exec, shownPosition } from './applied-positions.ts'

export interface PositionRecorderOptions {
  /** Id of the journal in QuestDB. */
  id: string
  exec: Exec
  /** QuestDB's number for a position of the segments. Undefined while unknown. */
  placeOf: (position: number) => number | undefined
  /** Start position of the forwarder. */
  from: number
  /** QuestDB's number up to which everything is applied. Undefined while unknown. */
  place: number | undefined
  nowMs: () => number
  timing: Pick<Timing, 'monotonicMs' | 'after'>
}

interface Recorded {
  position: number
  place: number | undefined
}

const recordEveryMs = 1000
/** A position that QuestDB does not show by then is lost. */
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

  /** Everything before this position is applied, as confirmed by QuestDB. */
  get position(): number {
    return this.#recorded.position
  }

  /** QuestDB's number for it. */
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

  /**
   * Records that everything before the position is in the tables as of these transactions. Rejects when QuestDB does not answer.
   */
  async record(position: number, txns: readonly number[]): Promise<void> {
    const sinceMs = this.#options.timing.monotonicMs() - this.#writtenAtMs
    if (sinceMs >= (this.#written === undefined ? recordEveryMs : showMsMax)) await this.#write(position, txns)
    await this.#look()
  }

  /** Records the final position, with a short time limit: without an answer more rows are sent again after the next start. */
  async recordLast(position: number, txns: readonly number[]): Promise<void> {
    const { timing } = this.#options
    try {
      await this.#write(position, txns)
      for (let look = 0; look < lastLooks && this.#written !== undefined; look++) {
        await new Promise<void>(resolve => timing.after(lastLookMs, resolve))
        await this.#look()
      }
    } catch {
      // The poller reports that QuestDB does not answer.
    }
  }

  async #write(position: number, txns: readonly number[]): Promise<void> {
    const { id, exec, placeOf, nowMs, timing } = this.#options
    const place = placeOf(position)
    // The number for a position in a spool may decrease when more is fetched.
    if (place === undefined || place <= (this.#recorded.place ?? -1)) return
    this.#writtenAtMs = timing.monotonicMs()
    this.#written = { position, place }
    await advancePosition(exec, id, place, txns, nowMs())
  }

  async #look(): Promise<void> {
    const { id, exec } = this.#options
    const written = this.#written
    if (written === undefined || (await shownPosition(exec, id)) !== written.place) return
    // A rewind may have intervened.
    if (this.#written !== written) return
    this.#recorded = written
    this.#written = undefined
  }
}
