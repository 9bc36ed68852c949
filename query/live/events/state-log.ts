/** The latest state changes of devices and alerts, numbered since the start. */

import { bug } from '../../../store/limits/bug.ts'

/** The fields of an alert that decide who may receive it. */
export interface OwnedAlert {
  /** The account that owns its rule; null for the service. */
  readonly owner: number | null
}

export interface StateChange {
  /** Number of readings that had been stored before. */
  readonly atReading: number
  readonly atMs: number
  /** Device number; 0 where the alert does not concern a single device. */
  readonly device: number
  /** Set for alerts: the alert of the rule. */
  readonly alert?: OwnedAlert
  readonly text: string
  /** The text contains the name of the device. */
  readonly isNamed: boolean
}

const changesMax = 10_000

export class StateLog {
  #changes: StateChange[] = []
  #dropped = 0

  get head(): number {
    return this.#dropped + this.#changes.length
  }

  add(change: StateChange): void {
    const before = this.#changes.at(-1)?.atReading ?? 0
    if (change.atReading < before) throw bug(`changes out of order: reading ${change.atReading} after ${before}`)
    this.#changes.push(change)
    if (this.#changes.length > 2 * changesMax) this.#dropped += this.#changes.splice(0, changesMax).length
  }

  has(number: number): boolean {
    return number >= this.#dropped
  }

  from(number: number): readonly StateChange[] {
    if (number < this.#dropped || number > this.head) {
      throw bug(`changes from ${number} on were dropped: kept ${this.#dropped} to ${this.head}`)
    }
    return this.#changes.slice(number - this.#dropped)
  }

  /** The first change after this many readings had been stored, or after a time if that is earlier. */
  firstSince(reading: number, sinceMs = Number.POSITIVE_INFINITY): number {
    const index = this.#changes.findIndex(({ atReading, atMs }) => atReading >= reading || atMs >= sinceMs)
    return index === -1 ? this.head : this.#dropped + index
  }
}
