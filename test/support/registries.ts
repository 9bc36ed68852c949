/** All of one PostgreSQL's state in a node's memory, opened together, and its values. */

import type pg from 'pg'
import { openAccounts } from '../../auth/accounts/accounts.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { openKeys } from '../../auth/keys/keys.ts'
import { openMetrics } from '../../auth/metrics/metrics.ts'
import { type ChangeFeed, noFeed } from '../../auth/nodes/change-feed.ts'
import { type NodesOptions, openNodes } from '../../auth/nodes/nodes.ts'
import { createBearerTokens, createSessionCodec } from '../../auth/sessions/session-codec.ts'
import { createSessions } from '../../auth/sessions/sessions.ts'
import { openStations } from '../../auth/stations/stations.ts'
import { createTenants } from '../../auth/tenants/tenants.ts'
import { openOwnDecoders } from '../../ingest/decoders/own-decoders.ts'
import { openAcceptedFrom } from '../../service/lifecycle/retention/horizon.ts'
import type { Store } from '../../store/store.ts'
import { closing, silentLog, type TestHooks } from './databases.ts'

export type Registries = Awaited<ReturnType<typeof openRegistries>>

const hourMs = 3_600_000

export async function openRegistries(pool: pg.Pool, feed: ChangeFeed = noFeed) {
  const [log, nowMs, graceMs] = [silentLog, Date.now, hourMs]
  const acceptedFrom = await openAcceptedFrom({ pool, days: undefined, nowMs, feed })
  const metrics = await openMetrics({ pool, log, mode: 'open', feed })
  const devices = await openDevices({ pool, now: nowMs, log, graceMs, metricsAdded: metrics.learn, feed })
  const stations = openStations({ pool, nowMs, log, feed })
  const decoders = await openOwnDecoders({ pool, nowMs, log, feed })
  const accounts = openAccounts({
    pool,
    nowMs,
    log,
    // Sign-in with passwords is unused.
    passwords: { close: async () => undefined } as never,
    devices,
    stations,
    publicUrl: () => 'https://barograph.example',
    sendMail: async () => undefined,
    mailIdleMs: hourMs,
    feed,
  })
  const codec = createSessionCodec({ format: 'hs256', secrets: ['s'.repeat(43)], isSecure: true, nowMs })
  const bearer = createBearerTokens('b'.repeat(64), 1800, nowMs)
  const sessions = createSessions({ parts: accounts, codec, bearer, log, refuseUnrevocable: true })
  const keys = openKeys({ parts: accounts, flushMs: hourMs })
  const tenants = createTenants({ parts: accounts, secret: 't'.repeat(64), graceMs })
  return {
    devices,
    metrics,
    stations,
    decoders,
    accounts,
    sessions,
    keys,
    tenants,
    acceptedFrom,
    async close() {
      await keys.close()
      await accounts.close()
      decoders.close()
      await stations.close()
      await devices.close()
      await metrics.close()
    },
  }
}

export type TestNode = Awaited<ReturnType<typeof openNode>>

/** A node in this process, with a lease. */
export async function openNode(
  t: TestHooks,
  { postgres: pool, connectPostgres: connect }: Pick<Store, 'postgres' | 'connectPostgres'>,
  {
    leaseMs = 60_000,
    settings = {},
    sessionSecret,
  }: Partial<Pick<NodesOptions, 'leaseMs' | 'settings' | 'sessionSecret'>> = {},
) {
  const fatal: Error[] = []
  const onFatal = (error: Error) => void fatal.push(error)
  const nodes = await openNodes({
    pool,
    connect,
    role: 'api',
    version: '0',
    host: 'test',
    advised: {},
    settings,
    leaseMs,
    sessionSecret,
    log: silentLog,
    onFatal,
  })
  t.teardown(() => nodes.close())
  const registries = closing(t, await openRegistries(pool, nodes.feed))
  await nodes.join()
  return { ...registries, nodes, fatal }
}

interface KnownIds {
  accounts: readonly number[]
  tenants: readonly number[]
  passwords: ReadonlyMap<string, ReadonlySet<string>>
  /** Texts of API keys. */
  keys: readonly string[]
}

/** The accepted and shown data of these registries, as a comparable value. */
export async function stateOf(registries: Registries, known: KnownIds) {
  const { devices, metrics, stations, accounts, keys, acceptedFrom } = registries
  const allPasswords = new Set([...known.passwords.values()].flatMap(passwords => [...passwords]))
  return {
    devices: await Promise.all(
      devices.all().map(async ({ name }) => {
        const { last_seen: _, ...details } = (await devices.details(name)) ?? { last_seen: null }
        return { ...details, good: [...allPasswords].filter(text => devices.authenticate(name, text) !== undefined) }
      }),
    ),
    owned: known.accounts.map(id => devices.ownedBy(id)),
    metrics: metrics.all(),
    series: devices
      .all()
      .map(({ number }) => metrics.metricsOf(number).map(({ id }) => [id, metrics.series(number, { id })])),
    stations: (await stations.registry()).all.map(({ savedLastDataMs, ...station }) => ({
      ...station,
      hasData: savedLastDataMs !== null,
      series: [...station.series],
    })),
    accounts: await Promise.all(
      known.accounts.map(async id => {
        const account = await accounts.find(id)
        return account && { ...account, sessions: [...account.sessions.keys()].sort() }
      }),
    ),
    tenants: await Promise.all(known.tenants.map(id => accounts.tenantMemory.get(id))),
    keys: await Promise.all(known.keys.map(async text => (await keys.find(text))?.keyId)),
    acceptedFrom: acceptedFrom.raisedMs(),
  }
}
