/** Checks of the doctor: whether Kafka responds, and whether its topics fit the service. */

import { connectKafka } from '../ingest/kafka/connect.ts'
import { isKafkaError } from '../ingest/kafka/kafka-errors.ts'
import { identityDifference, type KafkaIdentity } from '../ingest/kafka/kafka-identity.ts'
import { topicWeaknesses } from '../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../ingest/kafka/topic-names.ts'
import type { Config } from '../service/settings/config.ts'
import { kafkaSettings } from '../service/settings/kafka.ts'
import { makeClient } from '../store/postgres/postgres-connect.ts'
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
      if (problems.length > 0) return { ok: false, finding: `${problems.join('; ')}: run barograph kafka prepare` }
      const difference = await differenceOf(config, await kafka.identify(topics))
      if (difference !== undefined) return { ok: false, finding: difference }
      return { ok: true, finding: `topics ${topics.join(', ')}` }
    } finally {
      await kafka.close()
    }
  } catch (error) {
    if (!(error instanceof StartError || isKafkaError(error))) throw error
    return { ok: false, finding: error.message }
  }
}

/** Undefined also while PostgreSQL is away, or not migrated yet: another check says so. */
async function differenceOf({ DATABASE_URL }: Config, identity: KafkaIdentity): Promise<string | undefined> {
  if (DATABASE_URL === undefined) return undefined
  const client = makeClient({ connectionString: DATABASE_URL })
  try {
    await client.connect()
    return await identityDifference(client, identity)
  } catch {
    return undefined
  } finally {
    await client.end().catch(() => undefined)
  }
}
