/** The shards as `barograph shards list` shows them. */

import { readPlacement } from '../ingest/kafka/placement-rows.ts'
import { readShardHolders } from '../ingest/kafka/shard-holder.ts'
import { bucketsOf, shardCountOf } from '../placement/added-shard.ts'
import type { Placement } from '../placement/placement.ts'
import { parseQuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { dayText } from './add-shard.ts'
import type { CommandContext } from './command-context.ts'
import { shardLags } from './shard-lags.ts'
import { withPostgres } from './with-postgres.ts'

interface Share {
  shard: number
  /** Of 4096. */
  buckets: number
  /** The next epoch, and what it has then. */
  next: { from: string; buckets: number } | null
}

interface ShownShard extends Share {
  questdb: string | null
  forwarder: string | null
  lag_groups: number | null
}

export async function listShards(context: CommandContext): Promise<ShownShard[]> {
  const config = context.readSettings()
  const [placement, holders] = await withPostgres(config, async client => {
    return [await readPlacement(client), await readShardHolders(client)] as const
  })
  const lags = await shardLags(context, shardCountOf(placement))
  const { QUESTDB_HTTP: http, QUESTDB_PG: pg, QUESTDB_SHARDS = [] } = config
  const addresses = [{ http, pg }, ...QUESTDB_SHARDS].map(addressText)
  return sharesOf(placement, Date.now() * 1000).map(share => ({
    ...share,
    questdb: addresses[share.shard - 1] ?? null,
    forwarder: holders.get(`s${share.shard}`) ?? null,
    lag_groups: lags[share.shard - 1] ?? null,
  }))
}

function sharesOf(placement: Placement, nowUs: number): Share[] {
  const count = shardCountOf(placement)
  const now = placement.findLast(({ fromUs }) => fromUs <= nowUs)
  const next = placement.find(({ fromUs }) => fromUs > nowUs)
  const [before, after] = [now, next].map(epoch => epoch && bucketsOf(epoch.shards, count))
  return Array.from({ length: count }, (_, at) => ({
    shard: at + 1,
    buckets: before?.[at] ?? 0,
    next: next === undefined ? null : { from: dayText(next.fromUs), buckets: after?.[at] ?? 0 },
  }))
}

function addressText({ http, pg }: { http: string | undefined; pg: string | undefined }): string {
  const { host, port } = parseQuestdbAddress(http, pg).http
  return `${host}:${port}`
}

const header = ['shard', 'QuestDB', 'buckets', 'next', 'groups that wait', 'forwarder']

export function shardsTable(shown: readonly ShownShard[]): string[][] {
  return [header, ...shown.map(rowOf)]
}

function rowOf({ shard, questdb, buckets, next, lag_groups, forwarder }: ShownShard): string[] {
  const then = next === null ? '-' : `${next.buckets} from ${next.from}`
  return [
    String(shard),
    questdb ?? 'not in QUESTDB_SHARDS',
    String(buckets),
    then,
    String(lag_groups ?? '-'),
    forwarder ?? '-',
  ]
}
