/** Converts the Kafka settings for the parts that use them. */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { KafkaOptions } from '../../ingest/kafka/client/connect.ts'
import type { TopicRequirements } from '../../ingest/kafka/client/settings.ts'
import { StartError } from '../../store/start-error.ts'
import type { Config } from './config.ts'

export interface KafkaSettings {
  connection: KafkaOptions
  topicPrefix: string
  requirements: TopicRequirements
}

const hourMs = 3_600_000

/** Undefined with journals on disk. Throws a `StartError` if the CA certificates cannot be read. */
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

/** Without configured certificates, it trusts Node's. */
function tlsOf({ KAFKA_TLS, KAFKA_TLS_CERT, KAFKA_TLS_KEY }: Config): KafkaOptions['tls'] {
  if (KAFKA_TLS === undefined) return undefined
  const toCas = 'set it to true, or to a PEM file with CA certificates'
  const certificate = (pem: string) => new X509Certificate(pem)
  const ca = KAFKA_TLS === 'true' ? {} : { ca: readPem('KAFKA_TLS', KAFKA_TLS, certificate, toCas) }
  if (KAFKA_TLS_CERT === undefined || KAFKA_TLS_KEY === undefined) return ca
  return {
    ...ca,
    cert: readPem('KAFKA_TLS_CERT', KAFKA_TLS_CERT, certificate, 'set it to a PEM file with a certificate'),
    key: readPem('KAFKA_TLS_KEY', KAFKA_TLS_KEY, createPrivateKey, 'set it to a PEM file with a private key'),
  }
}

/** `parse` throws for a file of another kind. */
function readPem(name: string, path: string, parse: (pem: string) => unknown, remedy: string): string {
  try {
    const pem = readFileSync(path, 'utf8')
    parse(pem)
    return pem
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartError(`${name} ${path} cannot be used (${code ?? message}): ${remedy}.`)
  }
}

function saslOf(config: Config): KafkaOptions['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_TOKEN_URL: tokenUrl = '', KAFKA_SASL_SCOPE: scope } = config
  const { KAFKA_SASL_USERNAME: username = '', KAFKA_SASL_PASSWORD: password = '' } = config
  if (mechanism === undefined) return undefined
  if (mechanism !== 'OAUTHBEARER') return { mechanism, username, password }
  return { mechanism, oauth: { tokenUrl, clientId: username, clientSecret: password, scope } }
}
