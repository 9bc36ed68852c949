/** Events of several nodes that read the topics of several shards, each in an order of its own: a client may go from one to the other. */

import fc from 'fast-check'
import { test } from 'tap'
import { EventCursors, laterOf } from '../../live/events/event-cursor.ts'
import { createRandom } from '../faults/seeded-random.ts'
import {
  connectTo,
  cursorAt,
  eventNames,
  madeTopic,
  numbers,
  openEventNode,
  perGroup,
  perTopic,
} from '../support/event-nodes.ts'
import { runs } from '../support/runs.ts'
import { waitFor } from '../support/wait-for.ts'

test('a client that goes from node to node at random gets each reading of each shard once and in order', async t => {
  const { numRuns } = runs(4, 100)
  for (let round = 0; round < numRuns; round++) {
    const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
    const random = createRandom(seed)
    const topics = numbers(1 + random.below(3)).map(topic => {
      const counts = Array.from({ length: 40 }, () => random.below(random.pick([3, 30, 300])))
      return madeTopic(counts, topic * perTopic)
    })
    const nodes = [openEventNode(t, topics), openEventNode(t, topics)] as const
    const devices = random.pick([undefined, [1], [0, 2]])
    const isWanted = (value: number) => devices?.includes(value % eventNames.length) ?? true
    const wanted = topics.map(topic => topic.flatMap(group => numbers(group.from + group.count, group.from)))
    const told: number[] = []
    let resets = 0
    let client = connectTo(nodes[0], undefined, devices)
    let last: string | undefined
    /** As a browser does, it keeps its cursor until there is a later one. */
    const drop = () => {
      client.leave()
      told.push(...client.values())
      resets += client.resets()
      last = client.lastId() ?? last
      return last
    }
    while (!nodes.every(node => node.hasReadAll())) {
      random.pick(nodes).read1({ piece: 1 + random.below(200), topic: random.below(topics.length) })
      if (random.chance(0.5)) await new Promise(resolve => setTimeout(resolve, random.below(4)))
      if (random.chance(0.3)) client = connectTo(random.pick(nodes), drop(), devices)
    }
    const all = wanted.flat().filter(isWanted).length
    await waitFor('all are told', () => told.length + client.values().length >= all)
    drop()
    const ofTopic = (topic: number) => told.filter(value => Math.floor(value / perTopic) === topic)
    for (const [topic, values] of wanted.entries()) {
      t.ok(ofTopic(topic).join() === values.filter(isWanted).join(), `seed ${seed}: topic ${topic}`)
    }
    t.equal(resets, 0, `seed ${seed}: no reset`)
    for (const { hub } of nodes) hub.close()
  }
})

test('a client goes on behind what it was told of each shard, in whatever order the node has read them', async t => {
  const topics = [madeTopic([3, 3]), madeTopic([2, 2], perTopic)]
  const [one, other] = [openEventNode(t, topics), openEventNode(t, topics)]
  const before = connectTo(one)
  one.readTo(1, 1)
  one.readTo(1, 0)
  await waitFor('it is told', () => before.values().length === 5)
  other.readTo(2, 0)
  other.readTo(2, 1)
  const client = connectTo(other, before.lastId())
  await waitFor('it gets the rest', () => client.values().length === 5)
  t.strictSame(client.values(), [3, 4, 5, perTopic + 2, perTopic + 3])
  const again = connectTo(one, client.text().match(/^id: (.+)$/m)?.[1])
  t.equal(again.resets(), 0, 'and takes its place back before it was told anything')
  one.readTo(2, 1)
  one.readTo(2, 0)
  await waitFor('it gets the rest', () => again.values().length === 5)
  for (const { lastId } of [client, again]) t.equal(lastId(), cursorAt(2 * perGroup, 2 * perGroup))
})

test('a client that comes at the place of the next tick is not told with the others what it knows', async t => {
  const topics = [madeTopic([3, 3]), madeTopic([2, 2], perTopic)]
  const node = openEventNode(t, topics)
  const stays = connectTo(node)
  for (const topic of [0, 1]) node.readTo(1, topic)
  await waitFor('it is told', () => stays.values().length === 5)
  for (const topic of [0, 1]) node.readTo(2, topic)
  const client = connectTo(node, cursorAt(perGroup, perGroup + 1))
  await waitFor('both are told', () => stays.values().length === 10 && client.values().length === 4)
  t.strictSame(client.values(), [3, 4, 5, perTopic + 3])
})

test('a node that lacks what was told of one shard waits for it, without telling the others twice', async t => {
  const topics = [madeTopic([3, 3]), madeTopic([2, 2], perTopic)]
  const node = openEventNode(t, topics)
  node.readTo(1, 0)
  const client = connectTo(node, cursorAt(3, perGroup + 1))
  node.readTo(2, 0)
  node.readTo(1, 1)
  t.strictSame([client.values(), client.lastId()], [[], undefined])
  node.readTo(2, 1)
  await waitFor('it goes on', () => client.values().length === 4)
  t.strictSame([client.values(), client.resets()], [[3, 4, 5, perTopic + 3], 0])
})

test('one shard of which readings are gone is enough for a reset', async t => {
  const topics = [madeTopic([3, 3]), madeTopic([2, 2], perTopic)]
  const node = openEventNode(t, topics, { from: [0, 1] })
  node.readTo(2, 0)
  node.readTo(2, 1)
  t.equal(connectTo(node, cursorAt(3, perGroup)).resets(), 0)
  t.equal(connectTo(node, cursorAt(3, perGroup - 1)).resets(), 1, 'from before its start')
  node.missTo(3, 1)
  t.equal(connectTo(node, cursorAt(2 * perGroup, 2 * perGroup)).resets(), 1, 'from before a gap')
  t.equal(connectTo(node, cursorAt(2 * perGroup, 3 * perGroup)).resets(), 0)
})

test('a shard that is added is told from its first reading on, and changes no cursor before it has one', async t => {
  const first = madeTopic([3, 3])
  const second = madeTopic([2], perTopic)
  const old = openEventNode(t, [first])
  const added = openEventNode(t, [first, second])
  for (const node of [old, added]) node.readTo(1)
  const before = connectTo(old, cursorAt(0))
  await waitFor('it is told', () => before.values().length === 3)
  const client = connectTo(added, before.lastId())
  added.readTo(2)
  await waitFor('it goes on', () => client.values().length === 3)
  old.readTo(2)
  t.strictSame(connectTo(old, client.lastId()).resets(), 0, 'and back')
  added.readTo(1, 1)
  const late = connectTo(added, before.lastId())
  await waitFor('it goes on', () => late.values().length === 5)
  t.strictSame(late.values(), [3, 4, 5, perTopic, perTopic + 1])
  t.equal(connectTo(old, late.lastId()).resets(), 1, 'a node that does not read the shard')
  const begun = openEventNode(t, [first, second], { from: [0, 1] })
  begun.readTo(2)
  t.equal(connectTo(begun, before.lastId()).resets(), 1, 'a node that has not read it from its start')
})

const position = fc.oneof(fc.constant(0), fc.nat(), fc.maxSafeNat())
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

test('cursors are read as they were written, also where there are further shards', t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fc.array(position, { minLength: 1, maxLength: 20 }), fc.nat(3), (positions, further) => {
      const ids = positions.map((_, at) => `topic ${at}`)
      const text = new EventCursors(ids).text(positions)
      const added = numbers(further).map(at => `added ${at}`)
      const read = new EventCursors([...ids, ...added]).read(text)
      t.strictSame(read, [...positions, ...added.map(() => 0)])
      t.strictSame(laterOf(positions, read?.slice(0, positions.length)), positions)
      t.match(text, /^[0-9a-f]{16}(-\d{1,16}){1,20}$/)
      const isTold = positions.slice(1).some(each => each > 0)
      t.equal(new EventCursors(['topic 0']).read(text) === undefined, isTold, 'where they are not known')
      t.equal(new EventCursors(['another', ...ids.slice(1)]).read(text), undefined, 'of other topics')
    }),
    { ...runs(100, 500), seed },
  )
  t.end()
})

test('a position is a safe integer', t => {
  const cursors = new EventCursors(['one'])
  const [digest] = cursors.text([0]).split('-')
  t.strictSame(cursors.read(`${digest}-9007199254740991`), [Number.MAX_SAFE_INTEGER])
  for (const digits of ['9007199254740992', '9999999999999999', '', '01', '1.5']) {
    t.equal(cursors.read(`${digest}-${digits}`), undefined, digits)
  }
  t.end()
})

test('a text that is no cursor is read as none, and one that is read is the one that would be written', t => {
  t.comment(`seed ${seed}`)
  const cursors = new EventCursors(['one', 'two', 'three'])
  const digests = [[0], [0, 1], [0, 0, 1]].map(positions => cursors.text(positions).split('-')[0] as string)
  const digits = fc.stringMatching(/^-?\d{0,17}$/)
  const part = fc.oneof(
    digits,
    fc.nat().map(String),
    fc.string({ maxLength: 3 }),
    fc.constantFrom('0', '00', '1e3', ' 1', '+1'),
  )
  const text = fc.oneof(
    fc.string(),
    fc
      .tuple(fc.oneof(fc.constantFrom(...digests), fc.string({ maxLength: 16 })), fc.array(part, { maxLength: 5 }))
      .map(([digest, parts]) => [digest, ...parts].join('-')),
    fc.constant(`${digests[0]}${'-1'.repeat(100_000)}`),
  )
  fc.assert(
    fc.property(text, given => {
      const read = cursors.read(given)
      if (read === undefined) return
      t.equal(read.length, 3)
      t.ok(read.every(position => Number.isSafeInteger(position) && position >= 0))
      // A position of 0 at the end may be written out.
      t.match(given.replace(/^[^-]*/, ''), new RegExp(`^${cursors.text(read).replace(/^[^-]*/, '')}(-0)*$`))
    }),
    { ...runs(300, 3000), seed },
  )
  t.end()
})
