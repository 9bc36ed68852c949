/** Who forwards a shard, for who looks after it. */

import type { Transaction } from '../../store/postgres/transaction.ts'

export interface ShardHolder {
  /** The host and the process; undefined where the shard was given back. One that was killed stays until another one has it. */
  holder: string | undefined
  takenMs: number | undefined
}

/** Undefined before a process has had the shard. */
export async function readShardHolder(database: Transaction): Promise<ShardHolder | undefined> {
  const { rows } = await database.query<{ holder: string | null; taken_at: Date | null }>(
    'SELECT holder, taken_at FROM shards ORDER BY number LIMIT 1',
  )
  const [row] = rows
  return row && { holder: row.holder ?? undefined, takenMs: row.taken_at?.getTime() }
}
