/** Who reads, as far as the reads see it: which devices there are for them. */

import type { Device } from '../../auth/devices/device.ts'
import { createScopeCheck, type DeviceScope } from '../../auth/devices/device-scope.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { createTagMatcher } from '../../auth/devices/tag.ts'

export interface Reader {
  /** Undefined for one that is unknown, and for one that they may not read. */
  device(name: string): Device | undefined
  /** The same, where the last 24 hours that a list of the fleet draws of a device are all that is asked for; undefined: as `device`. */
  readonly listed?: (name: string) => Device | undefined
  /** What such a device is refused with. */
  readonly refusal: 'DEVICE_UNKNOWN' | 'DEVICE_MISMATCH'
  /** Undefined for who reads about the whole fleet under no circumstances. */
  readonly fleet: Fleet | undefined
  /** Whether they may read of stations, too; of which, the stations say. */
  readonly readsStations: boolean
}

/** The devices that a read of the fleet is about: all, those that somebody may read, or those that were named. */
export interface Fleet {
  /** Only devices in it; undefined: any. */
  readonly scope: DeviceScope | undefined
  /** Only these; undefined: all of them. */
  readonly named: readonly Device[] | undefined
  /** Only whoever sees the map of a view learns where its devices are; undefined: whoever reads them. */
  readonly hidesPlaces?: boolean
  /** In the order of names; valid until the next change. */
  all(): readonly Device[]
  /** Those that log; the same array until one of them changes. */
  active(): readonly Device[]
  /** Those of all with a tag for each of these, where `key:*` stands for any value. */
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

/** A person, or a program by a key: a device out of their scope looks as if there were none. */
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

/** A device, which reads about itself; whether there is another one is not disclosed. */
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
