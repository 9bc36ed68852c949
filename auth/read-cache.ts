/** What is read from PostgreSQL by its key and then held in memory: one read at a time for each key, bounded. */

import { LRUCache } from 'lru-cache'

export interface ReadCacheOptions<Key, Value> {
  recordsMax: number
  read: (key: Key) => Promise<Value | undefined>
  /** Holds for a while that there is nothing; without it, each call reads again. */
  absent?: { keysMax: number; lifetimeMs: number; nowMs: () => number }
}

export interface ReadCache<Key, Value> {
  /** What is held in memory. */
  peek(key: Key): Value | undefined
  get(key: Key): Promise<Value | undefined>
  /** A read that is under way may have seen the record of before, so its result is not kept either. */
  forget(key: Key): void
}

export function createReadCache<Key extends string | number, Value extends object>(
  options: ReadCacheOptions<Key, Value>,
): ReadCache<Key, Value> {
  const { recordsMax, read, absent } = options
  // Bounded by size, one for each: bounded by number, it would take the memory for all of them at once.
  const records = new LRUCache<Key, Value>({ maxSize: recordsMax, sizeCalculation: () => 1 })
  const reads = new Map<Key, Promise<Value | undefined>>()
  /** By key, the time until which it counts. Apart from the records, so that made-up keys push none of them out. */
  const absentUntilMs = absent && new LRUCache<Key, number>({ max: absent.keysMax })

  async function readNow(key: Key): Promise<Value | undefined> {
    const reading = read(key)
    reads.set(key, reading)
    try {
      const value = await reading
      if (reads.get(key) === reading) keep(key, value)
      return value
    } finally {
      if (reads.get(key) === reading) reads.delete(key)
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
      return await (reads.get(key) ?? readNow(key))
    },
    forget(key) {
      records.delete(key)
      reads.delete(key)
      absentUntilMs?.delete(key)
    },
  }
}
