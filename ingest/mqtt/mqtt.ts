/** Entry point of this folder: readings by MQTT, published here or to an outside broker. Both are off by default. */

import { Counter, type Registry } from 'prom-client'
import type { Account } from '../../auth/accounts/account.ts'
import type { Writers } from '../../auth/writers.ts'
import { readCertificate } from '../../store/certificate.ts'
import { listenError } from '../../store/listen-address.ts'
import type { Log } from '../../store/log.ts'
import { gauge } from '../../store/metric-kinds.ts'
import type { Decoders } from '../decoders/own-decoders.ts'
import { type BrokerLink, type BrokerLinkOptions, openBrokerLink } from './broker-link.ts'
import type { BrokerAddress } from './broker-socket.ts'
import { type CredentialsOptions, createCredentials } from './credentials.ts'
import { createFindPublished, type Subscription } from './decoded-message.ts'
import { type Listener, type ListenerOptions, openListener } from './listener.ts'
import { type CloseReason, closeReasons } from './reason-codes.ts'

/** A broker whose messages are in formats of sensors. */
export interface DecodedBroker {
  readonly url: string
  readonly subscriptions: readonly Subscription[]
}

export interface MqttSettings {
  readonly HOST: string
  readonly MQTT_PORT?: number | undefined
  readonly MQTT_BROKER_URL?: string | undefined
  readonly MQTT_BROKER_CLIENT_ID: string
  readonly MQTT_BROKERS?: readonly DecodedBroker[] | undefined
  readonly MQTT_DECODERS?: readonly Subscription[] | undefined
  readonly MQTT_BROKER_VERSION: '3.1.1' | '5'
  readonly TLS_CERT?: string | undefined
  readonly TLS_KEY?: string | undefined
}

export interface MqttOptions
  extends Omit<CredentialsOptions, 'writers'>,
    Pick<
      ListenerOptions,
      'intake' | 'meter' | 'authRateLimit' | 'connections' | 'senderLog' | 'sessionNotices' | 'recent'
    > {
  settings: MqttSettings
  brokerIntake: BrokerLinkOptions['intake']
  writers: Writers
  decoders: Decoders
  /** Finds the account to which messages of sensors add devices; without it they add none. */
  findOwner?: (() => Promise<Account | undefined>) | undefined
  registry: Registry
  /** True on the node that does the work of one node. */
  leads: () => boolean
  log: Log
}

export interface Mqtt {
  /** Reason why no readings arrive from the outside broker; for the readiness. */
  brokerFault(): string | undefined
  /** Finishes accepted messages, and closes. */
  close(): Promise<void>
}

/** Address of the outside broker. Undefined without one. */
export function brokerAddressOf(settings: MqttSettings): BrokerAddress | undefined {
  const { MQTT_BROKER_URL: url, MQTT_BROKER_CLIENT_ID: clientId, MQTT_BROKER_VERSION: version } = settings
  return url === undefined ? undefined : { url, clientId, protocolVersion: versions[version] }
}

/** The broker of MQTT_BROKER_URL, or else the first of MQTT_BROKERS. */
export function firstBrokerOf(settings: MqttSettings): BrokerAddress | undefined {
  const [decoded] = settings.MQTT_BROKERS ?? []
  return brokerAddressOf({ ...settings, MQTT_BROKER_URL: settings.MQTT_BROKER_URL ?? decoded?.url })
}

const versions = { '3.1.1': 4, '5': 5 } as const

export async function openMqtt(options: MqttOptions): Promise<Mqtt> {
  const { settings, registry, log } = options
  const brokers = brokersOf(settings)
  if (settings.MQTT_PORT === undefined && brokers.length === 0) {
    return { brokerFault: () => undefined, close: async () => undefined }
  }
  let listener: Listener | undefined
  const links: BrokerLink[] = []
  const isConnected = () => links.length > 0 && links.every(link => link.isConnected())
  const onClosed = addMqttMetrics(registry, {
    connections: () => listener?.sessions() ?? 0,
    isBrokerConnected: brokers.length === 0 ? undefined : isConnected,
  })
  if (settings.MQTT_PORT !== undefined) {
    listener = await listen(options, settings.MQTT_PORT, onClosed)
    log.info({ host: settings.HOST, port: listener.port }, 'MQTT listening')
  }
  for (const broker of brokers) links.push(openLink(options, broker))
  return {
    brokerFault() {
      const fault = links.map(link => link.fault()).find(fault => fault !== undefined)
      return fault === undefined ? undefined : `no readings from the MQTT broker: ${fault}`
    },
    async close() {
      await Promise.all([listener?.close(), ...links.map(link => link.close())])
    },
  }
}

type Broker = BrokerAddress & Pick<BrokerLinkOptions, 'subscriptions'>

/** Each has a session of its own, also at the same broker. */
function brokersOf(settings: MqttSettings): Broker[] {
  const address = brokerAddressOf(settings)
  const { MQTT_BROKERS: decoded = [], MQTT_BROKER_CLIENT_ID: clientId, MQTT_BROKER_VERSION: version } = settings
  const others = decoded.map(({ url, subscriptions }, index) => {
    return { url, subscriptions, clientId: `${clientId}-${index + 1}`, protocolVersion: versions[version] }
  })
  return address === undefined ? others : [address, ...others]
}

function openLink(options: MqttOptions, broker: Broker): BrokerLink {
  const { writers, findOwner, brokerIntake, meter, decoders, recent, leads, log } = options
  const writer = writers.ofTrustedBroker(broker.subscriptions === undefined ? undefined : findOwner)
  return openBrokerLink({ ...broker, meter, decoders, recent, leads, log, intake: brokerIntake, writer })
}

async function listen(options: MqttOptions, port: number, onClosed: ListenerOptions['onClosed']): Promise<Listener> {
  const { settings, devices, writers, keys, intake, meter, authRateLimit, connections, senderLog } = options
  const { sessionNotices, decoders, recent } = options
  const { MQTT_DECODERS: subscriptions } = settings
  try {
    return await openListener({
      host: settings.HOST,
      port,
      tls: readCertificate(settings),
      connections,
      intake,
      meter,
      authRateLimit,
      onClosed,
      findDecoder: createFindPublished(subscriptions ?? [], decoders),
      recent,
      // Gateways such as Zigbee2MQTT end without a subscription to their commands.
      grantsSubscriptions: () => subscriptions !== undefined || decoders.haveTopics(),
      findCredential: createCredentials({ devices, writers, keys }),
      senderLog,
      sessionNotices,
    })
  } catch (error) {
    throw listenError({ HOST: settings.HOST, PORT: port }, error, 'MQTT_PORT')
  }
}

interface MqttMetricsOptions {
  connections: () => number
  /** Undefined without an outside broker. */
  isBrokerConnected: (() => boolean) | undefined
}

/** The result counts an ended connection. */
function addMqttMetrics(registry: Registry, options: MqttMetricsOptions): (reason: CloseReason) => void {
  const { connections, isBrokerConnected } = options
  gauge(registry, 'barograph_mqtt_connections', 'Clients of the MQTT listener.', connections)
  if (isBrokerConnected !== undefined) {
    gauge(registry, 'barograph_mqtt_broker_connected', '1 while readings arrive from the outside MQTT brokers.', () => {
      return isBrokerConnected() ? 1 : 0
    })
  }
  const closed = new Counter({
    name: 'barograph_mqtt_connections_closed_total',
    help: 'Connections of the MQTT listener that have ended, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  })
  for (const reason of Object.keys(closeReasons)) closed.inc({ reason }, 0)
  return reason => closed.inc({ reason })
}
