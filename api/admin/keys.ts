/** The API keys of all people by HTTP: a page of them, and their revocation. Only their owners make them. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import { scopes } from '../../auth/keys/key.ts'
import type { OwnedKey } from '../../auth/keys/key-lists.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import { actorIn } from './guard.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'
import { pageNumber } from './query-fields.ts'

const time = () => z.iso.datetime()

export const AdminKeyPage = z.object({
  keys: z.array(
    z.object({
      id: z.int(),
      account: z.int(),
      email: z.string(),
      name: z.string(),
      prefix: z.string(),
      scopes: z.array(z.enum(scopes)),
      create_devices: z.boolean(),
      state: z.enum(['active', 'expired', 'revoked']),
      created_at: time(),
      last_used_at: time().nullable(),
      expires_at: time().nullable(),
      revoked_at: time().nullable(),
    }),
  ),
  total: z.int(),
  page: z.int(),
  /** The number of the next page, or null on the last one. */
  next: z.int().nullable(),
})
export type AdminKeyPage = z.infer<typeof AdminKeyPage>

const keysPerPage = 100
const idMax = 2_147_483_647

const ListQuery = z.strictObject({
  account: z.string().max(254, 'must have at most 254 characters').optional(),
  page: pageNumber,
})

export interface AdminKeysOptions {
  accounts: Pick<Accounts, 'find' | 'findByEmail' | 'nowMs'>
  keys: Pick<Keys, 'page' | 'revokeAny'>
}

export function registerKeys(scope: FastifyInstance, { accounts, keys }: AdminKeysOptions): void {
  /** By its id or its address; undefined for nobody. */
  async function accountIdOf(text: string): Promise<number | undefined> {
    const account = /^\d{1,10}$/.test(text) ? await findById(Number(text)) : await accounts.findByEmail(text)
    return account?.id
  }

  async function findById(id: number) {
    return id >= 1 && id <= idMax ? await accounts.find(id) : undefined
  }

  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    const { account, page } = query.data
    const accountId = account === undefined ? undefined : await accountIdOf(account)
    if (account !== undefined && accountId === undefined) {
      return sendProblem(reply, 'QUERY_INVALID', { errors: [{ path: 'account', message: 'is no account' }] })
    }
    const { owned, total } = await keys.page({ accountId, from: (page - 1) * keysPerPage, rowsMax: keysPerPage })
    const next = page * keysPerPage < total ? page + 1 : null
    const nowMs = accounts.nowMs()
    const answer: AdminKeyPage = { keys: owned.map(key => shown(key, nowMs)), total, page, next }
    return reply.send(answer)
  }

  async function revoke(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { id } = request.params as { id: string }
    const revoked = /^\d{1,10}$/.test(id) ? await keys.revokeAny(Number(id), actorIn(request)) : undefined
    return revoked?.ok === true ? reply.code(204).send() : sendProblem(reply, 'KEY_UNKNOWN')
  }

  addPath(scope, '/keys', { GET: list })
  addPath(scope, '/keys/:id', { DELETE: revoke })
}

function shown(key: OwnedKey, nowMs: number): AdminKeyPage['keys'][number] {
  const { id, accountId: account, email, name, prefix, createDevices, createdMs } = key
  const { lastUsedMs, expiresMs, revokedMs } = key
  return {
    ...{ id, account, email, name, prefix, scopes: [...key.scopes], create_devices: createDevices },
    state: revokedMs !== null ? 'revoked' : expiresMs !== null && expiresMs <= nowMs ? 'expired' : 'active',
    created_at: new Date(createdMs).toISOString(),
    last_used_at: isoTime(lastUsedMs),
    expires_at: isoTime(expiresMs),
    revoked_at: isoTime(revokedMs),
  }
}

function isoTime(timeMs: number | null): string | null {
  return timeMs === null ? null : new Date(timeMs).toISOString()
}
