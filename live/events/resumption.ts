/** Where a client goes on that has been told events before, by the positions of its cursor. */

import type { Positions } from './event-cursor.ts'
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
  readonly told?: Told | undefined
}

/**
 * What a client has been told: all readings before these positions. Some of them may stand between its place and this number of the ring,
 * where readings of several journals come in another order than at another node.
 */
export interface Told {
  readonly positions: Positions
  readonly until: number
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
  placeAt(positions: Positions): EventPlace | 'ahead' | undefined {
    this.noteStates()
    const { ring, states, isShared } = this.#options
    const next = ring.find(positions)
    if (next === undefined || this.#statesFrom === undefined) return undefined
    if (next === 'ahead') return next
    if (next < this.#statesFrom || !ring.has(next)) return undefined
    const sinceMs = isShared ? ring.storedBeforeMs(next) - stateOverlapMs : undefined
    const told = isShared && next < ring.head ? { positions, until: ring.head } : undefined
    return { next, nextState: states.firstSince(next, sinceMs), told }
  }
}
