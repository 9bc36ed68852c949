/** What a topic has to be like, without a Kafka. */

import { test } from 'tap'
import { checkTopics } from '../../ingest/kafka/check-topics.ts'
import { KafkaAway, Refused } from '../../ingest/kafka/kafka-errors.ts'
import { topicsOf } from '../../ingest/kafka/topic-names.ts'
import {
  differenceText,
  retentionMsOf,
  type TopicDescription,
  type TopicSource,
  topicDifferences,
  topicSettings,
} from '../../ingest/kafka/topic-settings.ts'

const requirements = { replication: 3, retentionMs: 168 * 3_600_000 }
const leader = { host: 'kafka-1', port: 9092 }

interface Differing {
  settings?: Record<string, string>
  partitions?: number
  replicas?: number
}

/** As `barograph kafka prepare` makes it, but for these. */
function topicWith({ settings = {}, partitions = 1, replicas = 3 }: Differing): TopicDescription {
  const wanted = topicSettings(requirements).map(({ name, wanted }): [string, string] => [name, wanted])
  const brokers = Array.from({ length: replicas }, (_, at) => at)
  return {
    name: 'a',
    partitions: Array.from({ length: partitions }, () => ({ leader, replicas: brokers, inSync: brokers })),
    settings: new Map([...wanted, ...Object.entries(settings)]),
  }
}

function sourceOf(topic: (name: string) => TopicDescription | undefined): TopicSource {
  return {
    partitions: async name => topic(name)?.partitions,
    settings: async name => new Map(topic(name)?.settings),
  }
}

const found = (differing: Differing) => topicDifferences(topicWith(differing), requirements)

test('the topics are named by prefix and table', async t => {
  t.strictSame(topicsOf('barograph-'), { readings: 'barograph-readings-s1', points: 'barograph-points-s1' })
})

test('a topic that promises as much or more is good enough', async t => {
  t.strictSame(found({}), [])
  const more = {
    'min.insync.replicas': '3',
    'retention.ms': '-1',
    'max.message.bytes': '10000000',
    'segment.ms': '1000',
    'segment.bytes': '1048576',
    'compression.type': 'uncompressed',
  }
  t.strictSame(found({ settings: more, replicas: 4 }), [])
  t.strictSame(found({ settings: { 'retention.ms': String(requirements.retentionMs + 1) } }), [])
})

test('each weakness is named with its value and the one that is needed', async t => {
  const named = (differing: Differing, text: string, isSafe: boolean) => {
    const [difference, ...others] = found(differing)
    t.match(difference, { isRequired: true }, text)
    t.strictSame(others, [])
    t.equal(difference && differenceText(difference), text)
    t.equal(difference?.obstacle === undefined, isSafe, `${text} is${isSafe ? '' : ' not'} changed by --apply`)
  }
  const setting = (name: string, value: string, wanted: string, isSafe = true) =>
    named({ settings: { [name]: value } }, `${name} is ${value}, ${wanted} is needed`, isSafe)
  named({ partitions: 3 }, 'partitions is 3, 1 is needed', false)
  named({ replicas: 2 }, 'replicas is 2, 3 is needed', false)
  setting('min.insync.replicas', '1', '2')
  setting('unclean.leader.election.enable', 'true', 'false')
  setting('cleanup.policy', 'compact,delete', 'delete', false)
  setting('message.timestamp.type', 'CreateTime', 'LogAppendTime')
  setting('max.message.bytes', '4194304', '4718592')
  setting('retention.ms', '604799999', '604800000')
  setting('retention.bytes', '1000000', '-1')
})

test('what costs space alone is named, and is no reason to refuse', async t => {
  const settings = { 'segment.ms': '604800000', 'segment.bytes': '2147483647', 'compression.type': 'zstd' }
  t.match(found({ settings }), [
    { name: 'segment.ms', wanted: '75600000', isRequired: false },
    { name: 'segment.bytes', isRequired: false },
    { name: 'compression.type', isRequired: false },
  ])
})

test('a topic on one broker is good enough where that is asked for', async t => {
  const single = { ...requirements, replication: 1 }
  const topic = topicWith({ replicas: 1, settings: { 'min.insync.replicas': '1' } })
  t.strictSame(topicDifferences(topic, single), [])
  const [replicas, inSync] = topicDifferences(topic, requirements)
  t.match(replicas, { name: 'replicas' })
  t.match(inSync, { name: 'min.insync.replicas', obstacle: /nothing could be written/ })
})

test('more replicas in sync than there are would stop all writes', async t => {
  const [difference, ...others] = found({ settings: { 'min.insync.replicas': '4' } })
  t.match(difference, { name: 'min.insync.replicas', value: '4', wanted: '2', isRequired: true, obstacle: undefined })
  t.strictSame(others, [])
})

test('a setting that the broker does not tell is unknown, and refused', async t => {
  const topic = topicWith({})
  const untold = { ...topic, settings: new Map([...topic.settings].filter(([name]) => name !== 'retention.bytes')) }
  t.match(topicDifferences(untold, requirements), [{ name: 'retention.bytes', value: 'unknown' }])
})

test('the check names all that is missing or weaker at once', async t => {
  const check = (topic: Parameters<typeof sourceOf>[0]) => checkTopics(sourceOf(topic), ['a', 'b'], requirements)
  await t.resolves(check(() => topicWith({})))
  const settings = { 'retention.bytes': '1', 'segment.ms': '604800000' }
  const message =
    'Kafka does not keep what would be acknowledged: topic a: partitions is 2, 1 is needed; ' +
    'topic a: retention.bytes is 1, -1 is needed; there is no topic b. Run barograph kafka prepare.'
  const refused = check(name => (name === 'a' ? topicWith({ partitions: 2, settings }) : undefined))
  await t.rejects(refused, { name: 'StartError', message })
  const failing = (error: Error) =>
    check(() => {
      throw error
    })
  const rights = /describe the topic a \(TOPIC_AUTHORIZATION_FAILED\): see docs\/kafka\.md/
  const forbidden = failing(new Refused('TOPIC_AUTHORIZATION_FAILED', undefined))
  await t.rejects(forbidden, { name: 'StartError', message: rights })
  const away = { name: 'StartError', message: /no broker answers.*KAFKA_BROKERS/ }
  await t.rejects(failing(new KafkaAway('no broker answers')), away)
})

test('the retention in effect is read, and may have no end', async t => {
  const read = (value: string) => retentionMsOf(new Map([['retention.ms', value]]))
  t.equal(read('604800000'), 604_800_000)
  t.equal(read('-1'), Number.POSITIVE_INFINITY)
  t.equal(retentionMsOf(new Map()), undefined)
})
