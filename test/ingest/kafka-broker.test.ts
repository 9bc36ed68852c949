/** What becomes of appends while a broker fails: nothing twice, and nothing older behind something newer. */

import { Admin } from '@platformatic/kafka'
import t from 'tap'
import type { TopicPartition } from '../../ingest/kafka/topic-partition.ts'
import { freeze } from '../support/frozen.ts'
import { answered, appendText, startKafka, storeText, type TestKafka, textsOf } from '../support/kafka.ts'
import { until } from '../support/processes.ts'

const kafka = await startKafka(t, {
  settings: () => ({ 'producer.id.expiration.ms': '1000', 'producer.id.expiration.check.interval.ms': '100' }),
})
const [broker] = kafka.brokers
if (broker === undefined) throw new Error('no broker')

t.test('appends go on behind a broker that was killed, in between and under way', async t => {
  const client = await kafka.connect({ requestTimeoutMs: 1000, appendDeadlineMs: 10 * 60_000 })
  const topic = await kafka.makeTopic('killed')
  const partition = await answered(() => client.partition(topic))
  t.match(await appendText(partition, 'a'), { outcome: 'stored', offset: 0 })
  await broker.kill()
  await t.rejects(partition.fetch(0, 1000, 0), { name: 'KafkaAway' })
  const appended = appendText(partition, 'b')
  await broker.start()
  t.match(await appended, { outcome: 'stored', offset: 1 })
  t.match(await appendText(partition, 'c'), { outcome: 'stored', offset: 2 })
  t.strictSame(await textsOf(partition), ['a', 'b', 'c'])
})

t.test('while no broker listens nothing is stored, and the outcome says so', async t => {
  const client = await kafka.connect({ appendDeadlineMs: 200 })
  const partition = await client.partition(await kafka.makeTopic('away'))
  await storeText(partition, 'a')
  await broker.kill()
  // The first one may be on its way when the connection turns out to be gone.
  await until('nothing is sent', async () => (await appendText(partition, 'b')).outcome === 'full')
  await untilRefused(partition, 'b', /ECONNREFUSED/)
  await broker.start()
  t.notOk((await textsOf(partition)).includes('b'))
})

t.test('a frozen broker is told within the time of a request, and stores nothing old behind something new', async t => {
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

t.test('a producer that the broker has forgotten goes on', async t => {
  const topic = await kafka.makeTopic('idle')
  const partition = await (await kafka.connect()).partition(topic)
  for (const text of ['a', 'b']) t.match(await appendText(partition, text), { outcome: 'stored' })
  await until('the broker has forgotten it', async () => (await producersOf(kafka, topic)) === 0)
  for (const text of ['c', 'd']) t.match(await appendText(partition, text), { outcome: 'stored' })
  t.strictSame(await textsOf(partition), ['a', 'b', 'c', 'd'])
})

t.test('a topic that was made again is another one', async () => {
  const client = await kafka.connect({ appendDeadlineMs: 500 })
  const partition = await client.partition(await kafka.makeTopic('again'))
  for (const text of ['a', 'b']) await storeText(partition, text)
  await deleteTopic(kafka, 'again')
  await until(
    'it is made again',
    async () => await client.admin.create({ name: 'again', partitions: 1, replication: 1 }),
  )
  await until('its reader is told', async () => (await nameOfError(partition.fetch(0, 1000, 0))) === 'TopicMissing')
  await untilRefused(partition, 'c', /^the topic again was deleted and made again$/)
})

/** A time of an append that is over before anything was tried is a reason, too. */
async function untilRefused(partition: TopicPartition, text: string, why: RegExp): Promise<void> {
  await until(`${text} is refused: ${why}`, async () => {
    const outcome = await appendText(partition, text)
    return outcome.outcome === 'full' && why.test(outcome.reason)
  })
}

async function deleteTopic(kafka: TestKafka, name: string): Promise<void> {
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.addresses] })
  await admin.deleteTopics({ topics: [name] })
  await admin.close()
}

async function nameOfError(promise: Promise<unknown>): Promise<string | undefined> {
  return await promise.then(
    () => undefined,
    (error: Error) => error.name,
  )
}

/** How many producers the broker knows of the topic. */
async function producersOf(kafka: TestKafka, topic: string): Promise<number> {
  const library = await import('@platformatic/kafka')
  const [host = '', port] = kafka.addresses[0]?.split(':') ?? []
  const connection = new library.Connection('test')
  await connection.connect(host, Number(port))
  const answer = await library.describeProducersV0.api.async(connection, [{ name: topic, partitionIndexes: [0] }])
  await connection.close()
  return answer.topics[0]?.partitions[0]?.activeProducers.length ?? 0
}
