/** The topics while the service runs: checked at the start, watched from then on. A real broker. */

import { Admin } from '@platformatic/kafka'
import t from 'tap'
import { topicsOf } from '../../../ingest/kafka/client/names.ts'
import { prepareTopic } from '../../../ingest/kafka/client/prepare.ts'
import { showGroup } from '../../../ingest/kafka/state/shown-group.ts'
import { type TopicProblem, watchTopic } from '../../../ingest/kafka/state/watch.ts'
import { openServiceKafka, watchTopics } from '../../../service/open-kafka.ts'
import { readinessOf } from '../../../service/readiness.ts'
import { readConfig } from '../../../service/settings/config.ts'
import { silentLog } from '../../support/databases.ts'
import { appendText } from '../../support/kafka.ts'
import { until } from '../../support/processes.ts'
import { waitFor } from '../../support/wait-for.ts'
import { client, kafka, proxy, store } from './broker.ts'

const hourMs = 3_600_000
const requirements = { replication: 1, retentionMs: 10 * hourMs }

/** A topic of its own, with this many records. */
async function filledTopic(topic: string, count: number) {
  await prepareTopic(client.admin, topic, { requirements, apply: false })
  const partition = await client.partition(topic)
  for (let at = 0; at < count; at++) {
    const { outcome } = await partition.append(Buffer.from(`${topic} ${at}`))
    if (outcome !== 'stored') throw new Error(`the record is ${outcome}`)
  }
  return partition
}

const kindsOf = (problems: readonly TopicProblem[]) => problems.map(({ kind }) => kind)

t.test('waiting records are reported with their age and their share of the retention', async t => {
  const partition = await filledTopic('waiting', 5)
  let applied: number | undefined
  let passedMs = 0
  const nowMs = () => Date.now() + passedMs
  let holders = 1
  const unforwarded = async () => (holders === 0 ? [1] : [])
  const topic = { topic: 'waiting', partition, admin: client.admin, requirements }
  const watch = watchTopic({
    ...topic,
    appliedOffset: async () => applied,
    unforwarded,
    nowMs,
    log: silentLog,
    everyMs: 20,
  })
  t.teardown(() => watch.close())
  t.equal(watch.retentionShare(), undefined, 'not looked at yet')
  await waitFor('it was looked at', async () => watch.state().sight !== undefined)
  const first = watch.state().sight?.oldestMs ?? Number.NaN
  t.ok(Math.abs(Date.now() - first) < hourMs)
  t.match(watch.state(), {
    sight: { start: 0, end: 5, applied: 0, replicas: 1, inSync: 1, retentionMs: 10 * hourMs, weaknesses: [] },
    problems: [],
  })

  holders = 0
  await waitFor('the next look', async () => watch.state().sight?.unforwarded.length === 1)
  t.strictSame(watch.state().problems, [], 'another one may take over')
  passedMs = 61_000
  await waitFor('it is late', async () => kindsOf(watch.state().problems).join() === 'late,unforwarded')
  t.ok(watch.state().unforwardedMs >= 61_000)
  holders = 1
  await waitFor('one forwards', async () => kindsOf(watch.state().problems).join() === 'late')
  t.equal(watch.state().unforwardedMs, 0)
  passedMs = 5.1 * hourMs
  t.ok((watch.retentionShare() ?? 0) > 0.5, 'by the clock, without another look')
  await waitFor('the alarm', async () => kindsOf(watch.state().problems).join() === 'late,retention')
  passedMs = 8.1 * hourMs
  await waitFor('the refusal', async () => kindsOf(watch.state().problems).join() === 'late,retention,refused')

  applied = 4
  await waitFor('the next look', async () => watch.state().sight?.applied === 4)
  const [last] = (await partition.fetch(4, 1, 0)).records
  t.equal(watch.state().sight?.oldestMs, last?.appendedMs, 'the age of the only one that is left')
  applied = 5
  await waitFor('nothing waits', async () => watch.retentionShare() === 0)
  await waitFor('no problem is left', async () => watch.state().problems.length === 0)
})

t.test('the start is refused with a list of weaknesses until the topics are strong enough', async t => {
  const config = readConfig({
    KAFKA_BROKERS: kafka.addresses.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '10',
  })
  const topics = topicsOf('barograph-')
  await client.admin.create({ name: topics.readings, partitions: 1, replication: 1 })
  await t.rejects(openServiceKafka(config, store), {
    name: 'StartError',
    message:
      /CreateTime, LogAppendTime is needed; .*there is no topic barograph-points-s1\. Run barograph kafka prepare/,
  })
  for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: true })
  const opened = await openServiceKafka(config, store)
  t.teardown(() => opened.close())
  const watches = await watchTopics({
    ...opened,
    appliedOffset: async () => Promise.reject(new Error('PostgreSQL is away')),
    unforwarded: async () => [],
    nowMs: Date.now,
    log: silentLog,
  })
  t.teardown(() => watches.close())
  await waitFor('both were looked at', async () => watches.states().every(({ problems }) => problems.length > 0))
  const zeros = new Proxy({}, { get: () => undefined }) as never
  const ingest = () => ({ journal: zeros, forwarder: zeros, lag: zeros, unread: undefined, clock: zeros })
  const customReplicas = () => [
    { number: 2, state: 'up' },
    { number: 3, state: 'away', reason: 'it is away' },
    { number: 4, state: 'starting' },
  ]
  const parts = { ingest, points: ingest, questdb: () => ({ state: 'up' }), customReplicas, topics: watches.states }
  /** Nothing is known of the others. */
  const all = new Proxy(parts, { get: (of, name) => Reflect.get(of, name) ?? (() => undefined) })
  const readiness = readinessOf(all as never)
  const why = (topic: string) => `topic ${topic}: cannot be checked: PostgreSQL is away`
  t.match(readiness, { status: 'degraded' })
  t.match('reasons' in readiness && readiness.reasons, [why(topics.readings), why(topics.points)])
})

t.test('the start is refused with another cluster or a recreated topic', async t => {
  const config = readConfig({
    KAFKA_BROKERS: kafka.addresses.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '10',
  })
  const refuses = async (set: string, message: RegExp) => {
    await store.postgres.query(`UPDATE kafka_topics SET ${set} WHERE topic = 'barograph-readings-s1'`)
    await t.rejects(openServiceKafka(config, store), { name: 'StartError', message })
  }
  await refuses("topic_id = 'another'", /topic barograph-readings-s1 was deleted and made again.*KAFKA_TOPIC_PREFIX/)
  await refuses("cluster_id = 'another'", /is the cluster .*is in the cluster another: correct KAFKA_BROKERS/)
  await store.postgres.query('DELETE FROM kafka_topics')
  await (await openServiceKafka(config, store)).close()
  t.equal((await store.postgres.query('SELECT FROM kafka_topics')).rowCount, 2, 'a new database knows them from now on')
})

t.test('nothing is appended where a new connection finds another cluster', async t => {
  const topic = await kafka.makeTopic('moved')
  const identity = { ...(await client.identify([topic])) }
  const brokers = [`127.0.0.1:${proxy.port}`]
  const partition = await (await kafka.connect({ brokers, requestTimeoutMs: 1000, identity })).partition(topic)
  t.match(await appendText(partition, 'a'), { outcome: 'stored', offset: 0 })
  const { clusterId } = identity
  identity.clusterId = 'another'
  t.match(await appendText(partition, 'b'), { outcome: 'stored' }, 'by the connection that was verified')
  proxy.swallowed = 0
  proxy.swallowsAnswers = true
  const lost = appendText(partition, 'c')
  await until('its answer is lost with the connection', () => proxy.swallowed > 0)
  proxy.swallowsAnswers = false
  t.match(await lost, { outcome: 'unknown' })
  const reason = new RegExp(`belongs to the cluster ${clusterId}, but the journal is in the cluster another`)
  t.match(await appendText(partition, 'd'), { outcome: 'full', reason })
  await t.rejects(partition.offsets(), { name: 'OtherKafka' })
  identity.clusterId = clusterId
  t.match(await appendText(partition, 'd'), { outcome: 'stored' }, 'it is the right one again')
})

t.test('a topic that is deleted and recreated refuses records with the reason', async t => {
  const topic = await kafka.makeTopic('again')
  const own = await kafka.connect({ identity: await client.identify([topic]) })
  const partition = await own.partition(topic)
  const sources = {
    topic,
    partition,
    admin: own.admin,
    requirements,
    appliedOffset: async () => 0,
    unforwarded: async () => [],
  }
  const watch = watchTopic({ ...sources, nowMs: Date.now, log: silentLog, everyMs: 20 })
  t.teardown(() => watch.close())
  await waitFor('it was looked at', async () => watch.state().sight !== undefined)
  t.equal(watch.refusal(), undefined)
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.addresses] })
  await admin.deleteTopics({ topics: [topic] })
  await admin.close()
  await waitFor('it is gone', async () => (await client.admin.partitions(topic)) === undefined)
  await kafka.makeTopic(topic)
  await waitFor('it is refused', async () => watch.refusal() !== undefined)
  t.match(watch.refusal(), /topic again was deleted and made again/)
  t.strictSame(kindsOf(watch.state().problems), ['other'])
  await t.rejects(own.partition(topic), { name: 'OtherKafka' })
})

t.test("Kafka's own tools show how far a topic is applied", async t => {
  const topic = await kafka.makeTopic('shown')
  let offset = 3
  const own = { group: 'barograph-s1', topics: [topic], appliedOffset: async () => offset, isForwarding: () => true }
  const shown = showGroup({ ...own, kafka: client, log: silentLog, everyMs: 20 })
  t.teardown(() => shown.close())
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.addresses] })
  t.teardown(() => admin.close())
  const committed = async () => {
    const [group] = await admin.listConsumerGroupOffsets({ groups: ['barograph-s1'] }).catch(() => [])
    return group?.topics[0]?.partitions[0]?.committedOffset
  }
  await waitFor('it is shown', async () => (await committed()) === 3n)
  offset = 7
  await waitFor('it goes on', async () => (await committed()) === 7n)
})
