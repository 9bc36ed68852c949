/** An MQTT listener on a free port, with clients, and a journal whose outcomes the test decides. */

import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import type { Device } from '../../auth/devices/device.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Principal } from '../../auth/policy.ts'
import { createAuthRateLimit } from '../../auth/rate-limits.ts'
import { createWriters, type DevicesPerOwner, type WriterDevices } from '../../auth/writers.ts'
import { type Decoders, familyDecoders } from '../../ingest/decoders/own-decoders.ts'
import type { RecentMessages } from '../../ingest/decoders/recent-messages.ts'
import { createIntake, type Intake } from '../../ingest/intake/intake.ts'
import type { RegistryOfMetrics } from '../../ingest/intake/prepare-reading.ts'
import { createDeviceRate } from '../../ingest/intake/rates.ts'
import type { ReadingMeter, RejectionReason } from '../../ingest/intake/reading-meter.ts'
import type { Outcome } from '../../ingest/journal/outcome.ts'
import { createCredentials } from '../../ingest/mqtt/credentials.ts'
import { createFindPublished, type Subscription } from '../../ingest/mqtt/decoded-message.ts'
import { type ListenerOptions, openListener } from '../../ingest/mqtt/listener.ts'
import type { CloseReason } from '../../ingest/mqtt/reason-codes.ts'
import { createReadingCheck } from '../../ingest/reading.ts'
import { createRejections, createSenderLog, type Rejections } from '../../ingest/rejections/rejections.ts'
import { createConnections } from '../../store/limits/connections.ts'
import type { Rate } from '../../store/limits/token-buckets.ts'
import type { Log } from '../../store/log.ts'
import { perOwner } from './accounts.ts'
import { silentLog, type TestHooks } from './databases.ts'
import { openRaw } from './raw-connection.ts'

export const devicePassword = 'secret'

/** A journal whose readings wait until the test gives the outcome. */
interface HeldJournal {
  /** Temperatures of the readings that wait for their outcome. */
  waiting: number[]
  /** Temperatures of those that were stored. */
  stored: number[]
  /** Gives the outcome to all that wait, and to whatever comes until `hold` is called. */
  settle(outcome: Outcome): void
  hold(): void
}

export interface IntakeParts {
  intake: Intake
  meter: ReadingMeter
  journal: HeldJournal
  rejections: RejectionReason[]
  devices: Map<string, Device>
}

const noMetrics: RegistryOfMetrics = {
  find: () => undefined,
  series: () => undefined,
  refusalOf: () => 'UNDECLARED',
  ensure: async () => 'done',
}

export function createIntakeParts(
  deviceRate: Rate = { perSecond: 1e6, burst: 1e6 },
  kept?: Pick<Rejections, 'add'>,
  metrics: RegistryOfMetrics = noMetrics,
): IntakeParts {
  const rejections: RejectionReason[] = []
  const meter: ReadingMeter = {
    stored() {},
    rejected(reason, rejection, about) {
      rejections.push(reason)
      kept?.add(rejection, about)
    },
    leftOut: (rejection, about) => kept?.add(rejection, about),
  }
  let waiting: { temperature: number; resolve: (outcome: Outcome) => void }[] = []
  let outcomeNow: Outcome | undefined = 'stored'
  const stored: number[] = []
  function settleOne(temperature: number, outcome: Outcome, resolve: (outcome: Outcome) => void): void {
    if (outcome === 'stored') stored.push(temperature)
    resolve(outcome)
  }
  const accept = (_device: object, { temperature }: { temperature: number }) =>
    new Promise<Outcome>(resolve => {
      if (outcomeNow === undefined) waiting.push({ temperature, resolve })
      else setImmediate(settleOne, temperature, outcomeNow, resolve)
    })
  const devices = new Map(
    ['porch', 'barn', 'silent'].map((name, number) => [
      name,
      { number, name, log_switch: name !== 'silent', metrics: null } as Device,
    ]),
  )
  const intake = createIntake({
    devices: { seen() {} },
    ingest: { accept } as never,
    check: createReadingCheck({ collectsCustom: true }),
    metrics,
    meter,
    nowMs: Date.now,
    isWithinRate: createDeviceRate(deviceRate, Date.now),
    acceptOnce: () => Promise.reject(new Error('messages have no idempotency key')),
  })
  const journal: HeldJournal = {
    get waiting() {
      return waiting.map(({ temperature }) => temperature)
    },
    stored,
    settle(outcome) {
      outcomeNow = outcome
      for (const { temperature, resolve } of waiting.splice(0)) settleOne(temperature, outcome, resolve)
      waiting = []
    },
    hold() {
      outcomeNow = undefined
    },
  }
  return { intake, meter, journal, rejections, devices }
}

export interface ListenerVariant {
  deviceRate?: Rate
  /** A real one, instead of the devices in memory. */
  registry?: Devices
  /** A real one, instead of a registry that makes no metric. */
  metrics?: RegistryOfMetrics
  perOwner?: DevicesPerOwner
  keyRegistry?: Pick<Keys, 'find' | 'isCurrent'>
  parts?: Partial<Pick<ListenerOptions, 'intake' | 'findCredential' | 'authRateLimit' | 'connections'>>
  log?: Pick<Log, 'warn' | 'error'>
  /** MQTT_DECODERS */
  decoders?: readonly Subscription[]
  ownDecoders?: Decoders
  recent?: RecentMessages
}

export async function startListener(t: TestHooks, variant: ListenerVariant = {}) {
  const senderLog = createSenderLog(variant.log ?? silentLog, () => performance.now())
  const kept = createRejections({ nowMs: Date.now, senderLog })
  const parts = createIntakeParts(variant.deviceRate, kept, variant.metrics)
  const { devices } = parts
  const revoked = new Set<string>()
  /** API keys by their text. */
  const keys = new Map<string, Principal>()
  /** Why connections ended. */
  const closed: CloseReason[] = []
  const inMemory: WriterDevices = {
    authenticate: (name: string, password: string) =>
      password === devicePassword && !revoked.has(name) ? devices.get(name) : undefined,
    get: (name: string) => devices.get(name),
    byNumber: number => [...devices.values()].find(device => device.number === number),
    credentialCheck: ({ number }: Pick<Device, 'number'>) => {
      const name = [...devices.values()].find(device => device.number === number)?.name ?? ''
      return () => !revoked.has(name)
    },
    add: () => Promise.reject(new Error('these devices are given')),
    ownedBy: () => 0,
    isCurrent: () => true,
    version: () => revoked.size,
  }
  const registry = variant.registry ?? inMemory
  const { ownDecoders = familyDecoders } = variant
  const writers = createWriters(registry, variant.perOwner ?? perOwner)
  const listener = await openListener({
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    onClosed: reason => void closed.push(reason),
    connections: createConnections({ max: 1000, perAddress: 1000, isTrusted: () => false, log: silentLog }),
    intake: parts.intake,
    meter: parts.meter,
    authRateLimit: createAuthRateLimit(3, Date.now),
    findCredential: createCredentials({
      devices: registry,
      writers,
      keys: variant.keyRegistry ?? { find: async text => keys.get(text) as never, isCurrent: () => true },
    }),
    senderLog,
    findDecoder: createFindPublished(variant.decoders ?? [], ownDecoders),
    recent: variant.recent,
    grantsSubscriptions: () => variant.decoders !== undefined || ownDecoders.haveTopics(),
    ...variant.parts,
  })
  t.teardown(() => {
    parts.journal.settle('closing')
    return listener.close()
  })
  const url = `mqtt://127.0.0.1:${listener.port}`
  /** Ends the password of a device. */
  const revoke = (device: string) => void revoked.add(device)
  return { ...parts, kept, listener, url, closed, revoke, keys }
}

/** A client of the device `porch` that does not come back by itself. */
export async function connectClient(t: TestHooks, url: string, options: IClientOptions = {}): Promise<MqttClient> {
  const client = await connectAsync(url, {
    username: 'porch',
    password: devicePassword,
    reconnectPeriod: 0,
    ...options,
  })
  // Tests check the fate of the messages instead.
  client.on('error', () => undefined)
  t.teardown(() => void client.end(true))
  return client
}

export function eventOf(client: MqttClient, event: 'close' | 'reconnect'): Promise<void> {
  return new Promise(resolve => client.once(event, () => resolve()))
}

export const reading = (temperature: number, more: object = {}) =>
  JSON.stringify({ temperature, humidity: 50, pressure: 1000, ...more })

/** A connection on which a test writes bytes. Received bytes are in hexadecimal digits. */
export async function openRawMqtt(t: TestHooks, url: string, first?: Buffer) {
  const { socket, received, closed } = await openRaw(t, url)
  if (first !== undefined) socket.write(first)
  const inHex = (bytes: string) => Buffer.from(bytes, 'latin1').toString('hex')
  return { socket, received: () => inHex(received()), closed: closed.then(inHex) }
}
