/** All devices in memory, by name for authentication, and in the order of names for lists: of all, and of each owner. */

import { LRUCache } from 'lru-cache'
import { bug } from '../../store/limits/bug.ts'
import { composed } from '../../store/plain-text.ts'
import { DeviceRecord, type DeviceRow } from './device-record.ts'
import { NameList } from './name-list.ts'
import { createTagMatcher } from './tag.ts'

interface DeviceLists {
  /** In the order of names; valid until the next change. */
  readonly all: readonly DeviceRecord[]
  /** Those with `log_switch`. */
  readonly active: readonly DeviceRecord[]
}

const listsMax = 64
/** Entries of all lists together; a list that is longer by itself is made each time. */
const devicesMax = 1_000_000

/** Lists of the devices with tags, held until a device changes: a fleet is asked for the same ones again and again. */
class TaggedDevices {
  readonly #lists = new LRUCache<string, DeviceLists>({ max: listsMax, maxSize: devicesMax })
  #version = 0

  /** Those of `from`, which is the list of an account, or of all, at this version of the registry. */
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

/** Called after each change of a device; `isRemoved`: it is not in the registry any more. */
export type DeviceListener = (device: DeviceRecord, isRemoved: boolean) => void

const nothing: readonly DeviceRecord[] = []

export class DeviceMemory {
  readonly #byName = new Map<string, DeviceRecord>()
  readonly #byNumber = new Map<number, DeviceRecord>()
  readonly #list = new NameList(record => !record.removed)
  /** None of them is empty. */
  readonly #byOwner = new Map<number, NameList>()
  /** Of those that were removed. None is ever given again, so a row that was read before its removal brings none back. */
  readonly #removed = new Set<number>()
  readonly #tagged = new TaggedDevices()
  readonly #listeners: DeviceListener[] = []
  #version = 0
  #sequence = 0

  /** Names are kept composed; a decomposed spelling costs a second look only where the first finds nothing. */
  get(name: string): DeviceRecord | undefined {
    return this.#byName.get(name) ?? this.#byName.get(composed(name))
  }

  byNumber(number: number): DeviceRecord | undefined {
    return this.#byNumber.get(number)
  }

  size(): number {
    return this.#byNumber.size
  }

  /** How many devices the account has. */
  ownedBy(owner: number): number {
    return this.#byOwner.get(owner)?.size() ?? 0
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

  /** Of an account, or undefined: of all. Valid until the next change. */
  all(owner?: number): readonly DeviceRecord[] {
    return owner === undefined ? this.#list.all() : (this.#byOwner.get(owner)?.all() ?? nothing)
  }

  active(owner?: number): readonly DeviceRecord[] {
    return owner === undefined ? this.#list.active() : (this.#byOwner.get(owner)?.active() ?? nothing)
  }

  /** Those with a tag for each of these, of an account or of all. */
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

  /** Once the record is not that of the owner any more. */
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
