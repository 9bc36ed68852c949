/** Notifies other nodes of changed alerts. */

import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'

/** In a change of the feed. */
const idsMax = 1_000

export function noteAlerts(feed: ChangeFeed, transaction: Transaction, ids: readonly number[]): void {
  for (let from = 0; from < ids.length; from += idsMax) feed.note(transaction, 'alert', ids.slice(from, from + idsMax))
}
