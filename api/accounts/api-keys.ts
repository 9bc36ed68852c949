/** Lists, creates and revokes API keys of the signed-in account, only in a browser session: no key makes a key. */

import { z } from 'zod'
import { Tags } from '../../auth/devices/tag.ts'
import { type Scope, scopes } from '../../auth/keys/key.ts'
import type { KeyDetails } from '../../auth/keys/key-lists.ts'
import { type AccountService, accountOf } from './account-service.ts'
import { boolean, checkedBy, integer, listOf, record, text } from './kit/fields.ts'
import { type AccountOperation, operation } from './kit/operation.ts'
import { isoTime } from './schemas.ts'

export const keyDaysMax = 365

export const CreateApiKeyRequest = record('CreateApiKeyRequest', {
  name: text({ min: 1, max: 100 }),
  expires_in_days: integer({ min: 1, max: keyDaysMax }).nullish(),
  scopes: listOf(scopes, { default: ['read'] }).optional(),
  create_devices: boolean().optional(),
  tags: checkedBy(Tags).optional(),
})

const time = () => z.iso.datetime()

const ApiKeyListItem = z
  .object({
    id: z.int(),
    name: z.string(),
    prefix: z.string(),
    scopes: z.array(z.enum(scopes)),
    create_devices: z.boolean(),
    tags: z
      .array(z.string())
      .exactOptional()
      .meta({ description: 'Only where it is limited to devices with all these.' }),
    created_at: time(),
    last_used_at: time().nullable(),
    expires_at: time().nullable(),
    revoked_at: time().nullable(),
  })
  .meta({ id: 'ApiKeyListItem', title: 'ApiKeyListItem' })
const ApiKeyList = z.array(ApiKeyListItem)

const CreateApiKeyResponse = ApiKeyListItem.omit({ last_used_at: true, revoked_at: true })
  .extend({ key: z.string() })
  .meta({ id: 'CreateApiKeyResponse', title: 'CreateApiKeyResponse' })

const RevokeApiKeyResponse = z
  .object({ id: z.int(), revoked: z.literal(true), revoked_at: time() })
  .meta({ id: 'RevokeApiKeyResponse', title: 'RevokeApiKeyResponse' })

const KeyPath = record('KeyPath', { key_id: integer() })

const scopesUsual: readonly Scope[] = ['read']

export function apiKeyOperations({ keys }: AccountService): AccountOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/api-keys',
      name: 'list_api_keys',
      summary: 'The API keys of the current user',
      permission: 'account.manage',
      success: { status: 200, description: 'The keys, the newest first', json: ApiKeyList },
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE'],
      async handle({ principal }) {
        const listed = await keys.list(accountOf(principal))
        return { ok: true, value: listed.map(listItem) }
      },
    }),
    operation({
      method: 'POST',
      path: '/api-keys',
      name: 'create_api_key',
      summary: 'Make an API key; it is shown once',
      permission: 'account.manage',
      body: { json: CreateApiKeyRequest },
      success: { status: 201, description: 'The key', json: CreateApiKeyResponse },
      refusals: [
        'UNAUTHENTICATED',
        'FORBIDDEN',
        'CROSS_SITE',
        'SCOPE_NOT_ALLOWED',
        'TAGS_NOT_ALLOWED',
        'EMAIL_UNVERIFIED',
        'ACCOUNT_INACTIVE',
        'TOO_MANY_KEYS',
        'TOO_MANY_REQUESTS',
        'UNAVAILABLE',
      ],
      async handle({
        principal,
        body: { name, expires_in_days, scopes = scopesUsual, create_devices = false, tags = [] },
      }) {
        const expiresInDays = expires_in_days ?? undefined
        const wanted = { name, scopes, createDevices: create_devices, tags, expiresInDays }
        const created = await keys.create(accountOf(principal), wanted)
        if (!created.ok) return created
        return { ok: true, value: { ...commonOf(created.value), key: created.value.text } }
      },
    }),
    operation({
      method: 'DELETE',
      path: '/api-keys/:key_id',
      name: 'revoke_api_key',
      summary: 'Revoke an API key at once',
      permission: 'account.manage',
      parameters: { path: KeyPath },
      success: { status: 200, description: 'It is revoked, now or earlier', json: RevokeApiKeyResponse },
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_SITE', 'KEY_UNKNOWN', 'UNAVAILABLE'],
      async handle({ principal, path: { key_id: keyId } }) {
        const revoked = await keys.revoke(accountOf(principal), keyId)
        if (!revoked.ok) return revoked
        const { id, revokedMs } = revoked.value
        return { ok: true, value: { id, revoked: true, revoked_at: isoTime(revokedMs) } }
      },
    }),
  ]
}

function listItem(key: KeyDetails): z.infer<typeof ApiKeyListItem> {
  const { lastUsedMs, revokedMs } = key
  return { ...commonOf(key), last_used_at: isoTimeOrNull(lastUsedMs), revoked_at: isoTimeOrNull(revokedMs) }
}

function commonOf({ id, name, prefix, scopes, createDevices, tags, createdMs, expiresMs }: KeyDetails) {
  return {
    id,
    name,
    prefix,
    scopes: [...scopes],
    create_devices: createDevices,
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    created_at: isoTime(createdMs),
    expires_at: isoTimeOrNull(expiresMs),
  }
}

function isoTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoTime(timeMs)
}
