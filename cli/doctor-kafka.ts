/** For the doctor: whether Kafka answers, and whether its topics are what the service needs. */

import { topicWeaknesses } from '../ingest/kafka/check-topics.ts'
import { connectKafka } from '../ingest/kafka/connect.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import type { Config } from '../settings/config.ts'
import { kafkaSettings } from '../settings/kafka.ts'
import { StartError } from '../store/start-error.ts'
import type { Finding } from './doctor-databases.ts'

/** Undefined where the journals are on disk. */
export async function tryKafka(config: Config): Promise<Finding | undefined> {
  try {
    const settings = kafkaSettings(config)
    if (settings === undefined) return undefined
    const { connection, topicPrefix, requirements } = settings
    const topics = Object.values(topicsOf(topicPrefix))
    const kafka = await connectKafka(connection)
    try {
      const problems = await topicWeaknesses(kafka.admin, topics, requirements)
      if (problems.length === 0) return { ok: true, finding: `topics ${topics.join(', ')}` }
      return { ok: false, finding: `${problems.join('; ')}: run barograph kafka prepare` }
    } finally {
      await kafka.close()
    }
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return { ok: false, finding: error.message }
  }
}
