/** The admin API: who may, what its errors look like, and which routes it has. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { Tenants } from '../../auth/tenants/tenants.ts'
import type { BackupParts } from '../../backup/backup-parts.ts'
import type { Ingest, PointsIngest } from '../../ingest/ingest.ts'
import type { Ranges, TimeLimits } from '../../ingest/reading.ts'
import type { DiskUse } from '../../lifecycle/disk/disk-use.ts'
import type { EraseJobs } from '../../lifecycle/erasure/erase-jobs.ts'
import type { Retention } from '../../lifecycle/retention/retention.ts'
import type { ReadingsExport } from '../../query/export/readings-export.ts'
import type { Store } from '../../store/store.ts'
import { packageVersion } from '../../store/version.ts'
import { addJsonBody } from '../http/json-body.ts'
import { argumentsMax, hasTooManyArguments } from '../http/query-limits.ts'
import type { RouteFamily } from '../http/route-family.ts'
import type { BulkMeter } from '../write/bulk-meter.ts'
import { registerAccounts } from './accounts.ts'
import { registerAudit } from './audit.ts'
import { registerBackup } from './backup.ts'
import { registerContentFiles } from './content-files.ts'
import { registerDeadLetters } from './dead-letters.ts'
import { registerDevices } from './devices.ts'
import { registerErase } from './erase.ts'
import { registerExport } from './export.ts'
import { answerErrors } from './failures.ts'
import { createPathRefusal, type GuardOptions, guard } from './guard.ts'
import { registerImport } from './import.ts'
import { registerImportPoints } from './import-points.ts'
import { registerInvitations } from './invitations.ts'
import { registerKeys } from './keys.ts'
import { createLateAudit } from './late-audit.ts'
import { sendProblem } from './problem.ts'
import { registerRetention } from './retention.ts'
import { registerStations, stationSeriesNames } from './stations.ts'
import { registerStatus } from './status.ts'
import { registerStatusHistory } from './status-history.ts'
import { registerTenants } from './tenants.ts'

export interface AdminOptions extends GuardOptions, TimeLimits {
  accounts: Accounts
  keys: Keys
  devices: Devices
  ingest: Ingest
  pointsIngest: PointsIngest
  /** Who may make an account. */
  signUp: SignUpMode
  tenants: Tenants
  stations: Stations
  eraseJobs: EraseJobs
  readingsExport: ReadingsExport
  publicUrl: () => string
  store: Store
  directory: BackupParts['directory']
  diskUse: Pick<DiskUse, 'read'>
  retention: Pick<Retention, 'state' | 'confirm' | 'whileNoDayExpires'>
  /** That the journals leave. */
  reserveBytes: number
  /** Whether PostgreSQL was started here. */
  isPostgresManaged: boolean
  /** What an imported reading may hold, as for single readings. */
  ranges: Ranges
  /** Of imported readings. */
  meter: BulkMeter
}

export function adminFamily(options: AdminOptions): RouteFamily {
  const {
    accounts,
    keys,
    devices,
    ingest,
    pointsIngest,
    tenants,
    stations,
    eraseJobs,
    readingsExport,
    publicUrl,
    store,
    log,
    directory,
    ranges,
    aheadMsMax,
    earliestMs,
    meter,
  } = options
  const audit = createLateAudit(store.postgres, log)
  const imports = { ranges, aheadMsMax, audit, findPrincipal: options.findPrincipal }

  /** The routes with JSON bodies; imports are streams and have a scope of their own. */
  function registerJson(scope: FastifyInstance): void {
    addJsonBody(scope)
    registerDevices(scope, { devices, findAccounts: accounts.idsByEmail })
    registerKeys(scope, { accounts, keys })
    registerErase(scope, eraseJobs)
    registerDeadLetters(scope, {
      deadLetters: { readings: ingest.deadLetters, points: pointsIngest.deadLetters },
      seriesNames: { readings: undefined, points: () => stationSeriesNames(stations) },
      audit,
    })
    registerAccounts(scope, { accounts, publicUrl })
    registerInvitations(scope, options)
    registerTenants(scope, tenants)
    registerStations(scope, { stations, findAccounts: accounts.idsByEmail, eraseJobs })
    registerAudit(scope, store.postgres)
    registerExport(scope, { readingsExport, devices, nowMs: Date.now, aheadMsMax, audit, log })
    const backedUp = { readings: ingest, points: pointsIngest }
    const parts = { ...options, ingest: backedUp, version: packageVersion() }
    registerBackup(scope, { parts, whileNoDayExpires: options.retention.whileNoDayExpires, audit })
    registerRetention(scope, { retention: options.retention, audit })
    registerStatusHistory(scope, store.questdb)
    registerStatus(scope, { ...options, dataDirectory: directory.path })
  }

  function registerAll(scope: FastifyInstance): void {
    guard(scope, options)
    scope.addHook('onRequest', boundArguments)
    answerErrors(scope, log)
    scope.addHook('onReady', done => {
      eraseJobs.resume()
      done()
    })
    // Before the server waits for its requests.
    scope.addHook('preClose', () => readingsExport.close())
    scope.addHook('onClose', () => eraseJobs.close())
    scope.register((json, _options, done) => {
      registerJson(json)
      done()
    })
    scope.register((streams, _options, done) => {
      registerImport(streams, { ...imports, ingest, devices, earliestMs, meter })
      done()
    })
    scope.register((streams, _options, done) => {
      registerImportPoints(streams, { ...imports, pointsIngest, stations })
      done()
    })
    scope.register((batches, _options, done) => {
      registerContentFiles(batches, store.postgres)
      done()
    })
  }

  return { prefix: '/api/admin', register: registerAll, refusePath: createPathRefusal(options) }
}

async function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (!hasTooManyArguments(originalUrl)) return undefined
  const detail = `at most ${argumentsMax} arguments`
  return await sendProblem(reply.header('connection', 'close'), 'QUERY_INVALID', { detail })
}
