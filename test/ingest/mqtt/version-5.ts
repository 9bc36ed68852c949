/** MQTT 5 at the listener: its answers to clients, and the client's limits. */

import { generate, type IConnackPacket, type Packet } from 'mqtt-packet'
import { type Test, test } from 'tap'
import { devicePassword, openRawMqtt, reading, startListener } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { connect, inWords, packetsIn, properties, publish, text, uint16, uint32 } from './mqtt-bytes.ts'

const protocolVersion = 5

async function open(t: Test, url: string, first: Buffer = connect(5)) {
  const raw = await openRawMqtt(t, url, first)
  const words = () => inWords(raw.received(), 5)
  return {
    ...raw,
    words,
    packets: () => packetsIn(raw.received(), 5),
    /** Behind the CONNACK. */
    answers: () => words().slice(1),
    ended: raw.closed.then(() => words().at(-1)),
  }
}

async function connackOf(t: Test, url: string, first: Buffer): Promise<IConnackPacket> {
  const { packets } = await open(t, url, first)
  await until('it is answered', () => packets().length === 1)
  return packets()[0] as IConnackPacket
}

const limits = {
  sessionExpiryInterval: 0,
  receiveMaximum: 1000,
  maximumPacketSize: 66_560,
  topicAliasMaximum: 100,
  retainAvailable: false,
  wildcardSubscriptionAvailable: false,
  subscriptionIdentifiersAvailable: false,
  sharedSubscriptionAvailable: false,
}
const plain = (value: object | undefined) => ({ ...value })

test('the answer to CONNECT states the limits of the client', async t => {
  const { url } = await startListener(t)
  const own = [text('porch'), text(devicePassword)]
  const kept = await connackOf(t, url, connect(5, { keepAlive: 60 }))
  t.strictSame([kept.reasonCode, kept.sessionPresent], [0, false])
  t.strictSame(plain(kept.properties), limits)
  const silent = await connackOf(t, url, connect(5))
  t.strictSame(plain(silent.properties), { ...limits, serverKeepAlive: 2400 })
  const nameless = connect(5, { keepAlive: 60, payload: [text(''), ...own] })
  const ids = [await connackOf(t, url, nameless), await connackOf(t, url, nameless)].map(({ properties }) => {
    const { assignedClientIdentifier, ...others } = properties ?? {}
    t.strictSame(others, limits)
    return assignedClientIdentifier
  })
  t.match(ids[0], /^[0-9a-f-]{36}$/)
  t.not(ids[0], ids[1])
})

test('the reason is in words if the client accepts and has room for it', async t => {
  const { url } = await startListener(t)
  const invalid = publish(5, { id: 1, payload: reading(200, { humidity: null, pressure: null }) })
  const refusal = { cmd: 'puback', messageId: 1, reasonCode: 0x99 }
  const reasonString = 'invalid payload: temperature must be between -90 and 85'
  const size = 9 + reasonString.length
  const sections: [asked: Buffer, expected: object][] = [
    [properties(), { ...refusal, properties: { reasonString } }],
    [properties(0x17, 1, 0x27, uint32(size)), { ...refusal, properties: { reasonString } }],
    [properties(0x17, 0), refusal],
    [properties(0x27, uint32(size - 1)), refusal],
  ]
  for (const [asked, expected] of sections) {
    const { packets, socket } = await open(t, url, connect(5, { properties: asked }))
    socket.write(Buffer.concat([invalid, generate({ cmd: 'pingreq' })]))
    await until('both are answered', () => packets().length === 3)
    const answer = packets()[1] as Packet & { reasonCode: number; properties?: object }
    const { cmd, messageId, reasonCode, properties } = answer
    t.strictSame({ cmd, messageId, reasonCode, ...(properties && { properties: { ...properties } }) }, expected)
  }
  const refused = await connackOf(t, url, connect(5, { properties: properties(0x21, uint16(0)) }))
  t.strictSame(plain(refused.properties), { reasonString: 'a property is 0' })
})

test('a client whose maximum packet size is below a CONNACK is refused', async t => {
  const { url, closed } = await startListener(t)
  const refused = async (bytesMax: number) => {
    const { closed: ended } = await openRawMqtt(t, url, connect(5, { properties: properties(0x27, uint32(bytesMax)) }))
    return inWords(await ended, 5)
  }
  t.strictSame(await refused(20), ['connack 0x95'])
  t.strictSame(await refused(4), [])
  t.strictSame(closed, ['too_large', 'too_large'])
})

test('the receive maximum bounds messages in flight', async t => {
  const { url, journal, closed } = await startListener(t)
  journal.hold()
  const { socket, answers, ended } = await open(t, url)
  const message = (id: number) => publish(5, { id, payload: reading(id / 100), qos: id % 2 === 0 ? 1 : 2 })
  socket.write(Buffer.concat(Array.from({ length: 1000 }, (_, index) => message(index + 1))))
  socket.write(generate({ cmd: 'pingreq' }))
  await until('all are taken', () => journal.waiting.length === 1000)
  await until('other packets are answered meanwhile', () => answers().length === 1)
  socket.write(publish(5, { id: 1001, payload: reading(1) }))
  t.equal(await ended, 'disconnect 0x93')
  t.strictSame(closed, ['receive_maximum'])
})

test('QoS 2 counts until its release, QoS 0 never', async t => {
  const { url, journal, closed } = await startListener(t)
  const { socket, answers, ended } = await open(t, url)
  const received = Array.from({ length: 999 }, (_, index) => publish(5, { id: index + 1, payload: reading(1), qos: 2 }))
  socket.write(Buffer.concat(received))
  await until('all are received', () => answers().length === 999)
  const none = Array.from({ length: 50 }, () => publish(5, { payload: reading(2), qos: 0 }))
  socket.write(Buffer.concat([...none, publish(5, { id: 1000, payload: reading(3) })]))
  await until('one more is stored', () => answers().at(-1) === 'puback 1000')
  const release = (id: number) => generate({ cmd: 'pubrel', messageId: id, reasonCode: 0 }, { protocolVersion })
  socket.write(Buffer.concat([release(1), publish(5, { id: 1, payload: reading(4), qos: 2 })]))
  await until('a released identifier is that of another message', () => answers().at(-1) === 'pubrec 1')
  t.equal(journal.stored.length, 999 + 50 + 2)
  socket.write(Buffer.concat([publish(5, { id: 1000, qos: 2 }), publish(5, { id: 1001 })]))
  t.equal(await ended, 'disconnect 0x93')
  t.strictSame(closed, ['receive_maximum'])
})

test('the client learns why the connection ends', async t => {
  const { url, revoke, closed, listener } = await startListener(t)
  const first = await open(t, url)
  await until('it is let in', () => first.words().length === 1)
  const second = await open(t, url)
  t.equal(await first.ended, 'disconnect 0x8e', 'taken over')
  second.socket.write(publish(5, { payload: reading(1), qos: 0, topic: 'readings/barn' }))
  t.equal(await second.ended, 'disconnect 0x87', 'a topic at QoS 0, where there is no PUBACK')
  const third = await open(t, url)
  await until('it is let in', () => third.words().length === 1)
  revoke('porch')
  t.equal(await third.ended, 'disconnect 0x87', 'revoked')
  const barn = connect(5, { payload: [text('barn'), text('barn'), text(devicePassword)] })
  const fourth = await open(t, url, barn)
  await until('it is let in', () => fourth.words().length === 1)
  const unfinished = await openRawMqtt(t, url, barn.subarray(0, 9))
  const stopped = listener.close()
  t.equal(await fourth.ended, 'disconnect 0x8b', 'stopping')
  t.equal(await unfinished.closed, '')
  await stopped
  t.strictSame(closed, ['taken_over', 'topic', 'revoked', 'stopping', 'stopping'])
})
