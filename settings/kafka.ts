/** What the settings say about Kafka, as the parts take it. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { KafkaOptions } from '../ingest/kafka/connect.ts'
import type { TopicRequirements } from '../ingest/kafka/topic-settings.ts'
import { StartError } from '../store/start-error.ts'
import type { Config } from './config.ts'

export interface KafkaSettings {
  connection: KafkaOptions
  topicPrefix: string
  requirements: TopicRequirements
}

const hourMs = 3_600_000

/** Undefined when the journals are on disk. Throws a `StartError` where the CA certificates cannot be read. */
export function kafkaSettings(config: Config): KafkaSettings | undefined {
  const { KAFKA_BROKERS, KAFKA_TOPIC_PREFIX, KAFKA_REPLICATION, KAFKA_RETENTION_HOURS } = config
  if (KAFKA_BROKERS === undefined) return undefined
  const tls = tlsOf(config)
  const sasl = saslOf(config)
  return {
    connection: {
      clientId: 'barograph',
      brokers: KAFKA_BROKERS,
      ...(tls === undefined ? {} : { tls }),
      ...(sasl === undefined ? {} : { sasl }),
    },
    topicPrefix: KAFKA_TOPIC_PREFIX,
    requirements: { replication: KAFKA_REPLICATION, retentionMs: KAFKA_RETENTION_HOURS * hourMs },
  }
}

/** Without certificates of its own it trusts those that Node does. */
function tlsOf({ KAFKA_TLS }: Config): KafkaOptions['tls'] {
  if (KAFKA_TLS === undefined) return undefined
  return KAFKA_TLS === 'true' ? {} : { ca: readCertificates(KAFKA_TLS) }
}

function readCertificates(path: string): string {
  try {
    const pem = readFileSync(path, 'utf8')
    // It throws where there is no certificate.
    new X509Certificate(pem)
    return pem
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartError(
      `KAFKA_TLS ${path} cannot be used (${code ?? message}): set it to true, or to a PEM file with CA certificates.`,
    )
  }
}

function saslOf({ KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD }: Config): KafkaOptions['sasl'] {
  if (KAFKA_SASL_MECHANISM === undefined) return undefined
  return {
    mechanism: KAFKA_SASL_MECHANISM,
    username: KAFKA_SASL_USERNAME ?? '',
    password: KAFKA_SASL_PASSWORD ?? '',
  }
}
