/** The admin API on a real registry and a real journal, without a QuestDB behind them. */

import { fastify } from 'fastify'
import type { Test } from 'tap'
import { adminFamily } from '../../api/admin/admin.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { createBulkFields } from '../../auth/metrics/device-fields.ts'
import { openMetrics } from '../../auth/metrics/metrics.ts'
import { noFeed } from '../../auth/nodes/change-feed.ts'
import { type OwnDecoders, openOwnDecoders } from '../../ingest/decoders/own-decoders.ts'
import { createRecentMessages } from '../../ingest/decoders/recent-messages.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { createRejections } from '../../ingest/rejections/rejections.ts'
import { createReadingsExport } from '../../query/export/readings-export.ts'
import { createReplicas } from '../../query/replicas.ts'
import { createEraseJobs } from '../../service/lifecycle/erasure/erase-jobs.ts'
import type { Store } from '../../store/store.ts'
import { openTestIngest, openTestPointsIngest } from '../ingest/open-ingest.ts'
import { adminToken, openVariant, publicUrl } from './accounts.ts'
import { createAsk } from './app.ts'
import {
  closing,
  type Databases,
  nowhere,
  silentLog,
  startDatabases,
  type TestHooks,
  temporaryFolder,
} from './databases.ts'
import { holdToContract } from './held-answers.ts'

type Step = [method: string, path: string, body: unknown, expected: object]

const diskState = {
  freeBytes: 1,
  totalBytes: 2,
  journalBytes: 5,
  questdbBytes: undefined,
  postgresBytes: undefined,
  growthBytesPerDay: 7,
  daysUntilFull: undefined,
}

const retentionState = {
  days: 30,
  oldestDayMs: Date.UTC(2026, 0, 1),
  expiredDays: 2,
  lastRunMs: Date.UTC(2026, 0, 31),
  fault: undefined,
  waiting: {
    fromMs: Date.UTC(2026, 0, 1),
    beforeMs: Date.UTC(2026, 0, 15),
    days: 3,
    reason: 'several_days' as const,
  },
}

const noArchive = {
  days: async () => [],
  fault: async () => undefined,
  restore: async () => undefined,
  dropRestored: async () => undefined,
}

/** The registries of devices and metrics on a store, and journals with the folders in which they keep their files. */
export async function openParts(t: TestHooks, store: Store) {
  const [journal, pointsJournal] = [temporaryFolder(t), temporaryFolder(t)]
  const ingest = openTestIngest(t, { directory: journal })
  const pointsIngest = openTestPointsIngest(t, { directory: pointsJournal })
  const pool = store.postgres
  const metrics = closing(t, await openMetrics({ pool, log: silentLog, mode: 'open' }))
  const metricsAdded = metrics.learn
  const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 3_600_000, metricsAdded })
  t.teardown(() => devices.close())
  return { journal, pointsJournal, ingest, pointsIngest, devices, metrics }
}

export function openDecoders({ postgres: pool }: Pick<Store, 'postgres'>): Promise<OwnDecoders> {
  return openOwnDecoders({ pool, nowMs: Date.now, log: silentLog, feed: noFeed })
}

export const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A refusal in the shape of the admin API. */
export const problem = (status: number, title: string, more: object = {}) => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  body: { type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`, title, status, ...more },
})

/** Members of a refusal that names one field. */
export function at(path: string, message?: string | RegExp): { errors: object[] } {
  return { errors: [message === undefined ? { path } : { path, message }] }
}

export const invalidBody = (path: string, message?: string | RegExp) => problem(422, 'invalid body', at(path, message))

interface AdminOptions {
  signUp?: SignUpMode
  databases?: Databases
}

const { NaN: unknown } = Number
const silence = {
  lateSeconds: unknown,
  freshSeconds: unknown,
  staleSeconds: unknown,
  expectedMs: unknown,
  isOff: false,
}

export async function startAdmin(t: TestHooks, options: AdminOptions = {}) {
  const { signUp = 'open', databases = await startDatabases(t, nowhere) } = options
  const { store, directory } = databases
  const parts = await openParts(t, store)
  const { ingest, pointsIngest, devices, metrics } = parts
  const own = { decoders: await openDecoders(store), recent: createRecentMessages(Date.now) }
  const app = fastify({ routerOptions: { maxParamLength: 256 } })
  holdToContract(t, app)
  const people = await openVariant(t, store, { devices, settings: { signUp } })
  const { findPrincipal, origins, accounts, keys, tenants, stations } = people
  const journals = { readings: ingest, points: pointsIngest }
  const erasing = { devices, metrics, stations, ingest: journals, store, log: silentLog }
  const rejections = createRejections({ nowMs: Date.now, senderLog() {} })
  const { prefix, register } = adminFamily({
    eraseJobs: createEraseJobs(erasing),
    readingsExport: createReadingsExport({
      replicas: createReplicas([{ address: store.questdb.address }]),
      log: silentLog,
    }),
    findPrincipal,
    origins,
    accounts,
    keys,
    tenants,
    stations,
    metrics,
    publicUrl: () => publicUrl,
    signUp,
    devices,
    live: {
      isLoaded: () => true,
      stateOf: () => 'fresh',
      silenceOf: number => ({ ...silence, lastMs: 1_000 * number }),
    },
    bulkFields: createBulkFields(metrics),
    ingest,
    pointsIngest,
    store,
    log: silentLog,
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    meter: { taken() {}, refused() {} },
    rejections,
    ...own,
    directory,
    reserveBytes: 0,
    diskUse: { read: async () => diskState },
    isPostgresManaged: true,
    reads: 'open',
    archive: noArchive,
    retention: {
      state: () => retentionState,
      confirm: async beforeMs => beforeMs <= retentionState.waiting.beforeMs,
      whileNoDayExpires: work => work(),
    },
  })
  app.register(async scope => register(scope), { prefix })
  t.teardown(() => app.close())
  await app.ready()

  const askJson = createAsk(app, '/api/admin')
  /** One request with the token. The body is JSON unless it is text. */
  async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const all = { authorization: `Bearer ${adminToken}`, ...type, ...headers }
    const answer = await askJson(method, path, { body, headers: all })
    const { status, headers: answered, text } = answer
    return { status, headers: answered, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
  }

  /** Sends one request after the other and checks each answer. */
  async function answers(t: Pick<Test, 'match'>, ...steps: Step[]): Promise<void> {
    for (const [method, path, body, expected] of steps) {
      t.match(await ask(method, path, body), expected, `${method} ${path} ${JSON.stringify(body)?.slice(0, 100)}`)
    }
  }

  return { app, ...parts, rejections, recent: own.recent, store, databases, people, ask, answers }
}
