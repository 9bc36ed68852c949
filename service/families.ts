/** The families of routes of the service, with what each of them needs. */

import { adminFamily } from '../api/admin/admin.ts'
import { airQualityFamily } from '../api/air-quality/air-quality.ts'
import { contentFilesFamily } from '../api/content-files/content-files.ts'
import { docsFamily } from '../api/docs/docs.ts'
import { publishOperations } from '../api/docs/published-operations.ts'
import { serverContract } from '../api/docs/server-contract.ts'
import type { RouteFamily } from '../api/http/route-family.ts'
import { loggerFamily } from '../api/logger/logger.ts'
import type { EventsOptions } from '../api/read/events/events.ts'
import { openReads, privateReads } from '../api/read/read-access.ts'
import { webFamily } from '../api/web/web.ts'
import { lineProtocolFamilies } from '../api/write/line-protocol/line-protocol.ts'
import { createEraseJobs } from '../lifecycle/erasure/erase-jobs.ts'
import type { Config } from '../settings/config.ts'
import type { Log } from '../store/log.ts'
import { checkOptionsOf, type Ingress } from './ingress.ts'
import type { ServiceParts } from './service-parts.ts'

/** Then a client of events connects again, so that a credential that was withdrawn shows. */
const privateStreamMsMax = 10 * 60_000

/** A new one is one line here. `isReady`: whether readings are taken. */
export function createFamilies(
  config: Config,
  log: Log,
  parts: ServiceParts,
  ingress: Ingress,
  isReady: () => boolean,
): RouteFamily[] {
  const { isTrusted, intake, meter, bulkMeter, fairShare, writers, authRateLimit } = ingress
  const { clockMs, store, ingest, pointsIngest, devices, stations, query, points, readingsExport, accounts, signIn } =
    parts
  const { ranges, ...timeLimits } = checkOptionsOf(config, parts)
  const eraseJobs = createEraseJobs({
    devices,
    stations,
    ingest: { readings: ingest, points: pointsIngest },
    store,
    whileNoDayExpires: parts.retention.whileNoDayExpires,
    syncNames: parts.deviceNames.sync,
    log,
  })
  const batchOptions = {
    devices,
    ingest,
    writers,
    findPrincipal: accounts.findPrincipal,
    ranges,
    ...timeLimits,
    authRateLimit,
    bodyBytesMax: config.BATCH_BYTES_MAX,
    spoolDirectory: config.DATA_DIR,
    meter: bulkMeter,
    fairShare,
    claims: parts.claims,
  }
  const admin = adminFamily({
    findPrincipal: accounts.findPrincipal,
    origins: accounts.origins,
    accounts: accounts.accounts,
    keys: accounts.keys,
    tenants: accounts.tenants,
    publicUrl: accounts.publicUrl,
    signUp: config.SIGN_UP,
    devices,
    stations,
    eraseJobs,
    readingsExport,
    ingest,
    pointsIngest,
    store,
    log,
    ranges,
    ...timeLimits,
    directory: parts.directory,
    reserveBytes: config.JOURNAL_RESERVE,
    diskUse: parts.diskUse,
    retention: parts.retention,
    isPostgresManaged: config.DATABASE_URL === undefined,
    meter: bulkMeter,
  })
  const airQuality = airQualityFamily({
    stations,
    points,
    accounts: accounts.accounts,
    keys: accounts.keys,
    nowMs: clockMs,
    log,
    isTrusted,
    publicUrl: config.PUBLIC_URL,
    failedAttemptsPerMinute: config.FAILED_ATTEMPTS,
    pointsIngest,
    aheadMsMax: timeLimits.aheadMsMax,
    removeStation: eraseJobs.removeStation,
    requireHttps: config.AIR_QUALITY_HTTP === 'local',
  })
  const readings = {
    rangeReads: parts.rangeReads,
    nowMs: clockMs,
    expiredBeforeUs: parts.retention.expiredBeforeUs,
    log,
  }
  const isOpen = config.READS === 'open'
  const contentFiles = contentFilesFamily({ postgres: store.postgres, publicUrl: config.PUBLIC_URL, log })
  const lineProtocol = lineProtocolFamilies({
    ingest,
    devices,
    writers,
    keys: accounts.keys,
    ranges,
    ...timeLimits,
    isReady,
    nowMs: clockMs,
    log,
    names: {
      deviceTags: config.LINE_PROTOCOL_DEVICE_TAGS,
      fields: config.LINE_PROTOCOL_FIELDS ?? [],
      unknownFields: config.LINE_PROTOCOL_UNKNOWN_FIELDS,
    },
    bodyBytesMax: config.LINE_PROTOCOL_BODY_MAX,
    authRateLimit,
    meter: bulkMeter,
    fairShare,
  })
  const logger = loggerFamily({
    log,
    ingest: { intake, meter, writers, findPrincipal: accounts.findPrincipal, authRateLimit, ranges },
    access: isOpen ? openReads(devices) : privateReads({ ...accounts, devices, authRateLimit }),
    live: { live: parts.live, query, timeZone: config.TIME_ZONE, nowMs: clockMs },
    batch: batchOptions,
    reads: { query, readings },
    events: eventsOptions(config, log, parts, ingress),
  })
  const contracts = [
    publishOperations(logger),
    ...accounts.family.parts.map(publishOperations),
    airQuality.contract,
    ...lineProtocol.map(publishOperations),
    publishOperations(contentFiles),
    publishOperations(admin),
    serverContract(),
  ]
  return [
    logger,
    admin,
    airQuality,
    ...lineProtocol,
    accounts.family,
    ...signIn.families,
    docsFamily({ contracts, publicUrl: config.PUBLIC_URL, isAdmin: accounts.isAdministrator, isTrusted }),
    webFamily(),
    contentFiles,
  ]
}

function eventsOptions(
  config: Config,
  log: Log,
  { ingest, devices, live }: ServiceParts,
  ingress: Ingress,
): EventsOptions {
  return {
    ingest,
    devices,
    nowMs: () => performance.now(),
    meter: ingress.eventMeter,
    log,
    clientsOfOneMax: config.EVENTS_CLIENTS_PER_ADDRESS ?? Math.ceil(config.EVENTS_CLIENTS_MAX / 10),
    clientsMax: config.EVENTS_CLIENTS_MAX,
    windowBytes: config.EVENTS_WINDOW_BYTES,
    windowMs: config.EVENTS_WINDOW_MINUTES * 60_000,
    onState: listener => live.onState(({ number }, _before, state) => listener(number, state)),
    lifetimeMs: config.READS === 'private' ? privateStreamMsMax : undefined,
  }
}
