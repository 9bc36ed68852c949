/** The topics while the service runs: checked at the start, watched from then on. A real broker. */

import { Admin } from '@platformatic/kafka'
import t from 'tap'
import { prepareTopic } from '../../../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../../../ingest/kafka/topic-names.ts'
import type { TopicProblem } from '../../../ingest/kafka/topic-problems.ts'
import { lookAtTopic } from '../../../ingest/kafka/topic-sight.ts'
import { watchTopic } from '../../../ingest/kafka/topic-watch.ts'
import { openServiceKafka, watchTopics } from '../../../service/open-kafka.ts'
import { readinessOf } from '../../../service/readiness.ts'
import { readConfig } from '../../../settings/config.ts'
import { silentLog } from '../../support/databases.ts'
import { waitFor } from '../../support/wait-for.ts'
import { client, kafka } from './broker.ts'

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

t.test('what waits is told with its age, and the share of the retention that it has used', async t => {
  const partition = await filledTopic('waiting', 5)
  let applied: number | undefined
  let passedMs = 0
  const watch = watchTopic({
    topic: 'waiting',
    admin: client.admin,
    partition,
    requirements,
    appliedOffset: async () => applied,
    nowMs: () => Date.now() + passedMs,
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

  passedMs = 5.1 * hourMs
  t.ok((watch.retentionShare() ?? 0) > 0.5, 'by the clock, without another look')
  await waitFor('the alarm', async () => kindsOf(watch.state().problems).join() === 'retention')
  passedMs = 8.1 * hourMs
  await waitFor('the refusal', async () => kindsOf(watch.state().problems).join() === 'retention,refused')

  applied = 4
  await waitFor('the next look', async () => watch.state().sight?.applied === 4)
  const [last] = (await partition.fetch(4, 1, 0)).records
  t.equal(watch.state().sight?.oldestMs, last?.appendedMs, 'the age of the only one that is left')
  applied = 5
  await waitFor('nothing waits', async () => watch.retentionShare() === 0)
  await waitFor('no problem is left', async () => watch.state().problems.length === 0)
})

t.test('a topic that is weakened, and records that are deleted, are told', async t => {
  const partition = await filledTopic('weakened', 3)
  const watch = watchTopic({
    topic: 'weakened',
    admin: client.admin,
    partition,
    requirements,
    appliedOffset: async () => 1,
    nowMs: Date.now,
    log: silentLog,
    everyMs: 20,
  })
  t.teardown(() => watch.close())
  await waitFor('it was looked at', async () => watch.state().sight !== undefined)
  await client.admin.change('weakened', { 'retention.bytes': '1000000' })
  await waitFor('the weakness', async () => kindsOf(watch.state().problems).join() === 'weak')
  t.match(watch.state().problems, [{ text: 'retention.bytes is 1000000, -1 is needed' }])
  await client.admin.change('weakened', { 'retention.bytes': '-1' })
  await waitFor('its end', async () => watch.state().problems.length === 0)

  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [...kafka.addresses] })
  t.teardown(() => admin.close())
  await admin.deleteRecords({ topics: [{ name: 'weakened', partitions: [{ partition: 0, offset: 2n }] }] })
  await waitFor('the loss', async () => kindsOf(watch.state().problems).join() === 'deleted')
  t.match(watch.state().problems, [{ text: /deleted records 1 to 1, which QuestDB has not taken/ }])
})

t.test('replicas that are not in sync are seen', async t => {
  const partition = await filledTopic('replicated', 0)
  const admin = {
    settings: client.admin.settings,
    async partitions(topic: string) {
      const partitions = await client.admin.partitions(topic)
      return partitions?.map(each => ({ ...each, replicas: [1, 2, 3], inSync: [1, 3] }))
    },
  }
  const sources = { topic: 'replicated', admin, partition, requirements, appliedOffset: async () => undefined }
  t.match(await lookAtTopic(sources, undefined), { replicas: 3, inSync: 2, oldestMs: undefined })
})

t.test('the start is refused with all that is weaker, and watches the topics once they are good enough', async t => {
  const config = readConfig({
    KAFKA_BROKERS: kafka.addresses.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '10',
  })
  t.equal(await openServiceKafka(readConfig({}), 1), undefined)
  const topics = topicsOf('barograph-', 1)
  await client.admin.create({ name: topics.readings, partitions: 1, replication: 1 })
  await t.rejects(openServiceKafka(config, 1), {
    name: 'StartError',
    message:
      /CreateTime, LogAppendTime is needed; .*max.message.bytes .*; there is no topic barograph-points-s1\. Run barograph kafka prepare/,
  })
  for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: true })
  const opened = await openServiceKafka(config, 1)
  if (opened === undefined) throw new Error('there is a Kafka')
  t.teardown(() => opened.close())
  const watches = await watchTopics({
    ...opened,
    appliedOffset: async () => Promise.reject(new Error('PostgreSQL is away')),
    nowMs: Date.now,
    log: silentLog,
  })
  t.teardown(() => watches.close())
  await waitFor('both were looked at', async () => watches.states().every(({ problems }) => problems.length > 0))
  const zeros = new Proxy({}, { get: () => undefined }) as never
  const ingest = () => ({ journal: zeros, forwarder: zeros, lag: zeros, untold: undefined, clock: zeros })
  const readiness = readinessOf({
    ingest,
    points: ingest,
    questdb: () => ({ state: 'up' }),
    furtherShards: () => [
      { number: 2, state: 'up' },
      { number: 3, state: 'away', reason: 'it is away' },
      { number: 4, state: 'starting' },
    ],
    postgres: () => undefined,
    clock: () => undefined,
    reads: () => undefined,
    connections: () => undefined,
    broker: () => undefined,
    node: () => undefined,
    isStopping: () => false,
    topics: watches.states,
  })
  const why = (topic: string) => `topic ${topic}: cannot be looked at: PostgreSQL is away`
  t.match(readiness, { status: 'degraded' })
  t.match('reasons' in readiness && readiness.reasons, [
    'shard 3: it is away',
    'shard 4: QuestDB is starting',
    why(topics.readings),
    why(topics.points),
  ])
})
