/** Checks of session cookies and of API keys, with a few and with many accounts. Part of `bench/auth.ts`. */

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from 'simple-statistics'
import { createKeyText, digestOf, prefixOf } from '../auth/keys/key-text.ts'
import { postgresUrl } from '../cli/demo/cluster/database-settings.ts'
import type { Store } from '../store/store.ts'
import { authJs } from '../test/support/auth-js.ts'
import { startDatabases, temporaryFolder } from '../test/support/databases.ts'
import { withoutQuestdb } from '../test/support/service.ts'
import { type AuthPlan, openAuthParts, sessionSecret } from './auth-parts.ts'
import type { AuthOrder, AuthResult } from './auth-server.ts'
import { assertAllTaken, ratios, round, runLoad, spread, stopProcess } from './measure.ts'

const few = 1000
const tokensPerRound = 2000
const coldMin = 1.5
const cachedMin = 3
const keyMin = 0.8
const startMax = 1.5
const bytesPerKeyMax = 1500

/** Adds accounts up to this number, with a key each. Returns the keys of the new accounts. */
async function addAccounts(pool: Store['postgres'], from: number, to: number): Promise<string[]> {
  const rowsPerCall = 10_000
  const texts: string[] = []
  for (let first = from; first < to; first += rowsPerCall) {
    const count = Math.min(rowsPerCall, to - first)
    const keys = Array.from({ length: count }, createKeyText)
    await pool.query(
      `INSERT INTO accounts (id, email, name, created_at, updated_at) OVERRIDING SYSTEM VALUE
       SELECT n, 'person-' || n || '@example.com', 'Person ' || n, now(), now() FROM generate_series($1::int, $2::int) AS n`,
      [first + 1, first + count],
    )
    await pool.query(
      `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at)
       SELECT $1::int + at, 'a script', digest, prefix, '{read}', false, now()
       FROM unnest($2::bytea[], $3::text[]) WITH ORDINALITY AS key (digest, prefix, at)`,
      [first, keys.map(digestOf), keys.map(prefixOf)],
    )
    texts.push(...keys)
  }
  await pool.query('ANALYZE accounts, api_keys')
  return texts
}

/** Tokens of Auth.js for as many accounts, spread over all of them. */
function createTokens(salt: string, accountCount: number): Promise<string[]> {
  const seconds = Math.floor(Date.now() / 1000)
  const step = accountCount / tokensPerRound
  return Promise.all(
    Array.from({ length: tokensPerRound }, (_, at) => {
      const id = 1 + Math.floor(at * step)
      const person = { name: `Person ${id}`, email: `person-${id}@example.com`, picture: null, sub: String(id) }
      return authJs.encode({ token: { ...person, auth_time: seconds }, secret: sessionSecret, salt })
    }),
  )
}

async function perSecond(tokens: readonly string[], check: (token: string) => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  for (const token of tokens) {
    const found = await check(token)
    if (found === undefined || found === null) throw new Error('a good token was refused')
  }
  return (tokens.length * 1000) / (performance.now() - startedMs)
}

async function measureSessions(
  { bounds, pairs }: AuthPlan,
  pool: Store['postgres'],
  accountCount: number,
): Promise<void> {
  const { codec, createSessions, close } = await openAuthParts(pool)
  const ours: number[] = []
  const cached: number[] = []
  const yardstick: number[] = []
  for (let pair = -1; pair < pairs; pair++) {
    const tokens = await createTokens(codec.cookieName, accountCount)
    const sessions = createSessions()
    // The accounts come to memory in the round that does not count.
    const cold = await perSecond(tokens, sessions.fromCookie)
    const again = await perSecond(tokens, sessions.fromCookie)
    const library = await perSecond(tokens, token =>
      authJs.decode({ token, secret: sessionSecret, salt: codec.cookieName }),
    )
    if (pair < 0) continue
    ours.push(cold)
    cached.push(again)
    yardstick.push(library)
  }
  await close()
  const note = (what: string, rates: number[], bound: number) => {
    const own = ratios(rates, yardstick)
    const figure = { ratios: spread(own), perSecond: spread(rates), libraryPerSecond: spread(yardstick) }
    bounds.atLeast(`session cookies, ${what}, ${accountCount} accounts, times @auth/core`, median(own), bound, figure)
  }
  note('cold', ours, coldMin)
  note('from the cache', cached, cachedMin)
}

interface AuthServer {
  child: ChildProcess
  started: AuthResult
  checkAll(keyFile: string): Promise<AuthResult>
}

async function startAuthServer({ hooks }: AuthPlan, databaseUrl: string): Promise<AuthServer> {
  const child = fork(join(import.meta.dirname, 'auth-server.ts'), [databaseUrl, '1'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  hooks.teardown(() => stopProcess(child))
  const [started] = (await once(child, 'message')) as [AuthResult]
  return {
    child,
    started,
    async checkAll(keyFile) {
      const checked = once(child, 'message')
      const order: AuthOrder = { keyFile }
      child.send(order)
      const [result] = (await checked) as [AuthResult]
      return result
    },
  }
}

function requestOf(path: string, key: string): string {
  return `GET /v1/auth${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}\r\n\r\n`
}

/** The server has all keys in memory before the load begins. Returns the bytes that each takes with its account. */
async function measureKeys(plan: AuthPlan, databaseUrl: string, texts: readonly string[]): Promise<number> {
  const { hooks, bounds, generator, connections, pairs, seconds } = plan
  const keyFile = join(temporaryFolder(hooks), 'keys')
  writeFileSync(keyFile, `${texts.join('\n')}\n`)
  const server = await startAuthServer(plan, databaseUrl)
  const { port, heapBytes } = server.started
  const all = await server.checkAll(keyFile)
  bounds.must(`${texts.length} keys are good`, all.good === texts.length)
  const step = texts.length / few
  const some = Array.from({ length: few }, (_, at) => texts[Math.floor(at * step)] ?? '')
  const load = async (path: string, forSeconds: number) => {
    const requests = some.map(key => requestOf(path, key))
    const result = await runLoad(generator, { host: '127.0.0.1', port, connections, seconds: forSeconds, requests })
    assertAllTaken(result)
    return result.answers / result.elapsedSeconds
  }
  await load('/checked', 2)
  await load('/unchecked', 2)
  const ours: number[] = []
  const yardstick: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    ours.push(await load('/checked', seconds))
    yardstick.push(await load('/unchecked', seconds))
  }
  const rates = ratios(ours, yardstick)
  const bytes = (all.heapBytes - heapBytes) / texts.length
  bounds.atLeast(`API keys, ${texts.length} of them, times the same route unchecked`, median(rates), keyMin, {
    ratios: spread(rates),
    perSecond: spread(ours),
    uncheckedPerSecond: spread(yardstick),
    firstChecksPerSecond: round(texts.length / all.checkSeconds),
    bytesPerKeyAndAccount: round(bytes),
  })
  await stopProcess(server.child)
  return bytes
}

/** Start times in milliseconds, one start per pair. */
async function measureStarts(plan: AuthPlan, databaseUrl: string): Promise<number[]> {
  const ms: number[] = []
  for (let at = 0; at < plan.pairs; at++) {
    const { child, started } = await startAuthServer(plan, databaseUrl)
    ms.push(started.startMs)
    await stopProcess(child)
  }
  return ms
}

/** Runs with a thousand accounts that have one key each, then with `many`. */
export async function measureChecks(plan: AuthPlan, many: number): Promise<void> {
  const { hooks, bounds } = plan
  const { store } = await startDatabases(hooks, {
    questdbHttp: withoutQuestdb.QUESTDB_HTTP,
    questdbPg: withoutQuestdb.QUESTDB_PG,
  })
  const databaseUrl = postgresUrl(store.postgres)
  const pool = store.postgres
  const firstTexts = await addAccounts(pool, 0, few)
  await measureSessions(plan, pool, few)
  await measureKeys(plan, databaseUrl, firstTexts)
  const fewStarts = await measureStarts(plan, databaseUrl)
  const texts = [...firstTexts, ...(await addAccounts(pool, few, many))]
  await measureSessions(plan, pool, many)
  const bytes = await measureKeys(plan, databaseUrl, texts)
  const manyStarts = await measureStarts(plan, databaseUrl)
  bounds.atMost('start with many, times with few', median(ratios(manyStarts, fewStarts)), startMax, {
    ms: spread(manyStarts),
    fewMs: spread(fewStarts),
  })
  bounds.atMost('memory of a key with its account, bytes', bytes, bytesPerKeyMax)
}
