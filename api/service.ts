/** Composition root: opens the parts in order, wires them, and closes them in reverse order. */

import type { FastifyInstance } from 'fastify'
import { type Devices, openDevices } from '../auth/devices/devices.ts'
import { openStations, type Stations } from '../auth/stations/stations.ts'
import type { Ingest, PointsIngest } from '../ingest/ingest.ts'
import { createPointCheck } from '../ingest/point.ts'
import { createPoints, type Points } from '../query/points/points.ts'
import { createQuery, type Query } from '../query/query.ts'
import { openDataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import { StartError } from '../store/start-error.ts'
import { openStore, type Store } from '../store/store.ts'
import { adminFamily } from './admin/admin.ts'
import { createTokenCheck } from './admin/admin-token.ts'
import { createEraseJobs } from './admin/erase-jobs.ts'
import { airQualityFamily } from './air-quality/air-quality.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { contentFilesFamily } from './content-files/content-files.ts'
import { readDisk } from './disk-space.ts'
import { docsFamily } from './docs/docs.ts'
import { checkOptionsOf, createEdge, type Edge } from './edge.ts'
import { readCertificate } from './http/certificate.ts'
import type { RouteFamily } from './http/route-family.ts'
import { createServer } from './http/server.ts'
import { lineProtocolFamilies } from './line-protocol/line-protocol.ts'
import { checkListenAddress, listenError } from './listen-address.ts'
import { loggerFamily } from './logger/logger.ts'
import { type Mqtt, openMqtt } from './mqtt/mqtt.ts'
import { openServiceAccounts, type ServiceAccounts } from './open-accounts.ts'
import { openServiceIngest, type ServiceIngest } from './open-ingest.ts'
import { openSignIn, type SignIn } from './open-sign-in.ts'
import { readinessOf } from './readiness.ts'
import { addServiceMetrics } from './service-metrics.ts'
import { packageVersion } from './version.ts'

export interface Service {
  /** Address that it listens on. */
  url: string
  /** Graceful shutdown: refuses new requests, finishes open ones, syncs the journal, stops the managed databases. Idempotent. */
  close(): Promise<void>
}

export interface ServiceOptions {
  config: Config
  log: Log
  /** Aborts a start in progress. */
  signal: AbortSignal
  /** Called when durability can no longer be guaranteed; the process must exit. */
  onFatal: (error: Error) => void
}

const hourMs = 3_600_000

/** Opens all parts; if one fails, those already open are closed. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const opened: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  const closeAll = async () => {
    const faults: unknown[] = []
    for (const close of opened.toReversed()) {
      try {
        await close()
      } catch (error) {
        faults.push(error)
      }
    }
    // One part that fails to close must not keep the others open.
    if (faults.length > 0) throw new AggregateError(faults, 'not everything could be closed')
  }
  try {
    const url = await open(options, close => opened.push(close))
    return {
      url,
      close() {
        closing ??= closeAll()
        return closing
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function open(options: ServiceOptions, onOpen: (close: () => unknown) => void): Promise<string> {
  const { config, log, signal } = options
  const clockMs = systemClock
  const directory = openDataDirectory(config.DATA_DIR)
  onOpen(() => directory.close())
  // Fail fast: check these settings before the databases start.
  readCertificate(config)
  await checkListenAddress(config)
  if (config.MQTT_PORT !== undefined) {
    await checkListenAddress({ HOST: config.HOST, PORT: config.MQTT_PORT }, 'MQTT_PORT')
  }
  const giveUp = new AbortController()
  const opening = openStore({
    directory,
    questdbHttp: config.QUESTDB_HTTP,
    questdbPg: config.QUESTDB_PG,
    questdbCommitMode: config.QUESTDB_COMMIT_MODE,
    databaseUrl: config.DATABASE_URL,
    exclusive: { onLost: options.onFatal },
    cacheDirectory: config.cacheDirectory,
    environment: config.environment,
    signal: AbortSignal.any([signal, giveUp.signal]),
    log,
  })
  // The databases take a second to start; meanwhile the journal recovers and starts its threads.
  let serviceIngest: ServiceIngest
  try {
    serviceIngest = await openServiceIngest({ config, log, nowMs: clockMs, onFatal: options.onFatal, directory })
  } catch (error) {
    giveUp.abort()
    await opening.catch(() => undefined)
    throw error
  }
  const store = await opening.catch(async (error: unknown) => {
    await serviceIngest.close()
    throw error
  })
  onOpen(() => store.close())
  onOpen(() => serviceIngest.close())
  const { ingest, pointsIngest } = serviceIngest
  forwardWhenReady(store, serviceIngest, options)
  const devices = await openDevices({
    pool: store.postgres,
    now: clockMs,
    log,
    graceMs: config.ROTATION_GRACE_HOURS * hourMs,
  })
  onOpen(() => devices.close())
  const stations = openStations({ pool: store.postgres, nowMs: clockMs, log })
  onOpen(() => stations.close())
  const query = openQuery(options, store, ingest, clockMs)
  onOpen(() => query.close())
  const points = openPoints(options, store, pointsIngest)
  onOpen(() => points.close())
  // Links in mails need an address; without a configured one it is the one that we listen on.
  let ownUrl = 'http://localhost'
  const publicUrl = () => (config.PUBLIC_URL ?? ownUrl).replace(/\/$/, '')
  const isAdminToken = createTokenCheck(directory.secret('admin-token'))
  const accounts = await openServiceAccounts({
    ...{ config, log, nowMs: clockMs, directory, pool: store.postgres, devices, stations, publicUrl, isAdminToken },
  })
  onOpen(() => accounts.close())
  const signIn = await openSignIn({ config, accounts, directory, log })
  const parts = { clockMs, store, ingest, pointsIngest, devices, stations, query, points, accounts, signIn }
  ownUrl = await listen(options, parts, onOpen)
  await signIn.announceSetup()
  return ownUrl
}

interface Parts {
  clockMs: Clock
  store: Store
  ingest: Ingest
  pointsIngest: PointsIngest
  devices: Devices
  stations: Stations
  query: Query
  points: Points
  accounts: ServiceAccounts
  signIn: SignIn
}

async function listen(
  { config, log }: ServiceOptions,
  parts: Parts,
  onOpen: (close: () => unknown) => void,
): Promise<string> {
  let isStopping = false
  let mqtt: Mqtt | undefined
  const edge = createEdge(config, log, parts)
  const app = createServiceServer(config, log, parts, edge, {
    isStopping: () => isStopping,
    broker: () => mqtt?.brokerFault(),
  })
  onOpen(async () => {
    isStopping = true
    await Promise.all([mqtt?.close(), app.close()])
  })
  try {
    const url = await app.listen({ host: config.HOST, port: config.PORT })
    mqtt = await openServiceMqtt(config, log, parts, edge)
    return url
  } catch (error) {
    throw listenError(config, error)
  }
}

async function openServiceMqtt(config: Config, log: Log, { devices, accounts }: Parts, edge: Edge): Promise<Mqtt> {
  const { writers, intake, meter, authRateLimit, connections, metrics } = edge
  return await openMqtt({
    ...{ config, log, devices, writers, intake, meter, authRateLimit, connections },
    ...{ keys: accounts.keys, registry: metrics.registry },
  })
}

function createServiceServer(
  config: Config,
  log: Log,
  parts: Parts,
  edge: Edge,
  state: { isStopping: () => boolean; broker: () => string | undefined },
): FastifyInstance {
  const { store, ingest, pointsIngest, devices, query } = parts
  const { connections, metrics } = edge
  const readiness = () =>
    readinessOf({
      ingest: ingest.status,
      points: pointsIngest.status,
      questdb: () => store.questdb.state(),
      postgres: () => store.postgresFault(),
      connections: connections.fault,
      ...state,
    })
  const families = createFamilies(config, log, parts, edge, () => readiness().status !== 'unavailable')
  addServiceMetrics(metrics.registry, {
    ingest: ingest.status,
    points: pointsIngest.status,
    devices: () => devices.size(),
    questdbUp: () => store.questdb.state().state === 'up',
    queriesQueued: query.queueLengths,
    cache: query.cacheStatus,
    disk: () => readDisk(config.DATA_DIR),
    version: packageVersion(),
  })
  return createServer({ config, connections, readiness, metrics, families, log })
}

/** All route families; a new one is one line here. */
function createFamilies(config: Config, log: Log, parts: Parts, edge: Edge, isReady: () => boolean): RouteFamily[] {
  const { isTrusted, intake, meter, bulkMeter, writers, authRateLimit } = edge
  const { clockMs, store, ingest, pointsIngest, devices, stations, query, points, accounts, signIn } = parts
  const { ranges, aheadMsMax } = checkOptionsOf(config)
  const eraseJobs = createEraseJobs({
    devices,
    stations,
    ingest: { readings: ingest, points: pointsIngest },
    store,
    log,
  })
  const batchOptions = {
    ...{ devices, ingest, writers, findPrincipal: accounts.findPrincipal, ranges, aheadMsMax, authRateLimit },
    ...{ bodyBytesMax: config.BATCH_BYTES_MAX, spoolDirectory: config.DATA_DIR, meter: bulkMeter },
  }
  const adminOptions = {
    ...{ findPrincipal: accounts.findPrincipal, origins: accounts.origins },
    ...{ accounts: accounts.accounts, keys: accounts.keys, tenants: accounts.tenants, publicUrl: accounts.publicUrl },
    ...{ devices, stations, eraseJobs, ingest, pointsIngest, store, log, ranges, aheadMsMax },
    ...{ dataDirectory: config.DATA_DIR, isPostgresManaged: config.DATABASE_URL === undefined, meter: bulkMeter },
  }
  const airQuality = airQualityFamily({
    ...{ stations, points, accounts: accounts.accounts, keys: accounts.keys, nowMs: clockMs, log, isTrusted },
    ...{ publicUrl: config.PUBLIC_URL, failedAttemptsPerMinute: config.FAILED_ATTEMPTS },
    ...{ pointsIngest, pointCheck: createPointCheck(aheadMsMax), removeStation: eraseJobs.removeStation },
    requireHttps: config.AIR_QUALITY_HTTP === 'local',
  })
  const contracts = [accounts.contract, airQuality.contract]
  return [
    loggerFamily({
      ...{ log, ingest: { intake, meter, writers, authRateLimit } },
      ...{ batch: batchOptions, reads: { query, devices } },
    }),
    adminFamily(adminOptions),
    airQuality,
    ...lineProtocolFamilies({
      ...{ ingest, devices, writers, keys: accounts.keys, ranges, aheadMsMax, isReady, nowMs: clockMs, log },
      names: {
        deviceTags: config.LINE_PROTOCOL_DEVICE_TAGS,
        fields: config.LINE_PROTOCOL_FIELDS ?? [],
        unknownFields: config.LINE_PROTOCOL_UNKNOWN_FIELDS,
      },
      bodyBytesMax: config.LINE_PROTOCOL_BODY_MAX,
      ...{ authRateLimit, meter: bulkMeter },
    }),
    accounts.family,
    ...signIn.families,
    docsFamily({ contracts, isAdmin: accounts.isAdministrator, isTrusted }),
    contentFilesFamily({ postgres: store.postgres, publicUrl: config.PUBLIC_URL, log }),
  ]
}

/** Readings and points are accepted before QuestDB is ready; they wait in their journals. */
function forwardWhenReady(store: Store, { ingest, pointsIngest }: ServiceIngest, { onFatal }: ServiceOptions): void {
  const { ready, address, commitMode, hourlyView } = store.questdb
  ingest.onLost(hourlyView.markSuspect)
  ready.then(
    () => {
      for (const path of [ingest, pointsIngest]) path.startForwarding(address.http, commitMode() === 'sync')
    },
    (error: Error) => {
      // It also rejects when the store is closed first; that is not an error.
      if (error instanceof StartError) onFatal(error)
    },
  )
}

/** From this time on the hourly view may lack readings; without a valid view, all hours do. */
function rawFromUs({ questdb: { hourlyView } }: Store, ingest: Ingest): number {
  const txn = hourlyView.validThroughTxn()
  if (txn === undefined) return Number.NEGATIVE_INFINITY
  const oldestUs = ingest.oldestSentSince(txn)
  // The view may have been invalidated in between.
  return hourlyView.validThroughTxn() === txn ? oldestUs : Number.NEGATIVE_INFINITY
}

function openQuery({ config, log }: ServiceOptions, store: Store, ingest: Ingest, clockMs: Clock): Query {
  return createQuery({
    questdb: store.questdb.address,
    timeZone: config.TIME_ZONE,
    now: clockMs,
    revision: ingest.revision,
    rawFromUs: () => rawFromUs(store, ingest),
    questdbAnswers: store.questdb.answers,
    limits: {
      latestBytesMax: config.LATEST_BYTES_MAX,
      cacheBytesMax: config.CACHE_BYTES_MAX,
      timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000,
      aheadMs: config.TIMESTAMP_AHEAD_SECONDS * 1000,
    },
    log,
  })
}

function openPoints({ config, log }: ServiceOptions, { questdb }: Store, { revision }: PointsIngest): Points {
  return createPoints({
    revision,
    questdb: questdb.address,
    questdbAnswers: questdb.answers,
    limits: { timeoutMs: config.QUERY_TIMEOUT_SECONDS * 1000 },
    log,
  })
}
