/** Bytes that no client would send, to a listener of its own: it closes such a connection and serves the next one. */

import fc from 'fast-check'
import { generate, type Packet } from 'mqtt-packet'
import { test } from 'tap'
import { ByteBudget, PacketReader } from '../../../api/mqtt/packet-reader.ts'
import { connectClient, devicePassword, openRawMqtt, reading, startListener } from '../../support/mqtt.ts'

const connectPacket: Packet = {
  ...{ cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, clean: true, clientId: 'fuzz', keepalive: 0 },
  ...{ username: 'porch', password: Buffer.from(devicePassword) },
}
const packets: Packet[] = [
  connectPacket,
  { ...connectPacket, will: { topic: 'readings/porch', payload: Buffer.from('x'), qos: 1, retain: true } },
  {
    ...{ cmd: 'publish', topic: 'readings/porch', qos: 1, messageId: 3, payload: Buffer.from(reading(1)) },
    ...{ dup: true, retain: true },
  },
  { cmd: 'publish', topic: 'readings/porch', qos: 0, payload: Buffer.from(reading(1)), dup: false, retain: false },
  { cmd: 'subscribe', messageId: 4, subscriptions: [{ topic: 'a', qos: 1 }] },
  { cmd: 'unsubscribe', messageId: 5, unsubscriptions: ['a', 'b'] },
  { cmd: 'pingreq' },
  { cmd: 'pubrel', messageId: 6 },
  { cmd: 'puback', messageId: 7 },
  { cmd: 'disconnect' },
]

/** SUBSCRIBE and UNSUBSCRIBE that name no topic filter, which no generator writes. */
const subscribeToNothing = Buffer.from([0x82, 2, 0, 9])
const unsubscribeFromNothing = Buffer.from([0xa2, 2, 0, 9])

const anyBytes = fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes))
const goodPacket = fc.constantFrom(
  ...packets.map(packet => generate(packet)),
  subscribeToNothing,
  unsubscribeFromNothing,
)
/** A packet of which some bytes are others. */
const mutatedPacket = fc
  .tuple(goodPacket, fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }))
  .map(([packet, changes]) => {
    const bytes = Buffer.from(packet)
    for (const [at, byte] of changes) bytes[at % bytes.length] = byte
    return bytes
  })
const cutPacket = fc.tuple(goodPacket, fc.nat()).map(([packet, length]) => packet.subarray(0, length % packet.length))
const stream = fc.tuple(
  fc.boolean(),
  fc.array(fc.oneof(goodPacket, mutatedPacket, cutPacket, anyBytes), { minLength: 1, maxLength: 8 }),
)

test('whatever bytes come, the listener serves the next client', async t => {
  const { url, listener, journal } = await startListener(t)
  await fc.assert(
    fc.asyncProperty(stream, async ([isConnected, pieces]) => {
      const first = isConnected ? [generate(connectPacket)] : []
      const { socket, closed } = await openRawMqtt(t, url)
      socket.end(Buffer.concat([...first, ...pieces]))
      await closed
    }),
    { numRuns: 600 },
  )
  const client = await connectClient(t, url)
  const before = journal.stored.length
  await client.publishAsync('readings/porch', reading(5), { qos: 1 })
  t.equal(journal.stored.length, before + 1)
  t.equal(listener.sessions(), 1, 'no session is left over')
})

test('a subscription to nothing ends its own connection only', async t => {
  const { url, listener } = await startListener(t)
  const client = await connectClient(t, url)
  const { socket, closed } = await openRawMqtt(t, url)
  socket.write(Buffer.concat([generate(connectPacket), subscribeToNothing]))
  await closed
  await client.publishAsync('readings/porch', reading(5), { qos: 1 })
  t.equal(listener.sessions(), 1)
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
