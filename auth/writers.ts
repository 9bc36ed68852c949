/** Decides which devices a credential may write readings of, for all protocols. */

import { composed } from '../store/plain-text.ts'
import type { Account } from './accounts/account.ts'
import type { Role } from './accounts/account-details.ts'
import { actorOf } from './audit.ts'
import { type Device, DeviceName, NewDevice, nameFault } from './devices/device.ts'
import type { Devices } from './devices/devices.ts'
import { createScopeCheck } from './devices/selector.ts'
import { authorize, type Principal, writeScopeOf } from './policy.ts'

/** Reason of a refused reading, with a sentence for people. */
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

/** Adds the fault of an invalid name. */
export function writeRefusalReason(refusal: WriteRefusal, deviceName: string): string {
  const sentence = writeRefusals[refusal]
  return refusal === 'NAME_INVALID' ? `${sentence}: it ${nameFault(composed(deviceName))}` : sentence
}

/** Reason of a refused credential. */
export type NoWriter = 'UNAUTHENTICATED' | 'FORBIDDEN'

/** A writer of readings. Each method uses the present state, since a connection may last. */
export interface Writer {
  /** Device of the credential, which readings without a name belong to; undefined for an API key. */
  readonly device: Device | undefined
  /** Stable for a credential, for limits and logs. */
  readonly id: string
  /** Account that owns added devices. */
  readonly owner: number | null
  /** Reads memory. */
  find(deviceName: string): Device | WriteRefusal
  /** True if `createDevices` adds devices. */
  readonly mayCreateDevices: boolean
  /**
   * Adds devices of these names, some hundreds at most, for the key's owner within the limits. Invalid and known names
   * are left out. Their passwords are discarded: the owner rotates them. `later` while nothing can be added.
   */
  createDevices(deviceNames: readonly string[]): Promise<'done' | 'later'>
}

/** A writer whose credential may end while a body is read. */
export interface CredentialWriter extends Writer {
  /** The present writer of the credential. A key may also have another role. Rejects while it is unknown. */
  renewed(): Promise<CredentialWriter | NoWriter>
  /** Checks a record of the registry, which may have been removed since `find`. */
  check(device: Device): Device | WriteRefusal
  /** Device of this number for any owner; undefined if it has changed since this sequence number. */
  unchanged(number: number, authSeq: number): Device | undefined
}

export interface Writers {
  ofDevice(name: string, password: string): CredentialWriter | undefined
  /** `again` finds the principal of the same credential. Without it, a writer is not renewed. */
  ofPrincipal(principal: Principal | undefined, again?: FindAgain): CredentialWriter | NoWriter
  /**
   * A broker whose access lists decide about writes. With `findOwner`, unknown devices are added to the account,
   * up to its limit.
   */
  ofTrustedBroker(findOwner?: () => Promise<Account | undefined>): Writer
}

type FindAgain = () => Promise<Principal | undefined>
export type WriterDevices = Pick<
  Devices,
  'isCurrent' | 'authenticate' | 'credentialCheck' | 'get' | 'byNumber' | 'add' | 'ownedBy' | 'version'
>
type KeyPrincipal = Extract<Principal, { kind: 'key' }>

/** Limit of an account's devices for additions by API keys, by role. */
export type DevicesPerOwner = Readonly<Record<Role, number>>

/** Temporary reasons why devices cannot be added. */
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
    ofTrustedBroker: findOwner => ({
      device: undefined,
      id: brokerId,
      owner: null,
      mayCreateDevices: findOwner !== undefined,
      async createDevices(names) {
        const owner = await findOwner?.()
        if (owner === undefined || !owner.isActive) return 'done'
        return await addDevices(devices, names, { owner, ownedMax: perOwner[owner.role], actor: brokerId })
      },
      find(deviceName) {
        const device = devices.get(deviceName)
        if (device !== undefined) return writable(device, devices)
        const isRefused = findOwner !== undefined && nameFault(composed(deviceName)) !== undefined
        return isRefused ? 'NAME_INVALID' : 'DEVICE_UNKNOWN'
      },
    }),
  }
}

const brokerId = 'broker'

interface Addition {
  owner: Account
  ownedMax: number
  actor: string
  tags?: readonly string[] | undefined
}

function roomOf(devices: WriterDevices, { owner, ownedMax }: Pick<Addition, 'owner' | 'ownedMax'>): number {
  return Math.max(0, ownedMax - devices.ownedBy(owner.id))
}

/** Adds as many devices as there is room for. */
async function addDevices(
  devices: WriterDevices,
  deviceNames: readonly string[],
  addition: Addition,
): Promise<'done' | 'later'> {
  const { owner, ownedMax, actor, tags = [] } = addition
  const names = new Set(deviceNames.flatMap(name => DeviceName.safeParse(name).data ?? []))
  const missing = [...names].filter(name => devices.get(name) === undefined).slice(0, roomOf(devices, addition))
  if (missing.length === 0) return 'done'
  const additions = missing.map(name => NewDevice.parse({ name, owner: owner.id, tags: [...tags] }))
  const added = await devices.add(additions, actor, ownedMax)
  // A concurrent request may have taken the room or a name: then no device of this call is added.
  return added.ok || !passing.has(added.code) ? 'done' : 'later'
}

/** A class, because each reading of a device makes one. */
class DeviceWriter implements CredentialWriter {
  readonly device: Device
  readonly owner = null
  readonly mayCreateDevices = false
  readonly #password: string
  readonly #devices: WriterDevices
  /** Version of the registry when the credential was valid. */
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
  const limit = { owner: account, ownedMax: perOwner[account.role] }

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
    return roomOf(devices, limit) === 0 ? 'TOO_MANY_DEVICES' : 'DEVICE_UNKNOWN'
  }

  const createDevices = async (names: readonly string[]) =>
    key.createDevices ? await addDevices(devices, names, { ...limit, actor: actorOf(key), tags: key.tags }) : 'done'

  const id = `key ${key.keyId}`
  const create = { mayCreateDevices: key.createDevices, createDevices }
  return { device: undefined, id, owner: account.id, find, check, unchanged, ...create }
}

function unchangedDevice(devices: WriterDevices, number: number, authSeq: number): Device | undefined {
  const device = devices.byNumber(number)
  return device?.authSeq === authSeq ? device : undefined
}

/** While a node may lack changes, any device may have changed. */
function writable(device: Device, devices: Pick<WriterDevices, 'isCurrent'>): Device | WriteRefusal {
  if (device.suspended || !devices.isCurrent()) return 'DEVICE_SUSPENDED'
  return device.log_switch ? device : 'LOGGING_DISABLED'
}
