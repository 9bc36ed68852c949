/** The admin API on a real registry and a real journal, without a QuestDB behind them. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type FastifyInstance, fastify, type InjectOptions } from 'fastify'
import type { Test } from 'tap'
import { adminFamily } from '../../api/admin/admin.ts'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { type Devices, openDevices } from '../../auth/devices/devices.ts'
import { createBulkFields } from '../../auth/metrics/bulk-fields.ts'
import { type Metrics, openMetrics } from '../../auth/metrics/metrics.ts'
import {
  type ForwardingIngest,
  type ForwardingPointsIngest,
  openIngest,
  openPointsIngest,
} from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { createRejections, type Rejections } from '../../ingest/rejections/rejections.ts'
import { createReadingsExport } from '../../query/export/readings-export.ts'
import { createReplicas } from '../../query/replicas.ts'
import { createEraseJobs } from '../../service/lifecycle/erasure/erase-jobs.ts'
import type { Store } from '../../store/store.ts'
import { type AccountsUnderTest, adminToken, openVariant, publicUrl } from './accounts.ts'
import { type Databases, nowhere, silentLog, startDatabases, type TestHooks, temporaryFolder } from './databases.ts'
import { holdToContract } from './held-answers.ts'

export interface Admin {
  app: FastifyInstance
  devices: Devices
  metrics: Metrics
  ingest: ForwardingIngest
  pointsIngest: ForwardingPointsIngest
  rejections: Rejections
  store: Store
  databases: Databases
  /** Where the journals keep their files. */
  journal: string
  pointsJournal: string
  /** Accounts on the same database. */
  people: AccountsUnderTest
  /** One request with the token; the body is JSON unless it is text. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Sends one request after the other, and holds each answer to what is expected. */
  answers(t: Pick<Test, 'match'>, ...steps: Step[]): Promise<void>
}

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

interface Answer {
  status: number
  headers: Record<string, unknown>
  body: unknown
}

interface Parts extends Pick<Admin, 'journal' | 'pointsJournal' | 'ingest' | 'pointsIngest'> {
  devices: Devices
  metrics: Metrics
}

/** ForwardingIngest, devices and metrics devices on a store. */
export async function openParts(t: TestHooks, store: Store): Promise<Parts> {
  const [journal, pointsJournal] = [join(temporaryFolder(t), 'journal'), join(temporaryFolder(t), 'journal')]
  const common = {
    journalBytesMax: 1024 ** 3,
    reserveBytes: 0,
    keepMs: 0,
    clock: createWallClock({ nowMs: Date.now }),
    log: silentLog,
    onFatal: (error: Error) => {
      throw error
    },
  }
  for (const directory of [journal, pointsJournal]) mkdirSync(directory)
  const ingest = openIngest({ ...common, directory: journal })
  t.teardown(() => ingest.close())
  const pointsIngest = openPointsIngest({ ...common, directory: pointsJournal })
  t.teardown(() => pointsIngest.close())
  const pool = store.postgres
  const metrics = await openMetrics({ pool, log: silentLog, mode: 'open' })
  t.teardown(() => metrics.close())
  const metricsAdded = metrics.learn
  const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 3_600_000, metricsAdded })
  t.teardown(() => devices.close())
  return { journal, pointsJournal, ingest, pointsIngest, devices, metrics }
}

/** Makes a device, and returns its password. */
export async function addDeviceTo(devices: Devices, name: string, fields: object = {}): Promise<string> {
  const added = await devices.add([NewDevice.parse({ name, ...fields })], 'test')
  if (!added.ok) throw new Error(added.code)
  return added.value[0]?.password ?? ''
}

/** What a time of an answer looks like. */
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
  /** Those of another one. */
  databases?: Databases
}

export async function startAdmin(t: TestHooks, options: AdminOptions = {}): Promise<Admin> {
  const { signUp = 'open', databases = await startDatabases(t, nowhere) } = options
  const { store, directory } = databases
  const parts = await openParts(t, store)
  const { ingest, pointsIngest, devices, metrics } = parts
  const app = fastify({ routerOptions: { maxParamLength: 256 } })
  holdToContract(t, app)
  const people = await openVariant(t, store, { devices, settings: { signUp } })
  const { findPrincipal, origins, accounts, keys, tenants, stations } = people
  const erasing = {
    devices,
    metrics,
    stations,
    ingest: { readings: ingest, points: pointsIngest },
    store,
    log: silentLog,
  }
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
    bulkFields: createBulkFields(metrics),
    ingest,
    pointsIngest,
    store,
    log: silentLog,
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    meter: { taken() {}, refused() {} },
    rejections,
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

  const ask: Admin['ask'] = async (method, path, body, headers = {}) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: `/api/admin${path}`,
      headers: { authorization: `Bearer ${adminToken}`, ...json, ...headers },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = response.body
    return { status: response.statusCode, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  async function answers(t: Pick<Test, 'match'>, ...steps: Step[]): Promise<void> {
    for (const [method, path, body, expected] of steps) {
      t.match(await ask(method, path, body), expected, `${method} ${path} ${JSON.stringify(body)?.slice(0, 100)}`)
    }
  }

  return { app, ...parts, rejections, store, databases, people, ask, answers }
}
