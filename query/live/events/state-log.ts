/** The latest changes of the states of devices and of alerts, by a number that counts all of them. */

import { bug } from '../../../store/limits/bug.ts'

/** As much of an alert as says who may be told of it. */
export interface OwnedAlert {
  /** The account of its rule; null: of the service. */
  readonly owner: number | null
}

export interface StateChange {
  /** How many readings had been stored before. */
  readonly atReading: number
  readonly atMs: number
  /** By number; 0: the alert is not of a single device. */
  readonly device: number
  /** Of an alert: whose rule has found it. */
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
    if (change.atReading < before) throw bug(`a change at reading ${change.atReading} comes behind one at ${before}`)
    this.#changes.push(change)
    if (this.#changes.length > 2 * changesMax) this.#dropped += this.#changes.splice(0, changesMax).length
  }

  has(number: number): boolean {
    return number >= this.#dropped
  }

  from(number: number): readonly StateChange[] {
    if (number < this.#dropped || number > this.head) {
      throw bug(`the changes from ${number} on are not kept: there are ${this.#dropped} to ${this.head}`)
    }
    return this.#changes.slice(number - this.#dropped)
  }

  /** The first one since so many readings had been stored, or since a time if that is earlier. */
  firstSince(reading: number, sinceMs = Number.POSITIVE_INFINITY): number {
    const index = this.#changes.findIndex(({ atReading, atMs }) => atReading >= reading || atMs >= sinceMs)
    return index === -1 ? this.head : this.#dropped + index
  }
}
