/** Composition root: opens the parts in order, wires them, and closes them in reverse order. */

import { createTokenCheck } from '../api/admin/admin-token.ts'
import { createClaims } from '../ingest/idempotency/claims.ts'
import { readCertificate } from '../store/certificate.ts'
import { type DataDirectory, openDataDirectory } from '../store/data-directory.ts'
import { bug } from '../store/limits/bug.ts'
import { checkListenAddress } from '../store/listen-address.ts'
import type { Log } from '../store/log.ts'
import { withSharedSecrets } from '../store/shared-secrets.ts'
import { openStore, type Store } from '../store/store.ts'
import { systemClock } from './clock.ts'
import { watchDiskUse } from './lifecycle/disk/disk-use.ts'
import { openAcceptedFrom } from './lifecycle/retention/horizon.ts'
import { listen } from './listen.ts'
import { openServiceAccounts } from './open-accounts.ts'
import { openServiceAlerts } from './open-alerts.ts'
import {
  assertClockIsSet,
  type DiskIngest,
  openServiceIngest,
  type ServiceIngest,
  type ServiceIngestOptions,
} from './open-ingest.ts'
import { openServiceLive } from './open-live.ts'
import { openServiceNodes, type ServiceNodes } from './open-nodes.ts'
import { createInsightsKnown, openReadReplicas, openServiceQueries } from './open-queries.ts'
import { openRegistries } from './open-registries.ts'
import { openServiceRetention } from './open-retention.ts'
import { openSignIn } from './open-sign-in.ts'
import { compareServiceReplicas, type ServiceReplica } from './replicas.ts'
import { setAsideFailedWork } from './set-aside.ts'
import type { Config } from './settings/config.ts'
import { withSharedView } from './shared-view.ts'
import { type Service, startParts } from './start-parts.ts'
import { warnOfTopicLetters } from './topic-letters.ts'

export interface ServiceOptions {
  config: Config
  log: Log
  /** True for a node, which shares PostgreSQL with others; by default it is alone. */
  nodes?: boolean
  /** Aborts a start in progress. */
  signal: AbortSignal
  /** Called when durability can no longer be guaranteed. The process must exit. */
  onFatal: (error: Error) => void
}

/** Its close refuses new requests, finishes open ones, syncs the journal and stops the managed databases. */
export function startService(options: ServiceOptions): Promise<Service> {
  return startParts(onOpen => open(options, onOpen))
}

async function open(options: ServiceOptions, onOpen: (close: () => unknown) => void): Promise<string> {
  const { config, log, signal } = options
  const clockMs = systemClock
  const directory = withSharedSecrets(openDataDirectory(config.DATA_DIR), config.SECRETS_DIR)
  onOpen(() => directory.close())
  // Fail fast: check these settings before the databases start.
  readCertificate(config)
  await checkListenAddress(config)
  if (config.MQTT_PORT !== undefined) {
    await checkListenAddress({ HOST: config.HOST, PORT: config.MQTT_PORT }, 'MQTT_PORT')
  }
  const giveUp = new AbortController()
  const opening = openServiceStore(options, directory, AbortSignal.any([signal, giveUp.signal]))
  const {
    store: opened,
    serviceNodes,
    serviceIngest,
  } = await openStoreAndIngest(options, directory, opening, giveUp, onOpen)
  const { feed, leads } = serviceNodes
  await setAsideFailedWork({ dataDirectory: directory.path, pool: opened.postgres, log })
  const { ingest, pointsIngest, topicStates } = serviceIngest
  const replicas = await openReplicas(opened, serviceIngest, serviceNodes, log, onOpen)
  const store: Store = { ...opened, questdb: replicas[0].questdb }
  const days = config.RETENTION_DAYS
  const acceptedFrom = await openAcceptedFrom({ pool: store.postgres, days, nowMs: clockMs, feed })
  const isShared = ingest.shared !== undefined
  const registries = await openRegistries({ config, log, store, replicas, clockMs, feed, isShared, leads, onOpen })
  const { devices, stations, metrics } = registries
  // Includes points that other nodes accepted.
  if (pointsIngest.shared !== undefined) pointsIngest.onStored(stations.received)
  serviceIngest.forward(store, metrics)
  const journals = { ingest, pointsIngest, topicStates }
  const stored = { directory, store, replicas, ...journals, acceptedFrom, clockMs, nodes: serviceNodes }
  const { archive, retention } = openServiceRetention(config, log, stored)
  onOpen(() => retention.close())
  const readReplicas = openReadReplicas(replicas, retention, config.QUESTDB_READ)
  if (replicas.length > 1) onOpen(compareServiceReplicas(log, { ...stored, retention }))
  const queries = openServiceQueries(config, log, { ...stored, readReplicas })
  for (const { close } of Object.values(queries)) onOpen(close)
  const live = openServiceLive(config, log, { replicas, ingest, devices, metrics, query: queries.query, clockMs })
  onOpen(() => live.close())
  const insights = queries.query.insights(createInsightsKnown(metrics, live, clockMs))
  // Links in mails need an address. Without a configured one, the listening address is used.
  let ownUrl = 'http://localhost'
  const publicUrl = () => (config.PUBLIC_URL ?? ownUrl).replace(/\/$/, '')
  const isAdminToken = createTokenCheck(directory.secret('admin-token'))
  const known = { pool: store.postgres, nowMs: clockMs, devices, stations, feed, leads, publicUrl, isAdminToken }
  const accounts = openServiceAccounts({ config, log, directory, ...known })
  onOpen(() => accounts.close())
  const signIn = await openSignIn({ config, accounts, directory, log })
  const rowsPerWriterMax = config.IDEMPOTENCY_KEYS_MAX
  const claims = createClaims({ pool: store.postgres, ingest, nowMs: clockMs, leads, log, rowsPerWriterMax })
  onOpen(() => claims.close())
  const diskUse = watchDiskUse({ directory, config, retention, nowMs: clockMs, log })
  onOpen(() => diskUse.close())
  const alerting = {
    ...stored,
    readReplicas,
    devices,
    metrics,
    accounts,
    live,
    insights,
    query: queries.query,
    diskUse,
  }
  const alerts = openServiceAlerts(config, log, alerting)
  onOpen(() => alerts.close())
  const base = { ...stored, readReplicas, ...registries, diskUse, archive, retention }
  const parts = { ...base, ...queries, insights, accounts, signIn, claims, live, alerts }
  ownUrl = await listen(config, log, parts, onOpen)
  await signIn.announceSetup()
  return ownUrl
}

/** One of several processes maintains the hourly views that all of them use. */
async function openReplicas(
  store: Store,
  { ingest, pointsIngest, customReplicas = [] }: ServiceIngest,
  nodes: ServiceNodes,
  log: Log,
  onOpen: (close: () => unknown) => void,
): Promise<readonly [ServiceReplica, ...ServiceReplica[]]> {
  const replicas: ServiceReplica[] = []
  for (const replica of [{ number: 1, questdb: store.questdb }, ...customReplicas]) {
    const readings = ingest.replicas.find(({ number }) => number === replica.number)
    const points = pointsIngest.replicas.find(({ number }) => number === replica.number)
    if (readings === undefined || points === undefined) throw bug(`no topic is read for replica ${replica.number}`)
    const shared = { ...nodes, pool: store.postgres, log, onOpen }
    const { questdb } = nodes.several === undefined ? replica : await withSharedView(replica, shared)
    readings.onLost(questdb.hourlyView.markSuspect)
    replicas.push({ number: replica.number, questdb, readings, points })
  }
  return replicas as [ServiceReplica, ...ServiceReplica[]]
}

/** The databases take a second to start. Meanwhile a journal on disk recovers and starts its threads, or Kafka's client is loaded. */
async function openStoreAndIngest(
  options: ServiceOptions,
  directory: DataDirectory,
  opening: Promise<Store>,
  giveUp: AbortController,
  onOpen: (close: () => unknown) => void,
): Promise<{ store: Store; serviceNodes: ServiceNodes; serviceIngest: ServiceIngest }> {
  const { config, log, nodes = false, onFatal } = options
  const given = { config, log, nowMs: systemClock, onFatal, directory }
  assertClockIsSet(systemClock())
  const disk = config.KAFKA_BROKERS === undefined ? await openDiskIngest(given, opening, giveUp) : undefined
  if (disk === undefined) await Promise.all([opening, import('./open-topic-ingest.ts'), import('@platformatic/kafka')])
  const store = disk?.store ?? (await opening)
  onOpen(() => store.close())
  if (disk !== undefined) onOpen(() => disk.serviceIngest.close())
  const serviceNodes = await openServiceNodes({ ...given, nodes, store })
  onOpen(() => serviceNodes.close())
  if (disk !== undefined) {
    await warnOfTopicLetters(store.postgres, log)
    await disk.serviceIngest.passStamps(store.postgres)
    return { store, serviceNodes, serviceIngest: disk.serviceIngest }
  }
  const { openTopicIngest } = await import('./open-topic-ingest.ts')
  const serviceIngest = await openTopicIngest({ ...given, store, ...serviceNodes })
  onOpen(() => serviceIngest.close())
  return { store, serviceNodes, serviceIngest }
}

async function openDiskIngest(
  given: ServiceIngestOptions,
  opening: Promise<Store>,
  giveUp: AbortController,
): Promise<{ store: Store; serviceIngest: DiskIngest }> {
  let serviceIngest: DiskIngest
  try {
    serviceIngest = await openServiceIngest(given)
  } catch (error) {
    giveUp.abort()
    await opening.catch(() => undefined)
    throw error
  }
  try {
    return { store: await opening, serviceIngest }
  } catch (error) {
    await serviceIngest.close()
    throw error
  }
}

function openServiceStore(
  { config, log, nodes, onFatal }: ServiceOptions,
  directory: DataDirectory,
  signal: AbortSignal,
) {
  return openStore({
    directory,
    questdbHttp: config.QUESTDB_HTTP,
    questdbPg: config.QUESTDB_PG,
    questdbCommitMode: config.QUESTDB_COMMIT_MODE,
    questdbPgPort: config.QUESTDB_PG_PORT,
    // One of several processes maintains it, which is elected later.
    leavesHourlyView: nodes === true,
    databaseUrl: config.DATABASE_URL,
    lock: { mode: nodes === true ? 'shared' : 'exclusive', onLost: onFatal },
    cacheDirectory: config.cacheDirectory,
    environment: config.environment,
    signal,
    log,
  })
}
