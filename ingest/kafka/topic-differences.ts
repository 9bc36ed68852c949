/** How a topic differs from what it has to be like. */

import type { TopicDescription } from './topic-description.ts'
import {
  minInSyncName,
  partitionCount,
  type TopicRequirements,
  type TopicSetting,
  topicSettings,
} from './topic-settings.ts'

export interface TopicDifference {
  topic: string
  /** The setting, or `partitions` or `replicas`, which are none. */
  name: string
  value: string
  wanted: string
  isRequired: boolean
  /** Why `barograph kafka prepare --apply` leaves it, in a clause; undefined where it is changed. */
  obstacle?: string
}

export function topicDifferences(topic: TopicDescription, requirements: TopicRequirements): TopicDifference[] {
  return [...layoutDifferences(topic, requirements), ...settingDifferences(topic, requirements)]
}

/** A clause, without the topic. */
export function differenceText({ name, value, wanted }: TopicDifference): string {
  return `${name} is ${value}, ${wanted} is needed`
}

function layoutDifferences(
  { name: topic, partitions }: TopicDescription,
  { replication }: TopicRequirements,
): TopicDifference[] {
  const differences: TopicDifference[] = []
  if (partitions.length !== partitionCount) {
    differences.push({
      topic,
      name: 'partitions',
      value: String(partitions.length),
      wanted: String(partitionCount),
      isRequired: true,
      obstacle:
        'Kafka cannot take partitions away: delete the topic if nothing in it is needed, or set KAFKA_TOPIC_PREFIX',
    })
  }
  const replicas = replicasOf({ partitions })
  if (replicas < replication) {
    differences.push({
      topic,
      name: 'replicas',
      value: String(replicas),
      wanted: String(replication),
      isRequired: true,
      obstacle: 'they are added with kafka-reassign-partitions, or KAFKA_REPLICATION has to ask for fewer',
    })
  }
  return differences
}

function settingDifferences(topic: TopicDescription, requirements: TopicRequirements): TopicDifference[] {
  return topicSettings(requirements).flatMap(setting => {
    const value = topic.settings.get(setting.name) ?? 'unknown'
    if (setting.isEnough(value) && !isOutOfReach(setting.name, value, topic)) return []
    const { name, wanted, isRequired } = setting
    const obstacle = obstacleOf(setting, topic)
    return [{ topic: topic.name, name, value, wanted, isRequired, ...(obstacle === undefined ? {} : { obstacle }) }]
  })
}

function obstacleOf({ name, isSafe, wanted }: TopicSetting, topic: TopicDescription): string | undefined {
  if (!isSafe) return 'Kafka would delete records of it: it is a topic of another purpose, or has to be changed by hand'
  return isOutOfReach(name, wanted, topic) ? 'nothing could be written with so few replicas' : undefined
}

/** Nothing can be written while more replicas have to be in sync than there are. */
function isOutOfReach(name: string, value: string, topic: TopicDescription): boolean {
  return name === minInSyncName && Number(value) > replicasOf(topic)
}

/** Of the partition that has the fewest. */
function replicasOf({ partitions }: Pick<TopicDescription, 'partitions'>): number {
  return Math.min(...partitions.map(({ replicas }) => replicas.length))
}
