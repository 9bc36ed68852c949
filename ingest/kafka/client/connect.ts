/** Kafka as the journal uses it: topics, and the partition of each. Only this file loads the client library. */

import { randomInt } from 'node:crypto'
import { createTopicAdmin, type TopicAdmin } from './admin.ts'
import { type Broker, type ConnectionSettings, createBrokerConnection, type Library } from './broker-connection.ts'
import { type Cluster, createCluster } from './cluster.ts'
import { Refused, TopicMissing } from './errors.ts'
import type { KafkaIdentity } from './identity.ts'
import { openTopicPartition, type TopicPartition } from './partition.ts'

/** Plain data, so that it can be posted to a thread. */
export interface KafkaOptions extends ConnectionSettings {
  /** `host:port`, at least one. They report the rest of the cluster. */
  brokers: readonly string[]
  /** Time limit of a broker's answer; 3 s. */
  requestTimeoutMs?: number
  /** Time limit of an append with its retries; 30 s. */
  appendDeadlineMs?: number
}

export interface Kafka {
  /** Partition 0 of the topic. Throws `TopicMissing`, `KafkaAway`, and `Refused`, for instance without a permission. */
  partition(topic: string): Promise<TopicPartition>
  admin: TopicAdmin
  /** The present cluster and topics. Throws `TopicMissing`, `KafkaAway` and `Refused`. */
  identify(topics: readonly string[]): Promise<KafkaIdentity>
  /**
   * Commits offsets of partition 0 of each topic, in a consumer group without members. Throws `KafkaAway`, `Unanswered`,
   * `NotSent` and `Refused`.
   */
  commitOffsets(group: string, offsets: ReadonlyMap<string, number>): Promise<void>
  /** Closes the partitions too. */
  close(): Promise<void>
}

/** Resolves without a connection: Kafka may be down. */
export async function connectKafka(options: KafkaOptions): Promise<Kafka> {
  const library: Library = await import('@platformatic/kafka')
  const { brokers, requestTimeoutMs = 3000, appendDeadlineMs = 30_000, clientId, tls, sasl, identity } = options
  const settings = { clientId, tls, sasl, identity }
  const bootstrap = shuffled(brokers).map(address => library.parseBroker(address))
  const cluster = createCluster({ library, settings, bootstrap, requestTimeoutMs })
  const partitions = new Set<TopicPartition>()
  const coordination = createBrokerConnection(library, settings)
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
    async commitOffsets(group, offsets) {
      const coordinator = await coordinatorOf(library, cluster, group)
      const topics = [...offsets].map(([name, offset]) => ({
        name,
        partitions: [{ partitionIndex: 0, committedOffset: BigInt(offset), committedLeaderEpoch: -1 }],
      }))
      await coordination.request(coordinator, requestTimeoutMs, to =>
        library.offsetCommitV8.api.async(to, group, noGeneration, '', null, topics),
      )
    },
    async close() {
      coordination.close()
      for (const partition of partitions) await partition.close()
      cluster.close()
    },
  }
}

const groupKey = 0
/** Commits without group membership have this generation. */
const noGeneration = -1

async function coordinatorOf(library: Library, cluster: Cluster, group: string): Promise<Broker> {
  const { coordinators } = await cluster.ask(to => library.findCoordinatorV4.api.async(to, groupKey, [group]))
  const [found] = coordinators
  if (found === undefined || found.errorCode !== 0) {
    throw new Refused(library.protocolErrorsCodesById[found?.errorCode ?? 15] ?? 'UNKNOWN', `coordinator of ${group}`)
  }
  return { host: found.host, port: found.port }
}

/** Spreads the first connections of all nodes over the brokers. */
function shuffled(brokers: readonly string[]): string[] {
  return brokers
    .map(broker => ({ broker, rank: randomInt(2 ** 32) }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ broker }) => broker)
}
