/** Serializes changes of a registry that depend on memory: at this node by a mutex, across nodes by a lock. */

import type pg from 'pg'
import type { OpenTransaction, Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from './change-feed.ts'

export interface Turns {
  /** Runs exclusively. Memory has all changes of others, which are blocked until the end. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** The only transaction of a turn. Rejects as `inTransaction` does. */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
}

export interface TurnsOptions {
  feed: ChangeFeed
  /** Number of the advisory lock of all changes of the registry. */
  lock: string
  pool: pg.Pool
  stepMs: number
}

export function createTurns({ feed, ...options }: TurnsOptions): Turns {
  let begun: OpenTransaction | undefined
  return {
    async run(work) {
      const own = await feed.begin(options)
      begun = own
      try {
        return await work()
      } finally {
        begun = undefined
        await own?.rollback()
      }
    },
    transact: work => feed.commit({ ...options, begun }, work),
  }
}
