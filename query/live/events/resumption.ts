/** Where a client goes on that has got events before, by the position of its cursor. */

import type { ReadingRing } from './reading-ring.ts'
import type { StateLog } from './state-log.ts'

export interface ResumptionOptions {
  readonly ring: ReadingRing
  readonly states: StateLog
  /** Other nodes tell the same events. */
  readonly isShared: boolean
  /** False while changes of states are not told. */
  readonly areStatesTold: () => boolean
}

export interface EventPlace {
  readonly next: number
  readonly nextState: number
}

/**
 * Nodes call a device late or silent by clocks of their own, and read a topic at times of their own: what one has told before a reading,
 * another one may tell behind it. A client that comes from there is told the changes of so long before its place, some of them again.
 */
const stateOverlapMs = 10_000

export class Resumption {
  readonly #options: ResumptionOptions
  /** The number of the first reading since changes of states are told. */
  #statesFrom: number | undefined

  constructor(options: ResumptionOptions) {
    this.#options = options
  }

  /** To be called before readings are appended. */
  noteStates(): void {
    const { ring, areStatesTold } = this.#options
    if (this.#statesFrom === undefined && areStatesTold()) this.#statesFrom = ring.head
  }

  /** `ahead`: what it goes on with may not have come yet. Undefined: it has missed something that is not kept. */
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
