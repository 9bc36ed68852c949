/** Checks of the doctor: connects to the external databases and Kafka as the service would, without changing anything. */

import { connectKafka } from '../ingest/kafka/client/connect.ts'
import { isKafkaError } from '../ingest/kafka/client/errors.ts'
import { identityDifference, type KafkaIdentity } from '../ingest/kafka/client/identity.ts'
import { topicsOf } from '../ingest/kafka/client/names.ts'
import { topicWeaknesses } from '../ingest/kafka/client/prepare.ts'
import type { Config } from '../service/settings/config.ts'
import { kafkaSettings } from '../service/settings/kafka.ts'
import { connectFailure, makeClient } from '../store/postgres/postgres-connect.ts'
import { parseQuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { createQuestdbClient } from '../store/questdb/client/questdb-client.ts'
import { identifyQuestdb } from '../store/questdb/questdb-identity.ts'
import { StartError } from '../store/start-error.ts'
import { messageOf } from './command-error.ts'

interface Finding {
  ok: boolean
  finding: string
}

export async function tryPostgres(databaseUrl: string): Promise<Finding> {
  const client = makeClient({ connectionString: databaseUrl })
  try {
    await client.connect()
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    const where = `${client.host}:${client.port}, database ${client.database}`
    return { ok: true, finding: `${rows[0]?.server_version} at ${where}` }
  } catch (error) {
    return { ok: false, finding: connectFailure(client, true, error) }
  } finally {
    await client.end().catch(() => undefined)
  }
}

export async function tryQuestdb(questdbHttp: string, questdbPg: string | undefined): Promise<Finding> {
  try {
    const address = parseQuestdbAddress(questdbHttp, questdbPg)
    const where = `${address.http.host}:${address.http.port}`
    const client = createQuestdbClient(address.http)
    try {
      const { version } = await identifyQuestdb(client, address)
      return { ok: true, finding: `${version} at ${where}` }
    } catch (error) {
      return {
        ok: false,
        finding: `QuestDB at ${where} cannot be used (${messageOf(error)}): start it, or correct QUESTDB_HTTP and QUESTDB_PG`,
      }
    } finally {
      client.close()
    }
  } catch (error) {
    if (error instanceof StartError) return { ok: false, finding: error.message }
    throw error
  }
}

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
