/** Runs a query in a pool unless none of its shards answers; it fails where it comes to read one that does not. */

import type { Pool, PoolResult, QueriesOf } from '../pool.ts'
import type { AnsweringShards, NeededShards, ShardAway } from './answering-shards.ts'

interface On<Queries extends QueriesOf<Queries>, Result> {
  readonly pool: Pool<Queries, Result>
  readonly answering: AnsweringShards
}

export async function runOnShards<Queries extends QueriesOf<Queries>, Result, Name extends keyof Queries & string>(
  { pool, answering }: On<Queries, Result>,
  name: Name,
  query: Queries[Name],
  needed: NeededShards,
  signal: AbortSignal,
  sinceMs?: number,
): Promise<PoolResult<Result> | ShardAway> {
  const known = answering.awayAmong(needed)
  const away = known instanceof Promise ? await known : known
  if (away.length > 0 && away.length === needed.shards.length) return answering.failure(away[0])
  return await pool.run(name, away.length === 0 ? query : { ...query, away }, signal, sinceMs)
}
