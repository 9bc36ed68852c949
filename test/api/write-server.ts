/** The ingest of single readings on a real socket, with real registries and a real journal, without QuestDB. */

import { createServer } from '../../api/http/server.ts'
import { serverFamily } from '../../api/http/server-family.ts'
import { loggerFamily } from '../../api/logger/logger.ts'
import { type RemoteWriterOptions, remoteWriterFamilies } from '../../api/write/line-protocol/remote-writers.ts'
import { webhookFamilies } from '../../api/write/webhooks.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import { createBulkFields } from '../../auth/metrics/device-fields.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { OwnDecoders } from '../../ingest/decoders/own-decoders.ts'
import type { RecentMessages } from '../../ingest/decoders/recent-messages.ts'
import { createClaims } from '../../ingest/idempotency/claims.ts'
import { defaultRanges, type Reading } from '../../ingest/reading.ts'
import type { Rejections } from '../../ingest/rejections/rejections.ts'
import { createKnownMetrics } from '../../service/entity-metrics.ts'
import { createIngress } from '../../service/ingress.ts'
import { type Config, readConfig } from '../../service/settings/config.ts'
import { type AccountsUnderTest, openVariant } from '../support/accounts.ts'
import { openDecoders, openParts } from '../support/admin.ts'
import { addDeviceTo } from '../support/changed.ts'
import { nowhere, silentLog, startDatabases, type TestHooks } from '../support/databases.ts'
import { holdToContract } from '../support/held-answers.ts'
import { readingsIn } from '../support/journal-parts.ts'
import { openReadsOf } from '../support/open-reads.ts'
import { basic } from '../support/service.ts'

type ServerParts = Awaited<ReturnType<typeof openParts>>

export interface WriteServer {
  url: string
  devices: Devices
  metrics: Metrics
  people: AccountsUnderTest
  decoders: OwnDecoders
  recent: RecentMessages
  /** The journal's readings in order: single ones by the device's name, those of bodies by its symbol. */
  stored: { device: string; reading: Reading; timeUs?: number }[]
  rejections: Rejections
  /** Adds a device and returns its password. */
  addDevice(name: string, more?: object): Promise<string>
  /** Adds an account with a verified address and returns a key of it. */
  addKey(email: string, more?: object): Promise<{ key: string; owner: number; keyId: number }>
  /** `PUT /api/log` with the device's credentials. */
  put(device: string, password: string, body: unknown, headers?: Record<string, string>): Promise<Response>
}

/** `settings` are those of the service. */
export async function startWriteServer(t: TestHooks, settings: Record<string, string> = {}): Promise<WriteServer> {
  const config = readConfig({ CONNECTIONS_PER_ADDRESS: '1000', ...settings })
  const { store } = await startDatabases(t, nowhere)
  const pool = store.postgres
  const { devices, metrics, ingest: journal } = await openParts(t, store)
  const people = await openVariant(t, store, { devices })
  const { findPrincipal } = people
  const stored: WriteServer['stored'] = []
  const { ingest, append } = recording(journal, devices, stored)
  const rowsPerWriterMax = config.IDEMPOTENCY_KEYS_MAX
  const claims = createClaims({ pool, ingest, nowMs: Date.now, log: silentLog, rowsPerWriterMax })
  t.teardown(() => claims.close())
  const {
    intake,
    meter,
    bulkMeter,
    fairShare,
    rejections,
    writers,
    recent,
    authRateLimit,
    connections,
    metrics: scraped,
  } = createIngress(config, silentLog, {
    clockMs: Date.now,
    ingest,
    devices,
    metrics,
    accounts: { isAdministrator: async () => false },
    claims,
    acceptedFrom: { ms: () => Number.NEGATIVE_INFINITY } as never,
    nodes: { count: () => 1 },
  })
  const logger = createLogger({ intake, meter, writers, findPrincipal, authRateLimit })
  const remoteWriters = createRemoteWriters(config, {
    ingest: { ...journal, append },
    devices,
    metrics,
    writers,
    keys: people.keys,
    authRateLimit,
    meter: bulkMeter,
    fairShare,
  })
  const own = { decoders: await openDecoders(store), recent }
  const webhooks = webhookFamilies({ ...people, ...own, intake, meter, writers, authRateLimit, log: silentLog })
  const families = [
    logger,
    ...remoteWriters,
    ...webhooks,
    serverFamily({ readiness: () => ({ status: 'ok' }), metrics: scraped }),
  ]
  const app = createServer({ config, connections, measure: scraped.measure, families, log: silentLog })
  holdToContract(t, app)
  t.teardown(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })

  return {
    url,
    devices,
    metrics,
    people,
    ...own,
    stored,
    rejections,
    addDevice: (name, more = {}) => addDeviceTo(devices, name, more),
    addKey: (email, more = {}) => addKeyOf(people, email, more),
    put: (device, password, body, headers = {}) =>
      fetch(`${url}/api/log`, {
        method: 'PUT',
        headers: { authorization: basic(device, password), 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

function recording(journal: ServerParts['ingest'], devices: Devices, stored: WriteServer['stored']) {
  const ingest: typeof journal = {
    ...journal,
    async accept(device, reading, stampUs) {
      const outcome = await journal.accept(device, reading, stampUs)
      if (outcome === 'stored') stored.push({ device: devices.byNumber(device.number)?.name ?? '', reading })
      return outcome
    },
  }
  const append: typeof journal.append = async records => {
    const outcome = await journal.append(records)
    const made = outcome === 'stored' ? readingsIn(records) : []
    for (const { symbol, timeUs, reading } of made) stored.push({ device: symbol, reading, timeUs })
    return outcome
  }
  return { ingest, append }
}

function createLogger(parts: Omit<Parameters<typeof loggerFamily>[0]['ingest'], 'ranges'>) {
  return loggerFamily({
    log: silentLog,
    ingest: { ...parts, ranges: defaultRanges },
    access: openReadsOf([]),
    events: { ingest: { onStored: () => undefined }, nowMs: () => 0 } as never,
    annotations: {} as never,
    contacts: {} as never,
    batch: { ingest: {}, ranges: defaultRanges } as never,
    live: {} as never,
    stations: { query: {} } as never,
    reads: { readings: {}, query: {} } as never,
  })
}

type RemoteParts = Pick<
  RemoteWriterOptions,
  'ingest' | 'devices' | 'writers' | 'keys' | 'authRateLimit' | 'meter' | 'fairShare'
> & { metrics: Metrics }

function createRemoteWriters(config: Config, { metrics, ...parts }: RemoteParts) {
  return remoteWriterFamilies({
    ...parts,
    bulkFields: createBulkFields(metrics),
    remoteMetrics: createKnownMetrics(metrics),
    unknownFields: 'reject',
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    earliestMs: () => Number.NEGATIVE_INFINITY,
    bodyBytesMax: config.LINE_PROTOCOL_BODY_MAX,
    nowMs: Date.now,
    log: silentLog,
  })
}

async function addKeyOf({ person, makeKey }: AccountsUnderTest, email: string, more: object) {
  const owner = await person(email)
  const made = await makeKey(owner, more)
  return { key: made.text, owner, keyId: Number(made.id) }
}
