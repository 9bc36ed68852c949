/** Checks that the topics exist and give the guarantees of the service, before anything is written to them. */

import { StartError } from '../../store/start-error.ts'
import { unsupportedVersion } from './broker-connection.ts'
import { isKafkaError, Refused } from './kafka-errors.ts'
import {
  describeTopic,
  differenceText,
  type TopicRequirements,
  type TopicSource,
  topicDifferences,
} from './topic-settings.ts'

/** Throws a `StartError` that names all missing or weaker settings. */
export async function checkTopics(
  admin: TopicSource,
  topics: readonly string[],
  requirements: TopicRequirements,
): Promise<void> {
  const problems = await topicWeaknesses(admin, topics, requirements)
  if (problems.length === 0) return
  throw new StartError(`The topics do not meet the requirements: ${problems.join('; ')}. Run barograph kafka prepare.`)
}

/** Returns the same as clauses, for a check without a running service. Throws a `StartError` without Kafka. */
export async function topicWeaknesses(
  admin: TopicSource,
  topics: readonly string[],
  requirements: TopicRequirements,
): Promise<string[]> {
  const described = await Promise.all(topics.map(topic => describe(admin, topic)))
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
