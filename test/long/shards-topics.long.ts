/** Events of two nodes that read the topics of two shards from a real Kafka: a client goes from one to the other, and on when one has ended. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t from 'tap'
import { openTopicFeed } from '../../ingest/kafka/topic-feed.ts'
import { readings } from '../../ingest/readings-table.ts'
import { EventCursors } from '../../live/events/event-cursor.ts'
import { EventHub } from '../../live/events/event-hub.ts'
import { createEventMeter } from '../../service/event-metrics.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { silentLog } from '../support/databases.ts'
import { connectTo, eventNames, perTopic } from '../support/event-nodes.ts'
import { groupOf } from '../support/fake-partition.ts'
import { startKafka } from '../support/kafka.ts'
import { waitFor } from '../support/wait-for.ts'

const kafka = await startKafka(t)
const topics = [await kafka.makeTopic('shard-1'), await kafka.makeTopic('shard-2')]
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const random = createRandom(seed)

async function openNode() {
  const client = await kafka.connect()
  const partitions = await Promise.all(topics.map(topic => client.partition(topic)))
  const feeds = partitions.map((partition, at) =>
    openTopicFeed({
      table: readings,
      topic: topics[at] as string,
      partition,
      from: 0,
      tellFrom: 0,
      waitsForListener: true,
      published: { onState: () => undefined, ageMs: () => 0 },
      log: silentLog,
      onFatal: error => {
        throw error
      },
    }),
  )
  const hub = new EventHub({
    cursors: new EventCursors(partitions.map(({ topicId }) => topicId)),
    nextPositions: () => feeds.map(feed => feed.nextId()),
    windowMs: 600_000,
    windowBytes: 1024 ** 2,
    nameOf: number => eventNames[number],
    ownerOf: () => undefined,
    nowMs: Date.now,
    meter: createEventMeter(new Registry()),
    failed: error => t.fail(String(error)),
  })
  for (const [at, feed] of feeds.entries()) feed.onStored(stored => hub.store(stored, at))
  async function close(): Promise<void> {
    hub.close()
    await Promise.all(feeds.map(feed => feed.close()))
  }
  t.teardown(close)
  return { hub, close }
}

/** Of each topic, in its order. */
const appended: [number[], number[]] = [[], []]

async function append(topic: 0 | 1, groups: number): Promise<void> {
  const partition = await (await kafka.connect()).partition(topics[topic] as string)
  for (let group = 0; group < groups; group++) {
    const from = appended[topic].length
    const ids = Array.from({ length: 1 + random.below(5) }, (_, at) => topic * perTopic + from + at)
    const rows = ids.map(id => ({ id, series: id % eventNames.length, timeUs: 1000 + id }))
    const { outcome } = await partition.append(groupOf(rows))
    if (outcome !== 'stored') throw new Error(`a group was not stored: ${outcome}`)
    appended[topic].push(...ids)
  }
}

type Node = Awaited<ReturnType<typeof openNode>>

t.test('each reading of both shards is told once and in order, at whatever node', async t => {
  const [one, other] = [await openNode(), await openNode()]
  let client = connectTo(one)
  let last: string | undefined
  const told: number[] = []
  let resets = 0
  /** As a browser does, it keeps its cursor until there is a later one. */
  function goTo(node: Node): void {
    client.leave()
    told.push(...client.values())
    resets += client.resets()
    last = client.lastId() ?? last
    client = connectTo(node, last)
  }
  async function check(node: Node, what: string): Promise<void> {
    await waitFor(what, () => told.length + client.values().length >= appended.flat().length)
    goTo(node)
    const ofTopic = (topic: number) => told.filter(value => Math.floor(value / perTopic) === topic)
    t.strictSame([ofTopic(0), ofTopic(1)], appended, `seed ${seed}: ${what}`)
    t.equal(resets, 0, `seed ${seed}: ${what}, without a reset`)
  }

  let isAppended = false
  const appending = Promise.all([append(0, 40), append(1, 40)]).finally(() => {
    isAppended = true
  })
  while (!isAppended) {
    await sleep(random.below(60))
    goTo(random.pick([one, other]))
  }
  await appending
  await check(one, 'between two nodes')

  const more = Promise.all([append(0, 20), append(1, 20)])
  await waitFor('some are told', () => client.values().length > 10)
  await one.close()
  goTo(other)
  await more
  await check(other, 'at the other one when its node has ended')

  const third = await openNode()
  goTo(third)
  await Promise.all([append(0, 5), append(1, 5)])
  await check(third, 'at a node that was started later')
})
