/** What a client can send has a bound, and so has the work for it. */

import { Duplex } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { test } from 'tap'
import { MessageIds } from '../../../ingest/mqtt/message-ids.ts'
import { PacketChannel } from '../../../ingest/mqtt/packet-channel.ts'
import { ByteBudget } from '../../../ingest/mqtt/packet-reader.ts'
import { type Publish, readPacket } from '../../../ingest/mqtt/packets.ts'
import { TopicAliases } from '../../../ingest/mqtt/protocol-5.ts'
import { publish } from './mqtt-bytes.ts'

test('one turn of the event loop works on few large messages of a connection', async t => {
  const message = publish(4, { qos: 0, payload: Buffer.alloc(60_000) })
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const taken: Publish[] = []
  let ended = () => {}
  const all = new Promise<void>(resolve => {
    ended = resolve
  })
  new PacketChannel<Publish>({
    socket: socket as never,
    budget: new ByteBudget(1000),
    canTake: () => true,
    decode: raw => readPacket(raw, 4) as Publish,
    limitOf: () => ({ bytesMax: 100_000, beyond: 'refuse' }),
    onPacket: packet => taken.push(packet) === 6 && ended(),
    onMalformed: () => t.fail(),
    onFailed: () => t.fail(),
  })
  socket.emit('data', Buffer.concat(Array.from({ length: 6 }, () => message)))
  t.equal(taken.length, 2)
  await all
  socket.destroy()
})

const aliased = (topicAlias: number, topic: string): Publish => ({
  cmd: 'publish',
  topic,
  qos: 0,
  messageId: 0,
  payload: Buffer.alloc(0),
  retain: false,
  properties: { topicAlias },
})

test('memory for topic aliases has a bound over all connections, and is given back', async t => {
  const budget = new ByteBudget(30)
  const [one, other] = [new TopicAliases(10, budget), new TopicAliases(10, budget)]
  t.equal(one.topicOf(aliased(1, '0123456789')), '0123456789')
  t.throws(() => other.topicOf(aliased(1, '0123456789')), { message: 'too many topic aliases' })
  t.equal(one.topicOf(aliased(1, '01234')), '01234')
  t.equal(other.topicOf(aliased(1, '0123456789')), '0123456789')
  one.close()
  other.close()
  const long = new TopicAliases(10, new ByteBudget(3000))
  long.topicOf(aliased(1, 'a'.repeat(5000)))
  t.equal(long.topicOf(aliased(1, '')), 'a'.repeat(1024), 'no more is kept of one that names no device')
  t.ok(budget.take(30))
})

test('of a topic that names no device no more is in memory than is counted', async t => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as NonNullable<typeof globalThis.gc>
  const heldBytes = () => {
    gc()
    return process.memoryUsage().heapUsed
  }
  const aliases = new TopicAliases(100, new ByteBudget(1 << 20))
  const before = heldBytes()
  for (let alias = 1; alias <= 100; alias++) aliases.topicOf(aliased(alias, Buffer.alloc(60_000, alias).toString()))
  t.ok(heldBytes() - before < 1 << 20, 'of 6 MB')
  t.equal(aliases.topicOf(aliased(100, '')).length, 1024)
})

test('identifiers of QoS 2 that are not released take a bit each', async t => {
  const ids = new MessageIds()
  for (const id of [1, 8, 65_535, 8]) ids.add(id)
  t.strictSame([ids.size, ids.has(1), ids.has(2), ids.has(65_535)], [3, true, false, true])
  t.strictSame([ids.delete(8), ids.delete(8), ids.has(8), ids.size], [true, false, false, 2])
})
