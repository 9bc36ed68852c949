/**
 * Finds the owner of an API key. The owner of a key never changes and is cached by its digest. The account in memory
 * decides each time whether the key is valid: it has a revocation before the revoking call returns.
 */

import type { Account } from '../accounts/account.ts'
import type { AccountParts } from '../accounts/account-parts.ts'
import { createLastSeen, type SeenRecord } from '../last-seen.ts'
import type { Principal } from '../policy.ts'
import { createReadCache } from '../read-cache.ts'
import type { LiveKey } from './key.ts'
import type { LastUse } from './key-lists.ts'
import { readHolder, saveLastUsed } from './key-rows.ts'
import { digestOf, isKeyText, keyTextLength } from './key-text.ts'

export interface KeyCheck {
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

export function createKeyCheck({ pool, nowMs, memory, log }: AccountParts, flushMs: number): KeyCheck {
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
