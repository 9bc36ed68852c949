/** Ends the epoch of nodes: a service alone on the database invalidates the memory of earlier nodes. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** Upper bound of NODE_LEASE_SECONDS. */
const leaseMsMax = 60_000

/**
 * Call it while the database lock is held exclusively. A node frozen or cut off meanwhile would find no change in the feed, since
 * a service without nodes writes no rows to it. The new epoch makes it start again. It may still admit users until its lease
 * ends, so this waits for that.
 */
export async function endNodeEpoch(database: Pick<pg.ClientBase, 'query'>): Promise<void> {
  await database.query('UPDATE feed_head SET epoch = gen_random_uuid() WHERE seq > 0 OR EXISTS (SELECT FROM nodes)')
  const { rows } = await database.query<{ ms: number | null }>(
    "SELECT date_part('epoch', max(expires_at) - clock_timestamp()) * 1000 AS ms FROM nodes",
  )
  const leftMs = Math.min(rows[0]?.ms ?? 0, leaseMsMax)
  // A timer drops the fraction of a millisecond, and may fire one millisecond early.
  if (leftMs > 0) await sleep(Math.ceil(leftMs) + 1)
}
