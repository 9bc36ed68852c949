/**
 * What a topic has to be like, so that an acknowledgement means what docs/kafka.md says, and how the topic that the brokers have differs.
 * Values of settings are texts, as Kafka has them; a topic that promises more than is wanted is good enough.
 */

import { groupBodyMax, groupHeaderLength } from '../journal/group.ts'
import type { Partition } from './cluster.ts'
import { TopicMissing } from './kafka-errors.ts'
import type { TopicAdmin } from './topic-admin.ts'

export interface TopicDescription {
  name: string
  partitions: Partition[]
  /** Values in effect, by name: those of the topic, else the defaults of the brokers. */
  settings: ReadonlyMap<string, string | null>
}

export type TopicSource = Pick<TopicAdmin, 'partitions' | 'settings'>

/** Undefined when there is no such topic. Throws `KafkaAway` and `Refused`. */
export async function describeTopic(admin: TopicSource, name: string): Promise<TopicDescription | undefined> {
  const partitions = await admin.partitions(name)
  if (partitions === undefined) return undefined
  try {
    return { name, partitions, settings: await admin.settings(name) }
  } catch (error) {
    // Deleted meanwhile, or made so lately that not all brokers have heard of it.
    if (error instanceof TopicMissing) return undefined
    throw error
  }
}

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

export interface TopicRequirements {
  /** Number of brokers that a topic is on. */
  replication: number
  /** How long records are kept at least, milliseconds. */
  retentionMs: number
}

/** One partition has all records of a topic in one order, and a number for each. */
export const partitionCount = 1

const minInSyncName = 'min.insync.replicas'

/** A batch of one record has 61 bytes of header, and the record some 20 of its own. */
const batchBytesMin = groupHeaderLength + groupBodyMax + 128
const batchBytesWanted = 4.5 * 1024 ** 2
const segmentBytes = 1024 ** 3

export interface TopicSetting {
  name: string
  wanted: string
  isEnough: (value: string) => boolean
  /** Without it less is promised, or nothing can be written: the service refuses to start. */
  isRequired: boolean
  /** Whether it can be set on a topic with records and none of them goes for that. */
  isSafe: boolean
}

export function topicSettings({ replication, retentionMs }: TopicRequirements): TopicSetting[] {
  // A segment is deleted as a whole, so records stay for up to an eighth longer than they have to.
  const segmentMs = Math.round(retentionMs / 8)
  return [
    exactly('cleanup.policy', 'delete', { isSafe: false }),
    exactly('message.timestamp.type', 'LogAppendTime'),
    exactly('unclean.leader.election.enable', 'false'),
    atLeast(minInSyncName, minInSync(replication)),
    atLeast('max.message.bytes', batchBytesWanted, batchBytesMin),
    {
      ...exactly('retention.ms', String(retentionMs)),
      isEnough: value => value === '-1' || Number(value) >= retentionMs,
    },
    exactly('retention.bytes', '-1'),
    atMost('segment.ms', segmentMs),
    atMost('segment.bytes', segmentBytes),
    {
      ...exactly('compression.type', 'producer'),
      isEnough: value => value === 'producer' || value === 'uncompressed',
      isRequired: false,
    },
  ]
}

/** Brokers that have to have a record before it is acknowledged. */
function minInSync(replication: number): number {
  return Math.min(2, replication)
}

/** How long the topic keeps records, milliseconds; Infinity where it keeps them for ever. */
export function retentionMsOf(settings: ReadonlyMap<string, string | null>): number | undefined {
  const value = settings.get('retention.ms')
  if (value === undefined || value === null) return undefined
  return value === '-1' ? Number.POSITIVE_INFINITY : Number(value)
}

function exactly(name: string, wanted: string, differences: Partial<TopicSetting> = {}): TopicSetting {
  return { name, wanted, isEnough: value => value === wanted, isRequired: true, isSafe: true, ...differences }
}

function atLeast(name: string, wanted: number, min = wanted): TopicSetting {
  return { ...exactly(name, String(wanted)), isEnough: value => Number(value) >= min }
}

function atMost(name: string, wanted: number): TopicSetting {
  return { ...exactly(name, String(wanted)), isEnough: value => Number(value) <= wanted, isRequired: false }
}
