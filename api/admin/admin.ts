/** The admin API: who may, what its errors look like, and which routes it has. */

import type { FastifyReply, FastifyRequest } from 'fastify'
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
import type { ErrorEntry } from '../http/errors.ts'
import { addJsonBody } from '../http/json-body.ts'
import { hasParameters } from '../http/operation.ts'
import { argumentsMax, hasTooManyArguments } from '../http/query-limits.ts'
import { createFamily, type OperationGroup, type PublishedFamily } from '../http/register-operations.ts'
import type { BulkMeter } from '../write/bulk-meter.ts'
import { accountOperations } from './accounts.ts'
import { auditOperation } from './audit.ts'
import { backupGroup } from './backup.ts'
import { contentFileGroup } from './content-files.ts'
import { deadLetterOperations } from './dead-letters.ts'
import { deviceAdditionOperation } from './device-additions.ts'
import { deviceOperations } from './devices.ts'
import { eraseOperations } from './erase.ts'
import { type AdminErrorCode, adminErrors } from './errors.ts'
import { exportOperation } from './export.ts'
import { answerErrors } from './failures.ts'
import { createPathRefusal, type GuardOptions, guard } from './guard.ts'
import { importReadingsGroup } from './import.ts'
import { importPointsGroup } from './import-points.ts'
import { invitationOperations } from './invitations.ts'
import { keyOperations } from './keys.ts'
import { createLateAudit, type WriteLateAudit } from './late-audit.ts'
import { type AdminOperation, adminRules } from './operation.ts'
import { Problem, sendProblem } from './problem.ts'
import { retentionOperation } from './retention.ts'
import { stationOperations, stationSeriesNames } from './stations.ts'
import { statusOperation } from './status.ts'
import { statusHistoryOperation } from './status-history.ts'
import { tenantOperations } from './tenants.ts'

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

export function adminFamily(options: AdminOptions): PublishedFamily<AdminOperation> {
  const { eraseJobs, readingsExport, log } = options
  return createFamily<AdminOperation>({
    prefix: '/api/admin',
    tag: {
      name: 'admin',
      description:
        'For administrators: a session, an API key with the scope admin, or the local admin token. Lists come in pages of 100.',
    },
    groups: groupsOf(options),
    rules: adminRules,
    error: { schema: Problem, mediaType: 'application/problem+json' },
    refusalsOf,
    refusePath: createPathRefusal(options),
    prepare(scope) {
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
    },
  })
}

function groupsOf(options: AdminOptions): OperationGroup<AdminOperation>[] {
  const { ingest, pointsIngest, store, retention, ranges, aheadMsMax, earliestMs, findPrincipal } = options
  const audit = createLateAudit(store.postgres, options.log)
  const imports = { ranges, aheadMsMax, audit, findPrincipal }
  const parts = { ...options, ingest: { readings: ingest, points: pointsIngest }, version: packageVersion() }
  return [
    { operations: jsonOperations(options, audit), prepare: addJsonBody },
    backupGroup({ parts, whileNoDayExpires: retention.whileNoDayExpires, audit }),
    importReadingsGroup({ ...imports, ingest, devices: options.devices, earliestMs, meter: options.meter }),
    importPointsGroup({ ...imports, pointsIngest, stations: options.stations }),
    contentFileGroup(store.postgres),
  ]
}

/** Those with JSON bodies, or none. */
function jsonOperations(options: AdminOptions, audit: WriteLateAudit): AdminOperation[] {
  const { accounts, devices, stations, eraseJobs, ingest, pointsIngest, readingsExport, store, log } = options
  const findAccounts = accounts.idsByEmail
  return [
    ...deviceOperations({ devices, findAccounts }),
    deviceAdditionOperation({ devices, findAccounts }),
    ...eraseOperations(eraseJobs),
    ...accountOperations(options),
    ...invitationOperations(options),
    ...keyOperations(options),
    ...stationOperations({ stations, findAccounts, eraseJobs }),
    ...tenantOperations(options.tenants),
    ...deadLetterOperations({
      deadLetters: { readings: ingest.deadLetters, points: pointsIngest.deadLetters },
      seriesNames: { readings: undefined, points: () => stationSeriesNames(stations) },
      audit,
    }),
    exportOperation({ readingsExport, devices, nowMs: Date.now, aheadMsMax: options.aheadMsMax, audit, log }),
    auditOperation(store.postgres),
    statusOperation({ ...options, dataDirectory: options.directory.path }),
    statusHistoryOperation(store.questdb),
    retentionOperation({ retention: options.retention, audit }),
  ]
}

/** Of every operation that has a body. */
const ofBodies: readonly AdminErrorCode[] = [
  'JSON_INVALID',
  'BODY_INVALID',
  'CROSS_SITE',
  'TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'MEDIA_TYPE_UNSUPPORTED',
]

function refusalsOf(operation: AdminOperation): ErrorEntry[] {
  const { parameters, body, refusals = [] } = operation
  const codes: AdminErrorCode[] = [
    ...(parameters?.query === undefined ? [] : (['QUERY_INVALID'] as const)),
    ...(body === undefined ? [] : ofBodies),
    ...refusals,
    'UNAUTHORIZED',
    'FORBIDDEN',
    'INTERNAL',
    'DATABASE_AWAY',
    ...(hasParameters(operation) ? (['BAD_REQUEST', 'URI_TOO_LONG'] as const) : []),
  ]
  return codes.map(code => adminErrors[code])
}

async function boundArguments({ originalUrl }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (!hasTooManyArguments(originalUrl)) return undefined
  const detail = `at most ${argumentsMax} arguments`
  return await sendProblem(reply.header('connection', 'close'), 'QUERY_INVALID', { detail })
}
