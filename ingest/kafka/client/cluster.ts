/** The cluster: its brokers, and requests that any broker answers, such as for the leader of a partition. */

import type { Connection } from '@platformatic/kafka'
import { createMutex } from '../../../store/limits/mutex.ts'
import {
  type Broker,
  type ConnectionSettings,
  createBrokerConnection,
  isSame,
  type Library,
} from './broker-connection.ts'
import { KafkaAway, messageOf, OtherKafka, Refused, TopicMissing } from './errors.ts'

interface Topic {
  clusterId: string
  /** Changes when the topic was deleted and created again. */
  id: string
  partitions: Partition[]
}

export interface Partition {
  /** Undefined without a leader. */
  leader: Broker | undefined
  /** Numbers of brokers. */
  replicas: number[]
  inSync: number[]
}

export interface Cluster {
  /**
   * Returns the first answer of any broker. Asks `avoided`, which has just failed, last. Throws `KafkaAway`, `OtherKafka` and
   * `Refused`.
   */
  ask<Answer>(send: (to: Connection) => Promise<Answer>, avoided?: Broker): Promise<Answer>
  /** Undefined for a missing topic. Throws `OtherKafka` also for a topic that was deleted and created again. */
  topic(name: string, avoided?: Broker): Promise<Topic | undefined>
  close(): void
}

interface ClusterOptions {
  library: Library
  settings: ConnectionSettings
  /** The list has at least one broker. */
  bootstrap: readonly Broker[]
  requestTimeoutMs: number
}

/** Limit of the brokers kept from metadata. More are not needed to find one that answers. */
const discoveredMax = 50
const reasonsMax = 3

export function createCluster({ library, settings, bootstrap, requestTimeoutMs }: ClusterOptions): Cluster {
  const connection = createBrokerConnection(library, settings)
  const mutex = createMutex()
  let discovered: readonly Broker[] = []
  let last: Broker | undefined

  /** The last broker that answered comes first, since its connection is open. */
  function inOrder(avoided: Broker | undefined): Broker[] {
    const all = [...(last === undefined ? [] : [last]), ...bootstrap, ...discovered]
    const distinct = all.filter((broker, i) => all.findIndex(other => isSame(broker, other)) === i)
    return [
      ...distinct.filter(broker => !isSame(broker, avoided)),
      ...distinct.filter(broker => isSame(broker, avoided)),
    ]
  }

  const ask: Cluster['ask'] = (send, avoided) =>
    mutex.run(async () => {
      const errors: unknown[] = []
      for (const broker of inOrder(avoided)) {
        try {
          const answer = await connection.request(broker, requestTimeoutMs, send)
          last = broker
          return answer
        } catch (error) {
          if (error instanceof Refused) throw error
          last = undefined
          errors.push(error)
        }
      }
      throw awayBy(errors)
    })

  return {
    ask,
    async topic(name, avoided) {
      const { clusterId, brokers, topics } = await ask(to => metadataOf(library, to, name), avoided)
      discovered = brokers.slice(0, discoveredMax).map(({ host, port }) => ({ host, port }))
      const [topic] = topics
      const code = library.protocolErrorsCodesById[topic?.errorCode ?? 3] ?? `error ${topic?.errorCode}`
      if (topic === undefined || code === 'UNKNOWN_TOPIC_OR_PARTITION') return undefined
      if (topic.errorCode !== 0) throw new Refused(code, `metadata of ${name}`)
      const known = settings.identity?.topicIds[name]
      if (known !== undefined && known !== topic.topicId) {
        throw new OtherKafka(`the topic ${name} was deleted and made again: it is not the journal of this database`)
      }
      const addresses = new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]))
      const partitions = topic.partitions
        .toSorted((one, other) => one.partitionIndex - other.partitionIndex)
        .map(({ leaderId, replicaNodes, isrNodes }) => ({
          leader: addresses.get(leaderId),
          replicas: replicaNodes,
          inSync: isrNodes,
        }))
      return { clusterId: clusterId ?? '', id: topic.topicId, partitions }
    },
    close: () => connection.close(),
  }
}

function awayBy(errors: readonly unknown[]): Error {
  const other = errors.find(error => error instanceof OtherKafka)
  return other ?? new KafkaAway(`no broker answers: ${errors.slice(0, reasonsMax).map(messageOf).join('; ')}`)
}

/** Keeps the errors: a topic without a leader is described like others. */
async function metadataOf(library: Library, to: Connection, name: string) {
  try {
    return await library.metadataV12.api.async(to, [name], false)
  } catch (error) {
    if (error instanceof library.ResponseError) return error['response'] as MetadataResponse
    throw error
  }
}

type MetadataResponse = Awaited<ReturnType<Library['metadataV12']['api']['async']>>

export interface PartitionLeader {
  readonly topic: string
  readonly topicId: string
  /** Throws `TopicMissing`, `KafkaAway` and `Refused`. */
  find(): Promise<Broker>
  /** Marks the broker as failed: the leader is looked up again. */
  forget(broker: Broker): void
}

/** Caches the leader of a topic's partition until it fails. */
export function createPartitionLeader(cluster: Cluster, topic: string, topicId: string): PartitionLeader {
  let known: Broker | undefined
  let failed: Broker | undefined

  return {
    topic,
    topicId,
    async find() {
      if (known !== undefined) return known
      const found = await cluster.topic(topic, failed)
      if (found === undefined) throw new TopicMissing(`there is no topic ${topic}`)
      if (found.id !== topicId) throw new TopicMissing(`the topic ${topic} was deleted and made again`)
      const leader = found.partitions[0]?.leader
      if (leader === undefined) throw new KafkaAway(`the topic ${topic} has no leader`)
      known = leader
      return leader
    },
    forget(broker) {
      failed = broker
      if (isSame(broker, known)) known = undefined
    },
  }
}
