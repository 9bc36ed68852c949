/** The air-quality API on a real PostgreSQL, with people of every role and their API keys. */

import { airQualityFamily } from '../../api/air-quality/air-quality.ts'
import type { Role } from '../../auth/accounts/account-details.ts'
import type { Scope } from '../../auth/keys/key.ts'
import { NewStationFields, type Station } from '../../auth/stations/station.ts'
import { createWallClock } from '../../ingest/journal/wall-clock.ts'
import { createRejections } from '../../ingest/rejections/rejections.ts'
import { createPoints } from '../../query/points/points.ts'
import type { PointsOptions } from '../../query/points/points-reader.ts'
import { createReplicas } from '../../query/replicas.ts'
import { openTestPointsIngest } from '../ingest/open-ingest.ts'
import { startAccounts } from './accounts.ts'
import { type AskOptions as AskAppOptions, createApp, createAsk, trustedProxy } from './app.ts'
import { valueIn } from './changed.ts'
import { closing, type TestHooks } from './databases.ts'
import { holdToContract } from './held-answers.ts'

export const base = 'https://air.example/api/v1.0'

interface AskOptions extends AskAppOptions {
  key?: string | undefined
  /** The path starts after the host, by default below the API. */
  url?: string
}

/** Without the address of a QuestDB, points are unavailable. */
export async function startAirQuality(
  t: TestHooks,
  failedAttemptsPerMinute = 60,
  pointsOptions: Partial<PointsOptions> = {},
) {
  const people = await startAccounts(t)
  const { accounts, keys, stations, clock, store } = people
  const replicas = createReplicas([{ address: store.questdb.address }])
  const points = closing(t, createPoints({ replicas, log: accounts.log, ...pointsOptions }))
  const pointsIngest = openTestPointsIngest(t, { clock: createWallClock({ nowMs: () => clock.ms }) })
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

  const askApp = createAsk(app)
  async function ask(method: string, path: string, { key, url, ...options }: AskOptions = {}) {
    const credentials = key === undefined ? {} : { authorization: basicOf(key) }
    const type = options.body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { ...credentials, ...type, ...options.headers }
    return await askApp(method, url ?? `/api/v1.0${path}`, { ...options, headers })
  }

  /** An account of this role. */
  async function person(email: string, role: Role = 'user'): Promise<number> {
    const id = await people.person(email)
    await people.set(id, { role })
    return id
  }

  const keyOf = (account: number, scopes: Scope[] = ['read', 'ingest', 'stations']) => people.keyOf(account, { scopes })

  async function addStation(sn: string, fields: object = {}, owner: number | null = null): Promise<Station> {
    return valueIn(await stations.add({ ...NewStationFields.parse({ sn, model: 'M1', ...fields }), owner }, 'test'))
  }

  return { app, family, people, pointsIngest, ask, person, keyOf, addStation }
}

/** Clients differ in the password that they send. */
export function basicOf(key: string, password = ''): string {
  return `Basic ${Buffer.from(`${key}:${password}`).toString('base64')}`
}
