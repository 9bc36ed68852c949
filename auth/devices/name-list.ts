/** Orders devices by the UTF-16 units of their names, the same on every machine. Lists are sorted on demand. */

import { bug } from '../../store/limits/bug.ts'
import type { DeviceRecord } from './device-record.ts'

/** Stale entries that a list may keep until it is read, besides as many as it has valid ones. */
const staleMax = 1000

export class NameList {
  readonly #belongs: (record: DeviceRecord) => boolean
  #records: DeviceRecord[] = []
  #active: readonly DeviceRecord[] | undefined
  #size = 0
  /** False after additions and renamings. */
  #isSorted = true
  /** True if some entries were removed, or are repeated after their return. */
  #isStale = false

  /** `belongs` is true for an added record until its removal. */
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

  /** Call it after a record has left the list. */
  remove(): void {
    this.#size--
    if (this.#size < 0) throw bug(`a list has ${this.#size} devices`)
    this.#isStale = true
    this.#active = undefined
    if (this.#records.length > 2 * this.#size + staleMax) this.#removeStale()
  }

  /** Call it after a setting of a record has changed. */
  changed(isRenamed: boolean): void {
    if (isRenamed) this.#isSorted = false
    this.#active = undefined
  }

  /** Valid until the next change. */
  all(): readonly DeviceRecord[] {
    if (this.#isStale) this.#removeStale()
    if (this.#records.length !== this.#size) throw bug(`a list of ${this.#size} devices has ${this.#records.length}`)
    // The sort is fast on nearly sorted records.
    if (!this.#isSorted) this.#records = this.#records.toSorted((a, b) => (a.name < b.name ? -1 : 1))
    this.#isSorted = true
    return this.#records
  }

  /** Devices with `log_switch`. The same array until something changes. */
  active(): readonly DeviceRecord[] {
    this.#active ??= this.all().filter(record => record.log_switch)
    return this.#active
  }

  /** Makes a new list, because the old one may be in use. */
  #removeStale(): void {
    this.#records = [...new Set(this.#records.filter(this.#belongs))]
    this.#isStale = false
  }
}
