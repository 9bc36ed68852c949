/** A topic as a journal: records are read in their order, and invalid ones are refused. */

import { randomBytes } from 'node:crypto'
import { Connection, fetchV13 } from '@platformatic/kafka'
import t from 'tap'
import { groupBodyMax, groupHeaderLength } from '../../../ingest/journal/group.ts'
import type { TopicPartition } from '../../../ingest/kafka/client/partition.ts'
import { kafka as broker, client as kafka } from './broker.ts'

/** All that the topic has. */
async function readAll(partition: TopicPartition, bytesMax = 1024 * 1024): Promise<string[]> {
  const { start, end } = await partition.offsets()
  const values: string[] = []
  for (let offset = start; offset < end; ) {
    const { records, nextOffset } = await partition.fetch(offset, bytesMax, 1000)
    values.push(...records.map(({ value }) => value.toString('base64')))
    offset = nextOffset
  }
  return values
}

t.test('groups of any length are read as they were appended, one after the other', async t => {
  const partition = await kafka.partition(await broker.makeTopic('lengths'))
  t.strictSame(await partition.offsets(), { start: 0, end: 0 })
  const longest = groupHeaderLength + groupBodyMax
  const groups = [1, 100, longest, 70_000, 1, longest].map(length => randomBytes(length))
  for (const [offset, group] of groups.entries()) {
    t.strictSame(await partition.append(group), { outcome: 'stored', offset })
  }
  t.strictSame(await partition.offsets(), { start: 0, end: groups.length })
  const written = groups.map(group => group.toString('base64'))
  t.ok((await readAll(partition)).join() === written.join(), 'with a bound in bytes')
  t.ok((await readAll(partition, 1)).join() === written.join(), 'one by one, however long')
})

t.test('a long group is compressed and read back unchanged', async t => {
  const partition = await kafka.partition(await broker.makeTopic('compressed'))
  const groups = [Buffer.alloc(100_000, 'kitchen 21.5 '), Buffer.from('short')]
  for (const group of groups) await partition.append(group)
  t.strictSame(
    (await partition.fetch(0, 1024 * 1024, 0)).records.map(({ value }) => value),
    groups,
  )
  const connection = new Connection('test')
  t.teardown(() => connection.close())
  const [host = '', port] = broker.addresses[0]?.split(':') ?? []
  await connection.connect(host, Number(port))
  const place = { partition: 0, currentLeaderEpoch: -1, fetchOffset: 0n, lastFetchedEpoch: -1, partitionMaxBytes: 9999 }
  const topics = [{ topicId: partition.topicId, partitions: [place] }]
  const { responses } = await fetchV13.api.async(connection, 0, 1, 9999, 0, 0, -1, topics, [], '')
  const codecs = responses[0]?.partitions[0]?.records?.map(({ attributes }) => attributes & 0b111)
  t.strictSame(codecs, [4, 0], 'zstd, and none')
})

t.test('a fetch begins at its offset, returns the append times, and waits for the next record', async t => {
  const partition = await kafka.partition(await broker.makeTopic('offsets'))
  const beforeMs = Date.now()
  for (const text of ['a', 'b', 'c']) await partition.append(Buffer.from(text))
  const fetched = await partition.fetch(1, 1000, 0)
  t.match(fetched, { nextOffset: 3, highWatermark: 3, logStart: 0 })
  t.equal(fetched.records.map(({ offset, value }) => `${offset} ${value}`).join(), '1 b,2 c')
  const times = fetched.records.map(({ appendedMs }) => appendedMs)
  t.ok(times.every(time => time >= beforeMs && time <= Date.now()))
  t.match(await partition.fetch(3, 1000, 0), { records: [], nextOffset: 3 })
  const waiting = partition.fetch(3, 1000, 60_000)
  await partition.append(Buffer.from('d'))
  t.equal((await waiting).records[0]?.value.toString(), 'd')
  await t.rejects(partition.fetch(5, 1000, 0), { name: 'OffsetOutOfRange', start: 0, end: 4 })
})

t.test('appends run one at a time with the size limit of a journal', async t => {
  const partition = await kafka.partition(await broker.makeTopic('bounds'))
  const first = partition.append(Buffer.from('a'))
  await t.rejects(partition.append(Buffer.from('b')), { message: /^BUG: two appends/ })
  t.match(await first, { outcome: 'stored' })
  await t.rejects(partition.append(Buffer.alloc(groupHeaderLength + groupBodyMax + 1)), { message: /^BUG: a record/ })
})

t.test('a topic that is not there is named', async t => {
  await t.rejects(kafka.partition('nowhere'), { name: 'TopicMissing', message: 'there is no topic nowhere' })
  await t.rejects(kafka.admin.settings('nowhere'), { name: 'TopicMissing' })
  t.equal(await kafka.admin.partitions('nowhere'), undefined)
})

t.test('a group that the topic rejects fails at once without affecting the next one', async t => {
  const topic = await broker.makeTopic('small', { 'max.message.bytes': '1000' })
  const partition = await (await broker.connect({ appendDeadlineMs: 10 * 60_000 })).partition(topic)
  t.match(await partition.append(Buffer.from('a')), { outcome: 'stored', offset: 0 })
  t.match(await partition.append(randomBytes(5000)), { outcome: 'full', reason: /^MESSAGE_TOO_LARGE/ })
  t.match(await partition.append(Buffer.from('b')), { outcome: 'stored', offset: 1 })
})

t.test('a topic is created once with its settings and described', async t => {
  const topic = { name: 'described', partitions: 2, replication: 1, settings: { 'min.insync.replicas': '1' } }
  t.equal(await kafka.admin.create(topic), true)
  t.equal(await kafka.admin.create(topic), false)
  const [leader] = broker.addresses.map(address => ({ host: '127.0.0.1', port: Number(address.split(':')[1]) }))
  const partition = { leader, replicas: [1], inSync: [1] }
  t.strictSame(await kafka.admin.partitions('described'), [partition, partition])
  const settings = await kafka.admin.settings('described')
  t.equal(settings.get('min.insync.replicas'), '1')
  t.equal(settings.get('cleanup.policy'), 'delete', 'that of the cluster')
  await t.rejects(kafka.admin.create({ ...topic, name: 'far', replication: 2 }), {
    code: 'INVALID_REPLICATION_FACTOR',
  })
})

t.test('a closed client refuses appends and reads and ends its waiting fetches', async t => {
  const topic = await broker.makeTopic('closed')
  const client = await broker.connect()
  const partition = await client.partition(topic)
  const waiting = partition.fetch(0, 1000, 60_000)
  await partition.offsets()
  await Promise.all([t.rejects(waiting, { name: 'KafkaAway' }), client.close()])
  t.match(await partition.append(Buffer.from('a')), { outcome: 'full' })
  await t.rejects(partition.fetch(0, 1000, 0), { name: 'KafkaAway' })
  await client.close()
})
