/** The requests of a producer to the leader of the partition. */

import type { Broker, BrokerConnection, Library } from './broker-connection.ts'
import { TooLate, Unanswered } from './kafka-errors.ts'
import { offsetOf } from './offset.ts'
import type { Producer } from './producer-state.ts'

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
