/** Changes of a registry that rest on what is in memory, one after the other: at this node by a mutex, across nodes by a lock. */

import type pg from 'pg'
import type { OpenTransaction, Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from './change-feed.ts'

export interface Turns {
  /** While no other turn is under way. Memory has all that others have changed, and nobody changes more until its end. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** The one transaction of a turn. Rejects as `inTransaction` does. */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
}

export interface TurnsOptions {
  feed: ChangeFeed
  /** The number of the advisory lock of all changes of the registry. */
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
