/** Caches the leader of a topic's partition until it fails. */

import { type Broker, isSame } from './broker-connection.ts'
import type { Cluster } from './cluster.ts'
import { KafkaAway, TopicMissing } from './kafka-errors.ts'

export interface PartitionLeader {
  readonly topic: string
  readonly topicId: string
  /** Throws `TopicMissing`, `KafkaAway` and `Refused`. */
  find(): Promise<Broker>
  /** Marks the broker as failed: the leader is looked up again. */
  forget(broker: Broker): void
}

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
