/** The one partition of a topic: groups are appended to it, and read from it in the same order, by offset. */

import { systemTiming } from '../timing.ts'
import { Appender, type AppendOutcome } from './appender.ts'
import { type ConnectionSettings, createBrokerConnection, type Library } from './broker-connection.ts'
import type { Cluster } from './cluster.ts'
import { type Fetched, Fetcher, type Offsets } from './fetcher.ts'
import { TopicMissing } from './kafka-errors.ts'
import { createPartitionLeader } from './partition-leader.ts'
import { createProducerRequests } from './producer-requests.ts'

export interface TopicPartition {
  /** Of the topic, as Kafka gave it: another one for a topic that was deleted and made again. */
  readonly topicId: string
  /**
   * Appends one record; one append at a time. `mayBegin` is asked directly before it is sent, until it may have reached a broker: when it
   * is false, nothing is appended. Never throws but for a `bug()`.
   */
  append(bytes: Uint8Array, mayBegin?: () => boolean): Promise<AppendOutcome>
  /**
   * Records from `offset` on, at least one when there is one, however long; waits up to `waitMs` for one. One call waits for the
   * other. Throws `KafkaAway`, `TopicMissing` and `OffsetOutOfRange`.
   */
  fetch(offset: number, bytesMax: number, waitMs: number): Promise<Fetched>
  /** The first offset that is there, and the one behind the last. Throws `KafkaAway` and `TopicMissing`. */
  offsets(): Promise<Offsets>
  /** Ends what is under way. */
  close(): Promise<void>
}

export interface PartitionOptions {
  library: Library
  settings: ConnectionSettings
  cluster: Cluster
  requestTimeoutMs: number
  appendDeadlineMs: number
}

/** Throws `TopicMissing`, `KafkaAway` and `Refused`. */
export async function openTopicPartition(options: PartitionOptions, topic: string): Promise<TopicPartition> {
  const { library, settings, cluster, requestTimeoutMs, appendDeadlineMs: deadlineMs } = options
  const found = await cluster.topic(topic)
  if (found === undefined) throw new TopicMissing(`there is no topic ${topic}`)
  const leader = createPartitionLeader(cluster, topic, found.id)
  // A broker works on one request of a connection at a time, and one to fetch may wait for records.
  const connect = () => createBrokerConnection(library, settings)
  const requests = createProducerRequests(library, connect(), requestTimeoutMs)
  const appender = new Appender({ leader, requests, timing: systemTiming, deadlineMs })
  const fetcher = new Fetcher({ library, connection: connect(), leader, requestTimeoutMs })
  const asker = new Fetcher({ library, connection: connect(), leader, requestTimeoutMs })
  return {
    topicId: found.id,
    append: (bytes, mayBegin) => appender.append(bytes, mayBegin),
    fetch: (offset, bytesMax, waitMs) => fetcher.fetch(offset, bytesMax, waitMs),
    offsets: () => asker.offsets(),
    async close() {
      for (const part of [appender, fetcher, asker]) part.close()
    },
  }
}
