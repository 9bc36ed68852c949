/** Opens this service on its PostgreSQL: as a single process, or as a node among others. */

import { createHash, createHmac } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ChangeFeed, noFeed } from '../auth/nodes/change-feed.ts'
import { type Nodes, openNodes } from '../auth/nodes/nodes.ts'
import { SettingsDiffer } from '../auth/nodes/settings-differ.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { endNodeEpoch } from '../store/postgres/database-lock.ts'
import type { Transaction } from '../store/postgres/transaction.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'
import { packageVersion } from '../store/version.ts'
import type { Config } from './settings/config.ts'
import { Settings } from './settings/settings.ts'

export interface ServiceNodes {
  feed: ChangeFeed
  /** Call it after the registries are loaded. */
  join(): Promise<void>
  /** Reason why requests with credentials are refused. */
  fault(): string | undefined
  /** True if this process runs the work that one node does for all. A single process always does. */
  leads(): boolean
  /** Number of nodes that take requests, including this one. */
  count(): number
  /** States of this node and the others; undefined for a single process. */
  several: Pick<Nodes, 'own' | 'states' | 'sessions'> | undefined
  /** Blocks a change of leader until the leader's transaction ends. Rejects after such a change. */
  requireLead(transaction: Transaction): Promise<void>
  close(): Promise<void>
}

export interface ServiceNodesOptions {
  /** True if other nodes may run. */
  nodes: boolean
  config: Config
  directory: Pick<DataDirectory, 'secret'>
  store: Pick<Store, 'postgres' | 'connectPostgres'>
  log: Log
  onFatal: (error: Error) => void
}

/** Settings that decide about access and data, equal at all nodes. */
const equalSettings = [
  'TIME_ZONE',
  'PUBLIC_URL',
  'KAFKA_TOPIC_PREFIX',
  'NODE_LEASE_SECONDS',
  'READS',
  'SIGN_UP',
  'SESSION_FORMAT',
  'SESSION_UNREVOCABLE',
  'DELETE_WITHIN_MINUTES',
  'ROTATION_GRACE_HOURS',
  'RETENTION_DAYS',
  'TIMESTAMP_AHEAD_SECONDS',
  'DEVICES_PER_OWNER',
  'DEVICES_PER_ADMINISTRATOR',
  'METRICS',
  'METRICS_PER_OWNER',
  'RANGE_TEMPERATURE',
  'RANGE_HUMIDITY',
  'RANGE_PRESSURE',
  'RANGE_BATTERY_VOLTAGE',
  'RANGE_BATTERY_PERCENTAGE',
] as const satisfies (keyof Config)[]

/** Settings of a process or its machine. Others should be equal: different rates would grant senders more. */
const ownSettings: ReadonlySet<string> = new Set<keyof Config>([
  ...(['HOST', 'PORT', 'DATA_DIR', 'SECRETS_DIR', 'PARENT_PID', 'LOG_LEVEL', 'LOG_FORMAT'] as const),
  ...(['DATABASE_URL', 'QUESTDB_HTTP', 'QUESTDB_PG', 'QUESTDB_COMMIT_MODE', 'QUESTDB_PG_PORT'] as const),
  ...(['KAFKA_BROKERS', 'KAFKA_TLS', 'KAFKA_TLS_CERT', 'KAFKA_TLS_KEY'] as const),
  ...(['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const),
  ...(['TLS_CERT', 'TLS_KEY', 'TRUST_PROXY', 'MQTT_PORT', 'CONNECTIONS_MAX', 'CONNECTIONS_PER_ADDRESS'] as const),
  ...(['JOURNAL_MAX', 'JOURNAL_RESERVE', 'LATEST_BYTES_MAX', 'CACHE_BYTES_MAX', 'EVENTS_CLIENTS_MAX'] as const),
  // A node may read a nearby replica.
  ...(['QUESTDB_REPLICAS', 'QUESTDB_READ'] as const),
])

const alone: ServiceNodes = {
  feed: noFeed,
  join: async () => undefined,
  fault: () => undefined,
  leads: () => true,
  count: () => 1,
  several: undefined,
  requireLead: async () => undefined,
  close: async () => undefined,
}

const retryMs = 250
/** It is compared at each renewal of a lease. */
const digestLength = 11

/** Call it before anything is read into memory. Rejects with StartError. */
export async function openServiceNodes(options: ServiceNodesOptions): Promise<ServiceNodes> {
  const { nodes: areSeveral, config, directory, store, log, onFatal } = options
  if (!areSeveral) {
    await endNodeEpoch(store.postgres)
    return alone
  }
  requireNodeSettings(config)
  const leaseMs = config.NODE_LEASE_SECONDS * 1000
  const nodes = await openNodes({
    pool: store.postgres,
    connect: store.connectPostgres,
    role: 'api',
    version: packageVersion(),
    host: hostname(),
    advised: advisedDigests(config, directory),
    settings: { ...settingDigests(config), ...secretFingerprints(config, directory) },
    leaseMs,
    sessionSecret: config.MQTT_PORT === undefined ? undefined : directory.secret('csrf-secret'),
    log,
    onFatal: error => onFatal(new StartError(error.message, { cause: error })),
  })
  return { ...nodes, several: nodes, join: () => join(nodes, leaseMs) }
}

/** A killed node has a lease for a while: it may be this one, before its settings were changed. */
async function join(nodes: Nodes, leaseMs: number): Promise<void> {
  const deadlineMs = performance.now() + leaseMs
  for (;;) {
    try {
      await nodes.join()
      return
    } catch (error) {
      if (!(error instanceof SettingsDiffer)) throw error
      if (performance.now() > deadlineMs) throw new StartError(error.message)
      await sleep(retryMs)
    }
  }
}

function requireNodeSettings({ DATABASE_URL, PUBLIC_URL }: Config): void {
  if (DATABASE_URL === undefined) {
    throw new StartError('A node needs the PostgreSQL that all nodes share: set DATABASE_URL.')
  }
  if (PUBLIC_URL === undefined) {
    throw new StartError('Links in mails must not lead to a single node: set PUBLIC_URL to the address of the service.')
  }
}

function settingDigests(config: Config): Record<string, string> {
  const digest = (name: (typeof equalSettings)[number]) =>
    createHash('sha256')
      .update(JSON.stringify(config[name] ?? null))
      .digest('hex')
  return Object.fromEntries(equalSettings.map(name => [name, digest(name)]))
}

/** Keyed digests, as a password may be among the settings. */
function advisedDigests(config: Config, { secret }: Pick<DataDirectory, 'secret'>): Record<string, string> {
  const key = secret('service-secret')
  const refused: readonly string[] = [...equalSettings, 'SESSION_SECRETS', 'SERVICE_SECRET']
  const names = Object.keys(Settings.shape).filter(name => !(ownSettings.has(name) || refused.includes(name)))
  const digest = (name: string) => {
    const value = JSON.stringify(config[name as keyof Config] ?? null)
    return createHmac('sha256', key).update(value).digest('base64url').slice(0, digestLength)
  }
  return Object.fromEntries(names.map(name => [name, digest(name)]))
}

/** Reveal only whether two secrets are equal. */
function secretFingerprints(config: Config, { secret }: Pick<DataDirectory, 'secret'>): Record<string, string> {
  const used = {
    SESSION_SECRETS: config.SESSION_SECRETS?.join() ?? secret('session-secret'),
    SERVICE_SECRET: config.SERVICE_SECRET ?? secret('service-secret'),
    'the secret token-secret': secret('token-secret'),
    'the secret tenant-key': secret('tenant-key'),
    'the secret state-secret': secret('state-secret'),
    'the secret csrf-secret': secret('csrf-secret'),
  }
  return Object.fromEntries(
    Object.entries(used).map(([name, text]) => [
      name,
      createHmac('sha256', text).update('barograph node').digest('hex'),
    ]),
  )
}
