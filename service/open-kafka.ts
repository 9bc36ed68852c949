/** Connects to Kafka if its topics are the journals, checks them before anything is written, and watches them. */

import { connectKafka, type Kafka, type KafkaOptions } from '../ingest/kafka/client/connect.ts'
import { agreeOnKafka } from '../ingest/kafka/client/identity.ts'
import { type ServiceTopicNames, topicsOf } from '../ingest/kafka/client/names.ts'
import { checkTopics } from '../ingest/kafka/client/prepare.ts'
import type { TopicRequirements } from '../ingest/kafka/client/settings.ts'
import { type TopicState, type TopicWatch, watchTopic } from '../ingest/kafka/state/watch.ts'
import type { Log } from '../store/log.ts'
import { StartError } from '../store/start-error.ts'
import type { Store } from '../store/store.ts'
import type { Config } from './settings/config.ts'
import { kafkaSettings } from './settings/kafka.ts'

export interface ServiceKafka {
  kafka: Kafka
  /** Threads use these options, since they have their own connections. */
  connection: KafkaOptions
  topics: ServiceTopicNames
  requirements: TopicRequirements
  /** `max.message.bytes` of each topic. */
  messageBytes: ReadonlyMap<string, number>
  close(): Promise<void>
}

/** Throws a StartError if Kafka is unreachable, too weakly configured, or not the one in PostgreSQL. */
export async function openServiceKafka(config: Config, { postgres }: Pick<Store, 'postgres'>): Promise<ServiceKafka> {
  const settings = kafkaSettings(config)
  if (settings === undefined) throw new StartError('KAFKA_BROKERS is not set.')
  const { topicPrefix, requirements } = settings
  const topics = topicsOf(topicPrefix)
  const names = Object.values(topics)
  const first = await connectKafka(settings.connection)
  try {
    const messageBytes = await checkTopics(first.admin, names, requirements)
    const identity = await first.identify(names)
    const difference = await agreeOnKafka(postgres, identity)
    if (difference !== undefined) throw new StartError(difference)
    const connection = { ...settings.connection, identity }
    const kafka = await connectKafka(connection)
    return { kafka, connection, topics, requirements, messageBytes, close: () => kafka.close() }
  } finally {
    await first.close()
  }
}

export interface TopicWatches {
  readings: TopicWatch
  points: TopicWatch
  states(): TopicState[]
  close(): Promise<void>
}

export interface TopicWatchesOptions extends Pick<ServiceKafka, 'kafka' | 'topics' | 'requirements' | 'messageBytes'> {
  /** Applied offset of a topic; undefined while QuestDB has no rows of it. */
  appliedOffset: (topic: string) => Promise<number | undefined>
  /** Replicas without a forwarding process. */
  unforwarded: () => Promise<readonly number[]>
  nowMs: () => number
  log: Log
}

export async function watchTopics({
  kafka,
  topics,
  messageBytes,
  ...options
}: TopicWatchesOptions): Promise<TopicWatches> {
  const opened: { close(): Promise<void> }[] = []
  const close = async () => void (await Promise.all(opened.map(part => part.close())))

  async function watch(topic: string): Promise<TopicWatch> {
    const { appliedOffset } = options
    const partition = await kafka.partition(topic)
    const { admin } = kafka
    const requirements = { ...options.requirements, messageBytes: messageBytes.get(topic) }
    const watch = watchTopic({
      ...options,
      requirements,
      topic,
      admin,
      partition,
      appliedOffset: () => appliedOffset(topic),
    })
    opened.push({
      async close() {
        await watch.close()
        await partition.close()
      },
    })
    return watch
  }

  try {
    const [readings, points] = [await watch(topics.readings), await watch(topics.points)]
    return { readings, points, states: () => [readings.state(), points.state()], close }
  } catch (error) {
    await close()
    throw error
  }
}
