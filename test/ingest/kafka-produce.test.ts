/** The produce request in the bytes that a broker receives, and the answers that count as stored. */

import * as library from '@platformatic/kafka'
import { type Test, test } from 'tap'
import { createProducerRequests } from '../../ingest/kafka/client/appender.ts'
import type { BrokerConnection } from '../../ingest/kafka/client/broker-connection.ts'

const timeoutMs = 3000
const topic = 'readings'
const broker = { host: 'broker', port: 9092 }
const producer = { id: 7n, epoch: 3, sequence: 11 }

interface Answered {
  errorCode: number
  baseOffset: bigint
}

/** Encodes and parses with the library. Only the socket is a stand-in: it answers with one partition, or with none. */
function connectTo(partitions: readonly Answered[]) {
  const sent: Buffer[] = []
  const connection = {
    send(key: number, version: number, payload: () => library.Writer, parse: Parse, ...[, , callback]: SendEnd) {
      sent.push(payload().buffer)
      try {
        callback(null, parse(1, key, version, answerOf(partitions)))
      } catch (error) {
        callback(error as Error)
      }
    },
  } as unknown as library.Connection
  const toBroker: BrokerConnection = {
    request: async (_broker, _timeoutMs, send) => await send(connection),
    close: () => undefined,
  }
  const { produce } = createProducerRequests(library, toBroker, timeoutMs)
  return { sent, append: (value: Buffer) => produce(broker, topic, value, producer, () => true) }
}

type Parse = (correlationId: number, key: number, version: number, reader: library.Reader) => unknown
type SendEnd = [
  hasRequestTags: boolean,
  hasAnswerTags: boolean,
  callback: (error: Error | null, found?: unknown) => void,
]

/** Encodes an answer of version 9, by Kafka's protocol. */
function answerOf(partitions: readonly Answered[]): library.Reader {
  const writer = library.Writer.create()
    .appendArray([topic], (to, name) =>
      to.appendString(name).appendArray([...partitions], (to, { errorCode, baseOffset }) =>
        to
          .appendInt32(0)
          .appendInt16(errorCode)
          .appendInt64(baseOffset)
          .appendInt64(1_800_000_000_000n)
          .appendInt64(0n)
          .appendArray([], () => undefined)
          .appendString(null),
      ),
    )
    .appendInt32(0)
    .appendTaggedFields()
  return library.Reader.from(writer)
}

/** Decodes a request of version 9, by Kafka's protocol. */
function readRequest(bytes: Buffer) {
  const reader = library.Reader.from(bytes)
  const transactionalId = reader.readNullableString()
  const acks = reader.readInt16()
  const brokerTimeoutMs = reader.readInt32()
  const [data] = reader.readArray(reader => ({
    topic: reader.readString(),
    partitions: reader.readArray(reader => ({
      partition: reader.readInt32(),
      batch: library.readRecordsBatch(library.Reader.from(reader.readBytes())),
    })),
  }))
  return { transactionalId, acks, brokerTimeoutMs, data }
}

async function requestFor(t: Test, value: Buffer) {
  const { append, sent } = connectTo([{ errorCode: 0, baseOffset: 41n }])
  t.equal(await append(value), 41, 'the offset of the answer')
  t.equal(sent.length, 1)
  return readRequest(sent[0] as Buffer)
}

test('a broker answers only when all in-sync replicas have the group', async t => {
  const { acks, brokerTimeoutMs, data } = await requestFor(t, Buffer.from('a group'))
  t.equal(acks, -1, 'acks=all: min.insync.replicas applies to no other value')
  t.ok(brokerTimeoutMs > 0 && brokerTimeoutMs < timeoutMs, 'the broker reports late replicas first')
  t.equal(data?.topic, topic)
  t.match(data?.partitions, [{ partition: 0 }])
})

test('the numbers by which a broker stores a group once are in its batch', async t => {
  const { transactionalId, data } = await requestFor(t, Buffer.from('a group'))
  t.equal(transactionalId, null)
  const numbers = { producerId: producer.id, producerEpoch: producer.epoch, firstSequence: producer.sequence }
  t.match(data?.partitions[0]?.batch, { ...numbers, records: [{ value: Buffer.from('a group') }] })
})

test('only groups from 8 KB on are compressed, as zstd', async t => {
  for (const [length, codec] of [
    [8191, 0],
    [8192, 4],
  ] as const) {
    const { data } = await requestFor(t, Buffer.alloc(length, 'a'))
    t.equal((data?.partitions[0]?.batch.attributes ?? -1) & 7, codec, `${length} bytes`)
  }
})

test('an answer with an error, without the partition or without an offset is not an acknowledgement', async t => {
  const append = (...partitions: Answered[]) => connectTo(partitions).append(Buffer.from('a group'))
  await t.rejects(append(), { name: 'Unanswered' })
  await t.rejects(append({ errorCode: 0, baseOffset: -1n }), { name: 'Unanswered' })
  for (const [code, name] of [
    [19, 'NOT_ENOUGH_REPLICAS'],
    [20, 'NOT_ENOUGH_REPLICAS_AFTER_APPEND'],
    [7, 'REQUEST_TIMED_OUT'],
  ] as const) {
    await t.rejects(append({ errorCode: code, baseOffset: 41n }), { errors: [{ apiId: name }] })
  }
})
