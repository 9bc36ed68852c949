/** Events of several nodes that read the same topic, each at its own pace: a client may go from one to the other. */

import { Registry } from 'prom-client'
import { type Test, test } from 'tap'
import { EventHub, type HubOptions } from '../../live/events/event-hub.ts'
import type { StoredReadings } from '../../live/events/reading-ring.ts'
import { createEventMeter } from '../../service/event-metrics.ts'
import { createRandom } from '../faults/seeded-random.ts'
import { waitFor } from '../support/wait-for.ts'

const run = '0123456789abcdef'
/** Ids of records of one group are closer to each other. */
const perGroup = 1000
const names = ['porch', 'attic', 'cellar']

/** Its values count all readings of the topic. */
interface Group {
  readonly offset: number
  readonly from: number
  readonly count: number
}

function topicOf(counts: readonly number[]): Group[] {
  let from = 0
  return counts.map((count, offset) => {
    const group = { offset, from, count }
    from += count
    return group
  })
}

function storedOf({ offset, from, count }: Group, first: number, length: number): StoredReadings {
  let at = first - 1
  return {
    count: length,
    place: { position: offset * perGroup + first },
    next: () => ++at < Math.min(count, first + length),
    get series() {
      return (from + at) % names.length
    },
    get timeUs() {
      return 1_780_000_000_000_000 + (from + at) * 1000
    },
    value: column => (column === 0 ? from + at : Number.NaN),
    furtherCount: offset === 39 ? 1 : 0,
    furtherSeries: () => 0,
    furtherValue: () => 0,
  }
}

/** A node that has read so much of the topic. */
function openNode(t: Test, topic: readonly Group[], options: Partial<HubOptions> & { from?: number } = {}) {
  const { from = 0, ...given } = options
  const clock = { ms: 0 }
  let next = from * perGroup
  let read = from
  const hub = new EventHub({
    run,
    nextPosition: () => next,
    windowMs: 300_000,
    windowBytes: 1024 ** 2,
    nameOf: number => names[number],
    ownerOf: () => undefined,
    tickMs: 1,
    nowMs: () => clock.ms,
    meter: createEventMeter(new Registry()),
    failed: error => t.fail(String(error)),
    ...given,
  })
  t.teardown(() => hub.close())

  /** In pieces, as a feed tells them. */
  function read1(piece = perGroup): void {
    const group = topic[read]
    if (group === undefined) return
    for (let at = 0; at < group.count; at += piece) {
      const length = Math.min(piece, group.count - at)
      next = group.offset * perGroup + at + length
      hub.store(storedOf(group, at, length))
    }
    read++
    next = read * perGroup
  }

  return {
    hub,
    clock,
    read1,
    readTo(offset: number) {
      while (read < offset) read1()
    },
    /** Groups up to this offset are gone. */
    missTo(offset: number) {
      read = offset
      next = offset * perGroup
      hub.missed()
    },
    get read() {
      return read
    },
  }
}

type TestNode = ReturnType<typeof openNode>

function connect({ hub }: TestNode, last?: string, devices?: readonly number[]) {
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

test('a client that goes from node to node at random gets each reading once and in order', async t => {
  for (let round = 0; round < 12; round++) {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
    const random = createRandom(seed)
    const topic = topicOf(Array.from({ length: 60 }, () => random.below(30)))
    const total = topic.reduce((sum, { count }) => sum + count, 0)
    const nodes = [openNode(t, topic), openNode(t, topic)] as const
    const devices = random.pick([undefined, [1], [0, 2]])
    const wanted = numbers(total).filter(value => devices?.includes(value % 3) ?? true)
    const got: number[] = []
    let client = connect(nodes[0], undefined, devices)
    let last: string | undefined
    /** As a browser does, it keeps its cursor until there is a later one. */
    const drop = () => {
      client.leave()
      got.push(...client.values())
      last = client.lastId() ?? last
      return last
    }
    while (nodes.some(node => node.read < topic.length)) {
      random.pick(nodes).read1(1 + random.below(20))
      if (random.chance(0.5)) await new Promise(resolve => setTimeout(resolve, random.below(4)))
      if (random.chance(0.3)) client = connect(random.pick(nodes), drop(), devices)
    }
    await waitFor('all are told', () => got.length + client.values().length >= wanted.length)
    drop()
    const isRight = got.join() === wanted.join()
    t.ok(isRight, `seed ${seed}: ${isRight ? wanted.length : got.join()}`)
    for (const { hub } of nodes) hub.close()
  }
})

test('a client whose place a node has not read yet waits for it, and is reset when it does not come', async t => {
  const topic = topicOf([3, 4, 5])
  const [first, second] = [openNode(t, topic), openNode(t, topic, { beatMs: 5 })]
  const before = connect(first)
  first.readTo(2)
  await waitFor('all is told', () => before.values().length === 7)
  second.readTo(1)
  const client = connect(second, before.lastId())
  second.readTo(3)
  await waitFor('it goes on', () => client.values().length === 5)
  t.strictSame([client.values(), client.resets()], [numbers(12, 7), 0])
  const lost = connect(second, `${run}-${9 * perGroup}`)
  await new Promise(resolve => setTimeout(resolve, 30))
  t.equal(lost.text(), ':\n\n', 'no cursor yet')
  second.clock.ms = 10_001
  await waitFor('it is reset', () => lost.resets() === 1)
  await waitFor('it is at the end', () => lost.lastId() === `${run}-${3 * perGroup}`)
})

test('a place between two groups is the same at nodes that have read up to there in other pieces', async t => {
  const topic = topicOf([3, 0, 2])
  const [first, second] = [openNode(t, topic), openNode(t, topic, { from: 2 })]
  first.readTo(1)
  for (const last of [`${run}-3`, `${run}-${perGroup}`]) t.equal(connect(first, last).resets(), 0, last)
  t.equal(connect(second, `${run}-${2 * perGroup}`).resets(), 0, 'where it began to read')
  t.equal(connect(second, `${run}-${perGroup}`).resets(), 1, 'before that')
})

test('what other nodes tell is kept without clients, and what was missed is not passed over', async t => {
  const topic = topicOf([3, 4, 5])
  const node = openNode(t, topic)
  node.clock.ms = 1_000_000
  node.readTo(1)
  const client = connect(node, `${run}-1`)
  await waitFor('it gets the rest', () => client.values().length === 2)
  t.strictSame(client.values(), [1, 2])
  client.leave()
  node.missTo(2)
  t.equal(connect(node, `${run}-${perGroup}`).resets(), 1, 'from before the gap')
  t.equal(connect(node, `${run}-${2 * perGroup}`).resets(), 0, 'from behind it')
})

test('a client from another node is told the states that may have been told there later', async t => {
  const topic = topicOf([1, 1, 1])
  const node = openNode(t, topic)
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
  const client = connect(node, `${run}-${perGroup + 1}`)
  await waitFor('they are told', () => client.states().length === 2)
  t.strictSame(client.states(), ['late', 'silent'])
})

test('before changes of states are told there is nothing to go on from', async t => {
  const topic = topicOf([2, 2, 2])
  let areStatesTold = false
  const node = openNode(t, topic, { areStatesTold: () => areStatesTold })
  node.readTo(1)
  t.equal(connect(node, `${run}-1`).resets(), 1, 'while they are not')
  areStatesTold = true
  node.readTo(2)
  t.equal(connect(node, `${run}-1`).resets(), 1, 'from before')
  t.equal(connect(node, `${run}-${perGroup}`).resets(), 0)
})

test('a ring that is full, and one whose readings get further values, keeps positions with its readings', async t => {
  const topic = topicOf(Array.from({ length: 40 }, () => 900))
  const node = openNode(t, topic)
  node.readTo(40)
  t.equal(connect(node, `${run}-5`).resets(), 1)
  const client = connect(node, `${run}-${38 * perGroup + 899}`)
  await waitFor('the rest is told', () => client.values().length === 901)
  t.strictSame(client.values(), numbers(36_000, 35_099))
  const early = connect(node, `${run}-${33 * perGroup + 899}`)
  await waitFor('the rest is told', () => early.values().length === 5401)
  t.strictSame(early.values(), numbers(36_000, 30_599), 'from before the first further values')
})
