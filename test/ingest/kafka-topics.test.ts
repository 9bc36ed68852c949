/** Topics of Kafka without a broker: their settings, retention, records and offsets. */

import { createRecordsBatch, Reader, readRecordsBatches } from '@platformatic/kafka'
import fc from 'fast-check'
import t, { test } from 'tap'
import { groupBodyMax, groupHeaderLength } from '../../ingest/journal/group.ts'
import { missingVersions } from '../../ingest/kafka/client/broker-connection.ts'
import { KafkaAway, Refused, TopicMissing } from '../../ingest/kafka/client/errors.ts'
import { recordsFrom } from '../../ingest/kafka/client/fetcher.ts'
import { topicsOf } from '../../ingest/kafka/client/names.ts'
import { checkTopics } from '../../ingest/kafka/client/prepare.ts'
import {
  differenceText,
  groupBytesFor,
  retentionMsOf,
  type TopicDescription,
  type TopicSource,
  topicDifferences,
  topicSettings,
} from '../../ingest/kafka/client/settings.ts'
import { offsetsAtStart } from '../../ingest/kafka/produce/write-path.ts'
import {
  keptMs,
  lookAtTopic,
  noteProblems,
  refusalShare,
  retentionShare,
  segmentShare,
  type TopicProblem,
  type TopicSight,
  topicProblems,
} from '../../ingest/kafka/state/watch.ts'
import type { Log } from '../../store/log.ts'
import { createVirtualTime } from './model/virtual-time.ts'

test('the share grows with the age of the oldest record that waits', async t => {
  t.equal(retentionShare(1000, 10_000, 6000), 0.5)
  t.equal(retentionShare(1000, 10_000, 12_000), 1.1, 'Kafka deletes whole segments, so it may be older')
  t.equal(retentionShare(undefined, 10_000, 6000), 0, 'none waits')
  t.equal(retentionShare(1000, Number.POSITIVE_INFINITY, 6000), 0, 'nothing is deleted')
  t.equal(retentionShare(1000, 10_000, 0), 0, 'the clock of the broker is ahead')
})

test('all retained applied records are in the topic even without new ones', async t => {
  for (const retentionMs of [10, 168]) {
    const ms = keptMs(24, retentionMs)
    t.ok(ms > 0 && ms * (1 + segmentShare) + refusalShare * retentionMs < retentionMs)
  }
  t.equal(keptMs(24, 168), 24)
  t.equal(keptMs(24, Number.POSITIVE_INFINITY), 24)
  t.equal(keptMs(0, 168), 0)
})

const well: TopicSight = {
  start: 10,
  end: 30,
  applied: 20,
  oldestMs: 1000,
  unforwarded: [],
  replicas: 3,
  inSync: 3,
  retentionMs: 10_000,
  weaknesses: [],
}

test('each problem of a topic is reported separately', async t => {
  const problems = (sight: Partial<TopicSight> | undefined, share: number | undefined, fault?: string) =>
    topicProblems({ sight: sight && { ...well, ...sight }, share, fault })
  t.strictSame(problems({}, 0.49), [])
  t.strictSame(problems(undefined, undefined), [])
  t.match(problems(undefined, undefined, 'away'), [{ kind: 'unreachable', text: 'cannot be checked: away' }])
  t.match(problems({ inSync: 2 }, 0), [{ kind: 'underReplicated', text: '2 of 3 replicas' }])
  t.match(problems({ weaknesses: ['b', 'c'] }, 0), [{ kind: 'weak', text: 'b; c' }])
  const late = topicProblems({
    sight: { ...well, unforwarded: [1] },
    fault: undefined,
    share: 0,
    lateMs: 61_000,
    unforwardedMs: 31_000,
  })
  t.match(late, [
    { kind: 'late', text: 'QuestDB lacks a record that Kafka took 61 s ago' },
    { kind: 'unforwarded', text: /no process forwards it to the replica 1/ },
  ])
  t.match(problems({}, 0.5), [{ kind: 'retention', text: /has used 50 % of the retention/ }])
  t.match(problems({}, 0.8), [{ kind: 'retention' }, { kind: 'refused' }])
  t.match(problems({ applied: 7 }, 0), [{ kind: 'deleted', text: /deleted records 7 to 9, which QuestDB lacks/ }])
})

test('replicas that are not in sync are seen', async t => {
  const partitions = [{ leader: undefined, replicas: [1, 2, 3], inSync: [1, 3] }]
  const admin = { partitions: async () => partitions, settings: async () => new Map<string, string>() }
  const partition = { offsets: async () => ({ start: 0, end: 0 }) } as never
  const requirements = { replication: 3, retentionMs: 1 }
  const sources = {
    topic: 'a',
    admin,
    partition,
    requirements,
    appliedOffset: async () => undefined,
    unforwarded: async () => [],
  }
  t.match(await lookAtTopic(sources, undefined), { replicas: 3, inSync: 2, oldestMs: undefined })
})

test('a problem is logged once when it begins and once when it ends', async t => {
  const lines: string[] = []
  const write = (level: string) => (fields: object, text: string) =>
    lines.push(`${level} ${text} ${JSON.stringify(fields)}`)
  const log = { info: write('info'), warn: write('warn'), error: write('error') } as unknown as Log
  const problem = (kind: TopicProblem['kind'], text: string): TopicProblem => ({ kind, text })
  noteProblems(log, 'a', [], [problem('retention', '50 %')])
  noteProblems(log, 'a', [problem('retention', '50 %')], [problem('retention', '60 %'), problem('refused', 'full')])
  noteProblems(log, 'a', [problem('retention', '80 %'), problem('refused', 'full')], [problem('retention', '79 %')])
  t.strictSame(lines, [
    'warn records wait for QuestDB for a large part of the retention {"topic":"a","reason":"50 %"}',
    'error refusing writes until QuestDB has caught up {"topic":"a","reason":"full"}',
    'info no longer: refusing writes until QuestDB has caught up {"topic":"a"}',
  ])
})

const requirements = { replication: 3, retentionMs: 168 * 3_600_000 }
const leader = { host: 'kafka-1', port: 9092 }

interface Differing {
  settings?: Record<string, string>
  partitions?: number
  replicas?: number
}

/** A topic as `barograph kafka prepare` creates it, except for these settings. */
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
  named(
    { settings: { 'max.message.bytes': '263702' } },
    'max.message.bytes is 263702, 4718592 is needed, or at least 263703 for the longest reading',
    true,
  )
  setting('retention.ms', '604799999', '604800000')
  setting('retention.bytes', '1000000', '-1')
})

test('a topic for shorter records is used with shorter groups, which it keeps', async t => {
  const settings = { 'max.message.bytes': '1048576' }
  const shorter = found({ settings })
  t.match(shorter, [{ name: 'max.message.bytes', wanted: '4718592', isRequired: false }])
  t.equal(shorter.map(differenceText).join(), 'max.message.bytes is 1048576, 4718592 is needed')
  t.equal(groupBytesFor(1_048_576), 1_043_168)
  t.equal(groupBytesFor(4_718_592), groupHeaderLength + groupBodyMax)
  const inUse = { ...requirements, messageBytes: 1_048_576 }
  t.match(topicDifferences(topicWith({ settings }), inUse), [{ isRequired: false }])
  const reduced = topicWith({ settings: { 'max.message.bytes': '1048575' } })
  t.match(topicDifferences(reduced, inUse), [{ isRequired: true }])
})

test('settings that only cost space are named without a refusal', async t => {
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

test('a setting that the broker does not return is unknown and refused', async t => {
  const topic = topicWith({})
  const untold = { ...topic, settings: new Map([...topic.settings].filter(([name]) => name !== 'retention.bytes')) }
  t.match(topicDifferences(untold, requirements), [{ name: 'retention.bytes', value: 'unknown' }])
})

test('the check names all that is missing or weaker at once', async t => {
  const check = (topic: Parameters<typeof sourceOf>[0]) => checkTopics(sourceOf(topic), ['a', 'b'], requirements)
  await t.resolves(check(() => topicWith({})))
  const settings = { 'retention.bytes': '1', 'segment.ms': '604800000' }
  const message =
    'The topics do not meet the requirements: topic a: partitions is 2, 1 is needed; ' +
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

test('the effective retention is read and may be unlimited', async t => {
  const read = (value: string) => retentionMsOf(new Map([['retention.ms', value]]))
  t.equal(read('604800000'), 604_800_000)
  t.equal(read('-1'), Number.POSITIVE_INFINITY)
  t.equal(retentionMsOf(new Map()), undefined)
})

const appendTime = 8
const control = 32

interface Batch {
  values: Uint8Array[]
  /** Offsets that are not there in front of it. */
  gap: number
  attributes: number
}

const batches = fc.array(
  fc.record({
    values: fc.array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 4 }),
    gap: fc.nat(2),
    attributes: fc.constantFrom(0, appendTime, control),
  }),
  { maxLength: 6 },
)

const sentMs = 1000n

function bytesOf({ values, attributes }: Batch, firstOffset: number): Buffer {
  const messages = values.map((value, i) => ({ topic: 'a', value: Buffer.from(value), timestamp: sentMs + BigInt(i) }))
  const bytes = Buffer.from(createRecordsBatch(messages).buffer)
  bytes.writeBigInt64BE(BigInt(firstOffset), 0)
  bytes.writeInt16BE(attributes, 21)
  return bytes
}

test('records are read from an offset on, with their offsets and times, without control records', async () => {
  const property = fc.property(batches, fc.nat(20), (given, from) => {
    let next = 0
    const expected: { offset: number; appendedMs: number; value: string }[] = []
    const pieces = given.map(batch => {
      const first = next + batch.gap
      next = first + batch.values.length
      const isControl = batch.attributes === control
      for (const [i, value] of batch.values.entries()) {
        const ms = Number(sentMs) + (batch.attributes === appendTime ? batch.values.length - 1 : i)
        const record = { offset: first + i, appendedMs: ms, value: Buffer.from(value).toString('hex') }
        if (!isControl && record.offset >= from) expected.push(record)
      }
      return bytesOf(batch, first)
    })
    const read = readRecordsBatches(Reader.from(Buffer.concat(pieces)))
    const { records, nextOffset } = recordsFrom(read, from)
    const found = records.map(record => ({ ...record, value: record.value.toString('hex') }))
    return JSON.stringify(found) === JSON.stringify(expected) && nextOffset === Math.max(from, next)
  })
  fc.assert(property, { numRuns: 500 })
})

test('versions of requests that a broker lacks are named', async t => {
  const library = await import('@platformatic/kafka')
  const all = [0, 1, 2, 3, 22, 32].map(apiKey => ({ apiKey, minVersion: 0, maxVersion: 15 }))
  t.strictSame(missingVersions(library, all), [])
  const [produce, fetch, ...rest] = all
  const older = [{ ...produce, minVersion: 10 }, { ...fetch, maxVersion: 12 }, ...rest.slice(1)] as typeof all
  t.strictSame(missingVersions(library, older), [
    'Produce 9, it has 10 to 15',
    'Fetch 13, it has 0 to 12',
    'no ListOffsets',
  ])
})

/** A partition that fails until `ledAtMs`. */
function asked(ledAtMs: number, error: Error) {
  const { nowMs, after, advance } = createVirtualTime()
  let result: unknown
  const partition = {
    async offsets() {
      if (nowMs() < ledAtMs) throw error
      return { start: 3, end: 7 }
    },
  }
  offsetsAtStart(partition, { monotonicMs: nowMs, after, random: () => 0 }).then(
    offsets => {
      result = offsets
    },
    (reason: unknown) => {
      result = reason
    },
  )
  return { advance, result: () => result }
}

const noLeader = new KafkaAway('the topic has no leader')

t.test('it waits for a leader', async t => {
  const { advance, result } = asked(10_000, noLeader)
  await advance(9_000)
  t.equal(result(), undefined)
  await advance(2_000)
  t.strictSame(result(), { start: 3, end: 7 })
})

t.test('it ends the start with a sentence where none is elected', async t => {
  const { advance, result } = asked(60_000, noLeader)
  await advance(20_000)
  t.match(result(), {
    name: 'StartError',
    message: 'Kafka does not answer (the topic has no leader): check its brokers, then start again.',
  })
})

t.test('a missing topic rejects at once', async t => {
  const missing = new TopicMissing('there is no topic')
  const { advance, result } = asked(10_000, missing)
  await advance(0)
  t.equal(result(), missing)
})
