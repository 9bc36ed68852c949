/** Lists of the devices with tags, held until a device changes: a fleet is asked for the same ones again and again. */

import { LRUCache } from 'lru-cache'
import type { DeviceRecord } from './device-record.ts'
import { createTagMatcher } from './tag.ts'

export interface DeviceLists {
  /** In the order of names; valid until the next change. */
  readonly all: readonly DeviceRecord[]
  /** Those with `log_switch`. */
  readonly active: readonly DeviceRecord[]
}

const listsMax = 64
/** Entries of all lists together; a list that is longer by itself is made each time. */
const devicesMax = 1_000_000

export class TaggedDevices {
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
