/** How many groups of readings wait in the topics of the shards. */

import { firstOffset } from '../ingest/kafka/shard-state.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import type { CommandContext } from './command-context.ts'
import { withKafka } from './kafka.ts'
import { withPostgres } from './with-postgres.ts'

/** By the shard's number less 1. */
export async function shardLags(context: CommandContext, count: number): Promise<(number | null)[]> {
  const firsts = await withPostgres(context.readSettings(), async client => {
    const { rows } = await client.query<{ topic: string; first: number | null }>(
      `SELECT topic, (${firstOffset})::float8 AS first FROM shard_topics`,
    )
    return new Map(rows.map(row => [row.topic, row.first]))
  })
  return await withKafka(context, async (kafka, { topicPrefix }) => {
    const lags: (number | null)[] = []
    for (let shard = 1; shard <= count; shard++) {
      const { readings } = topicsOf(topicPrefix, shard)
      const partition = await kafka.partition(readings)
      const { start, end } = await partition.offsets().finally(() => partition.close())
      lags.push(Math.max(0, end - Math.max(start, firsts.get(readings) ?? start)))
    }
    return lags
  })
}
