/** The air-quality API on a real PostgreSQL, with people of every role and their API keys. */

import type { FastifyInstance, InjectOptions } from 'fastify'
import { airQualityFamily } from '../../api/air-quality/air-quality.ts'
import type { Role } from '../../auth/accounts/role.ts'
import type { Scope } from '../../auth/keys/key.ts'
import { NewStationFields, type Station } from '../../auth/stations/station.ts'
import { type ForwardingPointsIngest, openPointsIngest } from '../../ingest/ingest.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { createRejections } from '../../ingest/rejections/rejections.ts'
import { createPoints } from '../../query/points/points.ts'
import type { PointsOptions } from '../../query/points/points-reader.ts'
import { createReplicas } from '../../query/replicas.ts'
import { type AccountsUnderTest, startAccounts } from './accounts.ts'
import { createApp, trustedProxy } from './app.ts'
import { silentLog, type TestHooks, temporaryFolder } from './databases.ts'
import { holdToContract } from './held-answers.ts'

export const base = 'https://air.example/api/v1.0'

interface AskOptions {
  key?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  /** Where it comes from. */
  address?: string
  /** From the host alone on; by default below the API. */
  url?: string
}

interface Answer {
  status: number
  headers: Record<string, unknown>
  text: string
  body: Record<string, unknown>
}

export interface AirQualityUnderTest {
  app: FastifyInstance
  family: ReturnType<typeof airQualityFamily>
  people: AccountsUnderTest
  /** Forwards nothing until it is told to. */
  pointsIngest: ForwardingPointsIngest
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>
  /** An account of this role with an API key of these scopes. */
  person(email: string, role?: Role): Promise<number>
  keyOf(account: number, scopes?: Scope[]): Promise<string>
  addStation(sn: string, fields?: object, owner?: number | null): Promise<Station>
}

/** Without the address of a QuestDB there are no points. */
export async function startAirQuality(
  t: TestHooks,
  failedAttemptsPerMinute = 60,
  pointsOptions: Partial<PointsOptions> = {},
): Promise<AirQualityUnderTest> {
  const people = await startAccounts(t)
  const { accounts, keys, stations, clock, store } = people
  const replicas = createReplicas([{ address: store.questdb.address }])
  const points = createPoints({ replicas, log: accounts.log, ...pointsOptions })
  t.teardown(() => points.close())
  const pointsIngest = openPointsIngest({
    directory: temporaryFolder(t),
    journalBytesMax: 1024 ** 3,
    reserveBytes: 0,
    keepMs: 0,
    log: silentLog,
    clock: createWallClock({ nowMs: () => clock.ms }),
    onFatal: error => {
      throw error
    },
  })
  t.teardown(() => pointsIngest.close())
  const family = airQualityFamily({
    stations,
    points,
    accounts,
    keys,
    nowMs: () => clock.ms,
    log: accounts.log,
    failedAttemptsPerMinute,
    pointsIngest,
    aheadMsMax: 300_000,
    removeStation: stations.remove,
    publicUrl: 'https://air.example',
    requireHttps: true,
    rejections: createRejections({ nowMs: () => clock.ms, senderLog() {} }),
    isTrusted: address => address === trustedProxy,
  })
  const app = createApp(family)
  holdToContract(t, app)
  t.teardown(() => app.close())
  await app.ready()

  async function ask(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const { key, body, headers = {}, address, url = `/api/v1.0${path}` } = options
    const credentials = key === undefined ? {} : { authorization: basicOf(key) }
    const isRaw = typeof body === 'string'
    const response = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url,
      headers: { ...credentials, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { payload: isRaw ? body : JSON.stringify(body) }),
      ...(address === undefined ? {} : { remoteAddress: address }),
    })
    const text = response.body
    const isJson = response.headers['content-type'] === 'application/json' && text !== ''
    return { status: response.statusCode, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
  }

  async function person(email: string, role: Role = 'user'): Promise<number> {
    const id = await people.person(email)
    await people.set(id, { role })
    return id
  }

  const keyOf = (account: number, scopes: Scope[] = ['read', 'ingest', 'stations']) => people.keyOf(account, { scopes })

  async function addStation(sn: string, fields: object = {}, owner: number | null = null): Promise<Station> {
    const added = await stations.add({ ...NewStationFields.parse({ sn, model: 'M1', ...fields }), owner }, 'test')
    if (!added.ok) throw new Error(added.code)
    return added.value
  }

  return { app, family, people, pointsIngest, ask, person, keyOf, addStation }
}

/** Clients differ in what they send as the password. */
export function basicOf(key: string, password = ''): string {
  return `Basic ${Buffer.from(`${key}:${password}`).toString('base64')}`
}
