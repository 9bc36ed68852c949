/** Adds a shard: looks at its QuestDB, makes its topics, and then commits the epoch in which it has readings. */

import type pg from 'pg'
import { addEpoch, epochsMax, readPlacement } from '../ingest/kafka/placement-rows.ts'
import { prepareTopic } from '../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import { bucketsOf, shardCountOf, withAddedShard } from '../placement/added-shard.ts'
import { epochAheadMs, nextEpochUs } from '../placement/next-epoch.ts'
import type { Epoch, Placement } from '../placement/placement.ts'
import type { Config } from '../settings/config.ts'
import { nodeLeaseSecondsMax, timestampAheadSecondsMax } from '../settings/settings.ts'
import { parseQuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { tryQuestdb } from './doctor-databases.ts'
import { refuseWeak, withKafka } from './kafka.ts'
import { assertNoReadings, beforeStart, hasReadings } from './shard-from-start.ts'
import { withPostgres } from './with-postgres.ts'

interface AddedShard {
  shard: number
  /** The day. */
  from: string
  buckets: number
  topics: string[]
}

const dayUs = 86_400_000_000

/** `from`: the start of a UTC day in microseconds, or `start` for a service that has no readings yet and does not run. */
export async function addShard(context: CommandContext, from: number | 'start' | undefined): Promise<AddedShard> {
  return await withPostgres(context.readSettings(), async client => {
    const work = () => add(context, client, from)
    return from === 'start' ? await beforeStart(context, client, work) : await work()
  })
}

async function add(
  context: CommandContext,
  client: pg.Client,
  from: number | 'start' | undefined,
): Promise<AddedShard> {
  const shard = shardCountOf(await readPlacement(client)) + 1
  await checkQuestdb(context.readSettings(), shard)
  if (from === 'start') await assertNoReadings(context, shard - 1)
  const topics = await makeTopics(context, shard)
  await client.query('BEGIN')
  const epoch = await addEpoch(client, placement => nextEpoch(placement, shard, from))
  await client.query('COMMIT')
  return { shard, from: dayText(epoch.fromUs), buckets: bucketsOf(epoch.shards, shard)[shard - 1] ?? 0, topics }
}

async function checkQuestdb({ QUESTDB_SHARDS = [] }: Config, shard: number): Promise<void> {
  const setting = QUESTDB_SHARDS[shard - 2]
  if (setting === undefined) {
    throw new CommandError(`QUESTDB_SHARDS does not name shard ${shard}, which is the next one: add its QuestDB there`)
  }
  const { ok, finding } = await tryQuestdb(setting.http, setting.pg, 'QUESTDB_SHARDS')
  if (!ok) throw new CommandError(`shard ${shard}: ${finding}`)
  if (!(await hasReadings(parseQuestdbAddress(setting.http, setting.pg)))) return
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

/** No reading may have an earlier time (ingest/reading.ts). */
const earliestUs = Date.UTC(2000, 0, 1) * 1000

function nextEpoch(placement: Placement, shard: number, from: number | 'start' | undefined): Epoch {
  const last = placement.at(-1)
  if (last === undefined || shardCountOf(placement) !== shard - 1) {
    throw new CommandError(`shard ${shard} was added meanwhile`)
  }
  if (placement.length > epochsMax) throw new CommandError(`there are ${epochsMax} epochs, which is the most`)
  const shards = withAddedShard(last.shards, shard - 1)
  if (from === 'start') {
    const fromUs = Math.max(dayUs, last.fromUs + dayUs)
    if (fromUs <= earliestUs) return { fromUs, shards }
    throw new CommandError('there is an epoch that begins later: use --from with a day to come')
  }
  const firstUs = Math.max(firstDayUs(Date.now()), last.fromUs + dayUs)
  if (from !== undefined && from < firstUs) {
    throw new CommandError(
      `${dayText(from)} is too early: all processes have to know of it; the first day is ${dayText(firstUs)}`,
    )
  }
  return { fromUs: from ?? firstUs, shards }
}

/**
 * The first day on which a new shard may have readings, microseconds. With what the settings allow at most: those of this command
 * need not be those of the processes, and a reading of that day which a process had taken before would stay on another shard.
 */
export function firstDayUs(nowMs: number): number {
  const aheadMs = epochAheadMs + 1000 * (timestampAheadSecondsMax + nodeLeaseSecondsMax)
  return nextEpochUs(nowMs * 1000, aheadMs * 1000)
}

/** Of a moment, UTC. */
export function dayText(timeUs: number): string {
  return new Date(timeUs / 1000).toISOString().slice(0, 10)
}
