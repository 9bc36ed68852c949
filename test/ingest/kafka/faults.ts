/** Appends, a journal and a feed during faults of a broker: no duplicates, and no older value after a newer one. */

import { randomBytes } from 'node:crypto'
import { Connection, describeProducersV0, incrementalAlterConfigsV1 } from '@platformatic/kafka'
import t, { type Test } from 'tap'
import { openDisk } from '../../../ingest/journal/disk.ts'
import { Journal } from '../../../ingest/journal/journal.ts'
import type { Outcome } from '../../../ingest/journal/outcome.ts'
import { openStamper } from '../../../ingest/journal/stamp-file.ts'
import type { TopicPartition } from '../../../ingest/kafka/client/partition.ts'
import { groupBytesFor } from '../../../ingest/kafka/client/settings.ts'
import { openTopicFeed } from '../../../ingest/kafka/consume/feed.ts'
import { createTopicMedium } from '../../../ingest/kafka/produce/write-path.ts'
import { readings, readingWriter } from '../../../ingest/readings-table.ts'
import { appendInPieces } from '../../../ingest/write-path.ts'
import { silentLog, temporaryFolder } from '../../support/databases.ts'
import { freeze } from '../../support/frozen.ts'
import { device, reading, records } from '../../support/journal-parts.ts'
import { answered, appendText, storeText, textsOf } from '../../support/kafka.ts'
import { until } from '../../support/processes.ts'
import { waitFor } from '../../support/wait-for.ts'
import { groupOf } from '../fake-partition.ts'
import { kafka } from './broker.ts'

const [broker] = kafka.brokers
if (broker === undefined) throw new Error('no broker')

async function append(partition: TopicPartition, ids: readonly number[]): Promise<void> {
  const { outcome } = await partition.append(groupOf(ids.map(id => ({ id, series: 1, timeUs: 1000 + id }))))
  if (outcome !== 'stored') throw new Error(`the group was not stored: ${outcome}`)
}

async function openFeed(t: Test, topic: string) {
  const client = await kafka.connect({ requestTimeoutMs: 1000, appendDeadlineMs: 60_000 })
  const feed = openTopicFeed({
    table: readings,
    topic,
    partition: await answered(() => client.partition(topic)),
    from: 0,
    notifyFrom: 0,
    published: { onState: () => undefined, ageMs: () => 0 },
    log: silentLog,
    onFatal: error => {
      throw error
    },
  })
  t.teardown(() => feed.close())
  const received: number[] = []
  feed.onStored(stored => {
    while (stored.next()) received.push(stored.value(0))
  })
  return { feed, received }
}

t.test('behind a broker that was killed appends, a feed and a journal go on', async t => {
  const client = await kafka.connect({ requestTimeoutMs: 1000, appendDeadlineMs: 10 * 60_000 })
  const partition = await client.partition(await kafka.makeTopic('killed'))
  t.match(await appendText(partition, 'a'), { outcome: 'stored', offset: 0 })
  const impatient = await kafka.connect({ appendDeadlineMs: 200 })
  const away = await impatient.partition(await kafka.makeTopic('away'))
  await storeText(away, 'a')
  const read = await kafka.makeTopic('read')
  const producer = await client.partition(read)
  const { feed, received } = await openFeed(t, read)
  await append(producer, [1, 2])
  await waitFor('the feed has read them', () => received.length === 2)
  const { journalled } = await openJournal(t, 'journalled')
  await until('a reading is stored', async () => (await journalled(1)) === 'stored')

  await broker.kill()
  await t.rejects(partition.fetch(0, 1000, 0), { name: 'KafkaAway' })
  // The first one may be on its way when the connection turns out to be gone.
  await until('nothing is sent', async () => (await appendText(away, 'b')).outcome === 'full')
  await untilRefused(away, 'b', /ECONNREFUSED/)
  await until('a reading is refused', async () => (await journalled(2)) === 'full')
  await waitFor('the feed is behind', () => feed.status().issue !== undefined && feed.isBehind())
  t.equal(feed.replicas[0].oldestSentSince(0), Number.NEGATIVE_INFINITY)
  const waiting = [appendText(partition, 'b'), append(producer, [3])] as const

  await broker.start()
  t.match(await waiting[0], { outcome: 'stored', offset: 1 })
  t.match(await appendText(partition, 'c'), { outcome: 'stored', offset: 2 })
  t.strictSame(await textsOf(partition), ['a', 'b', 'c'])
  t.notOk((await textsOf(away)).includes('b'), 'what was refused')
  await until('a reading is stored again', async () => (await journalled(3)) === 'stored')
  await waiting[1]
  await waitFor('the feed goes on', () => received.length === 3)
  t.strictSame(received, [1, 2, 3])
  await waitFor('it is at the end', () => !feed.isBehind() && feed.status().issue === undefined)
})

t.test('a frozen broker is reported in time and stores nothing old after newer records', async t => {
  const client = await kafka.connect({ requestTimeoutMs: 1000, appendDeadlineMs: 1000 })
  const topic = await kafka.makeTopic('frozen')
  const partition = await answered(() => client.partition(topic))
  await storeText(partition, 'a')
  const thaw = freeze(broker.pid())
  t.teardown(thaw)
  t.match(await appendText(partition, 'old'), {
    outcome: 'unknown',
    reason: /no answer within 1000 ms|no broker answers/,
  })
  await t.rejects(partition.fetch(0, 1000, 0), { name: 'KafkaAway' })
  thaw()
  await storeText(partition, 'new')
  const texts = await textsOf(partition)
  t.equal(texts.at(-1), 'new')
  t.ok(texts.filter(text => text === 'old').length <= 1)
})

t.test('groups are as short as the topic allows, whether they are compressed or not', async t => {
  const messageBytes = 270_000
  const groupBytesMax = groupBytesFor(messageBytes)
  const settings = { 'max.message.bytes': `${messageBytes}` }
  const { journal, journalled } = await openJournal(t, 'shorter', { settings, groupBytesMax })
  const partition = await (await kafka.connect()).partition('shorter')
  await until('the longest group is stored', async () => {
    return (await partition.append(randomBytes(groupBytesMax))).outcome === 'stored'
  })
  const { end: from } = await partition.offsets()
  await until('a reading is stored', async () => (await journalled(1)) === 'stored')
  const bulk = appendInPieces(journal, records(device(2), Array<number>(20_000).fill(20), 0))
  const single = await Promise.all(Array.from({ length: 3000 }, (_, at) => journalled(at)))
  t.strictSame(new Set([...single, await bulk]), new Set(['stored']))
  const lengths: number[] = []
  for (let offset = from; offset < (await partition.offsets()).end; ) {
    const fetched = await partition.fetch(offset, 1024 * 1024, 0)
    lengths.push(...fetched.records.map(({ value }) => value.length))
    offset = fetched.nextOffset
  }
  t.ok(lengths.length > 2)
  t.ok(lengths.every(length => length <= groupBytesMax))
})

t.test('a journal that is closed before its thread has begun is closed', async t => {
  const { journal } = await openJournal(t, 'closed-at-once')
  await journal.close()
})

t.test('a producer that the broker has forgotten goes on', async t => {
  const topic = await kafka.makeTopic('idle')
  const partition = await (await kafka.connect()).partition(topic)
  for (const text of ['a', 'b']) t.match(await appendText(partition, text), { outcome: 'stored' })
  const connection = new Connection('test')
  const [host = '', port] = kafka.addresses[0]?.split(':') ?? []
  await connection.connect(host, Number(port))
  t.teardown(() => connection.close())
  // A setting of all brokers for the remaining tests.
  const expiry = { name: 'producer.id.expiration.ms', configOperation: 0, value: '1000' } as const
  const ofBrokers = { resourceType: 4, resourceName: '', configs: [expiry] } as const
  await incrementalAlterConfigsV1.api.async(connection, [{ ...ofBrokers, configs: [...ofBrokers.configs] }], false)
  await until('the broker has forgotten it', async () => {
    const answer = await describeProducersV0.api.async(connection, [{ name: topic, partitionIndexes: [0] }])
    return (answer.topics[0]?.partitions[0]?.activeProducers.length ?? 0) === 0
  })
  for (const text of ['c', 'd']) t.match(await appendText(partition, text), { outcome: 'stored' })
  t.strictSame(await textsOf(partition), ['a', 'b', 'c', 'd'])
})

/** A journal on a topic of its own, over a thread. */
async function openJournal(
  t: Test,
  name: string,
  { settings = {}, groupBytesMax }: { settings?: Record<string, string>; groupBytesMax?: number } = {},
) {
  const nowUs = () => Date.now() * 1000
  const lease = { leftMs: Number.POSITIVE_INFINITY }
  const journal = new Journal({
    writer: readingWriter,
    medium: createTopicMedium({
      connection: { brokers: kafka.addresses, clientId: 'test', appendDeadlineMs: 200 },
      topic: await kafka.makeTopic(name, settings),
      end: 0,
      ...(groupBytesMax === undefined ? {} : { groupBytesMax }),
      stamper: openStamper({ disk: openDisk(temporaryFolder(t)), lastStampUs: 0, nowUs, log: silentLog }),
      refusal: () => undefined,
      leaseLeftMs: () => lease.leftMs,
      leaseTerm: () => 0,
    }),
    liveWindowUs: 300_000_000,
    nowUs,
    log: silentLog,
    onFatal: error => t.fail(error.message),
  })
  t.teardown(() => journal.close())
  const journalled = (temperature: number) =>
    new Promise<Outcome>(resolve => journal.append(device(1), reading(temperature), resolve))
  return { journal, journalled, lease }
}

/** A time of an append that is over before anything was tried is a reason, too. */
async function untilRefused(partition: TopicPartition, text: string, why: RegExp): Promise<void> {
  await until(`${text} is refused: ${why}`, async () => {
    const outcome = await appendText(partition, text)
    return outcome.outcome === 'full' && why.test(outcome.reason)
  })
}
