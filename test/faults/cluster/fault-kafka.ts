/** The brokers of a run. Only an api process connects through links that can be cut. Forwarders connect directly. */

import { join } from 'node:path'
import type { KafkaBroker } from '../../../cli/demo/cluster/kafka-broker.ts'
import { topicsOf } from '../../../ingest/kafka/client/names.ts'
import { prepareTopic } from '../../../ingest/kafka/client/prepare.ts'
import { freePort } from '../../../store/process/free-port.ts'
import type { TestHooks } from '../../support/databases.ts'
import { startKafka } from '../../support/kafka.ts'
import { createRandom } from '../seeded-random.ts'
import { startTcpProxy, type TcpProxy } from '../tcp-proxy.ts'

export interface FaultBroker extends KafkaBroker {
  link: TcpProxy
}

export interface FaultKafka {
  brokers: readonly FaultBroker[]
  settings: Record<'api' | 'forward', Record<string, string>>
  /** Leader of the readings topic. Undefined while there is no leader or it is unknown. */
  leader(): Promise<FaultBroker | undefined>
  /** The topics with the offsets of their next records. Rejects when Kafka does not respond. */
  ends(): Promise<[topic: string, end: number][]>
}

/** The clocks of a run may be a day ahead of the brokers. */
const retentionHours = 7 * 24
const topicPrefix = 'faults-'

export async function startFaultKafka(t: TestHooks, folder: string, count: 1 | 3): Promise<FaultKafka> {
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()))
  const links = await Promise.all(ports.map(port => startTcpProxy(t, port, createRandom(port))))
  const kafka = await startKafka(t, {
    brokers: count,
    folder: join(folder, 'kafka'),
    settings: (id, port, controllerPort) => ({
      listeners: `CLIENT://127.0.0.1:${port},LINK://127.0.0.1:${ports[id - 1]},CONTROLLER://127.0.0.1:${controllerPort}`,
      'advertised.listeners': `CLIENT://127.0.0.1:${port},LINK://127.0.0.1:${links[id - 1]?.port}`,
      'listener.security.protocol.map': 'CLIENT:PLAINTEXT,LINK:PLAINTEXT,CONTROLLER:PLAINTEXT',
    }),
  })
  const client = await kafka.connect()
  const topics = topicsOf(topicPrefix)
  const requirements = { replication: count, retentionMs: retentionHours * 3_600_000 }
  for (const topic of Object.values(topics)) {
    await prepareTopic(client.admin, topic, { requirements, apply: false })
  }
  const brokers = kafka.brokers.map((broker, index) => ({ ...broker, link: links[index] as TcpProxy }))
  const settings = (addresses: readonly string[]) => ({
    KAFKA_BROKERS: addresses.join(),
    KAFKA_REPLICATION: String(count),
    KAFKA_RETENTION_HOURS: String(retentionHours),
    KAFKA_TOPIC_PREFIX: topicPrefix,
  })
  return {
    brokers,
    settings: {
      api: settings(links.map(({ port }) => `127.0.0.1:${port}`)),
      forward: settings(kafka.addresses),
    },
    async ends() {
      const found: [string, number][] = []
      for (const topic of Object.values(topics)) {
        const partition = await client.partition(topic)
        const { end } = await partition.offsets().finally(() => partition.close())
        found.push([topic, end])
      }
      return found
    },
    async leader() {
      const partitions = await client.admin.partitions(topics.readings).catch(() => undefined)
      const leader = partitions?.[0]?.leader
      return brokers.find(({ address }) => address === `${leader?.host}:${leader?.port}`)
    },
  }
}
