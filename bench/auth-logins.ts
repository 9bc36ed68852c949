/** The cost of a login, and its effect on senders of readings. Part of `bench/auth.ts`. */

import { once } from 'node:events'
import { hash as argon2Hash, verify as argon2Verify } from '@node-rs/argon2'
import { median } from 'simple-statistics'
import type { AuthPlan } from './auth-parts.ts'
import type { LoginOrder, LoginResult } from './login-load.ts'
import { assertAllTaken, ratios, runLoad, spread, startProcess, stopProcess } from './measure.ts'
import { startBenchService } from './service.ts'

const loginsPerRound = 40
const people = 100
const password = 'correct horse battery'
const ingestRateMin = 0.5
const ingestP99Max = 3
const loginMax = 1.3

async function post(url: string, path: string, body: object): Promise<number> {
  const response = await fetch(`${url}/v1/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
  return response.status
}

/** Milliseconds of each call, one after the other. */
async function timesOf(call: (at: number) => Promise<void>): Promise<number[]> {
  const ms: number[] = []
  for (let at = 0; at < loginsPerRound; at++) {
    const startedMs = performance.now()
    await call(at)
    ms.push(performance.now() - startedMs)
  }
  return ms
}

export async function measureLogins(plan: AuthPlan): Promise<void> {
  const { hooks, bounds, generator, connections, pairs, seconds } = plan
  const { store, service, port, requests } = await startBenchService(hooks, 1000, {
    REGISTRATIONS_PER_HOUR: '1000000',
  })
  const emails = Array.from({ length: people }, (_, at) => `person-${at}@example.com`)
  for (const email of emails) {
    const status = await post(service.url, '/register', { email, password })
    if (status !== 201) throw new Error(`not registered: ${status}`)
  }
  await measureLogin(plan, service.url, emails)
  let acknowledged = 0
  const load = async (forSeconds: number) => {
    const result = await runLoad(generator, { host: '127.0.0.1', port, connections, seconds: forSeconds, requests })
    assertAllTaken(result)
    acknowledged += result.answers
    return { rate: result.answers / result.elapsedSeconds, p99Ms: result.p99Ms }
  }
  await load(2)
  const alone: Awaited<ReturnType<typeof load>>[] = []
  const beside: Awaited<ReturnType<typeof load>>[] = []
  const statuses: Record<string, number> = {}
  for (let pair = 0; pair < pairs; pair++) {
    alone.push(await load(seconds))
    const logins = startProcess('login-load.ts')
    const order: LoginOrder = { port, emails, password }
    logins.send(order)
    beside.push(await load(seconds))
    const over = once(logins, 'message')
    logins.send('over')
    const [result] = (await over) as [LoginResult]
    for (const [status, count] of Object.entries(result.statuses)) statuses[status] = (statuses[status] ?? 0) + count
    await stopProcess(logins)
  }
  const stored = await store.countRows(acknowledged)
  bounds.must('all that were acknowledged are stored', stored === acknowledged)
  bounds.must('people log in meanwhile', (statuses['200'] ?? 0) > 0 && hasOnly(statuses, ['200', '503']))
  const rates = { with: beside.map(({ rate }) => rate), without: alone.map(({ rate }) => rate) }
  const p99s = { with: beside.map(({ p99Ms }) => p99Ms), without: alone.map(({ p99Ms }) => p99Ms) }
  const rateRatios = ratios(rates.with, rates.without)
  bounds.atLeast(`readings a second while ${people} people log in, times without`, median(rateRatios), ingestRateMin, {
    ratios: spread(rateRatios),
    perSecond: spread(rates.with),
    withoutPerSecond: spread(rates.without),
    statuses,
  })
  const p99Ratios = ratios(p99s.with, p99s.without)
  bounds.atMost(`p99 of readings while ${people} people log in, times without`, median(p99Ratios), ingestP99Max, {
    ratios: spread(p99Ratios),
    p99Ms: spread(p99s.with),
    withoutP99Ms: spread(p99s.without),
  })
}

function hasOnly(statuses: Record<string, number>, known: readonly string[]): boolean {
  return Object.keys(statuses).every(status => known.includes(status))
}

async function measureLogin({ bounds, pairs }: AuthPlan, url: string, emails: readonly string[]): Promise<void> {
  const hash = await argon2Hash(password, { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  const logins: number[] = []
  const hashes: number[] = []
  for (let pair = -1; pair < pairs; pair++) {
    const ms = await timesOf(async at => {
      const status = await post(url, '/login', { email: emails[at % emails.length], password })
      if (status !== 200) throw new Error(`not logged in: ${status}`)
    })
    const bare = await timesOf(async () => void (await argon2Verify(hash, password)))
    if (pair < 0) continue
    logins.push(median(ms))
    hashes.push(median(bare))
  }
  const own = ratios(logins, hashes)
  bounds.atMost('login, times the bare hash', median(own), loginMax, {
    ratios: spread(own),
    ms: spread(logins),
    hashMs: spread(hashes),
  })
}
