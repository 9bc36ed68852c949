/** What is told of the topics of Kafka, from the watch to the terminal. */

import t from 'tap'
import { topicStatus } from '../../api/admin/topic-status.ts'
import { topicProblemsOf, topicText } from '../../cli/kafka-text.ts'
import type { TopicState } from '../../ingest/kafka/topic-watch.ts'

const sight = {
  start: 100,
  end: 150,
  applied: 140,
  oldestMs: Date.UTC(2026, 0, 1),
  replicas: 3,
  inSync: 2,
  retentionMs: 604_800_000,
  weaknesses: [],
}
const problem = { kind: 'underReplicated', text: '2 of 3 replicas are in sync' } as const
const seen: TopicState = { topic: 'a', sight, share: 0.129, problems: [problem] }

t.test('a topic is told with what waits, the retention and the replicas', async t => {
  const told = topicStatus(seen)
  t.strictSame(told, {
    topic: 'a',
    offsets: { start: 100, end: 150, committed: 140 },
    oldest: '2026-01-01T00:00:00.000Z',
    replicas: 3,
    in_sync: 2,
    retention_seconds: 604_800,
    retention_used: 0.129,
    problems: ['2 of 3 replicas are in sync'],
  })
  t.equal(topicText(told), '10 records wait for QuestDB, 12 % of 7 d 0 h used, 2 of 3 replicas in sync')
  t.strictSame(topicProblemsOf({ topics: [told] }), ['topic a: 2 of 3 replicas are in sync'])
  t.strictSame(topicProblemsOf(undefined), [])
})

t.test('what Kafka has deleted does not wait', async t => {
  const { topic, problems } = seen
  const text = (more: Partial<typeof sight>) =>
    topicText(topicStatus({ topic, problems, share: 0, sight: { ...sight, ...more } }))
  t.match(text({ applied: 90 }), '50 records wait')
  t.match(text({ applied: 150 }), 'no record waits')
  t.match(text({ retentionMs: Number.POSITIVE_INFINITY }), 'kept for ever')
})

t.test('a topic that was not looked at is told as such', async t => {
  const told = topicStatus({ topic: 'a', sight: undefined, share: undefined, problems: [] })
  t.strictSame(told, {
    topic: 'a',
    offsets: null,
    oldest: null,
    replicas: null,
    in_sync: null,
    retention_seconds: null,
    retention_used: null,
    problems: [],
  })
  t.equal(topicText(told), 'not looked at yet')
})
