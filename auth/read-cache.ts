/** Caches reads of PostgreSQL by key, bounded and with one read at a time for each key. */

import { LRUCache } from 'lru-cache'

export interface ReadCacheOptions<Key, Value> {
  recordsMax: number
  read: (key: Key) => Promise<Value | undefined>
  /** Caches missing keys for a while; without it, each call reads again. */
  absent?: { keysMax: number; lifetimeMs: number; nowMs: () => number }
}

export interface ReadCache<Key, Value> {
  peek(key: Key): Value | undefined
  get(key: Key): Promise<Value | undefined>
  /** A read in progress may have seen the old record, so its callers read again. */
  forget(key: Key): void
}

interface Read<Value> {
  result: Promise<Value | undefined>
  isForgotten: boolean
}

export function createReadCache<Key extends string | number, Value extends object>(
  options: ReadCacheOptions<Key, Value>,
): ReadCache<Key, Value> {
  const { recordsMax, read, absent } = options
  // Bounded by size, with size one for each: a bound by number would allocate memory for all of them at once.
  const records = new LRUCache<Key, Value>({ maxSize: recordsMax, sizeCalculation: () => 1 })
  const reads = new Map<Key, Read<Value>>()
  /** Expiry times by key. Separate from the records, so that invented keys evict none. */
  const absentUntilMs = absent && new LRUCache<Key, number>({ max: absent.keysMax })

  function begin(key: Key): Read<Value> {
    const begun: Read<Value> = { result: read(key), isForgotten: false }
    reads.set(key, begun)
    begun.result = begun.result
      .then(value => {
        if (!begun.isForgotten) keep(key, value)
        return value
      })
      .finally(() => {
        if (reads.get(key) === begun) reads.delete(key)
      })
    return begun
  }

  async function readNow(key: Key): Promise<Value | undefined> {
    for (;;) {
      const current = reads.get(key) ?? begin(key)
      const value = await current.result
      if (!current.isForgotten) return value
    }
  }

  function keep(key: Key, value: Value | undefined): void {
    if (value !== undefined) records.set(key, value)
    else if (absent !== undefined) absentUntilMs?.set(key, absent.nowMs() + absent.lifetimeMs)
  }

  function isAbsent(key: Key): boolean {
    if (absent === undefined) return false
    const untilMs = absentUntilMs?.get(key)
    return untilMs !== undefined && absent.nowMs() < untilMs
  }

  return {
    peek: key => records.get(key),
    async get(key) {
      const known = records.get(key)
      if (known !== undefined) return known
      if (isAbsent(key)) return undefined
      return await readNow(key)
    },
    forget(key) {
      const current = reads.get(key)
      if (current !== undefined) current.isForgotten = true
      records.delete(key)
      reads.delete(key)
      absentUntilMs?.delete(key)
    },
  }
}
