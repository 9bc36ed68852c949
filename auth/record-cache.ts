/**
 * Records of PostgreSQL that decide who comes in, read once and then held in memory. A change is committed there first
 * and forgotten here before its call is answered, so that after the answer nobody comes in by the old record. While it
 * is unknown what came of a change, its record cannot be read at all.
 */

import { bug } from '../store/limits/bug.ts'
import { OutcomeUnknown } from '../store/postgres/postgres-errors.ts'
import { createReadCache } from './read-cache.ts'

export interface RecordCacheOptions<Key, Value extends object> {
  recordsMax: number
  read: (key: Key) => Promise<Value | undefined>
  /** Whether a transaction has ended, one way or the other. */
  hasEnded: (transaction: string) => Promise<boolean>
  /** False where what is in memory may be older than what others have answered. */
  isCurrent?: () => boolean
}

export interface RecordCache<Key, Value> {
  /** What is held in memory, and so holds at this moment. */
  peek(key: Key): Value | undefined
  /** Rejects with LeaseExpired. */
  get(key: Key): Promise<Value | undefined>
  /** It was changed elsewhere: it is read again. */
  forget(key: Key): void
  /**
   * Makes a change of this record in PostgreSQL. When `work` rejects with anything but OutcomeUnknown, as `inTransaction`
   * does, nothing was changed, and the record stays in memory.
   */
  change<Result>(key: Key, work: () => Promise<Result>): Promise<Result>
}

/** Beyond this, a change is refused: each waits for a PostgreSQL that does not say what came of it. */
const changesInDoubtMax = 10_000

/** PostgreSQL has not confirmed a change, and cannot be asked about it at present. */
export class ChangeInDoubt extends Error {}

/** This node does not know at present what others have changed. */
export class LeaseExpired extends ChangeInDoubt {
  constructor() {
    super('the lease of this node has expired')
  }
}

export function createRecordCache<Key extends string | number, Value extends object>(
  options: RecordCacheOptions<Key, Value>,
): RecordCache<Key, Value> {
  const { recordsMax, read, hasEnded, isCurrent = () => true } = options
  /** Transactions whose outcome is unknown. */
  const inDoubt = new Map<Key, Set<string>>()
  const records = createReadCache<Key, Value>({
    recordsMax,
    async read(key) {
      await settleAll(key)
      return await read(key)
    },
  })

  async function settleAll(key: Key): Promise<void> {
    // Again: while one was asked about, the outcome of another may have become unknown.
    while (inDoubt.has(key)) await settle(key)
  }

  async function settle(key: Key): Promise<void> {
    const transactions = inDoubt.get(key)
    if (transactions === undefined) return
    for (const transaction of [...transactions]) {
      if (!(await hasEnded(transaction))) throw new ChangeInDoubt('a change of the record is not confirmed')
      transactions.delete(transaction)
    }
    // Whoever asked at the same time may have come first, and another change be in doubt since.
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
