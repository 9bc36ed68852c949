/**
 * What a topic has to be like, so that an acknowledgement means what docs/kafka.md says. Values of settings are texts, as
 * Kafka has them; a topic that promises more than is wanted is good enough.
 */

import { groupBodyMax, groupHeaderLength } from '../journal/group.ts'

export interface TopicRequirements {
  /** Number of brokers that a topic is on. */
  replication: number
  /** How long records are kept at least, milliseconds. */
  retentionMs: number
}

/** One partition has all records of a topic in one order, and a number for each. */
export const partitionCount = 1

export const minInSyncName = 'min.insync.replicas'

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
