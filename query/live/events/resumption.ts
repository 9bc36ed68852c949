/** Finds the place at which a client resumes, by the position of its cursor. */

import type { ReadingRing } from './reading-ring.ts'
import type { StateLog } from './state-log.ts'

export interface ResumptionOptions {
  readonly ring: ReadingRing
  readonly states: StateLog
  /** Other nodes send the same events. */
  readonly isShared: boolean
  /** False while state changes are not sent. */
  readonly areStatesSent: () => boolean
}

export interface EventPlace {
  readonly next: number
  readonly nextState: number
}

/**
 * Nodes detect late and silent devices by their own clocks, and read a topic at different times. So one node may send a
 * change before a reading, and another one behind it. A resuming client gets the changes of this long before its place,
 * some of them again.
 */
const stateOverlapMs = 10_000

export class Resumption {
  readonly #options: ResumptionOptions
  /** The number of the first reading since state changes are sent. */
  #statesFrom: number | undefined

  constructor(options: ResumptionOptions) {
    this.#options = options
  }

  /** Must be called before readings are appended. */
  noteStates(): void {
    const { ring, areStatesSent } = this.#options
    if (this.#statesFrom === undefined && areStatesSent()) this.#statesFrom = ring.head
  }

  /**
   * `ahead` means that the next events may not be stored yet. Undefined means that the client has missed events that
   * are not kept.
   */
  placeAt(position: number): EventPlace | 'ahead' | undefined {
    this.noteStates()
    const { ring, states, isShared } = this.#options
    const next = ring.find(position)
    if (next === undefined || this.#statesFrom === undefined) return undefined
    if (next === 'ahead') return next
    if (next < this.#statesFrom || !ring.has(next)) return undefined
    const sinceMs = isShared ? ring.storedBeforeMs(next) - stateOverlapMs : undefined
    return { next, nextState: states.firstSince(next, sinceMs) }
  }
}
