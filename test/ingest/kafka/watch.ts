/** The topics while the service runs: checked at the start, watched from then on. A real broker. */

import t from 'tap'
import { prepareTopic } from '../../../ingest/kafka/prepare-topics.ts'
import { topicsOf } from '../../../ingest/kafka/topic-names.ts'
import type { TopicProblem } from '../../../ingest/kafka/topic-problems.ts'
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
  const nowMs = () => Date.now() + passedMs
  const topic = { topic: 'waiting', partition, admin: client.admin, requirements }
  const watch = watchTopic({ ...topic, appliedOffset: async () => applied, nowMs, log: silentLog, everyMs: 20 })
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

t.test('the start is refused with all that is weaker, and watches the topics once they are good enough', async t => {
  const config = readConfig({
    KAFKA_BROKERS: kafka.addresses.join(','),
    KAFKA_REPLICATION: '1',
    KAFKA_RETENTION_HOURS: '10',
  })
  t.equal(await openServiceKafka(readConfig({})), undefined)
  const topics = topicsOf('barograph-')
  await client.admin.create({ name: topics.readings, partitions: 1, replication: 1 })
  await t.rejects(openServiceKafka(config), {
    name: 'StartError',
    message:
      /CreateTime, LogAppendTime is needed; .*max.message.bytes .*; there is no topic barograph-points-s1\. Run barograph kafka prepare/,
  })
  for (const topic of Object.values(topics)) await prepareTopic(client.admin, topic, { requirements, apply: true })
  const opened = await openServiceKafka(config)
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
  const furtherReplicas = () => [
    { number: 2, state: 'up' },
    { number: 3, state: 'away', reason: 'it is away' },
    { number: 4, state: 'starting' },
  ]
  const parts = { ingest, points: ingest, questdb: () => ({ state: 'up' }), furtherReplicas, topics: watches.states }
  /** Nothing is known of the others. */
  const all = new Proxy(parts, { get: (of, name) => Reflect.get(of, name) ?? (() => undefined) })
  const readiness = readinessOf(all as never)
  const why = (topic: string) => `topic ${topic}: cannot be looked at: PostgreSQL is away`
  t.match(readiness, { status: 'degraded' })
  t.match('reasons' in readiness && readiness.reasons, [why(topics.readings), why(topics.points)])
})
