/**
 * Records of PostgreSQL that decide who comes in, read once and then held in memory. A change is committed there first
 * and forgotten here before its call is answered, so that after the answer nobody comes in by the old record. While it
 * is unknown what came of a change, its record cannot be read at all.
 */

import { LRUCache } from 'lru-cache'
import { OutcomeUnknown } from '../store/postgres/postgres-errors.ts'

export interface RecordCacheOptions<Key, Value extends object> {
  recordsMax: number
  read: (key: Key) => Promise<Value | undefined>
  /** Whether a transaction has ended, one way or the other. */
  hasEnded: (transaction: string) => Promise<boolean>
}

export interface RecordCache<Key, Value> {
  get(key: Key): Promise<Value | undefined>
  /** Makes a change of this record in PostgreSQL. */
  change<Result>(key: Key, work: () => Promise<Result>): Promise<Result>
}

/** Beyond this, a change is refused: each waits for a PostgreSQL that does not say what came of it. */
const changesInDoubtMax = 10_000

/** PostgreSQL has not confirmed a change, and cannot be asked about it at present. */
export class ChangeInDoubt extends Error {}

export function createRecordCache<Key extends string | number, Value extends object>(
  options: RecordCacheOptions<Key, Value>,
): RecordCache<Key, Value> {
  const { recordsMax, read, hasEnded } = options
  const records = new LRUCache<Key, Value>({ max: recordsMax })
  const reads = new Map<Key, Promise<Value | undefined>>()
  /** Transactions whose outcome is unknown. */
  const inDoubt = new Map<Key, Set<string>>()

  async function settle(key: Key): Promise<void> {
    const transactions = inDoubt.get(key)
    if (transactions === undefined) return
    for (const transaction of [...transactions]) {
      if (!(await hasEnded(transaction))) throw new ChangeInDoubt('a change of the record is not confirmed')
      transactions.delete(transaction)
    }
    if (transactions.size === 0) inDoubt.delete(key)
  }

  function noteDoubt(key: Key, transaction: string): void {
    inDoubt.set(key, (inDoubt.get(key) ?? new Set()).add(transaction))
  }

  /** A read that is under way may have seen the record of before, so its result is not kept either. */
  function forget(key: Key): void {
    records.delete(key)
    reads.delete(key)
  }

  async function readNow(key: Key): Promise<Value | undefined> {
    const reading = read(key)
    reads.set(key, reading)
    try {
      const value = await reading
      if (value !== undefined && reads.get(key) === reading) records.set(key, value)
      return value
    } finally {
      if (reads.get(key) === reading) reads.delete(key)
    }
  }

  return {
    async get(key) {
      const known = records.get(key)
      if (known !== undefined) return known
      if (inDoubt.size > 0) await settle(key)
      return await (reads.get(key) ?? readNow(key))
    },
    async change(key, work) {
      await settle(key)
      if (inDoubt.size >= changesInDoubtMax) throw new ChangeInDoubt('too many changes are not confirmed')
      try {
        return await work()
      } catch (error) {
        if (error instanceof OutcomeUnknown) noteDoubt(key, error.transaction)
        throw error
      } finally {
        forget(key)
      }
    },
  }
}
