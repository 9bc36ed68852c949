/** Creates topics and describes them. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Library } from './broker-connection.ts'
import type { Cluster, Partition } from './cluster.ts'
import { KafkaAway, Refused, TopicMissing } from './errors.ts'

interface NewTopic {
  name: string
  partitions: number
  replication: number
  /** Keys are Kafka's names, such as `min.insync.replicas`. */
  settings?: Readonly<Record<string, string>>
}

export interface TopicAdmin {
  /**
   * Resolves when records can be appended to it; false when the name is taken. Throws `KafkaAway`, and `Refused` with the
   * broker's explanation.
   */
  create(topic: NewTopic): Promise<boolean>
  /** The effective settings of the topic, including the cluster's. Throws `TopicMissing`, `KafkaAway` and `Refused`. */
  settings(topic: string): Promise<Map<string, string | null>>
  /** Sets these settings of the topic and leaves all others. Throws `KafkaAway` and `Refused`. */
  change(topic: string, settings: Readonly<Record<string, string>>): Promise<void>
  /** Undefined for a missing topic. Throws `KafkaAway` and `Refused`. */
  partitions(topic: string): Promise<Partition[] | undefined>
}

const createTimeoutMs = 2500
const ledTimeoutMs = 30_000
const pollMs = 50

export function createTopicAdmin(library: Library, cluster: Cluster): TopicAdmin {
  return {
    async create({ name, partitions, replication, settings = {} }) {
      const configs = Object.entries(settings).map(([key, value]) => ({ name: key, value }))
      const topic = { name, numPartitions: partitions, replicationFactor: replication, assignments: [], configs }
      try {
        await cluster.ask(to => library.createTopicsV7.api.async(to, [topic], createTimeoutMs, false))
        await untilLed(cluster, name)
        return true
      } catch (error) {
        if (isRefused(error, 'TOPIC_ALREADY_EXISTS')) return false
        throw error
      }
    },
    async settings(topic) {
      const resource = { resourceType: library.ConfigResourceTypes.TOPIC, resourceName: topic, configurationKeys: null }
      try {
        const { results } = await cluster.ask(to => library.describeConfigsV4.api.async(to, [resource]))
        return new Map((results[0]?.configs ?? []).map(({ name, value }) => [name, value ?? null]))
      } catch (error) {
        if (isRefused(error, 'UNKNOWN_TOPIC_OR_PARTITION')) throw new TopicMissing(`there is no topic ${topic}`)
        throw error
      }
    },
    async change(topic, settings) {
      const { SET } = library.IncrementalAlterConfigOperationTypes
      const configs = Object.entries(settings).map(([name, value]) => ({ name, value, configOperation: SET }))
      const resource = { resourceType: library.ConfigResourceTypes.TOPIC, resourceName: topic, configs }
      await cluster.ask(to => library.incrementalAlterConfigsV1.api.async(to, [resource], false))
    },
    partitions: async topic => (await cluster.topic(topic))?.partitions,
  }
}

/** The controller creates the topic before the brokers know it. */
async function untilLed(cluster: Cluster, name: string): Promise<void> {
  const endMs = performance.now() + ledTimeoutMs
  while (!(await cluster.topic(name))?.partitions.every(({ leader }) => leader !== undefined)) {
    if (performance.now() > endMs) throw new KafkaAway(`the topic ${name} was made and has no leader`)
    await sleep(pollMs)
  }
}

function isRefused(error: unknown, code: string): boolean {
  return error instanceof Refused && error.code === code
}
