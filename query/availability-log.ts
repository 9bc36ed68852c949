/** Logs when QuestDB stops answering queries and when it answers again, and nothing in between; of each shard for itself. */

import type { Log } from '../store/log.ts'
import type { PoolResult } from './pool.ts'
import { namedShard, shardIn } from './query-failed.ts'
import type { NeededShards } from './shards/answering-shards.ts'

/** Takes every result, of whichever pool. */
export type AvailabilityLog = (result: PoolResult<unknown>, needed?: NeededShards) => void

type Failure = Extract<PoolResult<unknown>, { readonly ok: false }>

const onlyShard: NeededShards = { shards: [1], isEachRead: true }

export function createAvailabilityLog(log: Pick<Log, 'info' | 'warn'>): AvailabilityLog {
  /** With the name that was logged, if it has one. */
  const away = new Map<number, number | undefined>()

  function isBack(key: number): void {
    if (!away.has(key)) return
    const shard = away.get(key)
    away.delete(key)
    if (shard === undefined) log.info('QuestDB answers queries again')
    else log.info({ shard }, 'QuestDB answers queries again')
  }

  function isAway(key: number, { code, reason }: Failure, shard: number | undefined): void {
    if (!away.has(key)) log.warn({ code, reason, ...namedShard(shard) }, 'query failed: QuestDB unavailable')
    away.set(key, shard)
  }

  return (result, { shards, isEachRead } = onlyShard) => {
    if (result.ok) return isEachRead ? shards.forEach(isBack) : undefined
    if (result.code !== 'DATABASE_AWAY' && result.code !== 'TIMED_OUT') return
    const shard = shardIn(result)
    isAway(shard ?? shards[0] ?? 1, result, shard)
  }
}
