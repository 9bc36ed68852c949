/** All devices in memory, by name for authentication and in the order of names for lists. */

import { DeviceRecord, type DeviceRow } from './device-record.ts'

/** Called after each change of a device; `isRemoved`: it is not in the registry any more. */
export type DeviceListener = (device: DeviceRecord, isRemoved: boolean) => void

export class DeviceMemory {
  readonly #byName = new Map<string, DeviceRecord>()
  readonly #byNumber = new Map<number, DeviceRecord>()
  /** In the order of names while `#sorted`; new ones stand at the end until somebody asks for the order. */
  #list: DeviceRecord[] = []
  #sorted = true
  #active: readonly DeviceRecord[] | undefined
  readonly #countsByOwner = new Map<number, number>()
  readonly #listeners: DeviceListener[] = []
  #version = 0
  #sequence = 0

  /** Names are kept composed; a decomposed spelling costs a second look only where the first finds nothing. */
  get(name: string): DeviceRecord | undefined {
    return this.#byName.get(name) ?? this.#byName.get(name.normalize('NFC'))
  }

  byNumber(number: number): DeviceRecord | undefined {
    return this.#byNumber.get(number)
  }

  size(): number {
    return this.#byNumber.size
  }

  /** How many devices the account has. */
  ownedBy(owner: number): number {
    return this.#countsByOwner.get(owner) ?? 0
  }

  version(): number {
    return this.#version
  }

  /** The highest sequence number that is in here. */
  sequence(): number {
    return this.#sequence
  }

  raiseSequence(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence)
  }

  /** Applies a record as PostgreSQL has it now. */
  apply(row: DeviceRow): void {
    this.raiseSequence(row.authSeq)
    const record = this.#byNumber.get(row.number)
    if (record === undefined) {
      if (!row.removed) this.#add(new DeviceRecord(row))
      return
    }
    if (row.authSeq <= record.authSeq) return
    if (row.removed) {
      this.remove(row.number)
      return
    }
    if (row.name !== record.name) this.#rename(record, row.name)
    this.#countOwned(record, -1)
    record.apply(row)
    this.#countOwned(record, 1)
    this.#changed(record, false)
  }

  remove(number: number): void {
    const record = this.#byNumber.get(number)
    if (record === undefined) return
    record.removed = true
    this.#countOwned(record, -1)
    this.#byNumber.delete(number)
    this.#unlink(record)
    // A new list, because somebody may still be reading the old one.
    this.#list = this.#list.filter(other => other !== record)
    this.#changed(record, true)
  }

  /** In the order of names, by UTF-16 units: the same on every machine. */
  all(): readonly DeviceRecord[] {
    if (!this.#sorted) {
      // Nearly sorted already, which the sort makes use of.
      this.#list = this.#list.toSorted((a, b) => (a.name < b.name ? -1 : 1))
      this.#sorted = true
    }
    return this.#list
  }

  active(): readonly DeviceRecord[] {
    this.#active ??= this.all().filter(record => record.log_switch)
    return this.#active
  }

  onChange(listener: DeviceListener): void {
    this.#listeners.push(listener)
  }

  #add(record: DeviceRecord): void {
    this.#byNumber.set(record.number, record)
    this.#byName.set(record.name, record)
    this.#countOwned(record, 1)
    this.#list.push(record)
    this.#sorted = false
    this.#changed(record, false)
  }

  #rename(record: DeviceRecord, name: string): void {
    this.#unlink(record)
    this.#byName.set(name, record)
    this.#sorted = false
  }

  #countOwned({ owner }: DeviceRecord, change: number): void {
    if (owner === null) return
    const count = this.ownedBy(owner) + change
    if (count > 0) this.#countsByOwner.set(owner, count)
    else this.#countsByOwner.delete(owner)
  }

  #unlink(record: DeviceRecord): void {
    if (this.#byName.get(record.name) === record) this.#byName.delete(record.name)
  }

  #changed(record: DeviceRecord, isRemoved: boolean): void {
    this.#active = undefined
    this.#version += 1
    for (const listener of this.#listeners) listener(record, isRemoved)
  }
}
