/** Readings from an external broker in a separate process. The test decides on the journal's outcomes. */

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { generate, type Packet, parser } from 'mqtt-packet'
import t, { type Test } from 'tap'
import type { Device } from '../../../auth/devices/device.ts'
import { createWriters } from '../../../auth/writers.ts'
import { createBrokerRate, createDeviceRate, createFairShare } from '../../../ingest/intake/rates.ts'
import { openBrokerLink } from '../../../ingest/mqtt/broker-link.ts'
import type { Rejection } from '../../../ingest/rejections/rejection.ts'
import { perOwner } from '../../support/accounts.ts'
import { recordingLog, silentLog } from '../../support/databases.ts'
import { connectClient, createIntakeParts, type IntakeParts, reading } from '../../support/mqtt.ts'
import { messageOf, until } from '../../support/processes.ts'
import { properties, publish } from './mqtt-bytes.ts'

const broker = fork(join(import.meta.dirname, '..', '..', 'support', 'mqtt-broker.ts'), { stdio: 'inherit' })
t.teardown(() => broker.kill())
const brokerUrl = `mqtt://127.0.0.1:${await messageOf<number>(broker)}`

function link(t: Test, url: string, parts: IntakeParts, more: Partial<Parameters<typeof openBrokerLink>[0]> = {}) {
  const registry = { get: (name: string) => parts.devices.get(name), isCurrent: () => true } as never
  const writer = createWriters(registry, perOwner).ofTrustedBroker()
  // A session of its own for each test.
  const own = { url, clientId: t.name, protocolVersion: 4, writer, leads: () => true, log: silentLog } as const
  const opened = openBrokerLink({ ...parts, ...own, ...more })
  t.teardown(() => opened.close())
  return opened
}

t.test('readings that wait at the broker arrive later, each once', async t => {
  const parts = createIntakeParts()
  const first = link(t, brokerUrl, parts)
  await until('it is connected', () => first.fault() === undefined)
  const sender = await connectClient(t, brokerUrl)
  await sender.publishAsync('readings/porch', reading(1), { qos: 1 })
  await until('it is stored', () => parts.journal.stored.length === 1)
  await first.close()
  for (let temperature = 2; temperature <= 40; temperature++) {
    await sender.publishAsync('readings/barn', reading(temperature), { qos: 1 })
  }
  await sender.publishAsync('other/porch', reading(99), { qos: 1 })
  await sender.publishAsync('readings/nobody', reading(99), { qos: 1 })
  await sender.publishAsync('readings/porch', 'no JSON', { qos: 2 })
  link(t, brokerUrl, parts)
  await until('all are taken', () => parts.journal.stored.length === 40 && parts.rejections.length === 2)
  t.strictSame([0, ...parts.journal.stored], [...Array(41).keys()])
  t.strictSame(parts.rejections, ['unknown_device', 'invalid'])
})

t.test('a reading that is not stored is unacknowledged until it comes again', async t => {
  const parts = createIntakeParts()
  const opened = link(t, brokerUrl, parts)
  await until('it is connected', () => opened.fault() === undefined)
  const sender = await connectClient(t, brokerUrl)
  parts.journal.settle('full')
  await sender.publishAsync('readings/porch', reading(1), { qos: 1 })
  await until('it was refused twice', () => parts.rejections.length >= 2)
  t.strictSame(new Set(parts.rejections), new Set(['full']))
  parts.journal.hold()
  await until('it comes again', () => parts.journal.waiting.length === 1)
  await opened.close()
  const again = link(t, brokerUrl, parts)
  await until('it comes to the next service', () => parts.journal.waiting.length === 2)
  parts.journal.settle('stored')
  await until('it is stored', () => parts.journal.stored.length > 0)
  // A kept session delivers at once: its readings can come before the answer to the subscription.
  await until('its subscription is answered', () => again.fault() === undefined)
})

t.test('the leading node of several has the session, which the next one resumes', async t => {
  const nodes = [createIntakeParts(), createIntakeParts()]
  let leader = 0
  const { log, texts } = recordingLog('info')
  const links = nodes.map((parts, place) => link(t, brokerUrl, parts, { leads: () => leader === place, log }))
  const connected = () => links.map(opened => opened.isConnected())
  await until('the first one is connected', () => connected()[0] === true)
  t.strictSame(connected(), [true, false])
  t.equal(links[1]?.fault(), undefined, 'the other one has nothing to complain of')
  const sender = await connectClient(t, brokerUrl)
  const sent: number[] = []
  const publish = async () => {
    sent.push(sent.length + 1)
    await sender.publishAsync('readings/porch', reading(sent.length), { qos: 1 })
  }
  const moments = [1, 0, 1]
  for (const next of moments) {
    for (let count = 0; count < 10; count++) await publish()
    leader = next
    for (let count = 0; count < 10; count++) await publish()
    await until('the next one is connected', () => connected()[next] === true && connected()[1 - next] === false)
  }
  const stored = () => new Set(nodes.flatMap(({ journal }) => journal.stored))
  await until('all are stored', () => stored().size === sent.length)
  t.ok(nodes.every(({ journal }) => journal.stored.length > 0))
  const connects = texts.filter(text => text === 'connected to the MQTT broker').length
  t.equal(connects, 1 + moments.length, 'no node connects while another one leads')
})

t.test('an unreachable broker is reported and found again', async t => {
  const reserved = createServer().listen(0, '127.0.0.1')
  await once(reserved, 'listening')
  const { port } = reserved.address() as AddressInfo
  reserved.close()
  await once(reserved, 'close')
  const parts = createIntakeParts()
  const opened = link(t, `mqtt://127.0.0.1:${port}`, parts)
  await until('the fault is reported', () => opened.fault()?.includes('ECONNREFUSED') === true)
  const child = fork(join(import.meta.dirname, '..', '..', 'support', 'mqtt-broker.ts'), [String(port)])
  t.teardown(() => child.kill())
  await until('it is connected', () => opened.fault() === undefined)
})

type Send = (...packets: (Packet | Buffer)[]) => void

const message = { cmd: 'publish', topic: 'readings/porch', qos: 1, dup: false, retain: false } as const

/** A broker of MQTT 5 that accepts each client. The test decides on all other packets or bytes. */
async function startScript(t: Test, onPacket: (packet: Packet, send: Send) => void, reasonCode = 0) {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    const packets = parser({ protocolVersion: 5 })
    socket.on('data', bytes => packets.parse(bytes as Buffer))
    socket.on('error', () => undefined)
    const bytesOf = (packet: Packet | Buffer) =>
      Buffer.isBuffer(packet) ? packet : generate(packet, { protocolVersion: 5 })
    const send: Send = (...packets) => void socket.write(Buffer.concat(packets.map(bytesOf)))
    packets.on('packet', (packet: Packet) => {
      const { cmd, messageId = 0 } = packet
      if (cmd === 'connect') send({ cmd: 'connack', reasonCode, sessionPresent: true })
      if (cmd === 'subscribe') send({ cmd: 'suback', messageId, granted: [1], properties: { reasonString: 'granted' } })
      onPacket(packet, send)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `mqtt://us%40er:pass@127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test(
  'MQTT 5: the session persists, in-flight messages are bounded, and acknowledgements follow the sync',
  async t => {
    const received: Packet[] = []
    const url = await startScript(t, (packet, send) => {
      received.push(packet)
      if (packet.cmd !== 'subscribe') return
      const properties = { userProperties: { source: 'test' }, contentType: 'application/json' }
      send({ ...message, messageId: 11, payload: Buffer.from(reading(1)), properties })
      send({ ...message, messageId: 12, payload: Buffer.alloc(200_000) })
      send({ ...message, messageId: 13, topic: 'readings/', payload: Buffer.from(reading(1)) })
    })
    const parts = createIntakeParts()
    parts.journal.hold()
    link(t, url, parts, { protocolVersion: 5 })
    await until('all are taken', () => parts.journal.waiting.length === 1 && parts.rejections.length === 2)
    t.strictSame(parts.rejections, ['too_large', 'mismatch'])
    const [connect, subscribe] = received
    t.match(connect, { protocolVersion: 5, clean: false, username: 'us@er', password: Buffer.from('pass') })
    t.match(connect, { properties: { receiveMaximum: 100, sessionExpiryInterval: 0xffff_ffff } })
    t.match(subscribe, { subscriptions: [{ topic: 'readings/+', qos: 1, rh: 1, rap: false }] })
    t.equal(received.length, 2)
    parts.journal.settle('stored')
    await until('all are acknowledged', () => received.length === 5)
    const acknowledged = received.slice(2).map(({ cmd, messageId }) => `${cmd} ${messageId}`)
    t.strictSame(acknowledged, ['puback 11', 'puback 12', 'puback 13'])
  },
)

t.test('MQTT 5: a message with unknown properties is stored without delaying others', async t => {
  const acknowledged: (number | undefined)[] = []
  /** Its temperature is its identifier. */
  const bytesOf = (id: number, properties: Buffer) => publish(5, { id, properties, payload: reading(id) })
  const url = await startScript(t, ({ cmd, messageId }, send) => {
    if (cmd === 'puback') acknowledged.push(messageId)
    if (cmd === 'subscribe') send(bytesOf(11, properties(0x7f, 0)), bytesOf(12, properties()))
  })
  const parts = createIntakeParts()
  const opened = link(t, url, parts, { protocolVersion: 5 })
  await until('both are acknowledged', () => acknowledged.length === 2)
  t.strictSame(acknowledged, [11, 12])
  t.strictSame(parts.journal.stored, [11, 12])
  t.equal(opened.fault(), undefined)
})

t.test('a message of QoS 2 is taken once until the broker releases it', async t => {
  const received: Packet[] = []
  const url = await startScript(t, (packet, send) => {
    received.push(packet)
    const sent = { ...message, qos: 2, messageId: 5, payload: Buffer.from(reading(received.length)) } as const
    if (packet.cmd === 'subscribe' || packet.cmd === 'pubcomp') send(sent)
    if (packet.cmd === 'pubrec' && received.length === 3) send({ ...sent, dup: true })
    if (packet.cmd === 'pubrec' && received.length === 4) send({ cmd: 'pubrel', messageId: 5, reasonCode: 0 })
  })
  const parts = createIntakeParts()
  link(t, url, parts, { protocolVersion: 5 })
  await until('the second is received', () => received.length === 6)
  t.equal(received.map(({ cmd }) => cmd).join(), 'connect,subscribe,pubrec,pubrec,pubcomp,pubrec')
  t.strictSame(parts.journal.stored, [2, 5])
})

t.test("a broker's refusal is reported with its code", async t => {
  const url = await startScript(t, () => undefined, 0x87)
  const opened = link(t, url, createIntakeParts(), { protocolVersion: 5 })
  await until('it is reported', () => opened.fault() === 'the broker refuses the connection with code 135')
})

t.test('behind a reading that cannot be stored now nothing more is taken', async t => {
  let connections = 0
  const url = await startScript(t, (packet, send) => {
    if (packet.cmd === 'connect') connections++
    const sent = { ...message, payload: Buffer.from(reading(1)) }
    if (packet.cmd === 'subscribe') {
      send({ ...sent, messageId: 1, topic: 'readings/barn' }, { ...sent, messageId: 2 })
    }
  })
  const parts = createIntakeParts()
  const barn = parts.devices.get('barn') as Device
  parts.devices.set('barn', { ...barn, suspended: true })
  const opened = link(t, url, parts, { protocolVersion: 5 })
  await until('it is reported', () => opened.fault() === 'a reading could not be stored')
  await until('it comes again', () => connections === 2)
  t.strictSame(parts.journal.stored, [])
})

t.test('messages above every rate wait at the broker without loss', async t => {
  const parts = createIntakeParts({ perSecond: 50, burst: 5 })
  const opened = link(t, brokerUrl, parts)
  await until('it is connected', () => opened.fault() === undefined)
  const sender = await connectClient(t, brokerUrl)
  for (let temperature = 0; temperature < 30; temperature++) {
    await sender.publishAsync('readings/porch', reading(temperature), { qos: 1 })
  }
  await until('all are stored', () => parts.journal.stored.length === 30)
  t.strictSame(parts.journal.stored, [...Array(30).keys()])
  t.strictSame(parts.rejections, [])
})

t.test("messages above a device's rate count towards the share of the broker", async t => {
  let nowMs = 0
  let hasRoom = true
  const isWithinRate = createBrokerRate({
    isWithinRate: createDeviceRate({ perSecond: 1, burst: 2 }, () => nowMs),
    fairShare: createFairShare({ perSecond: 10, burst: 3 }, () => nowMs),
    hasRoom: () => hasRoom,
    writerId: 'broker',
  })
  const porch = { number: 1 } as Device
  const take = (count: number, device = porch) => Array.from({ length: count }, () => isWithinRate(device)).join()
  t.equal(take(6), 'true,true,true,true,true,false', 'two of its own, three of the broker')
  t.equal(take(3, { number: 2 } as Device), 'true,true,false', 'another has its own rate all the same')
  nowMs = 300
  hasRoom = false
  t.equal(take(1), 'false', 'the last part of the journal is for others')
  hasRoom = true
  t.equal(take(4), 'true,true,true,false')
  nowMs = 1300
  hasRoom = false
  t.equal(take(2), 'true,false')
})

t.test('the address of a broker is not sent as its name', async t => {
  const warnings: string[] = []
  const listener = ({ message }: Error) => void warnings.push(message)
  process.on('warning', listener)
  t.teardown(() => process.off('warning', listener))
  const server = createServer(socket => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const opened = link(t, `mqtts://127.0.0.1:${(server.address() as AddressInfo).port}`, createIntakeParts())
  await until('it has tried', () => opened.fault() !== 'not connected yet')
  t.strictSame(warnings, [])
})

// This test is last, since the broker keeps the retained message.
t.test('a retained message is a reading once, unless it has its own time', async t => {
  const sender = await connectClient(t, brokerUrl)
  await sender.publishAsync('readings/porch', reading(1), { qos: 1, retain: true })
  const timed = { ...JSON.parse(reading(2)), Time: Math.floor(Date.now() / 1000) }
  await sender.publishAsync('readings/barn', JSON.stringify(timed), { qos: 1, retain: true })
  const leftOut: string[] = []
  const kept = { add: ({ device, reason }: Rejection) => void leftOut.push(`${device}: ${reason}`) }
  const parts = createIntakeParts(undefined, kept)
  for (let start = 1; start <= 3; start++) {
    const opened = link(t, brokerUrl, parts)
    await until('both are answered', () => leftOut.length === start && parts.journal.stored.length === start)
    await opened.close()
  }
  t.strictSame(new Set(leftOut), new Set(['porch: a retained message without a time of its own is not a new reading']))
  t.strictSame(parts.journal.stored, [2, 2, 2], 'a time that comes again is the same reading')
  t.strictSame(parts.rejections, [])
  const opened = link(t, brokerUrl, parts)
  await until('it is connected', () => opened.fault() === undefined)
  await sender.publishAsync('readings/porch', reading(3), { qos: 1, retain: true })
  await until('what is published now is a reading', () => parts.journal.stored.includes(3))
})
