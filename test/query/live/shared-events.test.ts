/** Events of several nodes that read the same topic, each at its own pace: a client may change nodes. */

import { Registry } from 'prom-client'
import { type Test, test } from 'tap'
import { EventHub, type HubOptions } from '../../../query/live/events/event-hub.ts'
import { EventCursors } from '../../../query/live/events/event-text.ts'
import type { ReadingGroup } from '../../../query/live/events/reading-ring.ts'
import { createEventMeter } from '../../../service/meters.ts'
import { waitFor } from '../../support/wait-for.ts'

const perGroup = 1000
const eventNames = ['porch', 'attic', 'cellar']
const topicId = 'one'

/** Its values count all readings of the topic. */
interface MadeGroup {
  readonly offset: number
  readonly from: number
  readonly count: number
}

function madeTopic(counts: readonly number[], firstValue = 0): MadeGroup[] {
  let from = firstValue
  return counts.map((count, offset) => {
    const group = { offset, from, count }
    from += count
    return group
  })
}

function cursorAt(position: number): string {
  return new EventCursors(topicId).text(position)
}

function storedOf({ offset, from, count }: MadeGroup, first: number, length: number): ReadingGroup {
  let at = first - 1
  return {
    count: length,
    place: { position: offset * perGroup + first },
    next: () => ++at < Math.min(count, first + length),
    get series() {
      return (from + at) % eventNames.length
    },
    get timeUs() {
      return 1_780_000_000_000_000 + (from + at) * 1000
    },
    value: column => (column === 0 ? from + at : Number.NaN),
    customCount: offset === 39 ? 1 : 0,
    customSeries: () => 0,
    customValue: () => 0,
  }
}

function openEventNode(t: Test, topic: readonly MadeGroup[], options: Partial<HubOptions> & { from?: number } = {}) {
  const { from = 0, ...given } = options
  const clock = { ms: 0 }
  let read = from
  let next = from * perGroup
  const hub = new EventHub({
    cursors: new EventCursors(topicId),
    nextPosition: () => next,
    windowMs: 300_000,
    windowBytes: 1024 ** 2,
    nameOf: number => eventNames[number],
    ownerOf: () => undefined,
    tickMs: 1,
    nowMs: () => clock.ms,
    meter: createEventMeter(new Registry()),
    failed: error => t.fail(String(error)),
    ...given,
  })
  t.teardown(() => hub.close())

  function read1(piece = perGroup): void {
    const offset = read
    const group = topic[offset]
    if (group === undefined) return
    for (let at = 0; at < group.count; at += piece) {
      const length = Math.min(piece, group.count - at)
      next = offset * perGroup + at + length
      hub.store(storedOf(group, at, length))
    }
    read = offset + 1
    next = (offset + 1) * perGroup
  }

  return {
    hub,
    clock,
    read1,
    readTo(offset: number) {
      while (read < offset) read1()
    },
    missTo(offset: number) {
      read = offset
      next = offset * perGroup
      hub.missed()
    },
    hasReadAll: () => read === topic.length,
  }
}

function connectTo({ hub }: { hub: EventHub }, last?: string, devices?: readonly number[]) {
  let text = ''
  const sink = {
    write: (bytes: Buffer) => {
      text += bytes.toString()
      return true
    },
    onDrained: () => undefined,
    destroy: () => undefined,
  }
  const leave = hub.subscribe(sink, { devices: devices && new Set(devices), owner: undefined, statesOnly: false }, last)
  return {
    leave,
    text: () => text,
    values: () => [...text.matchAll(/"temperature":(\d+)/g)].map(([, value]) => Number(value)),
    states: () => [...text.matchAll(/"state":"(\w+)"/g)].map(([, state]) => state),
    resets: () => text.split('event: reset').length - 1,
    lastId: () => [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1],
  }
}

const numbers = (to: number, from = 0) => Array.from({ length: to - from }, (_, index) => from + index)

test('a client ahead of a node waits for it, and is reset after the wait', async t => {
  const topic = madeTopic([3, 4, 5])
  const [first, second] = [openEventNode(t, topic), openEventNode(t, topic, { beatMs: 5 })]
  const before = connectTo(first)
  first.readTo(2)
  await waitFor('all events', () => before.values().length === 7)
  second.readTo(1)
  const client = connectTo(second, before.lastId())
  second.readTo(3)
  await waitFor('it goes on', () => client.values().length === 5)
  t.strictSame([client.values(), client.resets()], [numbers(12, 7), 0])
  const lost = connectTo(second, cursorAt(9 * perGroup))
  await new Promise(resolve => setTimeout(resolve, 30))
  t.equal(lost.text(), ':\n\n', 'no cursor yet')
  second.clock.ms = 10_001
  await waitFor('it is reset', () => lost.resets() === 1)
  await waitFor('it is at the end', () => lost.lastId() === cursorAt(3 * perGroup))
})

test('a place between two groups is the same at nodes that have read up to there in other pieces', async t => {
  const topic = madeTopic([3, 0, 2])
  const [first, second] = [openEventNode(t, topic), openEventNode(t, topic, { from: 2 })]
  first.readTo(1)
  for (const last of [cursorAt(3), cursorAt(perGroup)]) t.equal(connectTo(first, last).resets(), 0, last)
  t.equal(connectTo(second, cursorAt(2 * perGroup)).resets(), 0, 'where it began to read')
  t.equal(connectTo(second, cursorAt(perGroup)).resets(), 1, 'before that')
})

test('events of other nodes are kept without clients while missed ones cause a reset', async t => {
  const topic = madeTopic([3, 4, 5])
  const node = openEventNode(t, topic)
  node.clock.ms = 1_000_000
  node.readTo(1)
  const client = connectTo(node, cursorAt(1))
  await waitFor('it gets the rest', () => client.values().length === 2)
  t.strictSame(client.values(), [1, 2])
  client.leave()
  node.missTo(2)
  t.equal(connectTo(node, cursorAt(perGroup)).resets(), 1, 'from before the gap')
  t.equal(connectTo(node, cursorAt(2 * perGroup)).resets(), 0, 'from behind it')
})

test('a client from another node receives states that the other node may have sent later', async t => {
  const topic = madeTopic([1, 1, 1])
  const node = openEventNode(t, topic)
  const state = (ms: number, name: string) => {
    node.clock.ms = ms
    node.hub.stateChanged(0, name)
  }
  state(1000, 'fresh')
  node.readTo(1)
  state(50_000, 'late')
  node.clock.ms = 59_000
  node.readTo(2)
  state(61_000, 'silent')
  const client = connectTo(node, cursorAt(perGroup + 1))
  await waitFor('both states', () => client.states().length === 2)
  t.strictSame(client.states(), ['late', 'silent'])
})

test('a client cannot resume before the first change of a state', async t => {
  const topic = madeTopic([2, 2, 2])
  let areStatesSent = false
  const node = openEventNode(t, topic, { areStatesSent: () => areStatesSent })
  node.readTo(1)
  t.equal(connectTo(node, cursorAt(1)).resets(), 1, 'while they are not')
  areStatesSent = true
  node.readTo(2)
  t.equal(connectTo(node, cursorAt(1)).resets(), 1, 'from before')
  t.equal(connectTo(node, cursorAt(perGroup)).resets(), 0)
})

test('a full buffer, and one whose readings get custom values, keeps positions with its readings', async t => {
  const topic = madeTopic(Array.from({ length: 40 }, () => 900))
  const node = openEventNode(t, topic)
  node.readTo(40)
  t.equal(connectTo(node, cursorAt(5)).resets(), 1)
  const client = connectTo(node, cursorAt(38 * perGroup + 899))
  await waitFor('the other events', () => client.values().length === 901)
  t.strictSame(client.values(), numbers(36_000, 35_099))
  const early = connectTo(node, cursorAt(33 * perGroup + 899))
  await waitFor('the other events', () => early.values().length === 5401)
  t.strictSame(early.values(), numbers(36_000, 30_599), 'from before the first custom values')
})
