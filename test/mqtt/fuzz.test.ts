/** Bytes that no client would send, to a listener of its own: it closes such a connection and serves the next one. */

import fc from 'fast-check'
import { generate, type Packet } from 'mqtt-packet'
import { test } from 'tap'
import { readConnect, readProtocolVersion } from '../../mqtt/connect-packet.ts'
import { PacketError } from '../../mqtt/packet-error.ts'
import { ByteBudget, PacketReader, packetTypes, type RawPacket } from '../../mqtt/packet-reader.ts'
import { readPacket } from '../../mqtt/packets.ts'
import { connectClient, devicePassword, openRawMqtt, reading, startListener } from '../support/mqtt.ts'
import { until } from '../support/processes.ts'
import { runs } from '../support/runs.ts'

type Version = 4 | 5

const connectPacket = (protocolVersion: Version, more: object = {}): Packet => ({
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion,
  clean: true,
  clientId: 'fuzz',
  keepalive: 0,
  username: 'porch',
  password: Buffer.from(devicePassword),
  ...more,
})
const will = { topic: 'readings/porch', payload: Buffer.from('x'), qos: 1, retain: true }
const message = { cmd: 'publish' as const, topic: 'readings/porch', payload: Buffer.from(reading(1)), retain: false }
const userProperties = { a: ['b', 'c'], d: '' }

const packets = (version: Version): Packet[] => [
  connectPacket(version),
  connectPacket(version, { will }),
  { ...message, qos: 1, messageId: 3, dup: true, retain: version === 4 },
  { ...message, qos: 2, messageId: 4, dup: false },
  { ...message, qos: 0, dup: false },
  { cmd: 'subscribe', messageId: 4, subscriptions: [{ topic: 'a', qos: 1 }] },
  { cmd: 'unsubscribe', messageId: 5, unsubscriptions: ['a', 'b'] },
  { cmd: 'pingreq' },
  { cmd: 'pubrel', messageId: 6, reasonCode: 0 },
  { cmd: 'puback', messageId: 7, reasonCode: 0 },
  { cmd: 'disconnect' },
]
const packetsOf5: Packet[] = [
  connectPacket(5, {
    properties: {
      sessionExpiryInterval: 5,
      receiveMaximum: 9,
      maximumPacketSize: 300,
      topicAliasMaximum: 2,
      requestProblemInformation: true,
      requestResponseInformation: true,
      userProperties,
    },
    will: { ...will, properties: { willDelayInterval: 1, contentType: 'a', correlationData: Buffer.from('b') } },
  }),
  connectPacket(5, { properties: { authenticationMethod: 'SCRAM-SHA-1', authenticationData: Buffer.from('x') } }),
  {
    ...message,
    qos: 1,
    messageId: 8,
    dup: false,
    properties: {
      payloadFormatIndicator: true,
      messageExpiryInterval: 5,
      contentType: 'a',
      responseTopic: 'b',
      correlationData: Buffer.from('c'),
      userProperties,
    },
  },
  { ...message, qos: 1, messageId: 9, dup: false, properties: { topicAlias: 1 } },
  { ...message, topic: '', qos: 1, messageId: 10, dup: false, properties: { topicAlias: 1 } },
  {
    cmd: 'subscribe',
    messageId: 11,
    subscriptions: [{ topic: '$share/a/b', qos: 1, nl: true, rap: true, rh: 1 }],
    properties: { subscriptionIdentifier: 3, userProperties },
  },
  { cmd: 'pubrel', messageId: 12, reasonCode: 0x92, properties: { reasonString: 'a', userProperties } },
  { cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 1, reasonString: 'a' } },
  { cmd: 'auth', reasonCode: 0x18, properties: { authenticationMethod: 'a' } },
]

/** SUBSCRIBE and UNSUBSCRIBE that name no topic filter, which no generator writes. */
const subscribeToNothing = Buffer.from([0x82, 2, 0, 9])
const unsubscribeFromNothing = Buffer.from([0xa2, 2, 0, 9])

const anyBytes = fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes))
const goodPackets = (version: Version) => {
  const all = version === 4 ? packets(4) : [...packets(5), ...packetsOf5]
  const written = all.map(packet => generate(packet, { protocolVersion: version }))
  return fc.constantFrom(...written, subscribeToNothing, unsubscribeFromNothing)
}
const changes = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 })

/** Good packets, some of them with other bytes or without their end, and anything. */
function piecesOf(version: Version): fc.Arbitrary<Buffer> {
  const good = goodPackets(version)
  const mutated = fc.tuple(good, changes).map(([packet, bytes]) => {
    const changed = Buffer.from(packet)
    for (const [at, byte] of bytes) changed[at % changed.length] = byte
    return changed
  })
  const cut = fc.tuple(good, fc.nat()).map(([packet, length]) => packet.subarray(0, length % packet.length))
  return fc.oneof(good, mutated, cut, anyBytes)
}

const version = fc.constantFrom<Version>(4, 5)
const stream = version.chain(version => {
  const pieces = fc.array(piecesOf(version), { minLength: 1, maxLength: 8 })
  return fc.tuple(fc.constant(version), fc.boolean(), pieces)
})

test('whatever bytes come, the listener serves the next client', async t => {
  const { url, listener, journal } = await startListener(t)
  await fc.assert(
    fc.asyncProperty(stream, async ([version, isConnected, pieces]) => {
      const first = isConnected ? [generate(connectPacket(version))] : []
      const { socket, closed } = await openRawMqtt(t, url)
      socket.end(Buffer.concat([...first, ...pieces]))
      await closed
    }),
    runs(50, 600),
  )
  const client = await connectClient(t, url)
  const before = journal.stored.length
  await client.publishAsync('readings/porch', reading(5), { qos: 1 })
  t.equal(journal.stored.length, before + 1)
  await until('no session is left over', () => listener.sessions() === 1)
})

/** The packet that the bytes begin with, as the reader would cut it off. */
function rawOf(bytes: Buffer): RawPacket | undefined {
  const reader = new PacketReader(() => ({ bytesMax: 1000, beyond: 'refuse' }), new ByteBudget(1000))
  reader.push(bytes)
  return reader.next()
}

test('a packet is read or refused, and what is read is in it', async t => {
  const property = fc.property(
    version.chain(version => fc.tuple(fc.constant(version), piecesOf(version))),
    ([version, bytes]) => {
      try {
        const raw = rawOf(bytes)
        if (raw === undefined) return true
        if ((bytes[0] ?? 0) >> 4 === packetTypes.connect) {
          const { version: spoken, rest } = readProtocolVersion(raw)
          return typeof spoken === 'string' || readConnect(raw, rest, spoken).version === spoken
        }
        const packet = readPacket(raw, version)
        return packet.cmd !== 'publish' || packet.topic.length + packet.payload.length < bytes.length
      } catch (error) {
        return error instanceof PacketError
      }
    },
  )
  fc.assert(property, runs(1500, 20_000))
  t.pass('for all')
})

test('a subscription to nothing ends its own connection only', async t => {
  const { url, listener } = await startListener(t)
  const client = await connectClient(t, url)
  const { socket, closed } = await openRawMqtt(t, url)
  socket.write(Buffer.concat([generate(connectPacket(4)), subscribeToNothing]))
  await closed
  await client.publishAsync('readings/porch', reading(5), { qos: 1 })
  await until('one session is left', () => listener.sessions() === 1)
})

const limitOf = () => ({ bytesMax: 200, beyond: 'truncate' as const })

test('packets are the same however the bytes are cut', async t => {
  const property = fc.property(
    fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }),
    fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 }),
    (payloads, cuts) => {
      const sent = payloads.map(payload => {
        return generate({
          cmd: 'publish',
          topic: 'a',
          qos: 0,
          payload: Buffer.from(payload),
          dup: false,
          retain: false,
        })
      })
      const bytes = Buffer.concat(sent)
      const budget = new ByteBudget(200)
      const reader = new PacketReader(limitOf, budget)
      const received: Buffer[] = []
      for (let from = 0, turn = 0; from < bytes.length; turn++) {
        const to = from + (cuts[turn % cuts.length] ?? 1)
        reader.push(bytes.subarray(from, to))
        from = to
        for (let raw = reader.next(); raw !== undefined; raw = reader.next()) {
          received.push(raw.bytes.subarray(0, 200))
          if (raw.isWhole !== raw.bytes.length <= 200) return false
        }
      }
      const expected = sent.map(packet => packet.subarray(0, 200))
      return Buffer.concat(received).equals(Buffer.concat(expected)) && budget.take(200)
    },
  )
  fc.assert(property)
  t.pass('for every cut')
})

test('memory for incomplete packets has a bound over all connections', async t => {
  const budget = new ByteBudget(300)
  const [first, second] = [new PacketReader(limitOf, budget), new PacketReader(limitOf, budget)]
  const begin = Buffer.from([0x30, 0xff, 0x7f, 0])
  first.push(begin)
  t.equal(first.next(), undefined)
  second.push(begin)
  t.throws(() => second.next(), { message: 'too many incomplete packets' })
  first.close()
  const third = new PacketReader(limitOf, budget)
  third.push(begin)
  t.equal(third.next(), undefined, 'what a connection held is given back with it')
})
