/**
 * The settings that a topic needs for the guarantees in docs/kafka.md, and how an existing topic differs. Values of settings are
 * texts, as in Kafka. A topic with stronger guarantees is accepted.
 */

import { groupBodyMax, groupHeaderLength } from '../../journal/group.ts'
import type { TopicAdmin } from './admin.ts'
import type { Partition } from './cluster.ts'
import { TopicMissing } from './errors.ts'

export interface TopicDescription {
  name: string
  partitions: Partition[]
  /** Effective values by name: the topic's, else the brokers' defaults. */
  settings: ReadonlyMap<string, string | null>
}

export type TopicSource = Pick<TopicAdmin, 'partitions' | 'settings'>

/** Undefined for a missing topic. Throws `KafkaAway` and `Refused`. */
export async function describeTopic(admin: TopicSource, name: string): Promise<TopicDescription | undefined> {
  const partitions = await admin.partitions(name)
  if (partitions === undefined) return undefined
  try {
    return { name, partitions, settings: await admin.settings(name) }
  } catch (error) {
    // The topic was deleted meanwhile, or created so recently that not all brokers know it.
    if (error instanceof TopicMissing) return undefined
    throw error
  }
}

export interface TopicDifference {
  topic: string
  /** The setting, or `partitions` or `replicas`, which are not settings of Kafka. */
  name: string
  value: string
  wanted: string
  isRequired: boolean
  /** A smaller value that a start accepts. */
  least?: number
  /** Reason why `barograph kafka prepare --apply` does not change it, as a clause. Undefined where it is changed. */
  obstacle?: string
}

export function topicDifferences(topic: TopicDescription, requirements: TopicRequirements): TopicDifference[] {
  return [...layoutDifferences(topic, requirements), ...settingDifferences(topic, requirements)]
}

/** A clause, without the topic. */
export function differenceText({ name, value, wanted, isRequired, least }: TopicDifference): string {
  const orLess = isRequired && least !== undefined ? `, or at least ${least} for the longest reading` : ''
  return `${name} is ${value}, ${wanted} is needed${orLess}`
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
    const { name, wanted, least } = setting
    const isRequired = setting.isRequired && !(least !== undefined && Number(value) >= least)
    const obstacle = obstacleOf(setting, topic)
    const more = { ...(least === undefined ? {} : { least }), ...(obstacle === undefined ? {} : { obstacle }) }
    return [{ topic: topic.name, name, value, wanted, isRequired, ...more }]
  })
}

function obstacleOf({ name, isSafe, wanted }: TopicSetting, topic: TopicDescription): string | undefined {
  if (!isSafe)
    return 'Kafka would delete records of it: it belongs to another application, or has to be changed by hand'
  return isOutOfReach(name, wanted, topic) ? 'nothing could be written with so few replicas' : undefined
}

/** Nothing can be written while more in-sync replicas are required than exist. */
function isOutOfReach(name: string, value: string, topic: TopicDescription): boolean {
  return name === minInSyncName && Number(value) > replicasOf(topic)
}

/** Replicas of the partition with the fewest. */
function replicasOf({ partitions }: Pick<TopicDescription, 'partitions'>): number {
  return Math.min(...partitions.map(({ replicas }) => replicas.length))
}

export interface TopicRequirements {
  /** Number of brokers with a copy of the topic. */
  replication: number
  /** Minimum retention of records, milliseconds. */
  retentionMs: number
  /** Groups in use need it as `max.message.bytes`. */
  messageBytes?: number | undefined
}

/** One partition has all records of a topic in one order, and a number for each. */
export const partitionCount = 1

const minInSyncName = 'min.insync.replicas'

export const messageBytesName = 'max.message.bytes'
/** A batch of one record has a header of 61 bytes, and the record itself some 20. */
const batchHeaderMax = 128
const batchBytesMin = messageBytesFor(groupHeaderLength + groupBodyMax)
const batchBytesWanted = 4.5 * 1024 ** 2
/** The length of a reading has 16 bits, and a quarter of a group may be bulk data. */
const batchBytesLeast = messageBytesFor(groupHeaderLength + 4 * 2 ** 16)

/** Compression adds less than a 200th, and 64 bytes, to a group that it cannot reduce. */
function messageBytesFor(groupBytes: number): number {
  return Math.ceil(groupBytes * 1.005) + 64 + batchHeaderMax
}

/** Maximum length of a group for this `max.message.bytes`. */
export function groupBytesFor(messageBytes: number): number {
  const bytes = Math.floor((messageBytes - 64 - batchHeaderMax) / 1.005)
  return Math.min(bytes, groupHeaderLength + groupBodyMax)
}
const segmentBytes = 1024 ** 3

export interface TopicSetting {
  name: string
  wanted: string
  isEnough: (value: string) => boolean
  /** A weaker value breaks a guarantee or prevents writes: the service refuses to start. */
  isRequired: boolean
  /** The service starts with a weaker value from here on. */
  least?: number
  /** True when it can be set on a topic without losing records. */
  isSafe: boolean
}

export function topicSettings({ replication, retentionMs, messageBytes }: TopicRequirements): TopicSetting[] {
  // A segment is deleted as a whole, so records stay up to an eighth longer than required.
  const segmentMs = Math.round(retentionMs / 8)
  return [
    exactly('cleanup.policy', 'delete', { isSafe: false }),
    exactly('message.timestamp.type', 'LogAppendTime'),
    exactly('unclean.leader.election.enable', 'false'),
    atLeast(minInSyncName, minInSync(replication)),
    { ...atLeast(messageBytesName, batchBytesWanted, batchBytesMin), least: messageBytes ?? batchBytesLeast },
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

/** Number of brokers that must have a record before it is acknowledged. */
function minInSync(replication: number): number {
  return Math.min(2, replication)
}

/** The retention of a topic's records in milliseconds; Infinity without a limit. */
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
