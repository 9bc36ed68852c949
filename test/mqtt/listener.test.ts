/** The MQTT listener: acknowledgements, refusals and limits, with the real client. The journal does what the test says. */

import { connectAsync } from 'mqtt'
import { generate } from 'mqtt-packet'
import { test } from 'tap'
import { connectClient, devicePassword, eventOf, openRawMqtt, reading, startListener } from '../support/mqtt.ts'
import { publish } from '../support/mqtt-bytes.ts'
import { until } from '../support/processes.ts'
import { openRaw } from '../support/raw-connection.ts'

const connectPacket = (more: object = {}) =>
  generate({
    cmd: 'connect',
    protocolId: 'MQTT',
    protocolVersion: 4,
    clean: true,
    clientId: 'raw',
    keepalive: 0,
    username: 'porch',
    password: Buffer.from(devicePassword),
    ...more,
  })
/** A flag of CONNECT. */
const cleanSession = 2
const accepted = '20020000'
const ackOf = (messageId: number) => `4002${messageId.toString(16).padStart(4, '0')}`

test('a reading is acknowledged when it is stored, and not before', async t => {
  const { url, journal } = await startListener(t)
  journal.hold()
  const { socket, received } = await openRawMqtt(t, url, connectPacket())
  socket.write(Buffer.concat([publish(4, { id: 7, payload: reading(1) }), generate({ cmd: 'pingreq' })]))
  await until('the ping behind it is answered', () => received() === `${accepted}d000`)
  t.strictSame(journal.waiting, [1])
  journal.settle('stored')
  await until('it is acknowledged', () => received() === `${accepted}d000${ackOf(7)}`)
  t.strictSame(journal.stored, [1])
})

test('acknowledgements come in the order of the messages, also of those that are not stored', async t => {
  const { url, journal, rejections } = await startListener(t)
  journal.hold()
  const { socket, received } = await openRawMqtt(t, url, connectPacket())
  socket.write(
    Buffer.concat([
      publish(4, { id: 1, payload: reading(1) }),
      publish(4, { id: 2, payload: 'no JSON' }),
      publish(4, { id: 3, payload: reading(3) }),
    ]),
  )
  await until('all are taken', () => journal.waiting.length === 2)
  t.strictSame(rejections, ['invalid'])
  await until('it has its CONNACK, and nothing more', () => received() === accepted)
  journal.settle('stored')
  await until('all are acknowledged', () => received() === `${accepted}${ackOf(1)}${ackOf(2)}${ackOf(3)}`)
})

test('what never will be stored is acknowledged, and counted with its reason', async t => {
  const { url, rejections, journal, keys } = await startListener(t)
  const key = `barograph_key_${'a'.repeat(49)}`
  keys.set(key, { kind: 'key', scopes: ['ingest'], keyId: 1, account: { id: 1, role: 'administrator' } } as never)
  const client = await connectClient(t, url, { password: key })
  const cases: [topic: string, payload: string, reason: string][] = [
    ['readings/porch', '', 'invalid'],
    ['readings/porch', '[]', 'invalid'],
    ['readings/porch', '{"temperature":"x"}', 'invalid'],
    ['readings/porch', reading(1, { device: 5 }), 'invalid'],
    ['readings/porch', reading(200, { humidity: null, pressure: null }), 'invalid'],
    ['readings/porch', reading(1, { device: 'barn' }), 'mismatch'],
    ['readings/porch', ' '.repeat(70_000), 'too_large'],
    ['readings/porch', ' '.repeat(3_000_000), 'too_large'],
    ['readings/silent', reading(1), 'disabled'],
    ['readings/nobody', reading(1), 'unknown_device'],
    ['readings/a/b', reading(1), 'unknown_device'],
  ]
  for (const [topic, payload] of cases) await client.publishAsync(topic, payload, { qos: 1 })
  t.strictSame(
    rejections,
    cases.map(([, , reason]) => reason),
  )
  await client.publishAsync('readings/porch', reading(2, { device: 'porch' }), { qos: 1, retain: true })
  t.strictSame(journal.stored, [2])
})

test('what may be stored later closes the connection without an acknowledgement, and is taken when it comes again', async t => {
  const { url, journal, rejections, closed } = await startListener(t)
  for (const outcome of ['full', 'unknown', 'closing'] as const) {
    journal.settle(outcome)
    const raw = await openRawMqtt(t, url, connectPacket())
    raw.socket.write(publish(4, { id: 1, payload: reading(1) }))
    t.equal(await raw.closed, accepted, `${outcome}: no PUBACK`)
  }
  t.strictSame(rejections, ['full', 'unknown', 'closing'])
  t.strictSame(closed, ['not_stored', 'not_stored', 'not_stored'])
  for (const protocolVersion of [4, 5] as const) {
    journal.settle('full')
    const options = { protocolVersion, reconnectPeriod: 20, clean: false, clientId: 'again' }
    const client = await connectClient(t, url, options)
    const published = client.publishAsync('readings/porch', reading(protocolVersion), { qos: 1 })
    await eventOf(client, 'reconnect')
    journal.settle('stored')
    await published
    t.ok(journal.stored.includes(protocolVersion))
    await client.endAsync(true)
  }
})

test('at QoS 0 a reading is taken, and one that cannot be stored is only counted', async t => {
  const { url, journal, rejections, closed } = await startListener(t)
  const client = await connectClient(t, url)
  await client.publishAsync('readings/porch', reading(1))
  await until('it is stored', () => journal.stored.length === 1)
  journal.settle('full')
  await client.publishAsync('readings/porch', reading(2))
  await until('it is counted', () => rejections.length === 1)
  t.strictSame(rejections, ['full'])
  t.strictSame(closed, [])
  t.ok(client.connected)
})

test('nothing but the own readings can be published, and nothing can be subscribed to', async t => {
  const { url, closed, rejections } = await startListener(t)
  const client = await connectClient(t, url)
  await t.rejects(client.subscribeAsync(['#', 'readings/porch']), /Unspecified error/)
  await client.unsubscribeAsync('#')
  for (const topic of ['readings/barn', 'readings/', 'reading', '$SYS/x', 'readings/porch/x']) {
    const { socket, closed: ended } = await openRawMqtt(t, url, connectPacket())
    socket.write(publish(4, { id: 1, payload: reading(1), topic }))
    t.equal(await ended, accepted, topic)
  }
  t.strictSame(new Set(closed), new Set(['topic']))
  t.equal(rejections.filter(reason => reason === 'mismatch').length, 5)
})

test('the log says once a minute what is wrong with a sender', async t => {
  const lines: object[] = []
  const warn = (fields: object, text: string) => void lines.push({ text, ...fields })
  const { url, keys } = await startListener(t, { log: { warn, error: warn } as never })
  for (let count = 0; count < 3; count++) {
    const { socket, closed } = await openRawMqtt(t, url, connectPacket())
    socket.write(publish(4, { id: 1, payload: reading(1), topic: `readings/barn${'x'.repeat(300)}` }))
    await closed
  }
  const key = `barograph_key_${'k'.repeat(49)}`
  keys.set(key, { kind: 'key', scopes: ['ingest'], keyId: 1, account: { id: 1, role: 'administrator' } } as never)
  const gateway = await connectClient(t, url, { username: key, clientId: 'gateway' })
  await gateway.publishAsync('readings/porch', reading(200, { humidity: null, pressure: null }), { qos: 1 })
  await gateway.publishAsync('readings/nobody', reading(1), { qos: 1 })
  for (let count = 0; count < 2; count++) {
    const { closed } = await openRawMqtt(t, url, connectPacket({ username: 'me', password: Buffer.from('x') }))
    await closed
  }
  const address = '127.0.0.1'
  t.strictSame(lines, [
    {
      text: 'reading rejected',
      way: 'mqtt',
      sender: 'device porch',
      device: `barn${'x'.repeat(123)}…`,
      reason: 'the credential belongs to another device',
      count: 1,
      client: 'raw',
      address,
      topic: `readings/barn${'x'.repeat(186)}…`,
    },
    {
      text: 'reading rejected',
      way: 'mqtt',
      sender: 'key 1',
      device: 'porch',
      reason: 'invalid payload: temperature must be between -90 and 85',
      count: 1,
      client: 'gateway',
      address,
      topic: 'readings/porch',
    },
    {
      text: 'reading rejected',
      way: 'mqtt',
      sender: 'address 127.0.0.1',
      device: undefined,
      reason: 'no good credential',
      count: 1,
      client: 'raw',
      address,
    },
  ])
})

test('at QoS 2 a reading is received when it is stored, and once until it is released', async t => {
  const { url, journal } = await startListener(t)
  journal.hold()
  const { socket, received } = await openRawMqtt(t, url, connectPacket())
  const [first, again] = [
    publish(4, { id: 6, payload: reading(1), qos: 2 }),
    publish(4, { id: 6, payload: reading(1), qos: 2, dup: true }),
  ]
  socket.write(Buffer.concat([first, again]))
  await until('it is taken', () => journal.waiting.length === 1)
  await until('it has its CONNACK, and nothing more', () => received() === accepted)
  journal.settle('stored')
  await until('it is received', () => received() === `${accepted}5002000650020006`)
  socket.write(again)
  await until('it is received again', () => received().endsWith('500200065002000650020006'))
  const release = generate({ cmd: 'pubrel', messageId: 6 })
  socket.write(Buffer.concat([release, release]))
  await until('it is complete', () => received().endsWith('7002000670020006'))
  t.strictSame(journal.stored, [1])
  socket.write(publish(4, { id: 6, payload: reading(2), qos: 2 }))
  await until('the identifier is that of another one', () => received().endsWith('50020006'))
  const client = await connectClient(t, url)
  await client.publishAsync('readings/porch', reading(3), { qos: 2 })
  t.strictSame(journal.stored, [1, 2, 3])
})

test('who may not connect is told the code of the protocol', async t => {
  const { url, closed, rejections } = await startListener(t)
  const refused = async (name: string, packet: Buffer, code: number) => {
    const { closed: ended } = await openRawMqtt(t, url, packet)
    t.equal(await ended, `200200${code.toString(16).padStart(2, '0')}`, name)
  }
  await refused('MQTT 3.1', connectPacket({ protocolId: 'MQIsdp', protocolVersion: 3 }), 1)
  const nameless = connectPacket({ clientId: '' })
  nameless[9] = (nameless[9] ?? 0) & ~cleanSession
  await refused('a session without a name', nameless, 2)
  await refused('a wrong password', connectPacket({ password: Buffer.from('x') }), 4)
  await refused('nobody', connectPacket({ username: 'nobody' }), 4)
  await refused('no credential', connectPacket({ username: undefined, password: undefined }), 4)
  await refused('too many failing attempts', connectPacket({ username: 'nobody' }), 3)
  t.strictSame(rejections, ['unauthorized', 'unauthorized', 'unauthorized', 'throttled'])
  t.strictSame(closed, 'protocol_version|client_identifier|unauthorized|unauthorized|unauthorized|throttled'.split('|'))
  const client = await connectClient(t, url)
  t.ok(client.connected, 'a good credential counts all the same')
})

test('a refusal is not followed by a reset, whatever the client has sent behind its CONNECT', async t => {
  const { url, closed: reasons } = await startListener(t)
  const { socket, closed, fault } = await openRaw(t, url)
  socket.pause()
  socket.write(Buffer.concat([connectPacket({ password: Buffer.from('x') }), Buffer.alloc(16_000_000)]))
  await until('it is refused', () => reasons.length === 1)
  socket.resume()
  t.equal(Buffer.from(await closed, 'latin1').toString('hex'), '20020004')
  t.equal(fault(), undefined)
})

test('a revoked credential ends its connections, and stores nothing more', async t => {
  const { url, revoke, closed, journal, keys } = await startListener(t)
  const key = `barograph_key_${'b'.repeat(49)}`
  keys.set(key, { kind: 'key', scopes: ['ingest'], keyId: 1, account: { id: 1, role: 'administrator' } } as never)
  const client = await connectClient(t, url)
  const byKey = await connectClient(t, url, { username: key, password: '' })
  await byKey.publishAsync('readings/barn', reading(1), { qos: 1 })
  const other = await connectClient(t, url, { username: 'barn' })
  const ended = [eventOf(client, 'close'), eventOf(byKey, 'close')]
  revoke('porch')
  keys.delete(key)
  await Promise.all(ended)
  t.strictSame(closed, ['revoked', 'revoked'])
  t.ok(other.connected)
  revoke('barn')
  other.publish('readings/barn', reading(2), { qos: 1 })
  await eventOf(other, 'close')
  t.strictSame(journal.stored, [1])
})

test('of two clients of one name the later one stays, and a credential takes over only its own', async t => {
  const { url, closed } = await startListener(t)
  const first = await connectClient(t, url, { clientId: 'same' })
  const foreign = await connectClient(t, url, { clientId: 'same', username: 'barn' })
  const ended = eventOf(first, 'close')
  const second = await connectClient(t, url, { clientId: 'same' })
  await ended
  t.strictSame(closed, ['taken_over'])
  t.ok(second.connected)
  t.ok(foreign.connected)
})

test('a device beyond its rate is not read until it may send again', async t => {
  const { url, journal, rejections } = await startListener(t, { deviceRate: { perSecond: 100, burst: 5 } })
  const client = await connectClient(t, url)
  await Promise.all(
    Array.from({ length: 30 }, (_, index) => client.publishAsync('readings/porch', reading(index), { qos: 1 })),
  )
  t.strictSame(
    journal.stored,
    Array.from({ length: 30 }, (_, index) => index),
  )
  t.strictSame(rejections, [])
})

test('no more messages of a connection are taken than may be in flight', async t => {
  const { url, journal } = await startListener(t)
  journal.hold()
  const { socket, received } = await openRawMqtt(t, url, connectPacket())
  const count = 1000
  const packets = Array.from({ length: count }, (_, index) =>
    publish(4, { id: index + 1, payload: reading(index / 100) }),
  )
  socket.write(Buffer.concat(packets))
  await until('the first are taken', () => journal.waiting.length === 100)
  await new Promise(resolve => setTimeout(resolve, 50))
  t.equal(journal.waiting.length, 100)
  journal.settle('stored')
  await until('all are acknowledged', () => received().length === 8 + 8 * count)
  t.equal(received().slice(-8), ackOf(count))
})

test('what was taken is finished before the listener closes', async t => {
  const { url, journal, listener, closed } = await startListener(t)
  journal.hold()
  const idle = await connectClient(t, url)
  const { socket, received, closed: ended } = await openRawMqtt(t, url, connectPacket())
  socket.write(publish(4, { id: 9, payload: reading(1) }))
  await until('it is taken', () => journal.waiting.length === 1)
  const stopped = listener.close()
  await eventOf(idle, 'close')
  await until('it has its CONNACK, and nothing more', () => received() === accepted)
  journal.settle('stored')
  t.equal(await ended, `${accepted}${ackOf(9)}`)
  await stopped
  t.strictSame(closed, ['stopping', 'stopping'])
  await t.rejects(connectAsync(url, { reconnectPeriod: 0, connectTimeout: 1000 }))
})
