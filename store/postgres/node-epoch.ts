/** What ends with a service that has the database to itself: what nodes from before hold in memory. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** NODE_LEASE_SECONDS is no longer. */
const leaseMsMax = 60_000

/**
 * To be called while the lock of the database is held exclusively. A node that was frozen or cut off meanwhile would find no
 * change in the feed, for without nodes there are no rows in it: by another epoch it finds that it has to start again. Until its
 * lease is over, it may still let somebody in, so that is waited for.
 */
export async function endNodeEpoch(database: Pick<pg.ClientBase, 'query'>): Promise<void> {
  // Restored from a backup of an earlier version, the table is made by a later migration.
  const { rows } = await database.query<{ there: boolean }>("SELECT to_regclass('feed_head') IS NOT NULL AS there")
  if (rows[0]?.there !== true) return
  await database.query('UPDATE feed_head SET epoch = gen_random_uuid() WHERE seq > 0 OR EXISTS (SELECT FROM nodes)')
  const { rows: leases } = await database.query<{ ms: number | null }>(
    "SELECT date_part('epoch', max(expires_at) - clock_timestamp()) * 1000 AS ms FROM nodes",
  )
  const leftMs = Math.min(leases[0]?.ms ?? 0, leaseMsMax)
  // A timer drops the fraction of the millisecond, and may fire one early.
  if (leftMs > 0) await sleep(Math.ceil(leftMs) + 1)
}
