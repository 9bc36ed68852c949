/** MQTT 5 at the listener, with the real client where it lets itself be seen: what a client is told, and what is heeded. */

import { generate, type IConnackPacket, type Packet } from 'mqtt-packet'
import { type Test, test } from 'tap'
import { connectClient, devicePassword, openRawMqtt, reading, startListener } from '../support/mqtt.ts'
import { connect, inWords, packetsIn, properties, publish, text, uint16, uint32 } from '../support/mqtt-bytes.ts'
import { until } from '../support/processes.ts'

const protocolVersion = 5
/** A key that may write all devices. */
const adminKey = `barograph_key_${'a'.repeat(49)}`
const adminPrincipal = { kind: 'key', scopes: ['ingest'], keyId: 1, account: { id: 1, role: 'administrator' } } as never

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

test('the answer to CONNECT says what the client may do', async t => {
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

test('who may not connect is told why', async t => {
  const { url, keys, closed } = await startListener(t)
  const refused = async (code: number, more: object) => {
    const options = { protocolVersion, ...more } as const
    await t.rejects(connectClient(t, url, options), { code }, JSON.stringify(more))
  }
  const readOnly = `barograph_key_${'r'.repeat(49)}`
  keys.set(readOnly, { kind: 'key', scopes: ['read'], keyId: 2, account: { id: 1, role: 'user' } } as never)
  await refused(0x86, { password: 'x' })
  await refused(0x86, { username: 'nobody' })
  await refused(0x87, { password: readOnly })
  await refused(0x9f, { password: 'x' })
  await refused(0x85, { clientId: 'a'.repeat(257) })
  await refused(0x8c, { properties: { authenticationMethod: 'SCRAM-SHA-1' } })
  await refused(0x9a, { will: { topic: 'readings/porch', payload: 'gone', retain: true } })
  t.strictSame(
    closed,
    'unauthorized|unauthorized|forbidden|throttled|client_identifier|authentication_method|retain'.split('|'),
  )
  const client = await connectClient(t, url, { protocolVersion, will: { topic: 'a', payload: Buffer.from('gone') } })
  t.ok(client.connected, 'a will is nobody to publish to, and no hindrance')
})

test('while keys cannot be looked up, the client is told to come back', async t => {
  const { url, closed } = await startListener(t, {
    keyRegistry: { find: () => Promise.reject(new Error('away')), isCurrent: () => true },
  })
  await t.rejects(connectClient(t, url, { protocolVersion, password: adminKey }), { code: 0x88 })
  t.strictSame(closed, ['unavailable'])
})

test('a reading is acknowledged when it is stored, and not before; one that never will be gets the reason', async t => {
  const { url, journal, rejections, keys, closed } = await startListener(t)
  keys.set(adminKey, adminPrincipal)
  journal.hold()
  const client = await connectClient(t, url, { protocolVersion, password: adminKey })
  let isAcknowledged = false
  const published = client.publishAsync('readings/porch', reading(1), { qos: 1 }).then(() => {
    isAcknowledged = true
  })
  await until('it is taken', () => journal.waiting.length === 1)
  t.notOk(isAcknowledged)
  journal.settle('stored')
  await published
  const cases: [topic: string, payload: string | Buffer, code: number, reason: string][] = [
    ['readings/porch', '[]', 0x99, 'invalid'],
    ['readings/porch', reading(200, { humidity: null, pressure: null }), 0x99, 'invalid'],
    ['readings/porch', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 0x99, 'invalid'],
    ['readings/porch', reading(1, { device: 'barn' }), 0x99, 'mismatch'],
    ['readings/porch', ' '.repeat(66_000), 0x97, 'too_large'],
    ['readings/silent', reading(1), 0x87, 'disabled'],
    ['readings/nobody', reading(1), 0x90, 'unknown_device'],
    ['elsewhere', reading(1), 0x90, 'mismatch'],
    [`readings/${'a'.repeat(513)}`, reading(1), 0x90, 'unknown_device'],
  ]
  for (const qos of [1, 2] as const) {
    for (const [topic, payload, code] of cases) {
      const properties = { payloadFormatIndicator: true }
      await t.rejects(client.publishAsync(topic, payload, { qos, properties }), { code }, `${topic} at QoS ${qos}`)
    }
  }
  const reasons = cases.map(([, , , reason]) => reason)
  t.strictSame(rejections, [...reasons, ...reasons])
  const own = await connectClient(t, url, { protocolVersion })
  await t.rejects(own.publishAsync('readings/barn', reading(1), { qos: 1 }), { code: 0x87 })
  await own.publishAsync('readings/porch', reading(2), { qos: 2 })
  t.strictSame(journal.stored, [1, 2])
  t.strictSame(closed, [])
})

test('the reason is told in words, unless the client wants none or has no room for it', async t => {
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
    const { cmd, messageId, reasonCode, properties } = packets()[1] as Packet & {
      reasonCode: number
      properties?: object
    }
    t.strictSame({ cmd, messageId, reasonCode, ...(properties && { properties: { ...properties } }) }, expected)
  }
  const refused = await connackOf(t, url, connect(5, { properties: properties(0x21, uint16(0)) }))
  t.strictSame(plain(refused.properties), { reasonString: 'a property is 0' })
})

test('a client that takes no packet of the size of a CONNACK is refused, as far as it can be told', async t => {
  const { url, closed } = await startListener(t)
  const refused = async (bytesMax: number) => {
    const { closed: ended } = await openRawMqtt(t, url, connect(5, { properties: properties(0x27, uint32(bytesMax)) }))
    return inWords(await ended, 5)
  }
  t.strictSame(await refused(20), ['connack 0x95'])
  t.strictSame(await refused(4), [])
  t.strictSame(closed, ['too_large', 'too_large'])
})

test('the receive maximum is what may be in flight', async t => {
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

test('QoS 2 counts until it is released, and QoS 0 does not', async t => {
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
  socket.write(
    Buffer.concat([
      publish(5, { id: 1000, payload: reading(5), qos: 2 }),
      publish(5, { id: 1001, payload: reading(6) }),
    ]),
  )
  t.equal(await ended, 'disconnect 0x93')
  t.strictSame(closed, ['receive_maximum'])
})

test('topic aliases stand for topics on their connection', async t => {
  const { url, journal, keys, closed } = await startListener(t)
  keys.set(adminKey, adminPrincipal)
  const options = { protocolVersion, password: adminKey } as const
  const client = await connectClient(t, url, { ...options, autoAssignTopicAlias: true })
  for (let temperature = 0; temperature < 4; temperature++) {
    const device = temperature % 2 === 0 ? 'porch' : 'barn'
    await client.publishAsync(`readings/${device}`, reading(temperature, { device }), { qos: 1 })
  }
  t.strictSame(journal.stored, [0, 1, 2, 3])
  const { socket, answers, closed: ended } = await open(t, url)
  const aliased = (id: number, topic: string) =>
    publish(5, { id, payload: reading(id), topic, properties: properties(0x23, uint16(1)) })
  socket.write(Buffer.concat([aliased(5, 'elsewhere'), aliased(6, ''), aliased(7, 'readings/porch'), aliased(8, '')]))
  await until('all are answered', () => answers().length === 4)
  t.strictSame(answers(), ['puback 5 0x90', 'puback 6 0x90', 'puback 7', 'puback 8'])
  socket.end()
  await ended
  t.strictSame(closed, ['client'])
})

test('what may be stored later closes the connection with its reason', async t => {
  const { url, journal, rejections } = await startListener(t)
  const reasons = [
    ['full', 'disconnect 0x97'],
    ['unknown', 'disconnect 0x80'],
    ['closing', 'disconnect 0x8b'],
  ] as const
  for (const [outcome, expected] of reasons) {
    journal.settle(outcome)
    const { socket, ended } = await open(t, url)
    socket.write(publish(5, { id: 1, payload: reading(1) }))
    t.equal(await ended, expected, outcome)
  }
  t.strictSame(rejections, ['full', 'unknown', 'closing'])
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
