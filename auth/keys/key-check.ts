/**
 * Whose an API key is. To which account a key belongs never changes and is held in memory by its digest. Whether it is
 * still good is asked of the account in memory, each time: there a revocation counts before its call is answered.
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
  /** Undefined when it is not good. */
  find(text: string): Promise<KeyPrincipal | undefined>
  /** From memory: whether what `find` has returned still holds. False also where that is to be found out by `find`. */
  isCurrent(found: KeyPrincipal): boolean
  lastUse: LastUse
  /** Saves when keys were last used. */
  close(): Promise<void>
}

type KeyPrincipal = Extract<Principal, { kind: 'key' }>

/** In memory, by its digest. */
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
    failed: error => log.warn({ err: error }, 'could not save when API keys were last used, retrying'),
    flushMs,
    batchMax: usedPerStatement,
    unsavedMax: holdersInMemoryMax,
  })

  return {
    async find(text) {
      if (text.length !== keyTextLength) return undefined
      const digest = packed(digestOf(text))
      // What is in memory was a key when it was read; only for another one the checksum spares a look-up.
      const holder = holders.peek(digest) ?? (isKeyText(text) ? await holders.get(digest) : undefined)
      if (holder === undefined) return undefined
      const account = await memory.get(holder.accountId)
      const timeMs = nowMs()
      const key = account && liveKey(account, holder.id, timeMs)
      if (account === undefined || key === undefined) return undefined
      used.seen(holder, timeMs)
      // Keys from before this was asked of their owners send readings all the same, and add no devices.
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
