/** How many groups of readings wait in the topics of the shards. */

import { appliedOffsetSql } from '../ingest/kafka/applied-offset.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import type { CommandContext } from './command-context.ts'
import { withKafka } from './kafka.ts'
import { withPostgres } from './with-postgres.ts'

/** By the shard's number less 1. */
export async function shardLags(context: CommandContext, count: number): Promise<(number | null)[]> {
  const applied = await withPostgres(context.readSettings(), async client => {
    const { rows } = await client.query<{ topic: string; applied: number | null }>(
      `SELECT topic, (${appliedOffsetSql})::float8 AS applied FROM shard_topics`,
    )
    return new Map(rows.map(row => [row.topic, row.applied]))
  })
  return await withKafka(context, async (kafka, { topicPrefix }) => {
    const lags: (number | null)[] = []
    for (let shard = 1; shard <= count; shard++) {
      const { readings } = topicsOf(topicPrefix, shard)
      const partition = await kafka.partition(readings)
      const { start, end } = await partition.offsets().finally(() => partition.close())
      lags.push(Math.max(0, end - Math.max(start, applied.get(readings) ?? start)))
    }
    return lags
  })
}
