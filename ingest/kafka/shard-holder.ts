/** Who forwards a shard, for who looks after it. */

import type { Transaction } from '../../store/postgres/transaction.ts'

export interface ShardHolder {
  /** The host and the process; undefined where the shard was given back. One that was killed stays until another one has it. */
  holder: string | undefined
  takenMs: number | undefined
}

/** Of shard 1; undefined before a process has had it. */
export async function readShardHolder(database: Transaction): Promise<ShardHolder | undefined> {
  const { rows } = await database.query<{ holder: string | null; taken_at: Date | null }>(
    "SELECT holder, taken_at FROM shards WHERE name = 's1'",
  )
  const [row] = rows
  return row && { holder: row.holder ?? undefined, takenMs: row.taken_at?.getTime() }
}

/** By the name of the shard, those that a process has or had when it was killed. */
export async function readShardHolders(database: Transaction): Promise<ReadonlyMap<string, string>> {
  const { rows } = await database.query<{ name: string; holder: string }>(
    'SELECT name, holder FROM shards WHERE holder IS NOT NULL',
  )
  return new Map(rows.map(({ name, holder }) => [name, holder]))
}
