/** A feed of a topic: delivered and skipped records, and errors while it cannot read. */

import { type Test, test } from 'tap'
import { openTopicFeed, type TopicFeedOptions } from '../../ingest/kafka/consume/feed.ts'
import { letterId } from '../../ingest/kafka/produce/group.ts'
import type { PublishedState } from '../../ingest/kafka/state/forward-status.ts'
import { TopicVisibility, TopicWatermark, UnappliedSeries } from '../../ingest/kafka/state/visibility.ts'
import { readings } from '../../ingest/readings-table.ts'
import { recordingLog, silentLog } from '../support/databases.ts'
import { damaged, FakePartition, groupOf } from './fake-partition.ts'

const atStart: PublishedState = { tenure: 1, losses: 0, committed: 0, applied: 0, sequenced: undefined }

function open(t: Test, options: Partial<TopicFeedOptions> = {}) {
  const partition = new FakePartition()
  const clock = { ms: 0, stateAgeMs: 0 }
  let publish: (state: PublishedState) => void = () => undefined
  const feed = openTopicFeed({
    table: readings,
    topic: 'readings',
    partition,
    from: 0,
    notifyFrom: 0,
    published: {
      onState(_topic, listener) {
        publish = listener
      },
      ageMs: () => clock.stateAgeMs,
    },
    log: silentLog,
    onFatal: error => t.fail(error.message),
    monotonicMs: () => clock.ms,
    retryMs: 1,
    ...options,
  })
  t.teardown(() => feed.close())
  const received: number[] = []
  const missed = { times: 0 }
  feed.onStored(
    stored => {
      while (stored.next()) received.push(stored.value(0))
    },
    () => missed.times++,
  )
  /** One group, with the ids as values. */
  const append = (ids: readonly number[], timeUs = 1000) =>
    partition.values.push(groupOf(ids.map(id => ({ id, series: id, timeUs }))))
  return { feed, partition, clock, received, append, publish: (state: PublishedState) => publish(state), missed }
}

const numbers = (count: number, from = 0) => Array.from({ length: count }, (_, index) => from + index)

test('a record has its id as its position in pieces of any size', async t => {
  const { feed, partition, append } = open(t, { notifyFrom: 1 })
  t.equal(feed.nextId(), letterId(1, 0))
  const positions: number[] = []
  const nextIds: number[] = []
  feed.onStored(stored => {
    for (let place = 0; stored.next(); place++) positions.push((stored.place?.position as number) + place)
    nextIds.push(feed.nextId())
  })
  for (const ids of [numbers(3), numbers(2500), numbers(2)]) append(ids)
  await partition.serve(3)
  t.strictSame(positions, [...numbers(2500).map(index => letterId(1, index)), letterId(2, 0), letterId(2, 1)])
  t.strictSame(nextIds, [letterId(1, 2000), letterId(1, 2500), letterId(2, 2)])
  t.equal(feed.nextId(), letterId(3, 0))
  partition.start = 3
  partition.values[3] = Buffer.from('no group at all')
  await partition.serve(1)
  t.equal(feed.nextId(), letterId(4, 0), 'behind a damaged group')
})

test('the first read can wait for a listener', async t => {
  const partition = new FakePartition()
  const published = { onState: () => undefined, ageMs: () => 0 }
  const common = { table: readings, topic: 'readings', from: 0, notifyFrom: 0, published, log: silentLog }
  const feed = openTopicFeed({ ...common, partition, waitsForListener: true, onFatal: error => t.fail(error.message) })
  t.teardown(() => feed.close())
  partition.values.push(groupOf([{ id: 7, series: 7, timeUs: 1000 }]))
  await new Promise(resolve => setTimeout(resolve, 5))
  t.notOk(partition.isAsked)
  const received: number[] = []
  feed.onStored(stored => {
    while (stored.next()) received.push(stored.value(0))
  })
  await partition.serve(1)
  t.strictSame(received, [7])
})

test('a wait for the end of the topic ignores later records', async t => {
  const { feed, partition, append, received } = open(t)
  const { signal } = new AbortController()
  append([1])
  append([2])
  let isReached = false
  const waiting = feed.untilNotified(signal).then(() => {
    isReached = true
  })
  await partition.serve(1)
  append([3])
  await new Promise(resolve => setTimeout(resolve, 30))
  t.notOk(isReached)
  await partition.serve(1)
  await waiting
  t.strictSame(received, [1, 2])
  const ended = new AbortController()
  const aborted = feed.untilNotified(ended.signal)
  ended.abort()
  await t.rejects(aborted, { name: 'AbortError' })
})

test('damaged groups are counted, logged once and skipped', async t => {
  const { log, texts } = recordingLog('error')
  const { feed, partition, received, append } = open(t, { log })
  append([1])
  append([2])
  append([3])
  partition.values[0] = damaged(partition.values[0] as Buffer)
  partition.values[1] = Buffer.from('no group at all')
  await partition.serve(3)
  t.strictSame(received, [3])
  t.equal(feed.status().damagedGroups, 2)
  t.strictSame(texts, ['damaged group in the topic skipped'])
})

test('while Kafka is down the feed is behind and retries after one log line', async t => {
  const { log, texts } = recordingLog('warn')
  const { feed, partition, clock, received, append } = open(t, { log })
  t.ok(feed.isBehind(), 'before the first fetch')
  append([1])
  await partition.serve(1)
  t.notOk(feed.isBehind())
  for (let count = 0; count < 3; count++) await partition.fail()
  t.match(feed.status(), { position: 1, issue: 'no broker answers' })
  clock.ms = 2500
  t.ok(feed.isBehind())
  t.equal(feed.status().lagSeconds, 2.5)
  append([2])
  await partition.serve(1)
  // The fetch began before.
  await partition.serve(1)
  t.match(feed.status(), { position: 2, end: 2, lagGroups: 0, lagSeconds: 0, issue: undefined })
  t.strictSame(received, [1, 2])
  t.strictSame(texts, ['cannot read the topic, retrying'])
})

test('records lost before a read are logged and reported to listeners as missed', async t => {
  const { log, texts } = recordingLog('error')
  const { feed, partition, received, append, missed, publish } = open(t, { log })
  for (const id of numbers(6)) append([id])
  await partition.serve(1)
  publish({ ...atStart, applied: 1 })
  partition.start = 4
  await partition.serve(1)
  t.equal(missed.times, 1)
  t.equal(feed.status().position, 4)
  t.ok(feed.replicas[0].revision(200) > 0, 'any series may have got rows')
  const before = feed.replicas[0].revision(200)
  publish({ ...atStart, applied: 3 })
  t.ok(feed.replicas[0].revision(200) > before, 'a row that was not read may have been applied')
  await partition.serve(9)
  t.strictSame(received, [0, 4, 5])
  t.strictSame(texts, ['the topic deleted unread records by its retention'])
})

test('an unknown time is reported as any time', async t => {
  const { feed, partition, clock, append, publish } = open(t)
  const unknown = Number.NEGATIVE_INFINITY
  append([1], 500)
  t.equal(feed.replicas[0].oldestSentSince(0), unknown, 'before the end was reached')
  await partition.serve(9)
  t.equal(feed.replicas[0].oldestSentSince(0), 500)
  append([2], 700)
  publish({ ...atStart, applied: 2, sequenced: { txn: 3, offset: 1 } })
  t.equal(feed.replicas[0].oldestSentSince(3), unknown, 'a row is in the table that was not read')
  await partition.serve(9)
  t.equal(feed.replicas[0].oldestSentSince(3), 700)
  clock.stateAgeMs = 3001
  t.equal(feed.replicas[0].oldestSentSince(3), unknown, 'another process may send again')
  clock.stateAgeMs = 0
  publish({ ...atStart, tenure: 2, committed: 0, sequenced: undefined })
  t.equal(feed.replicas[0].oldestSentSince(3), 500, 'the first row is sent again')
  clock.ms = 2001
  t.equal(feed.replicas[0].oldestSentSince(3), unknown, 'nothing was received from the topic')
})

test('a view without refreshes keeps late rows at no cost of memory', async t => {
  const watermark = new TopicWatermark(0)
  const groups = 100_000
  for (let offset = 0; offset < groups; offset++) {
    watermark.add(offset, offset === 50_000 ? 7 : 1_000_000 + offset)
    watermark.published({ ...atStart, committed: offset, sequenced: { txn: offset, offset: offset + 1 } }, false)
  }
  const reported = [10, 49_999, 70_000, groups - 2000].map(txn => watermark.oldestSince(txn))
  t.strictSame(reported.slice(0, 2), [7, 7])
  t.ok((reported[2] as number) > 1_000_000 && (reported[3] as number) > 1_070_000, reported.join())
})

test('a backlog of any length keeps the series that have rows in it', async t => {
  const series = new UnappliedSeries()
  const devices = 300_000
  for (let offset = 0; offset < 30; offset++) {
    for (let number = 0; number < devices; number += 10) series.add(offset, number + offset)
  }
  series.applied(10, false)
  // Two that share a slot are raised together.
  const shared = 2 ** 18
  t.ok(series.revision(0) > 0 && series.revision(9) > 0)
  t.equal(series.revision(shared - 9), series.revision(0 + shared - 9))
  const before = series.revision(25)
  series.applied(30, false)
  t.ok(series.revision(25) > before)
})

/** The state of rows that another process forwards, by groups of one row each, of this series and time. */
function createVisibility(from = 0) {
  const visible = new TopicVisibility(from)
  const take = (offset: number, series: number, timeUs = 100 + 10 * offset) => {
    const group = groupOf([{ id: offset, series, timeUs }])
    visible.take(offset, new DataView(group.buffer, group.byteOffset, group.length))
  }
  const publish = (state: Partial<PublishedState>) => visible.published({ ...atStart, ...state })
  /** True if this work raises the revision. */
  const raises = (series: number, work: () => void) => {
    const before = visible.revision(series)
    work()
    return visible.revision(series) > before
  }
  return { visible, take, publish, raises }
}

test('the revision of a series rises when its rows show, however late they are read', async t => {
  const { take, publish, raises } = createVisibility()
  for (const [offset, series] of [1, 2, 1].entries()) take(offset, series)
  t.notOk(
    raises(2, () => publish({ applied: 1 })),
    'its row is behind',
  )
  t.ok(raises(2, () => publish({ applied: 2 })))
  t.ok(
    raises(1, () => publish({ applied: 5 })),
    'its second row',
  )
  t.ok(
    raises(3, () => take(3, 3)),
    'read after it was applied',
  )
  t.notOk(raises(3, () => take(5, 3)))
})

test('rows that are sent again raise every series, and those of lost ones are reported', async t => {
  const { visible, publish, raises } = createVisibility()
  let losses = 0
  visible.onLost(() => losses++)
  publish({})
  for (const [state, expected] of [
    [{ losses: 1 }, 1],
    [{ tenure: 2, losses: 0 }, 1],
    [{ tenure: 3, losses: 2 }, 2],
  ] as const) {
    t.ok(raises(99, () => publish(state)))
    t.equal(losses, expected, JSON.stringify(state))
  }
})

test('the oldest row after a transaction covers groups that are sent again or were not read', async t => {
  const { visible, take, publish } = createVisibility()
  for (let offset = 0; offset < 7; offset++) take(offset, 1)
  publish({ committed: 2, sequenced: { txn: 5, offset: 4 } })
  t.equal(visible.oldestSince(5), 140)
  publish({ tenure: 2, committed: 6 })
  t.equal(visible.oldestSince(5), 120, 'from the offset that was committed before')
  const unknown = Number.NEGATIVE_INFINITY
  t.equal(createVisibility(5).visible.oldestSince(0), unknown)
  const gap = createVisibility()
  gap.take(0, 1)
  gap.visible.missedBefore(3)
  t.equal(gap.visible.oldestSince(0), unknown)
})
