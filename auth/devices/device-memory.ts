/** Holds all devices in memory, by name for authentication and sorted by name for lists. */

import { LRUCache } from 'lru-cache'
import { bug } from '../../store/limits/bug.ts'
import { composed } from '../../store/plain-text.ts'
import { DeviceRecord, type DeviceRow } from './device-record.ts'
import { createTagMatcher } from './tag.ts'

interface DeviceLists {
  /** Ordered by name; valid until the next change. */
  readonly all: readonly DeviceRecord[]
  /** Devices with `log_switch`. */
  readonly active: readonly DeviceRecord[]
}

const listsMax = 64
/** Entries of all lists together. A longer list is not cached. */
const devicesMax = 1_000_000

/** Caches lists of devices with tags until a device changes, as the same lists are requested often. */
class TaggedDevices {
  readonly #lists = new LRUCache<string, DeviceLists>({ max: listsMax, maxSize: devicesMax })
  #version = 0

  /** `from` is the list of an account, or of all, at this version of the registry. */
  of(from: readonly DeviceRecord[], tags: readonly string[], owner: number | undefined, version: number): DeviceLists {
    if (version !== this.#version) this.#lists.clear()
    this.#version = version
    const key = JSON.stringify([owner ?? null, ...tags])
    const known = this.#lists.get(key)
    if (known !== undefined) return known
    const all = from.filter(createTagMatcher(tags))
    const lists = { all, active: all.filter(({ log_switch }) => log_switch) }
    this.#lists.set(key, lists, { size: all.length + lists.active.length + 1 })
    return lists
  }
}

/** Called after each change of a device. `isRemoved` is true after its removal. */
type DeviceListener = (device: DeviceRecord, isRemoved: boolean) => void

const nothing: readonly DeviceRecord[] = []

export class DeviceMemory {
  readonly #byName = new Map<string, DeviceRecord>()
  readonly #byNumber = new Map<number, DeviceRecord>()
  readonly #list = new NameList(record => !record.removed)
  /** Empty lists are deleted. */
  readonly #byOwner = new Map<number, NameList>()
  /** Numbers of removed devices. Numbers are not reused, so an older row does not restore a removed device. */
  readonly #removed = new Set<number>()
  readonly #tagged = new TaggedDevices()
  readonly #listeners: DeviceListener[] = []
  #version = 0
  #sequence = 0

  /** Names are stored composed. Only a miss costs a second lookup for a decomposed spelling. */
  get(name: string): DeviceRecord | undefined {
    return this.#byName.get(name) ?? this.#byName.get(composed(name))
  }

  byNumber(number: number): DeviceRecord | undefined {
    return this.#byNumber.get(number)
  }

  size(): number {
    return this.#byNumber.size
  }

  /** Number of the account's devices. */
  ownedBy(owner: number): number {
    return this.#byOwner.get(owner)?.size() ?? 0
  }

  version(): number {
    return this.#version
  }

  /** The highest sequence number in memory. */
  sequence(): number {
    return this.#sequence
  }

  raiseSequence(sequence: number): void {
    this.#sequence = Math.max(this.#sequence, sequence)
  }

  /** Applies PostgreSQL's present row of a record. */
  apply(row: DeviceRow): void {
    this.raiseSequence(row.authSeq)
    const record = this.#byNumber.get(row.number)
    if (record === undefined) {
      if (row.removed) this.#removed.add(row.number)
      else if (!this.#removed.has(row.number)) this.#add(new DeviceRecord(row))
      return
    }
    if (row.authSeq <= record.authSeq) return
    if (row.removed) {
      this.remove(row.number)
      return
    }
    this.#change(record, row)
  }

  remove(number: number): void {
    const record = this.#byNumber.get(number)
    if (record === undefined) return
    record.removed = true
    this.#removed.add(number)
    this.#byNumber.delete(number)
    this.#unlink(record)
    this.#list.remove()
    this.#disown(record.owner)
    this.#changed(record, true)
  }

  /** Devices of an account, or all. Valid until the next change. */
  all(owner?: number): readonly DeviceRecord[] {
    return owner === undefined ? this.#list.all() : (this.#byOwner.get(owner)?.all() ?? nothing)
  }

  active(owner?: number): readonly DeviceRecord[] {
    return owner === undefined ? this.#list.active() : (this.#byOwner.get(owner)?.active() ?? nothing)
  }

  /** Devices with a tag for each of these, of an account or of all. */
  tagged(tags: readonly string[], owner?: number): DeviceLists {
    return this.#tagged.of(this.all(owner), tags, owner, this.#version)
  }

  onChange(listener: DeviceListener): void {
    this.#listeners.push(listener)
  }

  #add(record: DeviceRecord): void {
    this.#byNumber.set(record.number, record)
    this.#byName.set(record.name, record)
    this.#list.add(record)
    this.#own(record)
    this.#changed(record, false)
  }

  #change(record: DeviceRecord, row: DeviceRow): void {
    const { owner: ownerBefore } = record
    const isRenamed = row.name !== record.name
    if (isRenamed) this.#unlink(record)
    record.apply(row)
    if (isRenamed) this.#byName.set(record.name, record)
    this.#list.changed(isRenamed)
    if (record.owner === ownerBefore) {
      if (ownerBefore !== null) this.#byOwner.get(ownerBefore)?.changed(isRenamed)
    } else {
      this.#disown(ownerBefore)
      this.#own(record)
    }
    this.#changed(record, false)
  }

  #own(record: DeviceRecord): void {
    const { owner } = record
    if (owner === null) return
    const list = this.#byOwner.get(owner) ?? new NameList(other => !other.removed && other.owner === owner)
    list.add(record)
    this.#byOwner.set(owner, list)
  }

  /** Call it after the record has changed its owner. */
  #disown(owner: number | null): void {
    if (owner === null) return
    const list = this.#byOwner.get(owner)
    if (list === undefined) throw bug(`account ${owner} has no devices to lose`)
    list.remove()
    if (list.size() === 0) this.#byOwner.delete(owner)
  }

  #unlink(record: DeviceRecord): void {
    if (this.#byName.get(record.name) === record) this.#byName.delete(record.name)
  }

  #changed(record: DeviceRecord, isRemoved: boolean): void {
    const [listed, known] = [this.#list.size(), this.#byNumber.size]
    if (listed !== known) throw bug(`${listed} devices are listed, and ${known} are known`)
    this.#version += 1
    for (const listener of this.#listeners) listener(record, isRemoved)
  }
}

/** Stale entries that a list may keep until it is read, besides as many as it has valid ones. */
const staleMax = 1000

class NameList {
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
