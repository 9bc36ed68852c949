/** Describes the reader of a request: the devices that it may read. */

import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { createScopeCheck, type DeviceScope } from '../../auth/devices/selector.ts'
import { createTagMatcher } from '../../auth/devices/tag.ts'

export interface Reader {
  /** Undefined for an unknown device and for one that the reader may not read. */
  device(name: string): Device | undefined
  /** Finds a device for the last 24 hours in a list of the fleet; by default like `device`. */
  readonly listed?: (name: string) => Device | undefined
  readonly refusal: 'DEVICE_UNKNOWN' | 'DEVICE_MISMATCH'
  /** Undefined for a reader that may not read about the fleet. */
  readonly fleet: Fleet | undefined
  /** Devices whose places it may learn. Default: `fleet`. Null: none. */
  readonly mapped?: Fleet | null
  /** True if it may read stations. Each station decides. */
  readonly readsStations: boolean
}

/** Devices of a read of the fleet: all, all readable ones, or the named ones. */
export interface Fleet {
  /** Limits devices; undefined for any. */
  readonly scope: DeviceScope | undefined
  /** Limits devices to these; undefined for all. */
  readonly named: readonly Device[] | undefined
  /** Ordered by name; valid until the next change. */
  all(): readonly Device[]
  /** Devices that log. The same array until one of them changes. */
  active(): readonly Device[]
  /** Devices with a tag for each of these, where `key:*` stands for any value. */
  tagged(tags: readonly string[]): readonly Device[]
}

export type ReadableDevices = Pick<Devices, 'get' | 'all' | 'active' | 'tagged'>

export function everybody(devices: ReadableDevices): Reader {
  const fleet: Fleet = {
    scope: undefined,
    named: undefined,
    all: () => devices.all(),
    active: () => devices.active(),
    tagged: tags => devices.tagged(tags).all,
  }
  return { device: name => devices.get(name), refusal: 'DEVICE_UNKNOWN', fleet, readsStations: true }
}

/** A person, or a program with a key. A device outside the scope looks unknown. */
export function scopedReader(devices: ReadableDevices, scope: DeviceScope): Reader {
  const isInScope = createScopeCheck(scope)
  const { owner, tags } = scope
  const lists = (more: readonly string[] = []) => devices.tagged([...(tags ?? []), ...more], owner)
  return {
    device(name) {
      const device = devices.get(name)
      return device !== undefined && isInScope(device) ? device : undefined
    },
    refusal: 'DEVICE_UNKNOWN',
    readsStations: true,
    fleet: {
      scope,
      named: undefined,
      all: () => (tags === undefined ? devices.all(owner) : lists().all),
      active: () => (tags === undefined ? devices.active(owner) : lists().active),
      tagged: more => lists(more).all,
    },
  }
}

/** A device reads about itself. Whether other devices exist is not disclosed. */
export function deviceReader(devices: ReadableDevices, { number }: Pick<Device, 'number'>): Reader {
  return {
    device(name) {
      const device = devices.get(name)
      return device?.number === number ? device : undefined
    },
    refusal: 'DEVICE_MISMATCH',
    readsStations: false,
    fleet: undefined,
  }
}

export function isWhole({ scope, named }: Fleet): boolean {
  return scope === undefined && named === undefined
}

export function namedFleet(scope: DeviceScope | undefined, named: readonly Device[]): Fleet {
  return {
    scope,
    named,
    all: () => named,
    active: () => named.filter(({ log_switch }) => log_switch),
    tagged: tags => named.filter(createTagMatcher(tags)),
  }
}
