/** Manages API keys, and checks them at requests. */

import { type Account, subjectOf } from '../accounts/account.ts'
import { type AccountParts, changeAccount } from '../accounts/account-parts.ts'
import { createLastSeen, type SeenRecord } from '../last-seen.ts'
import { type AccountRefusal, accepted, type Outcome, refused } from '../outcome.ts'
import type { Principal } from '../policy.ts'
import type { RateLimit } from '../rate-limits.ts'
import { createReadCache } from '../read-cache.ts'
import type { LiveKey, Scope } from './key.ts'
import { type KeyDetails, type KeyPageQuery, type LastUse, type OwnedKey, readKeyPage, readKeys } from './key-lists.ts'
import { insertKey, type NewKey, type Revoked, readHolder, readOwner, revokeKeyRow, saveLastUsed } from './key-rows.ts'
import { digestOf, isKeyText, keyTextLength } from './key-text.ts'

interface KeyCheck {
  /** Undefined for an invalid key. */
  find(text: string): Promise<KeyPrincipal | undefined>
  /** Checks in memory whether a result of `find` is still valid. False also if only `find` can decide. */
  isCurrent(found: KeyPrincipal): boolean
  lastUse: LastUse
  /** Saves last-used times. */
  close(): Promise<void>
}

type KeyPrincipal = Extract<Principal, { kind: 'key' }>

/** Cached by digest. */
interface Holder extends SeenRecord {
  id: number
  accountId: number
}

const holdersInMemoryMax = 1_000_000
const absentKeysMax = 10_000
const absentMs = 5_000
const usedPerStatement = 5_000

function createKeyCheck({ pool, nowMs, memory, log }: AccountParts, flushMs: number): KeyCheck {
  const holders = createReadCache<string, Holder>({
    recordsMax: holdersInMemoryMax,
    async read(digest) {
      const row = await readHolder(pool, Buffer.from(digest, 'latin1'))
      if (row === undefined) return undefined
      return { id: row.id, accountId: row.accountId, lastSeenMs: row.lastUsedMs ?? 0, seenUnsaved: false }
    },
    absent: { keysMax: absentKeysMax, lifetimeMs: absentMs, nowMs },
  })
  const used = createLastSeen<Holder>({
    save: (records, timesMs) => {
      const ids = records.map(({ id }) => id)
      return saveLastUsed(pool, ids, timesMs)
    },
    failed: error => log.warn({ err: error }, 'could not save last-used times of API keys, retrying'),
    flushMs,
    batchMax: usedPerStatement,
    unsavedMax: holdersInMemoryMax,
  })

  return {
    async find(text) {
      if (text.length !== keyTextLength) return undefined
      const digest = packed(digestOf(text))
      // A cached digest was a key when it was read. For others, the checksum avoids lookups of invalid texts.
      const holder = holders.peek(digest) ?? (isKeyText(text) ? await holders.get(digest) : undefined)
      if (holder === undefined) return undefined
      const account = await memory.get(holder.accountId)
      const timeMs = nowMs()
      const key = account && liveKey(account, holder.id, timeMs)
      if (account === undefined || key === undefined) return undefined
      used.seen(holder, timeMs)
      // Keys of unverified owners, which predate this check, still send readings but add no devices.
      const createDevices = key.createDevices && account.emailVerifiedMs !== null
      return { kind: 'key', account, keyId: holder.id, scopes: key.scopes, createDevices, tags: key.tags }
    },
    isCurrent: ({ account, keyId }) =>
      memory.peek(account.id) === account && liveKey(account, keyId, nowMs()) !== undefined,
    lastUse(digest) {
      const lastSeenMs = holders.peek(packed(digest))?.lastSeenMs ?? 0
      return lastSeenMs === 0 ? undefined : lastSeenMs
    },
    close: used.close,
  }
}

function liveKey({ keys, isActive }: Account, id: number, nowMs: number): LiveKey | undefined {
  const key = isActive ? keys.find(each => each.id === id) : undefined
  return key === undefined || (key.expiresMs !== null && key.expiresMs <= nowMs) ? undefined : key
}

/** One byte a character: a Buffer takes three times the memory. */
function packed(digest: Buffer): string {
  return digest.toString('latin1')
}

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

interface KeysOptions {
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
