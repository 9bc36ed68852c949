/** The placement of readings, as PostgreSQL has it. */

import { type Epoch, oneShard, type Placement } from '../../placement/placement.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'

/** That may be added: each is 4 KiB, and all of them stay in memory. */
export const epochsMax = 1000

/** All that were added, behind the first one, in which shard 1 has all. */
export async function readPlacement(database: Transaction): Promise<Placement> {
  const { rows } = await database.query<{ from_us: number; shards: Buffer }>(
    `SELECT from_us::float8 AS from_us, shards FROM shard_placements ORDER BY from_us LIMIT ${epochsMax}`,
  )
  return [...oneShard, ...rows.map(({ from_us, shards }) => ({ fromUs: from_us, shards: new Uint8Array(shards) }))]
}

/**
 * Adds the epoch that `next` makes of the placement, which nobody else changes meanwhile. It begins behind all others. To be called
 * in a transaction.
 */
export async function addEpoch(transaction: Transaction, next: (placement: Placement) => Epoch): Promise<Epoch> {
  await transaction.query('LOCK TABLE shard_placements IN SHARE ROW EXCLUSIVE MODE')
  const epoch = next(await readPlacement(transaction))
  await transaction.query('INSERT INTO shard_placements (from_us, shards) VALUES ($1, $2)', [
    epoch.fromUs,
    Buffer.from(epoch.shards),
  ])
  return epoch
}
