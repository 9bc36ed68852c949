/** Events of several nodes that read the same topic, each at its own pace: a client may go from one to the other. */

import { test } from 'tap'
import { waitFor } from '../../support/wait-for.ts'
import { connectTo, cursorAt, madeTopic, numbers, openEventNode, perGroup } from './event-nodes.ts'

test('a client whose place a node has not read yet waits for it, and is reset when it does not come', async t => {
  const topic = madeTopic([3, 4, 5])
  const [first, second] = [openEventNode(t, topic), openEventNode(t, topic, { beatMs: 5 })]
  const before = connectTo(first)
  first.readTo(2)
  await waitFor('all is told', () => before.values().length === 7)
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

test('what other nodes tell is kept without clients, and what was missed is not passed over', async t => {
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

test('a client from another node is told the states that may have been told there later', async t => {
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
  await waitFor('they are told', () => client.states().length === 2)
  t.strictSame(client.states(), ['late', 'silent'])
})

test('before changes of states are told there is nothing to go on from', async t => {
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

test('a ring that is full, and one whose readings get custom values, keeps positions with its readings', async t => {
  const topic = madeTopic(Array.from({ length: 40 }, () => 900))
  const node = openEventNode(t, topic)
  node.readTo(40)
  t.equal(connectTo(node, cursorAt(5)).resets(), 1)
  const client = connectTo(node, cursorAt(38 * perGroup + 899))
  await waitFor('the rest is told', () => client.values().length === 901)
  t.strictSame(client.values(), numbers(36_000, 35_099))
  const early = connectTo(node, cursorAt(33 * perGroup + 899))
  await waitFor('the rest is told', () => early.values().length === 5401)
  t.strictSame(early.values(), numbers(36_000, 30_599), 'from before the first custom values')
})
