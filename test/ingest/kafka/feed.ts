/** Feeds of one topic of a real Kafka: they see what every other process appends. */

import t from 'tap'
import type { PublishedState } from '../../../ingest/kafka/published-state.ts'
import { openTopicFeed } from '../../../ingest/kafka/topic-feed.ts'
import type { TopicPartition } from '../../../ingest/kafka/topic-partition.ts'
import { readings } from '../../../ingest/readings-table.ts'
import { silentLog, type TestHooks } from '../../support/databases.ts'
import { answered } from '../../support/kafka.ts'
import { waitFor } from '../../support/wait-for.ts'
import { groupOf } from '../fake-partition.ts'
import { kafka } from './broker.ts'

const state: PublishedState = { tenure: 1, losses: 0, committed: 0, applied: 0, sequenced: undefined }

export async function append(partition: TopicPartition, ids: readonly number[], series = 1): Promise<void> {
  const group = groupOf(ids.map(id => ({ id, series, timeUs: 1000 + id })))
  const { outcome } = await partition.append(group)
  if (outcome !== 'stored') throw new Error(`the group was not stored: ${outcome}`)
}

export async function openFeed(t: TestHooks, topic: string, notifyFrom = 0) {
  const client = await kafka.connect({ requestTimeoutMs: 1000, appendDeadlineMs: 60_000 })
  let publish: (state: PublishedState) => void = () => undefined
  const feed = openTopicFeed({
    table: readings,
    topic,
    partition: await answered(() => client.partition(topic)),
    from: 0,
    notifyFrom,
    published: {
      onState(_topic, listener) {
        publish = listener
      },
      ageMs: () => 0,
    },
    log: silentLog,
    onFatal: error => {
      throw error
    },
  })
  t.teardown(() => feed.close())
  const told: number[] = []
  feed.onStored(stored => {
    while (stored.next()) told.push(stored.value(0))
  })
  return { feed, told, publish: (next: PublishedState) => publish(next) }
}

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

t.test('two feeds see what two producers append, in one order', async t => {
  const topic = await kafka.makeTopic('two-feeds')
  const [one, other] = [await kafka.connect(), await kafka.connect()]
  const [first, second] = [await one.partition(topic), await other.partition(topic)]
  await append(first, [-1])
  const feeds = [await openFeed(t, topic), await openFeed(t, topic, 1)]
  for (let round = 0; round < 20; round++) {
    await Promise.all([append(first, numbers(50, round * 1000), 1), append(second, numbers(50, round * 1000 + 500), 2)])
  }
  await append(first, numbers(40_000, 100_000))
  const count = 20 * 100 + 40_000
  const [all, later] = feeds.map(({ told }) => told)
  await waitFor('both have all', () => all?.length === count + 1 && later?.length === count)
  t.equal(all?.slice(1).join(), later?.join())
  const own = (from: number) => later?.filter(id => id < 100_000 && id % 1000 >= from && id % 1000 < from + 500)
  for (const from of [0, 500]) {
    const expected = numbers(20).flatMap(round => numbers(50, round * 1000 + from))
    t.equal(own(from)?.join(), expected.join())
  }
  await waitFor('both know that they are at the end', () => feeds.every(({ feed }) => !feed.isBehind()))
  const [reader] = feeds
  if (reader === undefined) throw new Error('no feed')
  const { feed, publish } = reader
  t.equal(feed.replicas[0].oldestSentSince(0), 999, 'the row of before')
  publish({ ...state, committed: 1, applied: 42, sequenced: { txn: 5, offset: 41 } })
  t.ok(feed.replicas[0].revision(1) > 0 && feed.replicas[0].revision(2) > 0)
  t.equal(feed.replicas[0].oldestSentSince(5), 101_000, 'the last group alone')
})
