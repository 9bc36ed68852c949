/** Which devices a credential may write readings of: the one answer for every way in. */

import { composed } from '../store/plain-text.ts'
import type { Role } from './accounts/role.ts'
import { actorOf } from './actor.ts'
import { type Device, DeviceName, NewDevice, nameFault } from './devices/device.ts'
import { createScopeCheck } from './devices/device-scope.ts'
import type { Devices } from './devices/devices.ts'
import { authorize, type Principal, writeScopeOf } from './policy.ts'

/** Why a reading of a device is not taken, with a sentence for people. */
export const writeRefusals = {
  DEVICE_UNKNOWN: 'there is no device of this name',
  DEVICE_MISMATCH: 'the credential belongs to another device',
  DEVICE_FORBIDDEN: 'the device does not belong to the owner of the API key, or lacks a tag that the key is limited to',
  NAME_INVALID: 'no new device can have this name',
  TOO_MANY_DEVICES: 'there is no device of this name, and the owner of the API key has as many as it may add',
  DEVICE_SUSPENDED: 'the device is being changed; send the reading again later',
  LOGGING_DISABLED: 'logging is disabled for the device',
} as const
export type WriteRefusal = keyof typeof writeRefusals

/** The same, and of a name what is wrong with it. */
export function writeRefusalReason(refusal: WriteRefusal, deviceName: string): string {
  const sentence = writeRefusals[refusal]
  return refusal === 'NAME_INVALID' ? `${sentence}: it ${nameFault(composed(deviceName))}` : sentence
}

/** Why nobody writes by a credential. */
export type NoWriter = 'UNAUTHENTICATED' | 'FORBIDDEN'

/** Somebody who may write readings. What is asked of devices is told as of now, since a connection may last. */
export interface Writer {
  /** The device of the credential, of which a reading without a name is; undefined for an API key. */
  readonly device: Device | undefined
  /** The same for the same credential, for limits and logs. */
  readonly id: string
  /** The account of the devices that it adds. */
  readonly owner: number | null
  /** From memory. */
  find(deviceName: string): Device | WriteRefusal
  /** Whether `createDevices` makes any. */
  readonly mayCreateDevices: boolean
  /**
   * Adds devices of these names, some hundreds at most, to those of the key's owner, as far as there is room; what is no
   * name, or one of a device already, is left out. Their passwords are thrown away: the owner rotates them. `later` when
   * nothing can be added at present.
   */
  createDevices(deviceNames: readonly string[]): Promise<'done' | 'later'>
}

/** Somebody by a credential that may end while a body comes in. */
export interface CredentialWriter extends Writer {
  /** Who writes by it as of now; a key may have got another role, too. Rejects while that cannot be told. */
  renewed(): Promise<CredentialWriter | NoWriter>
  /** What `find` says of a record of the registry, which may have been removed since it was found. */
  check(device: Device): Device | WriteRefusal
  /** The device of this number, whosever it is; undefined when it has changed since it had this sequence number. */
  unchanged(number: number, authSeq: number): Device | undefined
}

export interface Writers {
  /** Undefined for nobody. */
  ofDevice(name: string, password: string): CredentialWriter | undefined
  /** `again` finds the principal of the same credential; without it, a writer is not renewed. */
  ofPrincipal(principal: Principal | undefined, again?: FindAgain): CredentialWriter | NoWriter
  /** A broker that says by its access lists who may write what. */
  ofTrustedBroker(): Writer
}

type FindAgain = () => Promise<Principal | undefined>
export type WriterDevices = Pick<
  Devices,
  'isCurrent' | 'authenticate' | 'credentialCheck' | 'get' | 'byNumber' | 'add' | 'ownedBy' | 'version'
>
type KeyPrincipal = Extract<Principal, { kind: 'key' }>

/** Up to how many devices of an account its API keys add more, by its role. */
export type DevicesPerOwner = Readonly<Record<Role, number>>

/** Why devices cannot be added now, but may be later. */
const passing: ReadonlySet<string> = new Set(['DATABASE_AWAY', 'OUTCOME_UNKNOWN', 'TOO_MANY_CHANGES'])

export function createWriters(devices: WriterDevices, perOwner: DevicesPerOwner): Writers {
  function ofPrincipal(principal: Principal | undefined, again?: FindAgain): CredentialWriter | NoWriter {
    const decision = authorize('readings.write', principal)
    if (decision !== 'allowed') return decision
    if (principal?.kind !== 'key') return 'UNAUTHENTICATED'
    const writer: CredentialWriter = {
      ...createKeyWriter(principal, devices, perOwner),
      renewed: async () => (again === undefined ? writer : ofPrincipal(await again(), again)),
    }
    return writer
  }

  return {
    ofDevice(name, password) {
      const device = devices.authenticate(name, password)
      return device && new DeviceWriter(device, password, devices)
    },
    ofPrincipal,
    ofTrustedBroker: () => ({
      device: undefined,
      id: 'broker',
      owner: null,
      mayCreateDevices: false,
      createDevices: async () => 'done' as const,
      find(deviceName) {
        const device = devices.get(deviceName)
        return device === undefined ? 'DEVICE_UNKNOWN' : writable(device, devices)
      },
    }),
  }
}

/** A class, because one is made for each reading that a device sends. */
class DeviceWriter implements CredentialWriter {
  readonly device: Device
  readonly owner = null
  readonly mayCreateDevices = false
  readonly #password: string
  readonly #devices: WriterDevices
  /** Of the registry, when the credential was good. */
  #version: number

  constructor(device: Device, password: string, devices: WriterDevices) {
    this.device = device
    this.#password = password
    this.#devices = devices
    this.#version = devices.version()
  }

  get id(): string {
    return `device ${this.device.number}`
  }

  find(deviceName: string): Device | WriteRefusal {
    const { device } = this
    if (!this.#isCurrent()) return 'DEVICE_UNKNOWN'
    const isSame = deviceName === device.name || composed(deviceName) === device.name
    return isSame ? writable(device, this.#devices) : 'DEVICE_MISMATCH'
  }

  check(device: Device): Device | WriteRefusal {
    if (!this.#isCurrent()) return 'DEVICE_UNKNOWN'
    return device === this.device ? writable(device, this.#devices) : 'DEVICE_MISMATCH'
  }

  unchanged(number: number, authSeq: number): Device | undefined {
    return unchangedDevice(this.#devices, number, authSeq)
  }

  async createDevices(): Promise<'done'> {
    return 'done'
  }

  async renewed(): Promise<this | NoWriter> {
    return this.#isGood() ? this : 'UNAUTHENTICATED'
  }

  /** The device may have been removed since its credential was checked, or got another password. */
  #isCurrent(): boolean {
    const version = this.#devices.version()
    if (version === this.#version) return true
    if (!this.#isGood()) return false
    this.#version = version
    return true
  }

  #isGood(): boolean {
    const { device } = this
    return this.#devices.get(device.name) === device && this.#devices.credentialCheck(device, this.#password)()
  }
}

function createKeyWriter(
  key: KeyPrincipal,
  devices: WriterDevices,
  perOwner: DevicesPerOwner,
): Omit<CredentialWriter, 'renewed'> {
  const { account } = key
  const isInScope = createScopeCheck(writeScopeOf(key))
  const ownedMax = perOwner[account.role]
  const room = () => Math.max(0, ownedMax - devices.ownedBy(account.id))

  function find(deviceName: string): Device | WriteRefusal {
    const device = devices.get(deviceName)
    if (device === undefined) return key.createDevices ? refusalOfNew(deviceName) : 'DEVICE_UNKNOWN'
    return checkScope(device)
  }

  function checkScope(device: Device): Device | WriteRefusal {
    return isInScope(device) ? writable(device, devices) : 'DEVICE_FORBIDDEN'
  }

  function check(device: Device): Device | WriteRefusal {
    return device.removed ? 'DEVICE_UNKNOWN' : checkScope(device)
  }

  const unchanged = (number: number, authSeq: number) => unchangedDevice(devices, number, authSeq)

  function refusalOfNew(deviceName: string): WriteRefusal {
    if (nameFault(composed(deviceName)) !== undefined) return 'NAME_INVALID'
    return room() === 0 ? 'TOO_MANY_DEVICES' : 'DEVICE_UNKNOWN'
  }

  async function createDevices(deviceNames: readonly string[]): Promise<'done' | 'later'> {
    const names = key.createDevices ? newNames(deviceNames).slice(0, room()) : []
    if (names.length === 0) return 'done'
    const additions = names.map(name => NewDevice.parse({ name, owner: account.id, tags: [...(key.tags ?? [])] }))
    const added = await devices.add(additions, actorOf(key), ownedMax)
    // A request beside this one may have taken the room or a name: then none of these are added.
    return added.ok || !passing.has(added.code) ? 'done' : 'later'
  }

  function newNames(deviceNames: readonly string[]): string[] {
    const names = new Set(deviceNames.flatMap(name => DeviceName.safeParse(name).data ?? []))
    return [...names].filter(name => devices.get(name) === undefined)
  }

  const id = `key ${key.keyId}`
  const create = { mayCreateDevices: key.createDevices, createDevices }
  return { device: undefined, id, owner: account.id, find, check, unchanged, ...create }
}

function unchangedDevice(devices: WriterDevices, number: number, authSeq: number): Device | undefined {
  const device = devices.byNumber(number)
  return device?.authSeq === authSeq ? device : undefined
}

/** While a node may lack a change, each device may have been changed. */
function writable(device: Device, devices: Pick<WriterDevices, 'isCurrent'>): Device | WriteRefusal {
  if (device.suspended || !devices.isCurrent()) return 'DEVICE_SUSPENDED'
  return device.log_switch ? device : 'LOGGING_DISABLED'
}
