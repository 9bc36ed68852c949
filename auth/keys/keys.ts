/** Entry point of this folder: API keys of people, checked at each request and changed by their owners. */

import { type Account, subjectOf } from '../accounts/account.ts'
import { type AccountParts, changeAccount } from '../accounts/account-parts.ts'
import { type AccountRefusal, accepted, type Outcome, refused } from '../outcome.ts'
import type { RateLimit } from '../rate-limits.ts'
import type { Scope } from './key.ts'
import { createKeyCheck, type KeyCheck } from './key-check.ts'
import { type KeyDetails, type KeyPageQuery, type OwnedKey, readKeyPage, readKeys } from './key-lists.ts'
import { insertKey, type NewKey, type Revoked, readOwner, revokeKeyRow } from './key-rows.ts'

export interface Keys extends Pick<KeyCheck, 'find' | 'isCurrent' | 'close'> {
  /** All keys of an account, newest first; ended ones stay in the list for a while. */
  list(account: Account): Promise<KeyDetails[]>
  create(account: Account, wanted: WantedKey): Promise<Outcome<NewKey>>
  /** Another principal creates the key, with the same limits. */
  createFor(accountId: number, wanted: WantedKey, actor: string): Promise<Outcome<NewKey>>
  /** Takes effect before it returns. Idempotent. */
  revoke(account: Account, id: number): Promise<Outcome<Revoked>>
  /** Revokes any owner's key. */
  revokeAny(id: number, actor: string): Promise<Outcome<Revoked>>
  /** Keys of all people, or of one, newest first. */
  page(query: KeyPageQuery): Promise<{ owned: OwnedKey[]; total: number }>
}

interface WantedKey {
  name: string
  scopes: readonly Scope[]
  createDevices: boolean
  /** Limits the key to devices with all these tags. */
  tags?: readonly string[]
  /** Undefined for a key without expiry. */
  expiresInDays: number | undefined
}

export interface KeysOptions {
  parts: AccountParts
  /** Interval of saving last-used times. */
  flushMs?: number
}

const dayMs = 24 * 3_600_000
/** Each sends a mail and leaves a row for a while. */
const creations: RateLimit = { kind: 'api-key', countMax: 200, windowMs: dayMs }
const idMax = 2_147_483_647

export function openKeys({ parts, flushMs = 60_000 }: KeysOptions): Keys {
  const check = createKeyCheck(parts, flushMs)
  const { pool, nowMs: clockMs, limits, mailDue } = parts

  async function limit(accountId: number): Promise<AccountRefusal | undefined> {
    const retryAfterSeconds = await limits.take(creations, String(accountId))
    return retryAfterSeconds === undefined ? undefined : { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
  }

  async function revoke(accountId: number, id: number, actor: string): Promise<Outcome<Revoked>> {
    if (!isId(id)) return refused('KEY_UNKNOWN')
    const which = { id, accountId, actor, nowMs: clockMs() }
    const revoked = await changeAccount(parts, accountId, transaction => revokeKeyRow(transaction, which))
    return revoked === undefined ? refused('KEY_UNKNOWN') : accepted(revoked)
  }

  async function create(
    accountId: number,
    { name, scopes, createDevices, tags = [], expiresInDays }: WantedKey,
    actor: string,
  ): Promise<Outcome<NewKey>> {
    const refusal = await limit(accountId)
    if (refusal !== undefined) return refusal
    const nowMs = clockMs()
    const expiresMs = expiresInDays === undefined ? null : nowMs + expiresInDays * dayMs
    const request = { accountId, name, scopes, createDevices, tags, expiresMs, nowMs, actor }
    const created = await changeAccount(parts, accountId, transaction => insertKey(transaction, request))
    if (created.ok) mailDue()
    return created
  }

  return {
    find: check.find,
    isCurrent: check.isCurrent,
    close: check.close,
    list: ({ id }) => readKeys(pool, id, check.lastUse),
    create: ({ id }, wanted) => create(id, wanted, subjectOf(id)),
    createFor: create,
    revoke: ({ id: accountId }, id) => revoke(accountId, id, subjectOf(accountId)),
    async revokeAny(id, actor) {
      const accountId = isId(id) ? await readOwner(pool, id) : undefined
      return accountId === undefined ? refused('KEY_UNKNOWN') : await revoke(accountId, id, actor)
    },
    page: query => readKeyPage(pool, query, check.lastUse),
  }
}

function isId(id: number): boolean {
  return id >= 1 && id <= idMax
}
