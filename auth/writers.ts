/** Which devices a credential may write readings of: the one answer for every way in. */

import { setImmediate as turn } from 'node:timers/promises'
import { actorOf } from './actor.ts'
import { type Device, DeviceName, NewDevice } from './devices/device.ts'
import type { Devices } from './devices/devices.ts'
import { judge, type Principal } from './policy.ts'

/** Why a reading of a device is not taken, with a sentence for people. */
export const writeRefusals = {
  DEVICE_UNKNOWN: 'there is no device of this name',
  DEVICE_MISMATCH: 'the credential belongs to another device',
  DEVICE_FORBIDDEN: 'the device does not belong to the owner of the API key',
  DEVICE_SUSPENDED: 'the device is being changed; send the reading again later',
  LOGGING_DISABLED: 'logging is disabled for the device',
} as const
export type WriteRefusal = keyof typeof writeRefusals

/** Somebody who may write readings. All of it is asked as of now, since a connection may last. */
export interface Writer {
  /** The device of the credential, of which a reading without a name is; undefined for an API key. */
  readonly device: Device | undefined
  /** The same for the same credential, for limits and logs. */
  readonly id: string
  /** From memory. */
  find(deviceName: string): Device | WriteRefusal
  /** Whether `createDevices` makes any. */
  readonly mayCreateDevices: boolean
  /**
   * Adds devices of these names to those of the key's owner, as far as there is room; what is no name, or one of a
   * device already, is left out. Their passwords are thrown away: the owner rotates them. `later` when nothing can be
   * added at present.
   */
  createDevices(deviceNames: readonly string[]): Promise<'done' | 'later'>
}

export interface Writers {
  /** Undefined for nobody. */
  ofDevice(name: string, password: string): Writer | undefined
  ofPrincipal(principal: Principal | undefined): Writer | 'UNAUTHENTICATED' | 'FORBIDDEN'
  /** A broker that says by its access lists who may write what. */
  ofTrustedBroker(): Writer
}

export type WriterDevices = Pick<Devices, 'authenticate' | 'get' | 'add' | 'ownedBy'>
type KeyPrincipal = Extract<Principal, { kind: 'key' }>

/** API keys do not add more to the devices of their owner. */
const devicesPerOwnerMax = 10_000
const namesPerChange = 500
/** Why devices cannot be added now, but may be later. */
const passing: ReadonlySet<string> = new Set(['DATABASE_AWAY', 'OUTCOME_UNKNOWN', 'TOO_MANY_CHANGES'])

export function createWriters(devices: WriterDevices, ownedMax = devicesPerOwnerMax): Writers {
  return {
    ofDevice(name, password) {
      const device = devices.authenticate(name, password)
      return device && new DeviceWriter(device, devices)
    },
    ofPrincipal(principal) {
      const judgement = judge('readings.write', principal)
      if (judgement !== 'allowed') return judgement
      return principal?.kind === 'key' ? createKeyWriter(principal, devices, ownedMax) : 'UNAUTHENTICATED'
    },
    ofTrustedBroker: () => ({
      ...{ device: undefined, id: 'broker', mayCreateDevices: false, createDevices: async () => 'done' as const },
      find(deviceName) {
        const device = devices.get(deviceName)
        return device === undefined ? 'DEVICE_UNKNOWN' : writable(device)
      },
    }),
  }
}

/** A class, because one is made for each reading that a device sends. */
class DeviceWriter implements Writer {
  readonly device: Device
  readonly mayCreateDevices = false
  readonly #devices: Pick<Devices, 'get'>

  constructor(device: Device, devices: Pick<Devices, 'get'>) {
    this.device = device
    this.#devices = devices
  }

  get id(): string {
    return `device ${this.device.number}`
  }

  find(deviceName: string): Device | WriteRefusal {
    const { device } = this
    // It may have been removed since its credential was checked.
    if (this.#devices.get(device.name) !== device) return 'DEVICE_UNKNOWN'
    const isSame = deviceName === device.name || deviceName.normalize('NFC') === device.name
    return isSame ? writable(device) : 'DEVICE_MISMATCH'
  }

  async createDevices(): Promise<'done'> {
    return 'done'
  }
}

function createKeyWriter(key: KeyPrincipal, devices: WriterDevices, ownedMax: number): Writer {
  const { account } = key
  const mayWriteAll = account.role !== 'user'

  function find(deviceName: string): Device | WriteRefusal {
    const device = devices.get(deviceName)
    if (device === undefined) return 'DEVICE_UNKNOWN'
    return mayWriteAll || device.owner === account.id ? writable(device) : 'DEVICE_FORBIDDEN'
  }

  async function createDevices(deviceNames: readonly string[]): Promise<'done' | 'later'> {
    if (!key.createDevices) return 'done'
    for (let from = 0; from < deviceNames.length; from += namesPerChange) {
      const room = ownedMax - devices.ownedBy(account.id)
      const wanted = newNames(deviceNames.slice(from, from + namesPerChange)).slice(0, Math.max(0, room))
      if ((await add(wanted)) === 'later') return 'later'
    }
    return 'done'
  }

  function newNames(deviceNames: readonly string[]): string[] {
    const names = new Set(deviceNames.flatMap(name => DeviceName.safeParse(name).data ?? []))
    return [...names].filter(name => devices.get(name) === undefined)
  }

  async function add(names: readonly string[]): Promise<'done' | 'later'> {
    // The names may be many, and none of them good.
    await turn()
    if (names.length === 0) return 'done'
    const additions = names.map(name => NewDevice.parse({ name, owner: account.id }))
    const added = await devices.add(additions, actorOf(key), ownedMax)
    // A request beside this one may have taken the room or a name: then none of these are added.
    return added.ok || !passing.has(added.code) ? 'done' : 'later'
  }

  return { device: undefined, id: `key ${key.keyId}`, find, mayCreateDevices: key.createDevices, createDevices }
}

function writable(device: Device): Device | WriteRefusal {
  if (device.suspended) return 'DEVICE_SUSPENDED'
  return device.log_switch ? device : 'LOGGING_DISABLED'
}
