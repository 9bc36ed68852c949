/**
 * The account parts in a separate process, for `bench/auth.ts`: a route with an API key, and the same route without.
 * Gets `AuthOrder`s from its parent and answers each with an `AuthResult`, the first one when it listens.
 */

import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'
import pg from 'pg'
import { accountOf } from '../api/accounts/account-service.ts'
import { accountsFamily } from '../api/accounts/accounts.ts'
import { operation } from '../api/accounts/kit/operation.ts'
import { ProfileResponse, profileResponse } from '../api/accounts/schemas.ts'
import { createFindPrincipal } from '../api/credentials/find-principal.ts'
import { createOrigins } from '../api/credentials/origins.ts'
import { openKeys } from '../auth/keys/keys.ts'
import { collectGarbage } from '../service/run-service.ts'
import { silentLog } from '../test/support/databases.ts'
import { openAuthParts } from './auth-parts.ts'

/** Checks every key of a file, one a line. */
export interface AuthOrder {
  keyFile: string
}

export interface AuthResult {
  port: number
  /** Milliseconds from the start of this process. */
  startMs: number
  /** Heap size after garbage collection. */
  heapBytes: number
  checkSeconds: number
  good: number
}

const checksAtOnce = 64

async function start(databaseUrl: string, accountId: number): Promise<void> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
  const { accounts, codec, createSessions } = await openAuthParts(pool)
  const sessions = createSessions()
  const keys = openKeys({ parts: accounts })
  const known = await accounts.find(accountId)
  if (known === undefined) throw new Error('no such account')

  const success = { status: 200, description: 'The user', json: ProfileResponse } as const
  const common = { method: 'GET', summary: 'A profile', success, refusals: [] } as const
  const operations = [
    operation({
      ...common,
      path: '/checked',
      name: 'checked',
      permission: 'profile.read',
      handle: async ({ principal }) => ({ ok: true, value: profileResponse(accountOf(principal)) }),
    }),
    operation({
      ...common,
      path: '/unchecked',
      name: 'unchecked',
      handle: async () => ({ ok: true, value: profileResponse(known) }),
    }),
  ]
  const findPrincipal = createFindPrincipal({
    sessions,
    keys,
    viewLinks: { find: async () => undefined },
    cookieName: codec.cookieName,
    serviceSecret: 's',
    isAdminToken: () => false,
  })
  const { prefix, register } = accountsFamily([{ operations }], {
    findPrincipal,
    origins: createOrigins(() => []),
    log: silentLog,
  })
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } })
  app.register(async scope => register(scope), { prefix })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const startMs = performance.now()
  const send = (more: Pick<AuthResult, 'checkSeconds' | 'good'>) => {
    const result: AuthResult = { port, startMs, heapBytes: heapBytes(), ...more }
    process.send?.(result)
  }
  process.on('message', ({ keyFile }: AuthOrder) => {
    void checkAll(keyFile).then(send)
  })
  send({ checkSeconds: 0, good: 0 })

  async function checkAll(keyFile: string) {
    const texts = readFileSync(keyFile, 'latin1').trimEnd().split('\n')
    const startedMs = performance.now()
    let next = 0
    let good = 0
    const check = async () => {
      while (next < texts.length) {
        const text = texts[next++] ?? ''
        if ((await keys.find(text)) !== undefined) good += 1
      }
    }
    await Promise.all(Array.from({ length: checksAtOnce }, check))
    return { checkSeconds: (performance.now() - startedMs) / 1000, good }
  }
}

function heapBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

// The parent may be killed.
process.once('disconnect', () => process.exit())
process.on('SIGTERM', () => process.exit())
const [databaseUrl = '', accountId = ''] = process.argv.slice(2)
await start(databaseUrl, Number(accountId))
