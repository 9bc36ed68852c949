/** Appends groups to a partition in turn: each is retried until it is stored or its deadline has passed. */

import { bug } from '../../../store/limits/bug.ts'
import { groupBodyMax, groupHeaderLength } from '../../journal/group.ts'
import { Sleeper, type Timing } from '../../timing.ts'
import { type Broker, type BrokerConnection, type Library, offsetOf } from './broker-connection.ts'
import type { PartitionLeader } from './cluster.ts'
import { messageOf, NotSent, OtherKafka, Refused, TooLate, Unanswered } from './errors.ts'

/**
 * `stored`: all in-sync replicas have it. `full`: it is not stored and never will be. `unknown`: it may be stored, but only
 * before everything stored later.
 */
export type AppendOutcome = { outcome: 'stored'; offset: number } | { outcome: 'full' | 'unknown'; reason: string }

interface AppenderOptions {
  leader: PartitionLeader
  requests: ProducerRequests
  timing: Timing
  /** No attempt begins later. */
  deadlineMs: number
}

const recordBytesMax = groupHeaderLength + groupBodyMax
const pauseMsMin = 50
const pauseMsMax = 1000
const noEpochLeft: Attempt = {
  mayBeStored: false,
  tryAgain: false,
  reason: 'the outcome of too many appends is unknown: restart this node',
}

const always = () => true

type Attempt = { offset: number } | ({ offset?: undefined; reason: string } & Verdict)

export class Appender {
  readonly #options: AppenderOptions
  readonly #sleeper: Sleeper
  #producer: Producer | undefined
  #lastOffset = -1
  #isBusy = false

  constructor(options: AppenderOptions) {
    this.#options = options
    this.#sleeper = new Sleeper(options.timing)
  }

  /** See `TopicPartition.append`. */
  async append(bytes: Uint8Array, mayBegin: () => boolean = always): Promise<AppendOutcome> {
    if (this.#isBusy) throw bug('two appends to a partition at once')
    if (bytes.length > recordBytesMax) throw bug(`a record of ${bytes.length} bytes`)
    this.#isBusy = true
    try {
      return await this.#appendUntilDeadline(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), mayBegin)
    } finally {
      this.#isBusy = false
    }
  }

  /** Appends in progress are not retried. */
  close(): void {
    this.#sleeper.stop()
    this.#options.requests.close()
  }

  async #appendUntilDeadline(value: Buffer, mayBegin: () => boolean): Promise<AppendOutcome> {
    const { timing, deadlineMs } = this.#options
    const endMs = timing.monotonicMs() + deadlineMs
    let mayBeStored = false
    for (let pauseMs = pauseMsMin; ; pauseMs = Math.min(2 * pauseMs, pauseMsMax)) {
      // A group that may be stored was admitted before, so it is sent again to find its outcome.
      const attempt = await this.#attempt(value, mayBeStored ? always : mayBegin)
      if (attempt.offset !== undefined) return this.#stored(attempt.offset)
      mayBeStored ||= attempt.mayBeStored
      const isTooLate = timing.monotonicMs() + pauseMs > endMs || !(mayBeStored || mayBegin())
      if (isTooLate || !attempt.tryAgain || this.#sleeper.stopped) return this.#notStored(mayBeStored, attempt.reason)
      await this.#sleeper.sleep(pauseMs)
    }
  }

  async #attempt(value: Buffer, mayBegin: () => boolean): Promise<Attempt> {
    const { leader, requests } = this.#options
    let broker: Broker | undefined
    let isSending = false
    try {
      broker = await leader.find()
      this.#producer ??= await requests.init(broker)
      if (this.#producer.epoch > epochMax) return noEpochLeft
      isSending = true
      return { offset: await requests.produce(broker, leader.topic, value, this.#producer, mayBegin) }
    } catch (error) {
      if (broker !== undefined && !(error instanceof TooLate)) leader.forget(broker)
      if (error instanceof Refused && error.code === 'INVALID_PRODUCER_EPOCH') this.#producer = undefined
      return { ...(isSending ? verdictOf(error) : verdictBefore(error)), reason: messageOf(error) }
    }
  }

  #stored(offset: number): AppendOutcome {
    if (this.#producer !== undefined) this.#producer = afterStored(this.#producer)
    if (offset <= this.#lastOffset) {
      // The topic was recreated, or its brokers have lost its end.
      const reason = `stored at the offset ${offset}, which is not behind the last one, ${this.#lastOffset}`
      return { outcome: 'unknown', reason }
    }
    this.#lastOffset = offset
    return { outcome: 'stored', offset }
  }

  #notStored(mayBeStored: boolean, reason: string): AppendOutcome {
    const after = mayBeStored ? afterUnknown : afterRefused
    if (this.#producer !== undefined) this.#producer = after(this.#producer)
    return { outcome: mayBeStored ? 'unknown' : 'full', reason }
  }
}

interface Verdict {
  /** True also when the broker may store it later. */
  mayBeStored: boolean
  tryAgain: boolean
}

/** Nothing was appended, and a retry would get the same answer. */
const refused: Verdict = { mayBeStored: false, tryAgain: false }
/** Nothing was appended, and the cause may be temporary. */
const notNow: Verdict = { mayBeStored: false, tryAgain: true }
/** A retry with the same sequence number stores the group once. */
const inDoubt: Verdict = { mayBeStored: true, tryAgain: true }

/** Keys are names of errors in the answer to a `Produce` request. Errors not listed here are in doubt. */
const verdicts: Record<string, Verdict> = {
  // Rejected before the append.
  MESSAGE_TOO_LARGE: refused,
  RECORD_LIST_TOO_LARGE: refused,
  INVALID_TOPIC_EXCEPTION: refused,
  INVALID_REQUIRED_ACKS: refused,
  INVALID_TIMESTAMP: refused,
  INVALID_RECORD: refused,
  INVALID_REQUEST: refused,
  UNSUPPORTED_VERSION: refused,
  UNSUPPORTED_FOR_MESSAGE_FORMAT: refused,
  UNSUPPORTED_COMPRESSION_TYPE: refused,
  POLICY_VIOLATION: refused,
  TOPIC_AUTHORIZATION_FAILED: refused,
  CLUSTER_AUTHORIZATION_FAILED: refused,
  // The number does not follow the last one that the broker knows: it has lost acknowledged records. The next group gets the next
  // epoch, which begins at 0 for any broker. (A broker that has forgotten an idle producer accepts any number.)
  OUT_OF_ORDER_SEQUENCE_NUMBER: refused,
  // The same error from brokers before 2.5.
  UNKNOWN_PRODUCER_ID: refused,
  // The broker knows a later epoch: neither this attempt nor earlier ones can be appended any more.
  INVALID_PRODUCER_EPOCH: refused,
  // The request was damaged in transit. The checksum is verified before the append.
  CORRUPT_MESSAGE: notNow,
  // Replicas are counted before the append.
  NOT_ENOUGH_REPLICAS: notNow,
  // Counted again afterwards: the leader has it.
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: inDoubt,
  // The leader has it, but the replicas did not have it in time.
  REQUEST_TIMED_OUT: inDoubt,
  // These occur before an append, and also after one when the broker lost the partition while it waited for the replicas.
  NOT_LEADER_OR_FOLLOWER: inDoubt,
  UNKNOWN_TOPIC_OR_PARTITION: inDoubt,
  KAFKA_STORAGE_ERROR: inDoubt,
  UNKNOWN_SERVER_ERROR: inDoubt,
  // The group is stored, but the broker has forgotten its offset. Brokers keep the last five, so this does not happen with one
  // request in flight. Without the offset it cannot be reported as stored.
  DUPLICATE_SEQUENCE_NUMBER: { mayBeStored: true, tryAgain: false },
}

/** The error is from the appending request, or precedes it. */
function verdictOf(error: unknown): Verdict {
  if (error instanceof NotSent) return notNow
  if (error instanceof TooLate || error instanceof OtherKafka) return refused
  if (error instanceof Refused) return verdicts[error.code] ?? inDoubt
  return inDoubt
}

/** The error is from finding the leader or getting a producer number. */
function verdictBefore(error: unknown): Verdict {
  return { ...verdictOf(error), mayBeStored: false }
}

/**
 * A producer's identity for a broker: its number, an epoch, and a sequence number of each group in it. A broker appends a
 * sequence number once, and rejects epochs before the latest one. So an append with an unknown outcome starts the next epoch, as
 * KIP-360 does for idempotent producers. Once a group of the new epoch is stored, pending groups of the old epoch are rejected,
 * so they never follow newer ones.
 */
export interface Producer {
  id: bigint
  epoch: number
  sequence: number
}

/** Epochs have 16 bits, numbers 32, both signed. */
export const epochMax = 0x7fff
const sequenceMax = 0x7fff_ffff
/** The remaining epochs are reserved for unknown outcomes. */
const renewalEpoch = 0x4000

/** Undefined when a new number is needed. Only once the broker has seen the epoch, it rejects older ones by itself. */
function afterStored(producer: Producer): Producer | undefined {
  if (producer.epoch >= renewalEpoch) return undefined
  return producer.sequence === sequenceMax ? nextEpoch(producer) : { ...producer, sequence: producer.sequence + 1 }
}

/**
 * Nothing was appended, so the sequence number is free. It is still not reused while epochs remain: as a supposed duplicate, the
 * next group would be acknowledged but not stored.
 */
function afterRefused(producer: Producer): Producer {
  return producer.epoch < renewalEpoch ? nextEpoch(producer) : producer
}

/** The epoch exceeds `epochMax` when none is left, after 16,000 unknown outcomes without a stored group between them. */
function afterUnknown(producer: Producer): Producer {
  return nextEpoch(producer)
}

function nextEpoch({ id, epoch }: Producer): Producer {
  return { id, epoch: epoch + 1, sequence: 0 }
}

export interface ProducerRequests {
  /** Returns an unused producer number, with its first epoch. Throws like `BrokerConnection`. */
  init(broker: Broker): Promise<Producer>
  /**
   * Appends one record. Resolves with its offset when all in-sync replicas have it. Throws like `BrokerConnection`, and `TooLate`
   * when `mayBegin`, called directly before the request is sent, returns false.
   */
  produce(broker: Broker, topic: string, value: Buffer, producer: Producer, mayBegin: () => boolean): Promise<number>
  close(): void
}

const allInSync = -1
/**
 * Readings of sensors take a third of the space as zstd: of 72 bytes each, 25 in groups of 500 and 18 in groups of 10,000. That
 * costs the sender 0.5 to 0.9 µs of processor time a reading, and the reader 0.2 to 0.3 µs. Smaller groups cost twice that, and
 * save less.
 */
const compressedFrom = 8192
/** The broker reports late replicas before our own timeout, so that the connection stays. */
const brokerShare = 0.8

export function createProducerRequests(
  library: Library,
  connection: BrokerConnection,
  timeoutMs: number,
): ProducerRequests {
  return {
    async init(broker) {
      const { producerId, producerEpoch } = await connection.request(broker, timeoutMs, to =>
        library.initProducerIdV4.api.async(to, null, timeoutMs),
      )
      return { id: producerId, epoch: producerEpoch, sequence: 0 }
    },
    async produce(broker, topic, value, producer, mayBegin) {
      const options = {
        compression: value.length < compressedFrom ? ('none' as const) : ('zstd' as const),
        producerId: producer.id,
        producerEpoch: producer.epoch,
        sequences: new library.NumericMap([[`${topic}:0`, producer.sequence]]),
        partitionLeaderEpoch: 0,
      }
      const brokerTimeoutMs = Math.ceil(timeoutMs * brokerShare)
      const answer = await connection.request(broker, timeoutMs, to => {
        if (!mayBegin()) throw new TooLate('the lease of this node is over')
        return library.produceV9.api.async(to, allInSync, brokerTimeoutMs, [{ topic, partition: 0, value }], options)
      })
      const partition = typeof answer === 'boolean' ? undefined : answer.responses[0]?.partitionResponses[0]
      if (partition === undefined) throw new Unanswered('an answer without the partition')
      return offsetOf(partition.baseOffset)
    },
    close: () => connection.close(),
  }
}
