/** Devices in the order of their names, by UTF-16 units: the same on every machine. It is put in order when somebody asks. */

import { bug } from '../../store/limits/bug.ts'
import type { DeviceRecord } from './device-record.ts'

/** Stale entries that stand in a list until somebody asks for it, beside as many as it has others. */
const staleMax = 1000

export class NameList {
  readonly #belongs: (record: DeviceRecord) => boolean
  #records: DeviceRecord[] = []
  #active: readonly DeviceRecord[] | undefined
  #size = 0
  /** New ones and renamed ones stand anywhere. */
  #isSorted = true
  /** Some do not belong here any more, or stand here twice since they have come back. */
  #isStale = false

  /** `belongs`: of a record that was added, whether it has not been removed since. */
  constructor(belongs: (record: DeviceRecord) => boolean) {
    this.#belongs = belongs
  }

  size(): number {
    return this.#size
  }

  add(record: DeviceRecord): void {
    this.#records.push(record)
    this.#size++
    this.#isSorted = false
    this.#active = undefined
  }

  /** Once it does not belong here any more. */
  remove(): void {
    this.#size--
    if (this.#size < 0) throw bug(`a list has ${this.#size} devices`)
    this.#isStale = true
    this.#active = undefined
    if (this.#records.length > 2 * this.#size + staleMax) this.#removeStale()
  }

  /** A setting of one that is in here. */
  changed(isRenamed: boolean): void {
    if (isRenamed) this.#isSorted = false
    this.#active = undefined
  }

  /** Valid until the next change. */
  all(): readonly DeviceRecord[] {
    if (this.#isStale) this.#removeStale()
    if (this.#records.length !== this.#size) throw bug(`a list of ${this.#size} devices has ${this.#records.length}`)
    // Nearly sorted already, which the sort makes use of.
    if (!this.#isSorted) this.#records = this.#records.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#isSorted = true
    return this.#records
  }

  /** Those with `log_switch`; the same array until something changes. */
  active(): readonly DeviceRecord[] {
    this.#active ??= this.all().filter(record => record.log_switch)
    return this.#active
  }

  /** A new list, because somebody may still be reading the old one. */
  #removeStale(): void {
    this.#records = [...new Set(this.#records.filter(this.#belongs))]
    this.#isStale = false
  }
}
