/** The change feed of a node among others. */

import { beginTransaction, complete, inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import type { ChangeFeed } from './change-feed.ts'
import type { FeedReader } from './feed-reader.ts'
import { appendChanges, type Change } from './feed-rows.ts'
import { idleMsMaxOf, type Lease } from './lease.ts'

export interface SharedFeedOptions {
  lease: Pick<Lease, 'isValid' | 'leftMs' | 'term'>
  leaseMs: number
  reader: Pick<FeedReader, 'onChange'>
  /** Applies all that is committed. */
  catchUp: () => Promise<void>
  /** Resolves when every other node has applied all that is committed, or has no lease. */
  barrier: () => Promise<void>
}

export function createSharedFeed({ lease, leaseMs, reader, catchUp, barrier }: SharedFeedOptions): ChangeFeed {
  const noted = new WeakMap<Transaction, Change[]>()

  return {
    isCurrent: () => lease.isValid(),
    currentForMs: () => lease.leftMs(),
    term: () => lease.term(),
    note(transaction, kind, ids = []) {
      const changes = noted.get(transaction)
      if (changes === undefined) noted.set(transaction, [{ kind, ids }])
      else changes.push({ kind, ids })
    },
    async commit({ pool, begun, ...options }, work) {
      const workAndAppend = async (transaction: Transaction) => {
        const result = await work(transaction)
        const changes = noted.get(transaction) ?? []
        if (changes.length > 0) await appendChanges(transaction, changes, idleMsMaxOf(leaseMs))
        return result
      }
      return await (begun === undefined ? inTransaction(pool, options, workAndAppend) : complete(begun, workAndAppend))
    },
    async begin({ pool, ...options }) {
      const open = await beginTransaction(pool, options)
      try {
        // A node that is frozen meanwhile keeps the lock from the others for no longer.
        const text = "SELECT set_config('idle_in_transaction_session_timeout', $1, true)"
        await open.transaction.query(text, [String(leaseMs)])
        await catchUp()
        return open
      } catch (error) {
        open.abandon()
        throw error
      }
    },
    settle: barrier,
    onChange: reader.onChange,
  }
}
