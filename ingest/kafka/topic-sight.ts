/** One look at a topic: what waits in it for QuestDB and since when, and whether it promises what it has to. */

import { TopicMissing } from './kafka-errors.ts'
import { describeTopic, type TopicDescription, type TopicSource } from './topic-description.ts'
import { differenceText, topicDifferences } from './topic-differences.ts'
import type { TopicPartition } from './topic-partition.ts'
import { retentionMsOf, type TopicRequirements } from './topic-settings.ts'

export interface TopicSources {
  topic: string
  admin: TopicSource
  partition: Pick<TopicPartition, 'offsets' | 'fetch'>
  /** Everything before it is in QuestDB; undefined while nothing is known to be. */
  appliedOffset: () => Promise<number | undefined>
  /** Replicas to which no process forwards, by name. */
  unforwarded: () => Promise<readonly number[]>
  requirements: TopicRequirements
}

export interface TopicSight {
  /** Offset of the first record that Kafka has, and that of the next one to come. */
  start: number
  end: number
  /** Everything before this offset is in QuestDB. */
  applied: number
  /** When the oldest record came that is not in QuestDB, epoch milliseconds; undefined when none waits. */
  oldestMs: number | undefined
  unforwarded: readonly number[]
  replicas: number
  inSync: number
  /** Infinity when Kafka deletes nothing. */
  retentionMs: number
  /** What makes it promise less, as clauses. */
  weaknesses: string[]
}

/** `before` is what was seen the last time. Throws as the requests do. */
export async function lookAtTopic(sources: TopicSources, before: TopicSight | undefined): Promise<TopicSight> {
  const { topic, admin, partition, appliedOffset, unforwarded, requirements } = sources
  // This offset is asked for first, for then it is never ahead of the others.
  const applied = await appliedOffset()
  const described = await describeTopic(admin, topic)
  if (described === undefined) throw new TopicMissing(`there is no topic ${topic}`)
  const { start, end } = await partition.offsets()
  const waiting = { start, end, applied: applied ?? start }
  return {
    ...waiting,
    unforwarded: await unforwarded(),
    ...replicasOf(described),
    oldestMs: await oldestOf(partition, waiting, before),
    retentionMs: retentionMsOf(described.settings) ?? requirements.retentionMs,
    weaknesses: topicDifferences(described, requirements)
      .filter(({ isRequired }) => isRequired)
      .map(differenceText),
  }
}

type Waiting = Pick<TopicSight, 'start' | 'end' | 'applied'>

/** Kafka may have deleted some of those that waited. */
function oldestOffsetOf({ start, applied }: Waiting): number {
  return Math.max(start, applied)
}

/** The time that Kafka gave to the oldest record that waits. */
async function oldestOf(
  partition: TopicSources['partition'],
  waiting: Waiting,
  before: TopicSight | undefined,
): Promise<number | undefined> {
  const oldest = oldestOffsetOf(waiting)
  if (oldest >= waiting.end) return undefined
  // A record of some megabytes is not read over and over while the forwarder stands still.
  if (before?.oldestMs !== undefined && oldestOffsetOf(before) === oldest) return before.oldestMs
  const { records } = await partition.fetch(oldest, 1, 0)
  return records[0]?.appendedMs
}

/** A topic has one partition; of one with more, which is a weakness, the worst one counts. */
function replicasOf({ partitions }: TopicDescription): Pick<TopicSight, 'replicas' | 'inSync'> {
  const missing = partitions.map(({ replicas, inSync }) => replicas.length - inSync.length)
  const worst = partitions[missing.indexOf(Math.max(...missing))]
  return { replicas: worst?.replicas.length ?? 0, inSync: worst?.inSync.length ?? 0 }
}
