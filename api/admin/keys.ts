/**
 * The API keys of all people by HTTP: a page of them, a new one, and their revocation. Besides their owners only the local
 * admin token makes them: no key makes a key, and no administrator one that acts for somebody else.
 */

import assert from 'node:assert/strict'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Account } from '../../auth/accounts/account.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import { ownerName } from '../../auth/devices/device.ts'
import { scopes } from '../../auth/keys/key.ts'
import type { OwnedKey } from '../../auth/keys/key-lists.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import type { AccountRefusal } from '../../auth/outcome.ts'
import { plainText } from '../../auth/plain-text.ts'
import { keyDaysMax } from '../accounts/api-keys.ts'
import { actorIn, requesterOf } from './guard.ts'
import type { AddedKey, AdminKeyPage } from './key-answers.ts'
import { addPath } from './paths.ts'
import { sendInvalid, sendProblem } from './problem.ts'
import { pageNumber } from './query-fields.ts'

export const NewAdminKey = z.strictObject({
  account: ownerName.meta({ description: 'The id or the address of the owner' }),
  name: plainText({ min: 1, max: 100 }),
  scopes: z.array(z.enum(scopes)).max(scopes.length).default(['read']),
  create_devices: z.boolean().default(false),
  expires_in_days: z.int().min(1).max(keyDaysMax).nullable().default(null),
})

const keysPerPage = 100
const idMax = 2_147_483_647

export const keysOf = plainText({ min: 1, max: 254 }).optional()

const ListQuery = z.strictObject({
  account: keysOf,
  page: pageNumber,
})

export interface AdminKeysOptions {
  accounts: Pick<Accounts, 'find' | 'findByEmail' | 'nowMs'>
  keys: Pick<Keys, 'createFor' | 'page' | 'revokeAny'>
}

export function registerKeys(scope: FastifyInstance, { accounts, keys }: AdminKeysOptions): void {
  /** By its id or its address; undefined for nobody. */
  function findAccount(text: string): Promise<Account | undefined> {
    return /^\d{1,10}$/.test(text) ? findById(Number(text)) : accounts.findByEmail(text)
  }

  async function findById(id: number) {
    return id >= 1 && id <= idMax ? await accounts.find(id) : undefined
  }

  async function list(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const query = ListQuery.safeParse(request.query)
    if (!query.success) return sendInvalid(reply, 'QUERY_INVALID', query.error)
    const { account, page } = query.data
    const accountId = account === undefined ? undefined : (await findAccount(account))?.id
    if (account !== undefined && accountId === undefined) {
      return sendProblem(reply, 'ACCOUNT_UNKNOWN', { errors: [{ path: 'account', message: 'is no account' }] })
    }
    const { owned, total } = await keys.page({ accountId, from: (page - 1) * keysPerPage, rowsMax: keysPerPage })
    const next = page * keysPerPage < total ? page + 1 : null
    const nowMs = accounts.nowMs()
    const answer: AdminKeyPage = { keys: owned.map(key => shown(key, nowMs)), total, page, next }
    return reply.send(answer)
  }

  async function add(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (requesterOf(request).kind !== 'admin-token') {
      return sendProblem(reply, 'FORBIDDEN', { detail: 'only with the token from secrets/admin-token' })
    }
    const wanted = NewAdminKey.safeParse(request.body)
    if (!wanted.success) return sendInvalid(reply, 'BODY_INVALID', wanted.error)
    const { account: owner, name, scopes, create_devices: createDevices, expires_in_days } = wanted.data
    const account = await findAccount(String(owner))
    if (account === undefined) {
      return sendProblem(reply, 'OWNER_UNKNOWN', { errors: [{ path: 'account', message: 'is no account' }] })
    }
    const { id: accountId, email } = account
    const key = { name, scopes, createDevices, expiresInDays: expires_in_days ?? undefined }
    const created = await keys.createFor(accountId, key, actorIn(request))
    if (!created.ok) return sendRefusal(reply, created)
    const { text, ...details } = created.value
    const answer: AddedKey = { ...shown({ ...details, accountId, email }, accounts.nowMs()), key: text }
    return reply.code(201).send(answer)
  }

  async function revoke(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { id } = request.params as { id: string }
    const revoked = /^\d{1,10}$/.test(id) ? await keys.revokeAny(Number(id), actorIn(request)) : undefined
    return revoked?.ok === true ? reply.code(204).send() : sendProblem(reply, 'KEY_UNKNOWN')
  }

  addPath(scope, '/keys', { GET: list, POST: add })
  addPath(scope, '/keys/:id', { DELETE: revoke })
}

/** What refuses a new key, as a problem of the admin API: the address is the owner's and not the requester's. */
const refusals = {
  ACCOUNT_INACTIVE: { code: 'ACCOUNT_INACTIVE', detail: 'the account is switched off: enable it first' },
  SCOPE_NOT_ALLOWED: { code: 'SCOPE_NOT_ALLOWED', detail: 'a scope is beyond the role of the account' },
  EMAIL_UNVERIFIED: {
    code: 'OWNER_UNVERIFIED',
    detail: 'keys that send readings need a verified address: its owner confirms it, or barograph accounts verify does',
  },
  TOO_MANY_KEYS: { code: 'TOO_MANY_KEYS', detail: 'the account has as many keys as it may have: revoke one first' },
  TOO_MANY_REQUESTS: { code: 'TOO_MANY_REQUESTS', detail: 'too many keys of this account in a day' },
} as const

function sendRefusal(reply: FastifyReply, { code, retryAfterSeconds }: AccountRefusal): FastifyReply {
  assert(code in refusals, 'no other refusal of a new key is known')
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds))
  const refusal = refusals[code as keyof typeof refusals]
  return sendProblem(reply, refusal.code, { detail: refusal.detail })
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
