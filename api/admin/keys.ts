/**
 * Lists, adds and revokes the API keys of all people. Besides an owner, only the local admin token adds keys: no key
 * makes a key, and no administrator makes a key for another account.
 */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Account } from '../../auth/accounts/account.ts'
import type { Accounts } from '../../auth/accounts/accounts.ts'
import { ownerName } from '../../auth/devices/device.ts'
import { Tags } from '../../auth/devices/tag.ts'
import { scopes } from '../../auth/keys/key.ts'
import type { OwnedKey } from '../../auth/keys/key-lists.ts'
import type { Keys } from '../../auth/keys/keys.ts'
import { listPage, pageOffset, rowsPerPage } from '../../auth/list-page.ts'
import type { AccountRefusal } from '../../auth/outcome.ts'
import { bug } from '../../store/limits/bug.ts'
import { plainText } from '../../store/plain-text.ts'
import { keyDaysMax } from '../accounts/api-keys.ts'
import { setRetryAfter } from '../http/errors.ts'
import { AddedKey, AdminKeyPage } from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'
import { pageNumber, recordId } from './request-fields.ts'

export const NewAdminKey = z.strictObject({
  account: ownerName.meta({ description: 'The id or the address of the owner' }),
  name: plainText({ min: 1, max: 100 }),
  scopes: z.array(z.enum(scopes)).max(scopes.length).default(['read']),
  create_devices: z.boolean().default(false),
  tags: Tags.default([]).meta({ description: 'It is limited to devices with all these.' }),
  expires_in_days: z.int().min(1).max(keyDaysMax).nullable().default(null),
})

const ListQuery = z.strictObject({
  page: pageNumber,
  account: plainText({ min: 1, max: 254 }).optional().meta({ description: 'An id or an address' }),
})

export interface AdminKeysOptions {
  accounts: Pick<Accounts, 'find' | 'findByEmail' | 'nowMs'>
  keys: Pick<Keys, 'createFor' | 'page' | 'revokeAny'>
}

export function keyOperations({ accounts, keys }: AdminKeysOptions): AdminOperation[] {
  function findAccount(text: string): Promise<Account | undefined> {
    const id = recordId.safeParse(text)
    return id.success ? accounts.find(id.data) : accounts.findByEmail(text)
  }

  async function list(reply: FastifyReply, { account, page }: z.infer<typeof ListQuery>): Promise<FastifyReply> {
    const accountId = account === undefined ? undefined : (await findAccount(account))?.id
    if (account !== undefined && accountId === undefined) {
      return sendProblem(reply, 'ACCOUNT_UNKNOWN', { errors: [{ path: 'account', message: 'is not an account' }] })
    }
    const { owned, total } = await keys.page({ accountId, from: pageOffset(page), rowsMax: rowsPerPage })
    const nowMs = accounts.nowMs()
    const answer: AdminKeyPage = { keys: owned.map(key => shown(key, nowMs)), ...listPage(total, page) }
    return reply.send(answer)
  }

  async function add(reply: FastifyReply, wanted: z.infer<typeof NewAdminKey>, actor: string): Promise<FastifyReply> {
    const { account: owner, name, scopes, create_devices: createDevices, tags, expires_in_days } = wanted
    const account = await findAccount(String(owner))
    if (account === undefined) {
      return sendProblem(reply, 'OWNER_UNKNOWN', { errors: [{ path: 'account', message: 'is not an account' }] })
    }
    const { id: accountId, email } = account
    const key = { name, scopes, createDevices, tags, expiresInDays: expires_in_days ?? undefined }
    const created = await keys.createFor(accountId, key, actor)
    if (!created.ok) return sendRefusal(reply, created)
    const { text, ...details } = created.value
    const answer: AddedKey = { ...shown({ ...details, accountId, email }, accounts.nowMs()), key: text }
    return reply.code(201).send(answer)
  }

  return [
    operation({
      method: 'GET',
      path: '/keys',
      name: 'admin_list_keys',
      summary: 'The API keys of all accounts',
      parameters: { query: ListQuery },
      success: { status: 200, description: 'A page of them', json: AdminKeyPage.meta({ id: 'AdminKeyPage' }) },
      refusals: ['ACCOUNT_UNKNOWN'],
      handle: ({ query }, reply) => list(reply, query),
    }),
    operation({
      method: 'POST',
      path: '/keys',
      name: 'admin_add_key',
      summary: 'Make an API key of an account',
      description: 'Needs the local admin token. A mail notifies the owner. The key is shown once.',
      isTokenOnly: true,
      body: { json: NewAdminKey.meta({ id: 'AdminNewKey' }) },
      success: { status: 201, description: 'The key', json: AddedKey.meta({ id: 'AdminAddedKey' }) },
      refusals: [
        'OWNER_UNKNOWN',
        'ACCOUNT_INACTIVE',
        'SCOPE_NOT_ALLOWED',
        'TAGS_NOT_ALLOWED',
        'OWNER_UNVERIFIED',
        'TOO_MANY_KEYS',
        'TOO_MANY_REQUESTS',
        'OUTCOME_UNKNOWN',
      ],
      handle: ({ body, actor }, reply) => add(reply, body, actor),
    }),
    revokeOperation(keys),
  ]
}

function revokeOperation(keys: Pick<Keys, 'revokeAny'>): AdminOperation {
  return operation({
    method: 'DELETE',
    path: '/keys/:id',
    name: 'admin_revoke_key',
    summary: 'Revoke an API key',
    parameters: { path: z.object({ id: recordId }) },
    success: { status: 204, description: 'It is revoked' },
    refusals: ['KEY_UNKNOWN', 'OUTCOME_UNKNOWN'],
    pathError: 'KEY_UNKNOWN',
    async handle({ path: { id }, actor }, reply) {
      const revoked = await keys.revokeAny(id, actor)
      return revoked.ok ? reply.code(204).send() : sendProblem(reply, 'KEY_UNKNOWN')
    },
  })
}

/** Maps refusals of a new key to problems of the admin API. The address belongs to the owner, not to the requester. */
const refusals = {
  ACCOUNT_INACTIVE: { code: 'ACCOUNT_INACTIVE', detail: 'the account is switched off: enable it first' },
  SCOPE_NOT_ALLOWED: { code: 'SCOPE_NOT_ALLOWED', detail: 'a scope is beyond the role of the account' },
  TAGS_NOT_ALLOWED: { code: 'TAGS_NOT_ALLOWED', detail: 'a key with tags may have the scopes read and ingest alone' },
  EMAIL_UNVERIFIED: {
    code: 'OWNER_UNVERIFIED',
    detail: 'keys that send readings need a verified address: its owner confirms it, or barograph accounts verify does',
  },
  TOO_MANY_KEYS: { code: 'TOO_MANY_KEYS', detail: 'the account has as many keys as it may have: revoke one first' },
  TOO_MANY_REQUESTS: { code: 'TOO_MANY_REQUESTS', detail: 'too many keys of this account in a day' },
} as const

function sendRefusal(reply: FastifyReply, { code, retryAfterSeconds }: AccountRefusal): FastifyReply {
  if (!(code in refusals)) throw bug(`a new key is refused with ${code}`)
  const refusal = refusals[code as keyof typeof refusals]
  return sendProblem(setRetryAfter(reply, retryAfterSeconds), refusal.code, { detail: refusal.detail })
}

function shown(key: OwnedKey, nowMs: number): AdminKeyPage['keys'][number] {
  const { id, accountId: account, email, name, prefix, createDevices, createdMs } = key
  const { lastUsedMs, expiresMs, revokedMs } = key
  return {
    id,
    account,
    email,
    name,
    prefix,
    scopes: [...key.scopes],
    create_devices: createDevices,
    tags: [...key.tags],
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
