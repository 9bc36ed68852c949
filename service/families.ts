/** Creates the route families of the service with their parts. */

import { adminFamily } from '../api/admin/admin.ts'
import { airQualityFamily } from '../api/air-quality/air-quality.ts'
import { alertsFamilies } from '../api/alerts/alerts-family.ts'
import { ownerOf } from '../api/alerts/guard-alerts.ts'
import { unsubscribeFamily } from '../api/alerts/unsubscribe.ts'
import { annotationsFamily } from '../api/annotations/annotations.ts'
import { contentFilesFamily } from '../api/content-files/content-files.ts'
import { docsFamily } from '../api/docs/docs.ts'
import type { FindVisitor } from '../api/http/page-document.ts'
import type { RouteFamily } from '../api/http/route-family.ts'
import { type Readiness, serverFamily } from '../api/http/server-family.ts'
import { loggerFamily } from '../api/logger/logger.ts'
import { createAlertReaders, ownedAlertEvent } from '../api/read/events/alert-events.ts'
import type { EventsOptions } from '../api/read/events/events.ts'
import { openReads, privateReads } from '../api/read/read-access.ts'
import { webFamily } from '../api/web/web.ts'
import { lineProtocolFamilies } from '../api/write/line-protocol/line-protocol.ts'
import { remoteWriterFamilies } from '../api/write/line-protocol/remote-writers.ts'
import { webhookFamilies } from '../api/write/webhooks.ts'
import { createBulkFields } from '../auth/metrics/device-fields.ts'
import type { Log } from '../store/log.ts'
import { checkOptionsOf } from './check-options.ts'
import { createEntityMetrics, createKnownMetrics } from './entity-metrics.ts'
import type { Ingress } from './ingress.ts'
import { createEraseJobs, type EraseJobs } from './lifecycle/erasure/erase-jobs.ts'
import { rejectedReadings } from './rejected-readings.ts'
import { questdbRead, replicaStatuses } from './replicas.ts'
import { readSetAside } from './set-aside.ts'
import type { Config } from './settings/config.ts'
import type { ServiceParts } from './start-parts.ts'

/** A client of events then reconnects, which applies a revoked credential. */
const privateStreamMsMax = 10 * 60_000

/** Bounds the rules listed in the status. */
const partialRulesMax = 20

export interface FamilyInputs {
  config: Config
  log: Log
  parts: ServiceParts
  ingress: Ingress
  readiness: () => Readiness
}

/** `/openapi.json` describes the families of this list in its order. */
export function createFamilies(inputs: FamilyInputs): RouteFamily[] {
  const { config, log, parts, ingress, readiness } = inputs
  const { store, accounts, signIn } = parts
  const { isTrusted, metrics } = ingress
  const publicUrl = config.PUBLIC_URL
  const eraseJobs = openEraseJobs(inputs)
  const visits = visitsOf(parts)
  const families = [
    createLogger(inputs),
    accounts.family,
    createAirQuality(inputs, eraseJobs),
    ...createLineProtocol(inputs),
    ...createRemoteWriters(inputs),
    ...createWebhooks(inputs),
    contentFilesFamily({ postgres: store.postgres, publicUrl, log, ...visits }),
    createAdmin(inputs, eraseJobs),
    ...createAlerts(inputs),
    createAnnotationsApi(inputs),
    serverFamily({ readiness, metrics }),
    ...signIn.families,
    webFamily({ findStart: accounts.findStart, embedOrigins: config.EMBED_ORIGINS ?? [] }),
  ]
  const { isAdministrator: isAdmin } = accounts
  return [...families, docsFamily({ families, publicUrl, isAdmin, isTrusted, ...visits })]
}

/** If another service signs people in, pages do not show the signed-in account. */
export function visitsOf({ accounts, signIn }: ServiceParts): { findVisitor?: FindVisitor } {
  return signIn.families.length === 0 ? {} : { findVisitor: accounts.findVisitor }
}

function openEraseJobs({ log, parts, ingress }: FamilyInputs): EraseJobs {
  const {
    devices,
    metrics,
    stations,
    ingest,
    pointsIngest,
    store,
    replicas,
    archive,
    retention,
    names,
    live,
    alerts,
    annotations,
    nodes,
  } = parts
  return createEraseJobs({
    devices,
    metrics,
    stations,
    ingest: { readings: ingest, points: pointsIngest },
    store,
    replicas: replicas.map(replica => ({ ...replica, isLost: () => replica.readings.lost() !== undefined })),
    archive,
    whileNoDayExpires: retention.whileNoDayExpires,
    syncNames: names.sync,
    forgetSeries: live.seriesErased,
    async forgetDevices({ numbers, name, metric, requestedAt }) {
      if (metric === null) await annotations.forgetErased(numbers)
      await alerts.forgetErased({ numbers, name, metric, untilMs: requestedAt.getTime() })
    },
    forgetName(name) {
      ingress.rejections.forget(name)
      // They may have readings of the device.
      ingress.recent.clear()
    },
    feed: nodes.feed,
    leads: nodes.leads,
    log,
  })
}

function createLogger({ config, log, parts, ingress }: FamilyInputs): RouteFamily {
  const { clockMs, ingest, devices, metrics, query, rangeReads, live, archive, retention, claims, accounts, stations } =
    parts
  const { intake, meter, bulkMeter, fairShare, writers, authRateLimit } = ingress
  const { ranges, ...timeLimits } = checkOptionsOf(config, parts)
  const { findPrincipal } = accounts
  const nowMs = clockMs
  return loggerFamily({
    log,
    ingest: { intake, meter, writers, findPrincipal, authRateLimit, ranges },
    access: config.READS === 'open' ? openReads(devices) : privateReads({ ...accounts, devices, authRateLimit }),
    live: { live, missing: () => missingIn(parts), insights: parts.insights, query, timeZone: config.TIME_ZONE, nowMs },
    batch: {
      devices,
      bulkFields: createBulkFields(metrics),
      ingest,
      writers,
      findPrincipal,
      ranges,
      ...timeLimits,
      authRateLimit,
      bodyBytesMax: config.BATCH_BYTES_MAX,
      spoolDirectory: config.DATA_DIR,
      meter: bulkMeter,
      fairShare,
      claims,
    },
    reads: {
      query,
      metrics,
      rejectedOf: ({ name }) => rejectedReadings(ingress.rejections, name, nowMs()),
      readings: {
        ...{ rangeReads, metrics, nowMs, expiredBeforeUs: retention.expiredBeforeUs, log },
        archivedFiles: (fromUs, toUs, filesMax) => archive.filesBetween(fromUs / 1000, toUs / 1000, filesMax),
      },
    },
    annotations: { annotations: parts.annotations, findPrincipal },
    contacts: { rejections: ingress.rejections, live, findPrincipal },
    stations: { stations, metrics, query, findPrincipal, authRateLimit, nowMs },
    events: eventsOptions(config, log, parts, ingress),
    behindSeconds: parts.replicas.length === 1 ? undefined : () => secondsBehind(parts.readReplicas),
  })
}

function secondsBehind({ behindMs, current }: ServiceParts['readReplicas']): number {
  return (behindMs()[current() - 1] ?? 0) / 1000
}

function missingIn({ replicas, readReplicas }: Pick<ServiceParts, 'replicas' | 'readReplicas'>): string | undefined {
  const { isLost, reason } = questdbRead(replicas, readReplicas)
  return isLost ? reason : undefined
}

function createAdmin({ config, log, parts, ingress }: FamilyInputs, eraseJobs: EraseJobs): RouteFamily {
  const { accounts, devices, stations, metrics, readingsExport, readReplicas, ingest, pointsIngest, store } = parts
  return adminFamily({
    findPrincipal: accounts.findPrincipal,
    origins: accounts.origins,
    accounts: accounts.accounts,
    keys: accounts.keys,
    tenants: accounts.tenants,
    publicUrl: accounts.publicUrl,
    signUp: config.SIGN_UP,
    devices,
    live: parts.live,
    bulkFields: createBulkFields(metrics),
    stations,
    metrics,
    eraseJobs,
    readingsExport,
    ingest,
    pointsIngest,
    store,
    log,
    ...checkOptionsOf(config, parts),
    directory: parts.directory,
    reserveBytes: config.JOURNAL_RESERVE,
    diskUse: parts.diskUse,
    archive: parts.archive,
    retention: parts.retention,
    topics: parts.topicStates,
    replicas: () => replicaStatuses(parts.replicas, parts.readReplicas),
    questdbRead: {
      get address() {
        return readReplicas.addresses[readReplicas.current() - 1] ?? store.questdb.address
      },
    },
    alertEngine() {
      const { isLive, backlog, refused, partialRules } = parts.alerts.meter.engine()
      return isLive ? { backlog, refused, partial_rules: partialRules.slice(0, partialRulesMax) } : undefined
    },
    nodes: parts.nodes.several,
    setAside: () => readSetAside(store.postgres),
    isPostgresManaged: config.DATABASE_URL === undefined,
    mqttPort: config.MQTT_PORT,
    reads: config.READS,
    meter: ingress.bulkMeter,
    rejections: ingress.rejections,
    decoders: parts.decoders,
    recent: ingress.recent,
  })
}

function createAlerts({ config, log, parts }: FamilyInputs): RouteFamily[] {
  const { alerts, accounts, devices, clockMs } = parts
  const { findPrincipal, origins } = accounts
  const numberOf = (name: string) => devices.get(name)?.number
  const options = { findPrincipal, origins, log, alerts, numberOf, deviceOf: devices.get }
  return [
    ...alertsFamilies({ ...options, timeZone: config.TIME_ZONE, nowMs: clockMs }),
    unsubscribeFamily({ unsubscribing: alerts.unsubscribing, log }),
  ]
}

function createAnnotationsApi({ log, parts }: FamilyInputs): RouteFamily {
  const { annotations, accounts, devices } = parts
  const { findPrincipal, origins } = accounts
  return annotationsFamily({ findPrincipal, origins, log, annotations, devices })
}

function createAirQuality({ config, log, parts, ingress }: FamilyInputs, eraseJobs: EraseJobs): RouteFamily {
  const { stations, points, accounts, pointsIngest, clockMs } = parts
  return airQualityFamily({
    stations,
    points,
    accounts: accounts.accounts,
    keys: accounts.keys,
    nowMs: clockMs,
    log,
    isTrusted: ingress.isTrusted,
    publicUrl: config.PUBLIC_URL,
    failedAttemptsPerMinute: config.FAILED_ATTEMPTS,
    processes: parts.nodes.count,
    pointsIngest,
    aheadMsMax: checkOptionsOf(config, parts).aheadMsMax,
    removeStation: eraseJobs.removeStation,
    requireHttps: config.AIR_QUALITY_HTTP === 'local',
    rejections: ingress.rejections,
  })
}

function createLineProtocol(inputs: FamilyInputs): RouteFamily[] {
  const { config, parts, readiness } = inputs
  const { metrics } = parts
  return lineProtocolFamilies({
    ...lineOptionsOf(inputs),
    isReady: () => readiness().status !== 'unavailable',
    names: {
      deviceTags: config.LINE_PROTOCOL_DEVICE_TAGS,
      fields: config.LINE_PROTOCOL_FIELDS ?? [],
      unknownFields: config.LINE_PROTOCOL_UNKNOWN_FIELDS,
    },
    entityMetrics:
      config.LINE_PROTOCOL_PRESET === undefined ? undefined : createEntityMetrics(metrics, config.LINE_PROTOCOL_UNITS),
  })
}

function createRemoteWriters(inputs: FamilyInputs): RouteFamily[] {
  const { config, parts } = inputs
  return remoteWriterFamilies({
    ...lineOptionsOf(inputs),
    remoteMetrics: createKnownMetrics(parts.metrics),
    unknownFields: config.METRICS === 'declared' ? 'ignore' : 'reject',
  })
}

function lineOptionsOf({ config, log, parts, ingress }: FamilyInputs) {
  const { ingest, devices, metrics, accounts, clockMs } = parts
  const { writers, authRateLimit, bulkMeter, fairShare } = ingress
  return {
    ingest,
    devices,
    bulkFields: createBulkFields(metrics),
    writers,
    keys: accounts.keys,
    ...checkOptionsOf(config, parts),
    bodyBytesMax: config.LINE_PROTOCOL_BODY_MAX,
    authRateLimit,
    meter: bulkMeter,
    fairShare,
    nowMs: clockMs,
    log,
  }
}

function createWebhooks({ log, parts, ingress }: FamilyInputs): RouteFamily[] {
  const { intake, meter, writers, recent, authRateLimit } = ingress
  const { findPrincipal, keys } = parts.accounts
  const { decoders } = parts
  return webhookFamilies({ intake, meter, writers, decoders, recent, authRateLimit, findPrincipal, keys, log })
}

function eventsOptions(
  config: Config,
  log: Log,
  { ingest, devices, metrics, live, nodes, alerts, accounts }: ServiceParts,
  ingress: Ingress,
): EventsOptions {
  return {
    ingest,
    devices,
    metrics,
    nowMs: () => performance.now(),
    meter: ingress.eventMeter,
    log,
    clientsOfOneMax: config.EVENTS_CLIENTS_PER_ADDRESS ?? Math.ceil(config.EVENTS_CLIENTS_MAX / 10),
    clientsMax: config.EVENTS_CLIENTS_MAX,
    processes: nodes.count,
    windowBytes: config.EVENTS_WINDOW_BYTES,
    windowMs: config.EVENTS_WINDOW_MINUTES * 60_000,
    areStatesSent: live.isLoaded,
    onAlert: listener => alerts.onAlert(changed => changed.map(ownedAlertEvent).forEach(listener)),
    alertsOf: createAlertReaders({ findPrincipal: accounts.findPrincipal, ownerOf }),
    onState: listener => live.onState(({ number }, _before, state) => listener(number, state)),
    lifetimeMs: privateStreamMsMax,
  }
}
