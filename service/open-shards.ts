/** The shards of a service: that of the settings QUESTDB_HTTP and QUESTDB_PG, and those of QUESTDB_SHARDS. */

import type { ShardForwarder } from '../ingest/kafka/shard-forwarder.ts'
import { createShardShare } from '../ingest/kafka/shard-share.ts'
import { bug } from '../limits/bug.ts'
import type { Config } from '../settings/config.ts'
import { openGivenQuestdb } from '../store/questdb/questdb.ts'
import type { Store } from '../store/store.ts'
import { openShard, type Shard, type ShardOptions, shardForwarder } from './open-shard.ts'

/** Of one shard. */
export interface ShardQuestdb {
  number: number
  questdb: Store['questdb']
}

export interface OpenShards {
  /** By number, from 1 on, and as many as `furtherQuestdbs` and one. */
  shards: readonly Shard[]
  /** From shard 2 on. */
  furtherQuestdbs: readonly ShardQuestdb[]
  close(): Promise<void>
}

/** Throws a StartError where Kafka cannot be reached or topics promise less than they should. */
export async function openShards(options: ShardOptions): Promise<OpenShards> {
  const opened: { close(): Promise<void> }[] = []
  const close = async () => void (await Promise.all(opened.map(part => part.close())))
  const shards: Shard[] = []
  try {
    for (let number = 1; number <= shardCountOf(options.config); number++) {
      const shard = await openShard(options, number)
      opened.push(shard)
      shards.push(shard)
    }
    const furtherQuestdbs = (options.config.QUESTDB_SHARDS ?? []).map(({ http, pg }, at) => {
      const number = at + 2
      const questdb = openGivenQuestdb({
        questdbHttp: http,
        questdbPg: pg,
        leavesHourlyView: true,
        log: options.log,
      })
      opened.push(questdb)
      return { number, questdb }
    })
    return { shards, furtherQuestdbs, close }
  } catch (error) {
    await close()
    throw error
  }
}

function shardCountOf({ QUESTDB_SHARDS = [] }: Pick<Config, 'QUESTDB_SHARDS'>): number {
  return 1 + QUESTDB_SHARDS.length
}

export interface ForwardedShard extends ShardForwarder {
  number: number
}

/** Takes those that it gets. */
export function forwardShards(
  options: ShardOptions,
  { shards, furtherQuestdbs }: Pick<OpenShards, 'shards' | 'furtherQuestdbs'>,
  questdb: Store['questdb'],
  seriesPairs: () => Promise<Uint32Array>,
): ForwardedShard[] {
  const share = shards.length > 1 ? createShardShare() : undefined
  const questdbs = [{ number: 1, questdb }, ...furtherQuestdbs]
  return shards.map((shard, at) => {
    const { number } = shard
    const own = questdbs[at]
    if (own?.number !== number) throw bug(`shard ${number} has no QuestDB`)
    return { number, ...shardForwarder(options, shard, { questdb: own.questdb, seriesPairs, share }) }
  })
}
