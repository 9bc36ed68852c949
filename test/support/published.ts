/** The contract of all families, as a service publishes it. */

import { accountGroups, accountsFamily } from '../../api/accounts/accounts.ts'
import { adminFamily } from '../../api/admin/admin.ts'
import { airQualityFamily } from '../../api/air-quality/air-quality.ts'
import { alertsFamilies } from '../../api/alerts/alerts-family.ts'
import { annotationsFamily } from '../../api/annotations/annotations.ts'
import { contentFilesFamily } from '../../api/content-files/content-files.ts'
import { createOpenApi } from '../../api/docs/contract.ts'
import { publishOperations } from '../../api/docs/published-operations.ts'
import { createMetrics } from '../../api/http/metrics.ts'
import { serverFamily } from '../../api/http/server-family.ts'
import { loggerFamily } from '../../api/logger/logger.ts'
import type { ReadAccess } from '../../api/read/read-access.ts'
import { lineProtocolFamilies } from '../../api/write/line-protocol/line-protocol.ts'
import { remoteWriterFamilies } from '../../api/write/line-protocol/remote-writers.ts'
import { webhookFamilies } from '../../api/write/webhooks.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { openReadsOf } from './open-reads.ts'

// Nothing of them is called, so they need no parts.
const services = { settings: {}, drive: { name: 'google-drive' } }
const accounts = accountsFamily(accountGroups(services as never), {} as never)
const admin = adminFamily({
  accounts: {},
  directory: {},
  ingest: {},
  pointsIngest: {},
  archive: {},
  retention: {},
  store: {},
} as never)
const alerts = alertsFamilies({ alerts: {} } as never)
const annotations = annotationsFamily({} as never)
const contentFiles = contentFilesFamily({ publicUrl: undefined } as never)
const logger = publishedLogger(openReadsOf([]))
const lineProtocol = lineProtocolFamilies({ ingest: {} } as never)
const remoteWriters = remoteWriterFamilies({ ingest: {} } as never)
const webhooks = webhookFamilies({} as never)
const airQuality = airQualityFamily({ publicUrl: undefined } as never)

export function publishedLogger(access: ReadAccess) {
  return loggerFamily({
    access,
    ingest: { ranges: defaultRanges },
    batch: { ingest: {}, ranges: defaultRanges },
    live: {},
    reads: { query: {}, readings: {} },
    annotations: {},
    contacts: {},
    stations: { query: {} },
    events: { ingest: { onStored: () => undefined }, nowMs: () => performance.now(), windowMs: 1, windowBytes: 1024 },
  } as never)
}

const server = serverFamily({ metrics: createMetrics({} as never), readiness: () => ({ status: 'ok' }) })

export const families = [
  logger,
  accounts,
  airQuality,
  ...lineProtocol,
  ...remoteWriters,
  ...webhooks,
  contentFiles,
  admin,
  ...alerts,
  annotations,
  server,
]
export const contracts = families.flatMap(family => family.published).map(publishOperations)
export const published = createOpenApi(contracts)
