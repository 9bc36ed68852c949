/**
 * Caches records of PostgreSQL that decide about access. A change commits and evicts the record before its call
 * returns, so that later requests see the new record. While the outcome of a change is unknown, its record cannot be
 * read.
 */

import { bug } from '../store/limits/bug.ts'
import { OutcomeUnknown } from '../store/postgres/postgres-errors.ts'
import { createReadCache } from './read-cache.ts'

export interface RecordCacheOptions<Key, Value extends object> {
  recordsMax: number
  read: (key: Key) => Promise<Value | undefined>
  /** True if a transaction has ended, committed or not. */
  hasEnded: (transaction: string) => Promise<boolean>
  /** False while memory may be older than answers of other nodes. */
  isCurrent?: () => boolean
}

export interface RecordCache<Key, Value> {
  /** Cached record, which is valid now. */
  peek(key: Key): Value | undefined
  /** Rejects with LeaseExpired. */
  get(key: Key): Promise<Value | undefined>
  /** Evicts a record that another node has changed. */
  forget(key: Key): void
  /**
   * Changes this record in PostgreSQL. If `work` rejects with an error other than OutcomeUnknown, as `inTransaction`
   * does, nothing was changed and the record stays cached.
   */
  change<Result>(key: Key, work: () => Promise<Result>): Promise<Result>
}

/** Beyond it, changes are refused: each waits for PostgreSQL to report its outcome. */
const changesInDoubtMax = 10_000

/** PostgreSQL has not confirmed a change and cannot be queried about it at present. */
export class ChangeInDoubt extends Error {}

/** This node may lack changes of others at present. */
export class LeaseExpired extends ChangeInDoubt {
  constructor() {
    super('the lease of this node has expired')
  }
}

export function createRecordCache<Key extends string | number, Value extends object>(
  options: RecordCacheOptions<Key, Value>,
): RecordCache<Key, Value> {
  const { recordsMax, read, hasEnded, isCurrent = () => true } = options
  const inDoubt = new Map<Key, Set<string>>()
  const records = createReadCache<Key, Value>({
    recordsMax,
    async read(key) {
      await settleAll(key)
      return await read(key)
    },
  })

  async function settleAll(key: Key): Promise<void> {
    // Repeated: the outcome of another change may have become unknown meanwhile.
    while (inDoubt.has(key)) await settle(key)
  }

  async function settle(key: Key): Promise<void> {
    const transactions = inDoubt.get(key)
    if (transactions === undefined) return
    for (const transaction of [...transactions]) {
      if (!(await hasEnded(transaction))) throw new ChangeInDoubt('a change of the record is not confirmed')
      transactions.delete(transaction)
    }
    // A concurrent caller may have settled it, and another change may be in doubt since.
    if (transactions.size === 0 && inDoubt.get(key) === transactions) inDoubt.delete(key)
  }

  function noteDoubt(key: Key, transaction: string): void {
    inDoubt.set(key, (inDoubt.get(key) ?? new Set()).add(transaction))
  }

  return {
    forget: records.forget,
    peek: key => (isCurrent() ? records.peek(key) : undefined),
    async get(key) {
      if (!isCurrent()) throw new LeaseExpired()
      const known = records.peek(key)
      if (known !== undefined) {
        if (inDoubt.size > 0 && inDoubt.has(key)) throw bug(`record ${key} is in memory, and a change of it in doubt`)
        return known
      }
      return await records.get(key)
    },
    async change(key, work) {
      await settleAll(key)
      if (inDoubt.size >= changesInDoubtMax) throw new ChangeInDoubt('too many changes are not confirmed')
      try {
        const result = await work()
        records.forget(key)
        return result
      } catch (error) {
        if (error instanceof OutcomeUnknown) {
          noteDoubt(key, error.transaction)
          records.forget(key)
        }
        throw error
      }
    },
  }
}
