/** Random bytes to a listener: it closes such a connection and serves the next one. */

import fc from 'fast-check'
import { test } from 'tap'
import { readConnect, readProtocolVersion } from '../../../ingest/mqtt/connect-packet.ts'
import { PacketError } from '../../../ingest/mqtt/packet-fields.ts'
import { ByteAllowance, PacketReader, packetTypes, type RawPacket } from '../../../ingest/mqtt/packet-reader.ts'
import { readPacket } from '../../../ingest/mqtt/packets.ts'
import { connectClient, openRawMqtt, reading, startListener } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { runs } from '../../support/runs.ts'
import { packetsOf, rowsOf5, rowsOf311, sharedRows } from './conformance-rows.ts'
import { connect, publish } from './mqtt-bytes.ts'

type Version = 4 | 5

const anyBytes = fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes))
/** Packets that the tests of the version's statements send. */
const goodPackets = (version: Version) => {
  const packets = packetsOf(version)
  const shared = sharedRows.flatMap(([, sent]) => sent(packets))
  const own = (version === 4 ? rowsOf311(packets) : rowsOf5).flatMap(([, sent]) => sent)
  return fc.constantFrom(...[...shared, ...own].filter(({ length }) => length > 0 && length < 1000))
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
  const property = fc.asyncProperty(stream, async ([version, isConnected, pieces]) => {
    const first = isConnected ? [connect(version)] : []
    const { socket, closed } = await openRawMqtt(t, url)
    socket.end(Buffer.concat([...first, ...pieces]))
    await closed
  })
  await fc.assert(property, runs(50, 600))
  const client = await connectClient(t, url)
  const before = journal.stored.length
  await client.publishAsync('readings/porch', reading(5), { qos: 1 })
  t.equal(journal.stored.length, before + 1)
  await until('no session is left over', () => listener.sessions() === 1)
})

/** The packet that the bytes begin with, as the reader would cut it off. */
function rawOf(bytes: Buffer): RawPacket | undefined {
  const reader = new PacketReader(() => ({ bytesMax: 1000, beyond: 'refuse' }), new ByteAllowance(1000))
  reader.push(bytes)
  return reader.next()
}

test('a packet is read or refused, and its fields lie within it', async () => {
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
})

const limitOf = () => ({ bytesMax: 200, beyond: 'truncate' as const })

test('packets are the same however the bytes are cut', async () => {
  const property = fc.property(
    fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }),
    fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 20 }),
    (payloads, cuts) => {
      const sent = payloads.map(payload => publish(4, { topic: 'a', qos: 0, payload: Buffer.from(payload) }))
      const bytes = Buffer.concat(sent)
      const budget = new ByteAllowance(200)
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
})

test('memory for incomplete packets has a bound over all connections', async t => {
  const budget = new ByteAllowance(300)
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
