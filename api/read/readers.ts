/** Who reads, as far as the reads see it: which devices there are for them. */

import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'

export interface Reader {
  /** Undefined for one that is unknown, and for one that they may not read. */
  device(name: string): Device | undefined
  /** What such a device is refused with. */
  readonly refusal: 'DEVICE_UNKNOWN' | 'DEVICE_MISMATCH'
  /** Undefined for who reads about the whole fleet under no circumstances. */
  readonly fleet: Fleet | undefined
}

/** The devices that a read of the fleet is about: all, those of an account, or those that were named. */
export interface Fleet {
  /** Only devices of this account; undefined: of anybody. */
  readonly owner: number | undefined
  /** Only these; undefined: all of them. */
  readonly named: readonly Device[] | undefined
  /** In the order of names; valid until the next change. */
  all(): readonly Device[]
  /** Those that log; the same array until one of them changes. */
  active(): readonly Device[]
}

export type ReadableDevices = Pick<Devices, 'get' | 'all' | 'active'>

export function everybody(devices: ReadableDevices): Reader {
  const fleet: Fleet = {
    owner: undefined,
    named: undefined,
    all: () => devices.all(),
    active: () => devices.active(),
  }
  return { device: name => devices.get(name), refusal: 'DEVICE_UNKNOWN', fleet }
}

/** A person: a device of somebody else looks as if there were none. */
export function ownerReader(devices: ReadableDevices, owner: number): Reader {
  return {
    device(name) {
      const device = devices.get(name)
      return device?.owner === owner ? device : undefined
    },
    refusal: 'DEVICE_UNKNOWN',
    fleet: { owner, named: undefined, all: () => devices.all(owner), active: () => devices.active(owner) },
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
    fleet: undefined,
  }
}

export function isWhole({ owner, named }: Fleet): boolean {
  return owner === undefined && named === undefined
}

export function namedFleet(owner: number | undefined, named: readonly Device[]): Fleet {
  return { owner, named, all: () => named, active: () => named.filter(({ log_switch }) => log_switch) }
}
