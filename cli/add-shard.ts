/** Adds a shard: looks at its QuestDB, makes its topics, and then commits the epoch in which it has readings. */

import { addEpoch, epochsMax, readPlacement } from '../ingest/kafka/placement-rows.ts'
import { prepareTopic } from '../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import { bucketsOf, shardCountOf, withAddedShard } from '../placement/added-shard.ts'
import { epochAheadMs, nextEpochUs } from '../placement/next-epoch.ts'
import type { Epoch, Placement } from '../placement/placement.ts'
import type { Config } from '../settings/config.ts'
import { parseQuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import { readingsTable } from '../store/tables.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { tryQuestdb } from './doctor-databases.ts'
import { refuseWeak, withKafka } from './kafka.ts'
import { withPostgres } from './with-postgres.ts'

interface AddedShard {
  shard: number
  /** The day. */
  from: string
  buckets: number
  topics: string[]
}

const dayUs = 86_400_000_000
const askTimeoutMs = 10_000

/** `fromUs`: the start of a UTC day. */
export async function addShard(context: CommandContext, fromUs: number | undefined): Promise<AddedShard> {
  const config = context.readSettings()
  return await withPostgres(config, async client => {
    const shard = shardCountOf(await readPlacement(client)) + 1
    await checkQuestdb(config, shard)
    const topics = await makeTopics(context, shard)
    await client.query('BEGIN')
    const epoch = await addEpoch(client, placement => nextEpoch(placement, { config, shard, fromUs }))
    await client.query('COMMIT')
    return { shard, from: dayText(epoch.fromUs), buckets: bucketsOf(epoch.shards, shard)[shard - 1] ?? 0, topics }
  })
}

async function checkQuestdb({ QUESTDB_SHARDS = [] }: Config, shard: number): Promise<void> {
  const setting = QUESTDB_SHARDS[shard - 2]
  if (setting === undefined) {
    throw new CommandError(`QUESTDB_SHARDS does not name shard ${shard}, which is the next one: add its QuestDB there`)
  }
  const { ok, finding } = await tryQuestdb(setting.http, setting.pg, 'QUESTDB_SHARDS')
  if (!ok) throw new CommandError(`shard ${shard}: ${finding}`)
  const client = createQuestdbClient(parseQuestdbAddress(setting.http, setting.pg).http)
  try {
    const isThere = `SELECT count() FROM tables() WHERE table_name = '${readingsTable}'`
    if (Number((await client.exec(isThere, askTimeoutMs))[0]?.[0]) === 0) return
    const [row] = await client.exec(`SELECT count() FROM ${readingsTable}`, askTimeoutMs)
    if (Number(row?.[0]) === 0) return
  } finally {
    client.close()
  }
  throw new CommandError(`shard ${shard}: its QuestDB has readings, and those of a new shard would be among them`)
}

async function makeTopics(context: CommandContext, shard: number): Promise<string[]> {
  return await withKafka(context, async (kafka, { requirements, topicPrefix }) => {
    const topics = Object.values(topicsOf(topicPrefix, shard))
    const prepared = []
    for (const topic of topics) prepared.push(await prepareTopic(kafka.admin, topic, { requirements, apply: false }))
    refuseWeak(prepared)
    return topics
  })
}

interface Wanted {
  config: Config
  shard: number
  fromUs: number | undefined
}

function nextEpoch(placement: Placement, { config, shard, fromUs }: Wanted): Epoch {
  const last = placement.at(-1)
  if (last === undefined || shardCountOf(placement) !== shard - 1) {
    throw new CommandError(`shard ${shard} was added meanwhile`)
  }
  if (placement.length > epochsMax) throw new CommandError(`there are ${epochsMax} epochs, which is the most`)
  const aheadMs = epochAheadMs + 1000 * (config.TIMESTAMP_AHEAD_SECONDS + config.NODE_LEASE_SECONDS)
  const firstUs = Math.max(nextEpochUs(Date.now() * 1000, aheadMs * 1000), last.fromUs + dayUs)
  if (fromUs !== undefined && fromUs < firstUs) {
    throw new CommandError(
      `${dayText(fromUs)} is too early: all processes have to know of it; the first day is ${dayText(firstUs)}`,
    )
  }
  return { fromUs: fromUs ?? firstUs, shards: withAddedShard(last.shards, shard - 1) }
}

/** Of a moment, UTC. */
export function dayText(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString().slice(0, 10)
}
