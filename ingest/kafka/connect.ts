/**
 * Kafka, as the journal uses it: topics, and for each one its partition. The client library is loaded here, and only here.
 *
 * Requests have versions that brokers from 3.1 on take, so that none has to be asked which ones it knows.
 */

import { randomInt } from 'node:crypto'
import type { ConnectionSettings, Library } from './broker-connection.ts'
import { createCluster } from './cluster.ts'
import { TopicMissing } from './kafka-errors.ts'
import type { KafkaIdentity } from './kafka-identity.ts'
import { createTopicAdmin, type TopicAdmin } from './topic-admin.ts'
import { openTopicPartition, type TopicPartition } from './topic-partition.ts'

/** Plain data, so that it can go to a thread. */
export interface KafkaOptions extends ConnectionSettings {
  /** `host:port`, at least one; the rest of the cluster is found through them. */
  brokers: readonly string[]
  /** How long a broker may take for an answer; 3 s. */
  requestTimeoutMs?: number
  /** How long an append is tried; 30 s. */
  appendDeadlineMs?: number
}

export interface Kafka {
  /** Partition 0 of the topic. Throws `TopicMissing`, `KafkaAway`, and `Refused`, for instance without a permission. */
  partition(topic: string): Promise<TopicPartition>
  admin: TopicAdmin
  /** The cluster and these topics, as they are now. Throws `TopicMissing`, `KafkaAway` and `Refused`. */
  identify(topics: readonly string[]): Promise<KafkaIdentity>
  /** Closes the partitions too. */
  close(): Promise<void>
}

/** Resolves before a broker is asked: nothing has to be up. */
export async function connectKafka(options: KafkaOptions): Promise<Kafka> {
  const library: Library = await import('@platformatic/kafka')
  const { brokers, requestTimeoutMs = 3000, appendDeadlineMs = 30_000, clientId, tls, sasl, identity } = options
  const settings = { clientId, tls, sasl, identity }
  const bootstrap = shuffled(brokers).map(address => library.parseBroker(address))
  const cluster = createCluster({ library, settings, bootstrap, requestTimeoutMs })
  const partitions = new Set<TopicPartition>()
  return {
    async partition(topic) {
      const opened = { library, settings, cluster, requestTimeoutMs, appendDeadlineMs }
      const { close, ...methods } = await openTopicPartition(opened, topic)
      const partition = {
        ...methods,
        async close() {
          partitions.delete(partition)
          await close()
        },
      }
      partitions.add(partition)
      return partition
    },
    admin: createTopicAdmin(library, cluster),
    async identify(topics) {
      const topicIds: Record<string, string> = {}
      let clusterId = ''
      for (const topic of topics) {
        const found = await cluster.topic(topic)
        if (found === undefined) throw new TopicMissing(`there is no topic ${topic}`)
        topicIds[topic] = found.id
        clusterId = found.clusterId
      }
      return { clusterId, topicIds }
    },
    async close() {
      for (const partition of partitions) await partition.close()
      cluster.close()
    },
  }
}

/** So that not all nodes begin with the same broker. */
function shuffled(brokers: readonly string[]): string[] {
  return brokers
    .map(broker => ({ broker, rank: randomInt(2 ** 32) }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ broker }) => broker)
}
