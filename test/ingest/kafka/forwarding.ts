/** A shard is forwarded from its topic to QuestDB, by one process after the other, whatever happens to them. */

import { type ChildProcess, fork } from 'node:child_process'
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { postgresUrl } from '../../../demo/cluster/database-settings.ts'
import { isWhole } from '../../../ingest/forwarder/dead-letter.ts'
import { groupHeaderLength } from '../../../ingest/journal/group.ts'
import { layoutOf, offsetOf } from '../../../ingest/journal/record.ts'
import { createShardState } from '../../../ingest/kafka/shard-state.ts'
import type { TopicPartition } from '../../../ingest/kafka/topic-partition.ts'
import { readings } from '../../../ingest/readings-table.ts'
import { readingsTable } from '../../../store/tables.ts'
import { createRandom } from '../../faults/seeded-random.ts'
import { startTcpProxy } from '../../faults/tcp-proxy.ts'
import { recordingLog, temporaryFolder } from '../../support/databases.ts'
import { forwardShard, type TestShard } from '../../support/forward-shard.ts'
import { freezeProcess } from '../../support/frozen.ts'
import { device, records } from '../../support/journal-parts.ts'
import { startKafkaProxy } from '../../support/kafka-proxy.ts'
import { messageOf, until } from '../../support/processes.ts'
import { questdbRows } from '../../support/questdb-rows.ts'
import { topicGroup } from '../../support/topic-content.ts'
import { kafka as broker, client as kafka, store } from './broker.ts'

let topics = 0
let devices = 0

interface TopicUnderTest {
  topic: string
  partition: TopicPartition
  /** Its rows, by time. */
  device: number
  shard(holder: string, more?: Partial<TestShard>): TestShard
  state: ReturnType<typeof createShardState>
}

/** A topic and a device of its own. */
async function makeTopic(t: Test): Promise<TopicUnderTest> {
  const topic = await broker.makeTopic(`forwarded-${++topics}`)
  const partition = await kafka.partition(topic)
  const options = { kafka: { brokers: broker.addresses, clientId: 'test' }, questdb: store.questdb.address.http }
  const given = { topic, postgres: postgresUrl(store.postgres), ...options }
  return {
    topic,
    partition,
    device: ++devices,
    shard: (holder, more = {}) => ({ ...given, holder, folder: temporaryFolder(t), ...more }),
    state: createShardState({ pool: store.postgres, tenure: undefined, tables: new Map([[topic, readings]]) }),
  }
}

function forward(t: Test, shard: TestShard, log = recordingLog('error').log) {
  const forwarder = forwardShard(shard, log)
  t.teardown(() => forwarder.close())
  return forwarder
}

/** In a process of its own; resolves when it holds the shard, or, with `stands`, when it runs. */
async function forwardApart(t: Test, shard: TestShard, stands = false): Promise<ChildProcess> {
  const child = fork(new URL('../../support/forward-shard.ts', import.meta.url), [JSON.stringify(shard)])
  t.teardown(() => child.kill('SIGKILL'))
  const holds = async () => {
    child.send('?')
    return await messageOf<boolean>(child)
  }
  if (stands) await holds()
  else await until(`${shard.holder} holds the shard`, holds)
  return child
}

async function append({ partition }: TopicUnderTest, ...bodies: Buffer[]): Promise<void> {
  for (const body of bodies) {
    const { outcome } = await partition.append(topicGroup(body, countOf(body)))
    if (outcome !== 'stored') throw new Error(`the group is ${outcome}`)
  }
}

function countOf(body: Buffer): number {
  let count = 0
  for (let offset = 0; offset < body.length; count++) offset += body.readUInt16LE(offset)
  return count
}

const nowUs = () => Date.now() * 1000

async function valuesOf(number: number): Promise<unknown[]> {
  const sql = `SELECT temperature FROM ${readingsTable} WHERE device = 'device-${number}' ORDER BY ts`
  return (await questdbRows(store, sql)).map(([value]) => value)
}

async function committed({ state, topic }: TopicUnderTest): Promise<number | undefined> {
  return (await state.load(topic)).offset
}

const untilCommitted = (of: TopicUnderTest, offset: number) =>
  until(`${offset} is committed`, async () => (await committed(of)) === offset)

t.test('what is appended comes to QuestDB once, and its offset is committed and published', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  await append(of, records(device(of.device), [1, 2], first), records(device(of.device), [3], first + 10))
  forward(t, of.shard('a'))
  await untilCommitted(of, 2)
  await append(of, records(device(of.device), [4], first + 20), records(device(of.device), [5], first - 86_400_000_000))
  await untilCommitted(of, 4)
  t.strictSame(await valuesOf(of.device), [5, 1, 2, 3, 4])
  t.match((await of.state.published()).get(of.topic), {
    tenure: 1,
    losses: 0,
    committed: 4,
    applied: 4,
    sequenced: { offset: 4 },
    forwarder: { isSynced: true },
    spool: { next: 4, lostGroups: 0 },
  })
})

t.test(
  'a process that is killed is followed by another one, with an empty folder, from the committed offset',
  async t => {
    const of = await makeTopic(t)
    const first = nowUs()
    const killed = await forwardApart(t, of.shard('a'))
    await append(of, records(device(of.device), [1, 2], first))
    await untilCommitted(of, 1)
    killed.kill('SIGKILL')
    await append(of, records(device(of.device), [3], first + 10))
    const next = forward(t, of.shard('b'))
    await untilCommitted(of, 2)
    t.strictSame(await valuesOf(of.device), [1, 2, 3])
    t.match(next.status(), [{ topic: of.topic, status: { tenure: 2, appliedBefore: 1, forwarder: { rows: 1 } } }])
  },
)

t.test('a row that QuestDB refuses becomes a letter in PostgreSQL, and its file goes', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  const body = records(device(of.device), [0, 1, 2, 3], first)
  const length = body.length / 4
  body[length + layoutOf(readings).symbolsAt + 1] = 0xff
  body.writeDoubleLE(-5000, 2 * length + offsetOf.timeUs)
  await append(of, records(device(of.device), [9], first - 1), body)
  const forwarder = forward(t, of.shard('a'))
  await untilCommitted(of, 2)
  t.strictSame(await valuesOf(of.device), [9, 0, 3])
  const letters = (await of.state.letters.list(of.topic, -1, 10)).filter(isWhole)
  t.strictSame(
    letters.map(({ id, values, series }) => [id, values['temperature'], series]),
    [
      [2 ** 17 + 1, 1, of.device],
      [2 ** 17 + 2, 2, of.device],
    ],
  )
  await until('the files are gone', () => forwarder.status()?.[0]?.status.forwarder.deadLetters === 0)
  t.equal(
    await of.state.letters.remove(
      of.topic,
      letters.map(({ id }) => id),
    ),
    2,
  )
  await append(of, records(device(of.device), [10], first + 100))
  await untilCommitted(of, 3)
  t.strictSame(await of.state.letters.list(of.topic, -1, 10), [], 'what was removed does not come back')
})

t.test('of an erased series nothing is sent any more, which is confirmed', async t => {
  const of = await makeTopic(t)
  const other = ++devices
  const first = nowUs()
  await append(of, records(device(of.device), [1], first), records(device(other), [1], first))
  await of.state.addTombstones(of.topic, [of.device], 1)
  t.strictSame(await of.state.unconfirmedTombstones(of.topic), [[of.device, 1]])
  const forwarder = forward(t, of.shard('a'))
  await untilCommitted(of, 2)
  await until('it is confirmed', async () => (await of.state.unconfirmedTombstones(of.topic)).length === 0)
  t.strictSame([await valuesOf(of.device), await valuesOf(other)], [[], [1]])
  await append(of, records(device(other), [2], first + 1), records(device(of.device), [2], first + 1))
  await untilCommitted(of, 4)
  t.strictSame(await valuesOf(of.device), [], 'nor what a node has let in before and appends late')
  await of.state.addTombstones(of.topic, [other], 4)
  await until('it is confirmed', async () => (await of.state.unconfirmedTombstones(of.topic)).length === 0)
  await forwarder.close()
})

t.test('a standby goes on when the holder is frozen, and what that has in flight replaces nothing newer', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  const proxy = await startKafkaProxy(t)
  proxy.targetPort = store.questdb.address.http.port
  const questdb = { ...store.questdb.address.http, host: '127.0.0.1', port: proxy.port }
  const holder = await forwardApart(t, of.shard('a', { questdb }))
  await append(of, records(device(of.device), [1], first))
  await untilCommitted(of, 1)

  // A time of a client's, so that a later value may come for it.
  const atMs = Math.floor(first / 1000) + 1
  const held = proxy.hold()
  await append(of, records(device(of.device), [2], atMs * 1000))
  const bytesBefore = held.bytes()
  await until('the request is under way', () => held.bytes() > bytesBefore + 300)
  freezeProcess(holder.pid ?? 0)
  await append(of, records(device(of.device), [3], atMs * 1000))
  const { log, texts } = recordingLog('info')
  const next = forward(t, of.shard('b'), log)
  await untilCommitted(of, 3)
  t.ok(texts.includes('shard held by another process, standing by'))
  t.strictSame(await valuesOf(of.device), [1, 3])

  held.deliver()
  await until('the older value has replaced the newer one', async () => (await valuesOf(of.device)).includes(2))
  holder.kill('SIGCONT')
  await until('it was sent again', async () => (await valuesOf(of.device)).includes(3))
  await untilCommitted(of, 3)
  t.match(next.status(), [{ status: { losses: 1 } }])
})

t.test('what a killed process has in flight is over before anything newer is sent', async t => {
  const of = await makeTopic(t)
  const atMs = Date.now()
  const proxy = await startKafkaProxy(t)
  proxy.targetPort = store.questdb.address.http.port
  const questdb = { ...store.questdb.address.http, host: '127.0.0.1', port: proxy.port }
  const killed = await forwardApart(t, of.shard('a', { questdb }))
  await append(of, records(device(of.device), [1], atMs * 1000 - 1000))
  await untilCommitted(of, 1)
  const held = proxy.hold()
  await append(of, records(device(of.device), [2], atMs * 1000))
  const bytesBefore = held.bytes()
  await until('the request is under way', () => held.bytes() > bytesBefore + 300)
  killed.kill('SIGKILL')
  await append(of, records(device(of.device), [3], atMs * 1000))

  const way = await startTcpProxy(t, proxy.targetPort, createRandom(1))
  const direct = { ...questdb, port: way.port }
  forward(t, of.shard('b', { questdb: direct }))
  // It asks QuestDB again and again until it may send.
  await until('the next process has asked for a while', () => way.bytesUp > 3000)
  held.deliver()
  await untilCommitted(of, 3)
  t.strictSame(await valuesOf(of.device), [1, 3])
})

t.test('a process that stops commits what was applied, and the next one need not wait for it', async t => {
  const of = await makeTopic(t)
  const first = nowUs()
  await append(of, records(device(of.device), [1], first))
  const stopping = forward(t, of.shard('a'))
  await until('it is applied', () => stopping.status()?.[0]?.status.applied === 1)
  await stopping.close()
  t.equal(await committed(of), 1)
  t.strictSame((await store.postgres.query('SELECT holder FROM shards WHERE name = $1', [of.topic])).rows, [
    { holder: null },
  ])
  await append(of, records(device(of.device), [2], first + 1))
  forward(t, of.shard('b'))
  await untilCommitted(of, 2)
  t.strictSame(await valuesOf(of.device), [1, 2])
})

t.test('what is damaged in a spool is fetched again', async t => {
  const of = await makeTopic(t)
  const { port } = store.questdb.address.http
  const proxy = await startTcpProxy(t, port, createRandom(1))
  const shard = of.shard('a', { questdb: { ...store.questdb.address.http, host: '127.0.0.1', port: proxy.port } })
  const first = nowUs()
  const body = records(device(of.device), [1], first)
  const { log, texts } = recordingLog('error')
  const forwarder = forward(t, shard, log)
  const status = () => forwarder.status()?.[0]?.status
  await until('QuestDB has said how far it is', () => status()?.spool?.next === 0)
  proxy.trouble.refuses = true
  proxy.cut()
  await append(of, body)
  await until('the first is being sent', () => /ECONNRESET|EPIPE|hang up/.test(status()?.forwarder.issue ?? ''))
  await append(of, records(device(of.device), [2, 3], first + 10))
  await until('the second is in the spool', () => status()?.spool?.next === 2)
  const folder = join(shard.folder, of.topic)
  const [segment = ''] = readdirSync(folder).filter(name => name.endsWith('.journal'))
  const file = openSync(join(folder, segment), 'r+')
  writeSync(file, Buffer.from('damage'), 0, 6, 3 * groupHeaderLength + body.length + 20)
  closeSync(file)
  proxy.calm()
  await untilCommitted(of, 2)
  t.strictSame(await valuesOf(of.device), [1, 2, 3])
  t.ok(texts.includes('journal corrupted; damaged bytes moved to quarantine'))
  t.match(forwarder.status(), [{ status: { losses: 1 } }])
})

t.test('a topic that ends before the committed offset is forwarded from its end, with an alarm', async t => {
  const of = await makeTopic(t)
  await append(of, records(device(of.device), [1], nowUs()))
  await store.postgres.query('INSERT INTO shard_topics (topic, committed_offset) VALUES ($1, 10)', [of.topic])
  const { log, texts } = recordingLog('error')
  forward(t, of.shard('a'), log)
  await untilCommitted(of, 1)
  await append(of, records(device(of.device), [2], nowUs()))
  await untilCommitted(of, 2)
  t.strictSame(await valuesOf(of.device), [2])
  t.strictSame(texts, ['the topic ends before what was forwarded: it has lost groups, or was made anew'])
})
