/** The single partition of a topic: groups are appended to it, and read from it in the same order, by offset. */

import { systemTiming } from '../../timing.ts'
import { Appender, type AppendOutcome, createProducerRequests } from './appender.ts'
import { type ConnectionSettings, createBrokerConnection, type Library } from './broker-connection.ts'
import { type Cluster, createPartitionLeader } from './cluster.ts'
import { TopicMissing } from './errors.ts'
import { type Fetched, Fetcher, type Offsets } from './fetcher.ts'

export interface TopicPartition {
  /** Kafka's id of the topic. It changes when a topic is deleted and created again. */
  readonly topicId: string
  /**
   * Appends one record, one call at a time. `mayBegin` is called directly before it is sent, until it may have reached a broker:
   * when it returns false, nothing is appended. Never throws except for a `bug()`.
   */
  append(bytes: Uint8Array, mayBegin?: () => boolean): Promise<AppendOutcome>
  /**
   * Records from `offset` on, at least one of any length if available; waits up to `waitMs` for one. Calls run in turn. Throws
   * `KafkaAway`, `TopicMissing` and `OffsetOutOfRange`.
   */
  fetch(offset: number, bytesMax: number, waitMs: number): Promise<Fetched>
  /** The first available offset, and the offset after the last. Throws `KafkaAway` and `TopicMissing`. */
  offsets(): Promise<Offsets>
  /** Ends requests in progress. */
  close(): Promise<void>
}

interface PartitionOptions {
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
  // A broker works on one request of a connection at a time, and a fetch may wait for records.
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

/** The first offset whose record Kafka received at a time or later, or the end of the topic. Receipt times ascend. */
export async function offsetAt(partition: Pick<TopicPartition, 'offsets' | 'fetch'>, timeMs: number): Promise<number> {
  let { start: low, end: high } = await partition.offsets()
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const { records } = await partition.fetch(middle, 1, 0)
    const [record] = records
    // Deleted or compacted records are skipped.
    if (record === undefined) high = middle
    else if (record.appendedMs >= timeMs) high = middle
    else low = Math.max(middle, record.offset) + 1
  }
  return low
}
