/** Sessions of MQTT: their ends, their names, and bounds on their memory. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { generate } from 'mqtt-packet'
import { type Test, test } from 'tap'
import type { SessionNotices } from '../../../auth/nodes/session-notices.ts'
import { createWriters } from '../../../auth/writers.ts'
import { senderOf } from '../../../ingest/intake/rejection-source.ts'
import { MessageIds } from '../../../ingest/mqtt/acknowledgements.ts'
import { NamedSessions } from '../../../ingest/mqtt/listener.ts'
import { PacketChannel } from '../../../ingest/mqtt/packet-channel.ts'
import { ByteAllowance } from '../../../ingest/mqtt/packet-reader.ts'
import { type Publish, readPacket } from '../../../ingest/mqtt/packets.ts'
import { TopicAliases } from '../../../ingest/mqtt/protocol-5.ts'
import type { CloseReason } from '../../../ingest/mqtt/reason-codes.ts'
import { MqttSession } from '../../../ingest/mqtt/session.ts'
import { perOwner } from '../../support/accounts.ts'
import { memoryUsed } from '../../support/memory-used.ts'
import { createIntakeParts, openRawMqtt } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { inWords, publish } from './mqtt-bytes.ts'

async function startSession(t: Test) {
  const parts = createIntakeParts()
  const closed: CloseReason[] = []
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const accepted = once(server, 'connection')
  /** The time is before the client's last packet: the session cannot count from an earlier moment. */
  let sinceMs = performance.now()
  const client = await openRawMqtt(t, `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const [socket] = (await accepted) as [Socket]
  const registry = { get: (name: string) => parts.devices.get(name), isCurrent: () => true } as never
  const writer = createWriters(registry, perOwner).ofTrustedBroker()
  const session = new MqttSession(socket, {
    ...parts,
    findDecoder: () => undefined,
    grantsSubscriptions: () => false,
    authenticate: async () => ({ id: 'any', sender: senderOf(writer), writer: () => writer }),
    budget: new ByteAllowance(1_000_000),
    aliasBudget: new ByteAllowance(1_000_000),
    senderLog() {},
    onOpen() {},
    onClosed: (_session, reason) => void closed.push(reason),
  })
  const check = (atMs: number) => {
    session.check(atMs)
    return closed
  }
  /** Looks at it as it is when at most so much time has gone by. */
  const checkWithin = (seconds: number) => check(sinceMs + seconds * 1000)
  /** Checks the session at a later time. */
  const checkIn = (seconds: number) => check(performance.now() + seconds * 1000)
  function write(bytes: Buffer): void {
    sinceMs = performance.now()
    client.socket.write(bytes)
  }
  async function connect(keepalive: number, protocolVersion: 4 | 5 = 4): Promise<void> {
    const names = { cmd: 'connect', protocolId: 'MQTT', protocolVersion, clean: true, clientId: 'x' } as const
    write(generate({ ...names, keepalive }))
    await until('it is let in', () => inWords(client.received(), protocolVersion).at(-1) === 'connack')
  }
  return { ...client, ended: client.closed, journal: parts.journal, closed, checkWithin, checkIn, write, connect }
}

test('who does not connect is not waited for', async t => {
  const { checkWithin, checkIn } = await startSession(t)
  t.strictSame(checkWithin(9), [])
  t.strictSame(checkIn(10.1), ['timeout'])
})

test('a silent client is kept for one and a half times its keep-alive, by default for an hour', async t => {
  for (const version of [4, 5] as const) {
    for (const keepAlive of [100, 0]) {
      const seconds = keepAlive === 0 ? 3600 : 150
      const { connect, checkWithin, checkIn, ended } = await startSession(t)
      await connect(keepAlive, version)
      t.strictSame(checkWithin(seconds - 1), [])
      t.strictSame(checkIn(seconds + 1), ['timeout'])
      t.equal(inWords(await ended, version).at(-1), version === 4 ? 'connack' : 'disconnect 0x8d')
    }
  }
})

test('a packet that has begun has to end', async t => {
  const { checkWithin, checkIn, connect, write, received } = await startSession(t)
  await connect(0)
  write(Buffer.concat([generate({ cmd: 'pingreq' }), Buffer.from([0x30, 0xff, 0x7f, 0])]))
  await until('the ping before it is answered', () => received().endsWith('d000'))
  t.strictSame(checkWithin(29), [])
  t.strictSame(checkIn(31), ['timeout'])
})

test('a session is not silent while the journal delays it', async t => {
  const { checkIn, connect, socket, journal } = await startSession(t)
  await connect(10)
  journal.hold()
  socket.write(Buffer.concat(Array.from({ length: 100 }, () => publish(4, { qos: 0 }))))
  await until('no more can be taken', () => journal.waiting.length === 100)
  t.strictSame(checkIn(60), [])
  journal.settle('stored')
  await until('all are stored', () => journal.stored.length === 100)
  t.strictSame(checkIn(60), ['timeout'])
})

test('packets other than readings have a small limit and must follow CONNECT', async t => {
  const large = Buffer.from([0x00, 0xff, 0xff, 0x7f])
  for (const type of [0x10, 0x30, 0x82, 0xc0]) {
    const { socket, closed } = await startSession(t)
    large[0] = type
    socket.write(large)
    await until('it is closed', () => closed.length === 1)
    t.strictSame(closed, [type === 0x10 ? 'too_large' : 'protocol_error'], `type ${type}, not connected`)
  }
  for (const type of [0x62, 0x82, 0xa2, 0xc0, 0xe0, 0x20, 0x10]) {
    const { socket, closed, connect } = await startSession(t)
    await connect(0)
    large[0] = type
    socket.write(large)
    await until('it is closed', () => closed.length === 1)
    const isUnread = type === 0x20 || type === 0x10
    t.strictSame(closed, [isUnread ? 'protocol_error' : 'too_large'], `type ${type}, connected`)
  }
})

class Session {
  readonly ends: string[] = []
  close(reason: string): void {
    this.ends.push(reason)
  }
}

test('a session at another node ends an older one here but never a newer one', async t => {
  const begun: string[] = []
  let announce: (name: string, agoMs: number) => void = () => undefined
  const notices: SessionNotices = {
    nameOf: text => `hash of ${text}`,
    begun: name => void begun.push(name),
    onBegun: listener => {
      announce = listener
    },
  }
  const sessions = new NamedSessions<Session>(notices)
  const [first, second, foreign] = [new Session(), new Session(), new Session()]
  sessions.opened(first, 'a')
  sessions.opened(foreign, 'b')
  t.strictSame(begun, ['hash of a', 'hash of b'])
  announce('hash of a', 60_000)
  announce('hash of nobody', -1)
  t.strictSame([first.ends, foreign.ends], [[], []], 'it began before this one')
  announce('hash of a', -1)
  t.strictSame([first.ends, foreign.ends], [['taken_over'], []])
  sessions.opened(second, 'a')
  t.equal(first.ends.length, 2, 'one that has not closed yet')
  sessions.closed(first)
  announce('hash of a', -1)
  t.strictSame(second.ends, ['taken_over'], 'the end of the older one leaves the younger one its name')
  sessions.closed(second)
  announce('hash of a', -1)
  t.equal(second.ends.length, 1)
})

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
    budget: new ByteAllowance(1000),
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

test('memory for topic aliases has a limit over all connections and is released', async t => {
  const budget = new ByteAllowance(30)
  const [one, other] = [new TopicAliases(10, budget), new TopicAliases(10, budget)]
  t.equal(one.topicOf(aliased(1, '0123456789')), '0123456789')
  t.throws(() => other.topicOf(aliased(1, '0123456789')), { message: 'too many topic aliases' })
  t.equal(one.topicOf(aliased(1, '01234')), '01234')
  t.equal(other.topicOf(aliased(1, '0123456789')), '0123456789')
  one.close()
  other.close()
  const long = new TopicAliases(10, new ByteAllowance(3000))
  long.topicOf(aliased(1, 'a'.repeat(5000)))
  t.equal(long.topicOf(aliased(1, '')), 'a'.repeat(1024), 'no more is kept of one that names no device')
  t.ok(budget.take(30))
})

test('a topic without a device occupies only the counted memory', async t => {
  const aliases = new TopicAliases(100, new ByteAllowance(1 << 20))
  const before = memoryUsed()
  for (let alias = 1; alias <= 100; alias++) aliases.topicOf(aliased(alias, Buffer.alloc(60_000, alias).toString()))
  t.ok(memoryUsed() - before < 1 << 20, 'of 6 MB')
  t.equal(aliases.topicOf(aliased(100, '')).length, 1024)
})

test('identifiers of QoS 2 that are not released take a bit each', async t => {
  const ids = new MessageIds()
  for (const id of [1, 8, 65_535, 8]) ids.add(id)
  t.strictSame([ids.size, ids.has(1), ids.has(2), ids.has(65_535)], [3, true, false, true])
  t.strictSame([ids.delete(8), ids.delete(8), ids.has(8), ids.size], [true, false, false, 2])
})
