/** Checks that the topics exist and give the guarantees of the service, before anything is written to them. */

import { StartError } from '../../store/start-error.ts'
import { unsupportedVersion } from './broker-connection.ts'
import { isKafkaError, Refused } from './kafka-errors.ts'
import {
  describeTopic,
  differenceText,
  messageBytesName,
  type TopicDescription,
  type TopicRequirements,
  type TopicSource,
  topicDifferences,
} from './topic-settings.ts'

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
