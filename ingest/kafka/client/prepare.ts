/** Creates the topics, changes existing ones to the required settings, and checks these before anything is written. */

import { StartError } from '../../../store/start-error.ts'
import type { TopicAdmin } from './admin.ts'
import { unsupportedVersion } from './broker-connection.ts'
import { isKafkaError, Refused, TopicMissing } from './errors.ts'
import {
  describeTopic,
  differenceText,
  messageBytesName,
  partitionCount,
  type TopicDescription,
  type TopicDifference,
  type TopicRequirements,
  type TopicSource,
  topicDifferences,
  topicSettings,
} from './settings.ts'

export interface PreparedTopic {
  topic: string
  /** Created by this call. */
  isNew: boolean
  /** Changed by this call; empty without `apply`. */
  changed: TopicDifference[]
  /** Settings that were not changed. */
  left: TopicDifference[]
}

interface PrepareOptions {
  requirements: TopicRequirements
  /** Changes existing topics, as far as no record is lost by it. */
  apply: boolean
}

/** Idempotent. */
export async function prepareTopic(
  admin: TopicAdmin,
  topic: string,
  { requirements, apply }: PrepareOptions,
): Promise<PreparedTopic> {
  const present = await describeTopic(admin, topic)
  if (present === undefined) {
    const layout = { partitions: partitionCount, replication: requirements.replication }
    const isNew = await admin.create({ name: topic, ...layout, settings: valuesOf(requirements) })
    const made = await describeTopic(admin, topic)
    if (made === undefined) throw new TopicMissing(`topic ${topic} was made and is not there`)
    return { topic, isNew, changed: [], left: topicDifferences(made, requirements) }
  }
  const differences = topicDifferences(present, requirements)
  const changed = apply ? differences.filter(({ obstacle }) => obstacle === undefined) : []
  if (changed.length === 0) return { topic, isNew: false, changed, left: differences }
  await admin.change(topic, Object.fromEntries(changed.map(({ name, wanted }) => [name, wanted])))
  const left = differences.filter(difference => !changed.includes(difference))
  return { topic, isNew: false, changed, left }
}

function valuesOf(requirements: TopicRequirements): Record<string, string> {
  return Object.fromEntries(topicSettings(requirements).map(({ name, wanted }) => [name, wanted]))
}

/** Returns `max.message.bytes` of each topic. Throws a `StartError` that names all missing or weaker settings. */
export async function checkTopics(
  admin: TopicSource,
  topics: readonly string[],
  requirements: TopicRequirements,
): Promise<ReadonlyMap<string, number>> {
  const described = await describeAll(admin, topics)
  const problems = weaknessesOf(described, topics, requirements)
  if (problems.length === 0) {
    return new Map(
      described.flatMap(topic => (topic ? [[topic.name, Number(topic.settings.get(messageBytesName))]] : [])),
    )
  }
  throw new StartError(`The topics do not meet the requirements: ${problems.join('; ')}. Run barograph kafka prepare.`)
}

/** Returns the same as clauses, for a check without a running service. Throws a `StartError` without Kafka. */
export async function topicWeaknesses(
  admin: TopicSource,
  topics: readonly string[],
  requirements: TopicRequirements,
): Promise<string[]> {
  return weaknessesOf(await describeAll(admin, topics), topics, requirements)
}

type Described = readonly (TopicDescription | undefined)[]

function describeAll(admin: TopicSource, topics: readonly string[]): Promise<Described> {
  return Promise.all(topics.map(topic => describe(admin, topic)))
}

function weaknessesOf(described: Described, topics: readonly string[], requirements: TopicRequirements): string[] {
  return described.flatMap((topic, at) => {
    if (topic === undefined) return [`there is no topic ${topics[at]}`]
    return topicDifferences(topic, requirements)
      .filter(({ isRequired }) => isRequired)
      .map(difference => `topic ${topic.name}: ${differenceText(difference)}`)
  })
}

function remedyOf(error: Error): string {
  if (!(error instanceof Refused)) return 'start it, or correct KAFKA_BROKERS'
  return error.code === unsupportedVersion ? 'update it' : 'see docs/kafka.md for the rights'
}

async function describe(admin: TopicSource, topic: string) {
  try {
    return await describeTopic(admin, topic)
  } catch (error) {
    if (!isKafkaError(error)) throw error
    throw new StartError(`Kafka does not describe the topic ${topic} (${error.message}): ${remedyOf(error)}.`)
  }
}
