/** Connects a command to Kafka, by the settings. */

import type pg from 'pg'
import { connectKafka, type Kafka } from '../ingest/kafka/client/connect.ts'
import { isKafkaError } from '../ingest/kafka/client/errors.ts'
import { identityDifference } from '../ingest/kafka/client/identity.ts'
import { topicsOf } from '../ingest/kafka/client/names.ts'
import type { Config } from '../service/settings/config.ts'
import { type KafkaSettings, kafkaSettings } from '../service/settings/kafka.ts'
import { replicasMax } from '../service/settings/questdb-replicas.ts'
import { parseQuestdbAddress, type QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import { StartError } from '../store/start-error.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError } from './command-error.ts'
import { countUpTo } from './option-values.ts'

type Use<Result> = (kafka: Kafka, settings: KafkaSettings, topics: string[]) => Promise<Result>

export async function withKafka<Result>({ readSettings }: CommandContext, use: Use<Result>): Promise<Result> {
  const config = readSettings()
  const settings = settingsOf(config)
  const topics = Object.values(topicsOf(settings.topicPrefix))
  try {
    const kafka = await connectKafka(settings.connection)
    try {
      return await use(kafka, settings, topics)
    } finally {
      await kafka.close()
    }
  } catch (error) {
    if (!isKafkaError(error)) throw error
    throw new CommandError(`Kafka at ${settings.connection.brokers.join(', ')}: ${error.message}`)
  }
}

/** The offset behind the last record of each topic, of the Kafka that this database belongs to. */
export async function topicEnds(context: CommandContext, postgres: pg.Client): Promise<Map<string, number>> {
  return await withKafka(context, async (kafka, _settings, topics) => {
    const difference = await identityDifference(postgres, await kafka.identify(topics))
    if (difference !== undefined) throw new CommandError(difference)
    const ends = new Map<string, number>()
    for (const topic of topics) {
      const partition = await kafka.partition(topic)
      const { end } = await partition.offsets().finally(() => partition.close())
      ends.set(topic, end)
    }
    return ends
  })
}

/** The QuestDBs of the replicas, from 1 on. */
export function replicaAddresses({ QUESTDB_HTTP, QUESTDB_PG, QUESTDB_REPLICAS = [] }: Config): QuestdbAddress[] {
  const given = [{ http: QUESTDB_HTTP, pg: QUESTDB_PG }, ...QUESTDB_REPLICAS]
  return given.map(({ http, pg }) => parseQuestdbAddress(http, pg))
}

/** Reads the number of a replica on the command line. */
export const replicaNumber = countUpTo(replicasMax)

export function replicaAddress(config: Config, number: number): QuestdbAddress {
  const address = replicaAddresses(config)[number - 1]
  if (address === undefined) throw new CommandError(`QUESTDB_REPLICAS has no replica ${number}`)
  return address
}

function settingsOf(config: Config): KafkaSettings {
  try {
    const settings = kafkaSettings(config)
    if (settings !== undefined) return settings
  } catch (error) {
    if (error instanceof StartError) throw new CommandError(error.message)
    throw error
  }
  throw new CommandError(
    'KAFKA_BROKERS is not set, so the journals are on disk; set it to the addresses of the brokers',
  )
}
