/** QUESTDB_SHARDS: the QuestDBs of the shards behind the first one, whose addresses are QUESTDB_HTTP and QUESTDB_PG. */

import { z } from 'zod'
import { databaseUrl } from './setting-values.ts'

/** As QUESTDB_HTTP and QUESTDB_PG are for shard 1. */
export interface ShardSetting {
  http: string
  pg: string
}

/** Of one service, with the first one: each process opens all of them. */
const shardsMax = 32
const http = databaseUrl(/^https?:$/, '')
const pg = databaseUrl(/^postgres(ql)?:$/, '')

/** The first one is that of shard 2, and none is left out. */
export const questdbShards = z
  .string()
  .transform(text => text.trim().split(/\s+/).map(readShard))
  .refine(
    shards => shards.length < shardsMax && shards.every((shard, at) => shard?.number === at + 2),
    'must name the QuestDBs of the shards from 2 on, such as 2=http://user:password@host:9000,postgresql://user:password@host:8812/qdb',
  )
  .transform(shards => shards.flatMap(shard => (shard === undefined ? [] : [{ http: shard.http, pg: shard.pg }])))

function readShard(text: string): (ShardSetting & { number: number }) | undefined {
  const at = text.indexOf('=')
  const number = Number(text.slice(0, Math.max(at, 0)))
  // An address may have a comma too.
  const comma = text.lastIndexOf(',postgres')
  const [httpUrl, pgUrl] = [text.slice(at + 1, Math.max(comma, 0)), text.slice(comma + 1)]
  const isValid = http.safeParse(httpUrl).success && pg.safeParse(pgUrl).success
  return isValid ? { number, http: httpUrl, pg: pgUrl } : undefined
}
