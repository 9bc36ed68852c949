/** Fetches the records of a partition that all in-sync replicas have, and the range of its offsets. */

import type { RecordsBatch } from '@platformatic/kafka'
import { bug } from '../../../store/limits/bug.ts'
import { type Broker, type BrokerConnection, type Library, offsetOf } from './broker-connection.ts'
import type { PartitionLeader } from './cluster.ts'
import { KafkaAway, messageOf, OffsetOutOfRange, OtherKafka, Refused, TopicMissing, Unanswered } from './errors.ts'

interface FetchedRecord {
  offset: number
  /**
   * Time at which the leader appended it, epoch milliseconds, if the topic has `message.timestamp.type=LogAppendTime`; else the
   * sender's time.
   */
  appendedMs: number
  value: Buffer
}

interface FetchedRecords {
  records: FetchedRecord[]
  /** Offset after all fetched batches, including batches without our records. */
  nextOffset: number
}

const appendTimeBit = 1 << 3
/** Marks the end of a transaction. */
const controlBit = 1 << 5

/** A batch can begin before the offset, since brokers send whole batches, and contain several records. */
export function recordsFrom(batches: readonly RecordsBatch[], offset: number): FetchedRecords {
  const records: FetchedRecord[] = []
  let nextOffset = offset
  for (const batch of batches) {
    const first = offsetOf(batch.firstOffset)
    nextOffset = Math.max(nextOffset, first + batch.lastOffsetDelta + 1)
    if ((batch.attributes & controlBit) !== 0) continue
    const hasAppendTime = (batch.attributes & appendTimeBit) !== 0
    for (const record of batch.records) {
      if (first + record.offsetDelta < offset) continue
      const time = hasAppendTime ? batch.maxTimestamp : batch.firstTimestamp + record.timestampDelta
      records.push({
        offset: first + record.offsetDelta,
        appendedMs: Number(time),
        value: record.value ?? Buffer.alloc(0),
      })
    }
  }
  return { records, nextOffset }
}

export interface Fetched extends FetchedRecords {
  /** End of the topic for readers: records before it may be read. */
  highWatermark: number
  /** Start of the topic: the retention has deleted earlier records. */
  logStart: number
}

export interface FetcherOptions {
  library: Library
  /** Separate from the append's connection, which must not wait while a fetch waits for records. */
  connection: BrokerConnection
  leader: PartitionLeader
  requestTimeoutMs: number
}

export interface Offsets {
  start: number
  end: number
}

const bytesLimit = 64 * 1024 * 1024
const waitLimitMs = 60_000
/** Reads all replicated records, with or without a transaction. */
const readUncommitted = 0
const anyEpoch = -1
const noReplica = -1
const earliest = -2n
const latest = -1n

export class Fetcher {
  readonly #options: FetcherOptions

  constructor(options: FetcherOptions) {
    this.#options = options
  }

  /** Throws `KafkaAway`, `TopicMissing` and `OffsetOutOfRange`. */
  async fetch(offset: number, bytesMax: number, waitMs: number): Promise<Fetched> {
    if (!(bytesMax > 0 && bytesMax <= bytesLimit)) throw bug(`${bytesMax} bytes to fetch`)
    if (!(waitMs >= 0 && waitMs <= waitLimitMs)) throw bug(`${waitMs} ms to wait for records`)
    try {
      for (let from = offset; ; ) {
        const fetched = await this.#fetchOnce(from, bytesMax, waitMs)
        // A fetch without our records continues after them.
        if (fetched.records.length > 0 || fetched.nextOffset === from) return fetched
        from = fetched.nextOffset
      }
    } catch (error) {
      if (!isOutOfRange(error)) throw error
      throw new OffsetOutOfRange(this.#options.leader.topic, offset, await this.offsets())
    }
  }

  /** The first available offset, and the offset after the last. Throws `KafkaAway` and `TopicMissing`. */
  async offsets(): Promise<Offsets> {
    // The end is read last, so that it is not below the start.
    const start = await this.#offsetAt(earliest)
    return { start, end: await this.#offsetAt(latest) }
  }

  close(): void {
    this.#options.connection.close()
  }

  async #fetchOnce(offset: number, bytesMax: number, waitMs: number): Promise<Fetched> {
    const { library, leader } = this.#options
    const partition = {
      partition: 0,
      currentLeaderEpoch: anyEpoch,
      fetchOffset: BigInt(offset),
      lastFetchedEpoch: anyEpoch,
      partitionMaxBytes: bytesMax,
    }
    const topics = [{ topicId: leader.topicId, partitions: [partition] }]
    return await this.#ask(waitMs, async (connection, broker, timeoutMs) => {
      const answer = await connection.request(broker, timeoutMs, to =>
        library.fetchV13.api.async(to, waitMs, 1, bytesMax, readUncommitted, 0, anyEpoch, topics, [], ''),
      )
      const found = answer.responses[0]?.partitions[0]
      if (found === undefined) throw new Unanswered('an answer without the partition')
      return {
        ...recordsFrom(found.records ?? [], offset),
        highWatermark: offsetOf(found.highWatermark),
        logStart: offsetOf(found.logStartOffset),
      }
    })
  }

  async #offsetAt(timestamp: bigint): Promise<number> {
    const { library, leader } = this.#options
    const partitions = [{ partitionIndex: 0, currentLeaderEpoch: anyEpoch, timestamp }]
    return await this.#ask(0, async (connection, broker, timeoutMs) => {
      const answer = await connection.request(broker, timeoutMs, to =>
        library.listOffsetsV7.api.async(to, noReplica, readUncommitted, [{ name: leader.topic, partitions }]),
      )
      const found = answer.topics[0]?.partitions[0]
      if (found === undefined) throw new Unanswered('an answer without the partition')
      return offsetOf(found.offset)
    })
  }

  /** Asks the leader. After a failure the leader is looked up again before the next request. */
  async #ask<Answer>(
    waitMs: number,
    work: (connection: BrokerConnection, broker: Broker, timeoutMs: number) => Promise<Answer>,
  ): Promise<Answer> {
    const { connection, leader, requestTimeoutMs } = this.#options
    let broker: Broker | undefined
    try {
      broker = await leader.find()
      return await work(connection, broker, waitMs + requestTimeoutMs)
    } catch (error) {
      if (isOutOfRange(error)) throw error
      if (broker !== undefined) leader.forget(broker)
      if (error instanceof TopicMissing || error instanceof OtherKafka) throw error
      throw new KafkaAway(`${leader.topic} cannot be read: ${messageOf(error)}`)
    }
  }
}

function isOutOfRange(error: unknown): boolean {
  return error instanceof Refused && error.code === 'OFFSET_OUT_OF_RANGE'
}
