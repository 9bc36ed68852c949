/** Connects to Kafka where its topics are the journals, checks them before anything is written, and watches them. */

import { checkTopics } from '../ingest/kafka/check-topics.ts'
import { connectKafka, type Kafka } from '../ingest/kafka/connect.ts'
import { type ServiceTopicNames, topicsOf } from '../ingest/kafka/topic-names.ts'
import type { TopicRequirements } from '../ingest/kafka/topic-settings.ts'
import { type TopicState, type TopicWatch, watchTopic } from '../ingest/kafka/topic-watch.ts'
import type { Config } from '../settings/config.ts'
import { kafkaSettings } from '../settings/kafka.ts'
import type { Log } from '../store/log.ts'

export interface ServiceKafka {
  kafka: Kafka
  topics: ServiceTopicNames
  requirements: TopicRequirements
  close(): Promise<void>
}

/** Undefined without KAFKA_BROKERS; then nothing of Kafka's client is loaded. */
export async function openServiceKafka(config: Config): Promise<ServiceKafka | undefined> {
  const settings = kafkaSettings(config)
  if (settings === undefined) return undefined
  const { connection, topicPrefix, requirements } = settings
  const kafka = await connectKafka(connection)
  const topics = topicsOf(topicPrefix)
  try {
    await checkTopics(kafka.admin, Object.values(topics), requirements)
  } catch (error) {
    await kafka.close()
    throw error
  }
  return { kafka, topics, requirements, close: () => kafka.close() }
}

export interface TopicWatches {
  readings: TopicWatch
  points: TopicWatch
  states(): TopicState[]
  close(): Promise<void>
}

export interface TopicWatchesOptions extends Pick<ServiceKafka, 'kafka' | 'topics' | 'requirements'> {
  /** Of a topic; undefined while nothing of it is in QuestDB. */
  appliedOffset: (topic: string) => Promise<number | undefined>
  nowMs: () => number
  log: Log
}

export async function watchTopics({ kafka, topics, ...options }: TopicWatchesOptions): Promise<TopicWatches> {
  const opened: { close(): Promise<void> }[] = []
  const close = async () => void (await Promise.all(opened.map(part => part.close())))

  async function watch(topic: string): Promise<TopicWatch> {
    const { appliedOffset } = options
    const partition = await kafka.partition(topic)
    const { admin } = kafka
    const watch = watchTopic({ ...options, topic, admin, partition, appliedOffset: () => appliedOffset(topic) })
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
