/** The MQTT listener with the real client: acknowledgements, refusals and limits. The test decides on the journal's outcomes. */

import { connectAsync } from 'mqtt'
import { generate } from 'mqtt-packet'
import { test } from 'tap'
import { connectClient, eventOf, openRawMqtt, reading, startListener } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { openRaw } from '../../support/raw-connection.ts'
import { connect, inWords, publish, text } from './mqtt-bytes.ts'

const versions = [4, 5] as const
const connectWrongly = connect(4, { payload: [text('bytes'), text('porch'), text('x')] })
const keyOf = (letter: string) => `barograph_key_${letter.repeat(49)}`
/** A key that may write all devices. */
const adminKey = keyOf('a')
const adminPrincipal = { kind: 'key', scopes: ['ingest'], keyId: 1, account: { id: 1, role: 'administrator' } } as never
const accepted = '20020000'
const ackOf = (messageId: number) => `4002${messageId.toString(16).padStart(4, '0')}`

test('a reading is acknowledged only after it is stored', async t => {
  const { url, journal } = await startListener(t)
  journal.hold()
  const { socket, received } = await openRawMqtt(t, url, connect(4))
  socket.write(Buffer.concat([publish(4, { id: 7, payload: reading(1) }), generate({ cmd: 'pingreq' })]))
  await until('the ping behind it is answered', () => received() === `${accepted}d000`)
  t.strictSame(journal.waiting, [1])
  journal.settle('stored')
  await until('it is acknowledged', () => received() === `${accepted}d000${ackOf(7)}`)
  t.strictSame(journal.stored, [1])
})

/** Readings that are never stored, with the reason and the code of MQTT 5. */
const neverStored: [topic: string, payload: string | Buffer, reason: string, code: number][] = [
  ['readings/porch', '', 'invalid', 0x99],
  ['readings/porch', '[]', 'invalid', 0x99],
  ['readings/porch', '{"temperature":"x"}', 'invalid', 0x99],
  ['readings/porch', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 'invalid', 0x99],
  ['readings/porch', reading(1, { device: 5 }), 'invalid', 0x99],
  ['readings/porch', reading(200, { humidity: null, pressure: null }), 'invalid', 0x99],
  ['readings/porch', reading(1, { device: 'barn' }), 'mismatch', 0x99],
  ['readings/porch', ' '.repeat(66_000), 'too_large', 0x97],
  ['readings/silent', reading(1), 'disabled', 0x87],
  ['readings/nobody', reading(1), 'unknown_device', 0x90],
  [`readings/${'a'.repeat(513)}`, reading(1), 'unknown_device', 0x90],
  ['readings/a/b', reading(1), 'unknown_device', 0x90],
]

for (const protocolVersion of versions) {
  test(`MQTT ${protocolVersion}: a reading that is never stored is acknowledged and counted with its reason`, async t => {
    const { url, rejections, journal, keys, closed } = await startListener(t)
    keys.set(adminKey, adminPrincipal)
    const client = await connectClient(t, url, { protocolVersion, password: adminKey })
    for (const qos of [1, 2] as const) {
      for (const [topic, payload, , code] of neverStored) {
        const published = client.publishAsync(topic, payload, { qos, properties: { payloadFormatIndicator: true } })
        if (protocolVersion === 4) await published
        else await t.rejects(published, { code }, `${topic} at QoS ${qos}`)
      }
    }
    const reasons = neverStored.map(([, , reason]) => reason)
    t.strictSame(rejections.splice(0), [...reasons, ...reasons])
    // MQTT 5 announces the maximum packet size to clients.
    if (protocolVersion === 4) await client.publishAsync('readings/porch', ' '.repeat(3_000_000), { qos: 1 })
    t.strictSame(rejections, protocolVersion === 4 ? ['too_large'] : [])
    await client.publishAsync('readings/porch', reading(2, { device: 'porch' }), { qos: 1 })
    t.strictSame([journal.stored, closed], [[2], []])
  })

  test(`MQTT ${protocolVersion}: a refused connection gets the code of the protocol`, async t => {
    const { url, closed, rejections, keys } = await startListener(t)
    const readOnly = keyOf('r')
    keys.set(readOnly, { kind: 'key', scopes: ['read'], keyId: 2, account: { id: 1, role: 'user' } } as never)
    const refusals: [options: object, reason: string, codes: { 4: number; 5: number }][] = [
      [{ password: 'x' }, 'unauthorized', { 4: 4, 5: 0x86 }],
      [{ username: 'nobody' }, 'unauthorized', { 4: 4, 5: 0x86 }],
      [{ password: readOnly }, 'forbidden', { 4: 5, 5: 0x87 }],
      [{ password: 'x' }, 'throttled', { 4: 3, 5: 0x9f }],
    ]
    for (const [options, , codes] of refusals) {
      await t.rejects(connectClient(t, url, { protocolVersion, ...options }), { code: codes[protocolVersion] })
    }
    const reasons = refusals.map(([, reason]) => reason)
    t.strictSame(closed, reasons)
    t.strictSame(rejections, ['unauthorized', 'unauthorized', 'unauthorized', 'throttled'])
    const client = await connectClient(t, url, { protocolVersion })
    t.ok(client.connected, 'a good credential counts all the same')
  })
}

test('a temporary refusal closes the connection without an acknowledgement until the retry', async t => {
  const { url, journal, rejections, closed } = await startListener(t)
  const codes = { full: '0x97', unknown: '0x80', closing: '0x8b' } as const
  for (const version of versions) {
    for (const [outcome, code] of Object.entries(codes) as [keyof typeof codes, string][]) {
      journal.settle(outcome)
      const raw = await openRawMqtt(t, url, connect(version))
      raw.socket.write(publish(version))
      const goodbye = version === 4 ? [] : [`disconnect ${code}`]
      t.strictSame(inWords(await raw.closed, version), ['connack', ...goodbye], outcome)
    }
    t.strictSame(rejections.splice(0), Object.keys(codes))
    // The client of the other version may be notified late.
    const faults = closed.splice(0).filter(reason => reason !== 'client')
    t.strictSame(faults, ['not_stored', 'not_stored', 'not_stored'])
    journal.settle('full')
    const options = { protocolVersion: version, reconnectPeriod: 20, clean: false, clientId: 'again' }
    const client = await connectClient(t, url, options)
    const published = client.publishAsync('readings/porch', reading(version), { qos: 1 })
    await eventOf(client, 'reconnect')
    journal.settle('stored')
    await published
    t.ok(journal.stored.includes(version))
    await client.endAsync(true)
    rejections.length = closed.length = 0
  }
})

test('a topic that is not one of readings ends the connection', async t => {
  const { url, closed, rejections } = await startListener(t)
  const topics = ['readings/', 'reading', '$SYS/x', 'readings/porch/x']
  for (const topic of topics) {
    const { socket, closed: ended } = await openRawMqtt(t, url, connect(4))
    socket.write(publish(4, { topic }))
    t.equal(await ended, accepted, topic)
  }
  t.strictSame([closed, rejections], [topics.map(() => 'topic'), topics.map(() => 'mismatch')])
})

test("the log reports a sender's problem once a minute", async t => {
  const lines: object[] = []
  const warn = (fields: object, text: string) => void lines.push({ text, ...fields })
  const { url, keys } = await startListener(t, { log: { warn, error: warn } as never })
  for (let count = 0; count < 3; count++) {
    const { socket, closed } = await openRawMqtt(t, url, connect(4))
    socket.write(publish(4, { topic: `readings/barn${'x'.repeat(300)}` }))
    await closed
  }
  keys.set(adminKey, adminPrincipal)
  const gateway = await connectClient(t, url, { username: adminKey, clientId: 'gateway' })
  await gateway.publishAsync('readings/porch', reading(200, { humidity: null, pressure: null }), { qos: 1 })
  await gateway.publishAsync('readings/nobody', reading(1), { qos: 1 })
  for (let count = 0; count < 2; count++) await (await openRawMqtt(t, url, connectWrongly)).closed
  const line = { text: 'reading rejected', way: 'mqtt', count: 1, client: 'bytes', address: '127.0.0.1' }
  t.strictSame(lines, [
    {
      ...line,
      sender: 'device porch',
      device: `barn${'x'.repeat(123)}…`,
      reason: 'the credential belongs to another device',
      topic: `readings/barn${'x'.repeat(186)}…`,
    },
    {
      ...line,
      client: 'gateway',
      sender: 'key 1',
      device: 'porch',
      reason: 'invalid payload: temperature must be between -90 and 85',
      topic: 'readings/porch',
    },
    { ...line, sender: 'address 127.0.0.1', device: 'porch', reason: 'no valid credential' },
  ])
})

test('a refusal is not followed by a reset, whatever the client has sent behind its CONNECT', async t => {
  const { url, closed: reasons } = await startListener(t)
  const { socket, closed, fault } = await openRaw(t, url)
  socket.pause()
  socket.write(Buffer.concat([connectWrongly, Buffer.alloc(16_000_000)]))
  await until('it is refused', () => reasons.length === 1)
  socket.resume()
  t.equal(Buffer.from(await closed, 'latin1').toString('hex'), '20020004')
  t.equal(fault(), undefined)
})

test('a revoked credential ends its connections and stores no more readings', async t => {
  const { url, revoke, closed, journal } = await startListener(t)
  const client = await connectClient(t, url)
  const other = await connectClient(t, url, { username: 'barn' })
  const ended = eventOf(client, 'close')
  revoke('porch')
  await ended
  t.strictSame(closed, ['revoked'])
  t.ok(other.connected)
  revoke('barn')
  other.publish('readings/barn', reading(2), { qos: 1 })
  await eventOf(other, 'close')
  t.strictSame(journal.stored, [])
})

test('the later of two clients of one name stays, if it has the same credential', async t => {
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
  t.strictSame(journal.stored, [...Array(30).keys()])
  t.strictSame(rejections, [])
})

test('no more messages of a connection are taken than may be in flight', async t => {
  const { url, journal } = await startListener(t)
  journal.hold()
  const { socket, received } = await openRawMqtt(t, url, connect(4))
  const count = 1000
  socket.write(Buffer.concat(Array.from({ length: count }, (_, index) => publish(4, { id: index + 1 }))))
  await until('the first are taken', () => journal.waiting.length === 100)
  await new Promise(resolve => setTimeout(resolve, 50))
  t.equal(journal.waiting.length, 100)
  journal.settle('stored')
  await until('all are acknowledged', () => received().length === 8 + 8 * count)
  t.equal(received().slice(-8), ackOf(count))
})

test('accepted readings are finished before the listener closes', async t => {
  const { url, journal, listener, closed } = await startListener(t)
  journal.hold()
  const idle = await connectClient(t, url)
  const { socket, received, closed: ended } = await openRawMqtt(t, url, connect(4))
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
