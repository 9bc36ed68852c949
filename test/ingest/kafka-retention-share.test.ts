/** How much of Kafka's retention waiting records have used, and what is told about a topic. */

import { test } from 'tap'
import { keptMs, refusalShare, retentionShare, segmentShare } from '../../ingest/kafka/retention-share.ts'
import {
  lookAtTopic,
  noteProblems,
  type TopicProblem,
  type TopicSight,
  topicProblems,
} from '../../ingest/kafka/topic-watch.ts'
import type { Log } from '../../store/log.ts'

test('the share grows with the age of the oldest record that waits', async t => {
  t.equal(retentionShare(1000, 10_000, 6000), 0.5)
  t.equal(retentionShare(1000, 10_000, 12_000), 1.1, 'Kafka deletes whole segments, so it may be older')
  t.equal(retentionShare(undefined, 10_000, 6000), 0, 'none waits')
  t.equal(retentionShare(1000, Number.POSITIVE_INFINITY, 6000), 0, 'nothing is deleted')
  t.equal(retentionShare(1000, 10_000, 0), 0, 'the clock of the broker is ahead')
})

test('what is kept of applied records is in the topic when nothing is taken any more', async t => {
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

test('what is wrong with a topic is told, each by itself', async t => {
  const told = (sight: Partial<TopicSight> | undefined, share: number | undefined, fault?: string) =>
    topicProblems({ sight: sight && { ...well, ...sight }, share, fault })
  t.strictSame(told({}, 0.49), [])
  t.strictSame(told(undefined, undefined), [])
  t.match(told(undefined, undefined, 'away'), [{ kind: 'unreachable', text: 'cannot be looked at: away' }])
  t.match(told({ inSync: 2 }, 0), [{ kind: 'underReplicated', text: '2 of 3 replicas' }])
  t.match(told({ weaknesses: ['b', 'c'] }, 0), [{ kind: 'weak', text: 'b; c' }])
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
  t.match(told({}, 0.5), [{ kind: 'retention', text: /has used 50 % of the retention/ }])
  t.match(told({}, 0.8), [{ kind: 'retention' }, { kind: 'refused' }])
  t.match(told({ applied: 7 }, 0), [{ kind: 'deleted', text: /deleted records 7 to 9, which QuestDB has not taken/ }])
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
