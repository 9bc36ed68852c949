/** Messages in formats of sensors, published to the listener. */

import { test } from 'tap'
import { createDecoder, createTopicReader } from '../../../ingest/decoders/decode.ts'
import { decoderOf } from '../../../ingest/decoders/decoders.ts'
import { ownFamily } from '../../../ingest/decoders/own-decoder.ts'
import type { Decoders } from '../../../ingest/decoders/own-decoders.ts'
import { createRecentMessages } from '../../../ingest/decoders/recent-messages.ts'
import { mqttDecoders } from '../../../service/settings/setting-values.ts'
import { connectClient, openRawMqtt, reading, startListener } from '../../support/mqtt.ts'
import { until } from '../../support/processes.ts'
import { connect, publish } from './mqtt-bytes.ts'

const decoders = mqttDecoders.parse('zigbee2mqtt=zigbee2mqtt/# tasmota=tele/+/SENSOR zigbee2mqtt=readings/#')
const key = `barograph_key_${'g'.repeat(49)}`
const administrator = { kind: 'key', scopes: ['ingest'], keyId: 1, account: { id: 1, role: 'administrator' } } as never
const accepted = '20020000'

test('a topic of MQTT_DECODERS is decoded and acknowledged when its reading is stored', async t => {
  const { url, journal, keys, kept, closed } = await startListener(t, { decoders })
  keys.set(key, administrator)
  const client = await connectClient(t, url, { password: key })
  journal.hold()
  let isAcknowledged = false
  const first = client.publishAsync('zigbee2mqtt/porch', JSON.stringify({ temperature: 1, battery: 90 }), { qos: 1 })
  const acknowledged = first.then(() => {
    isAcknowledged = true
  })
  await until('it waits for the journal', () => journal.waiting.length === 1)
  t.notOk(isAcknowledged)
  journal.settle('stored')
  await acknowledged
  const send = (topic: string, body: object | string) =>
    client.publishAsync(topic, typeof body === 'string' ? body : JSON.stringify(body), { qos: 1 })
  await send('tele/barn/SENSOR', { AM2301: { Temperature: 68 }, TempUnit: 'F' })
  await send('zigbee2mqtt/bridge/state', { state: 'online' })
  await send('zigbee2mqtt/attic', { temperature: 5 })
  await send('readings/porch', reading(3))
  t.strictSame(journal.stored, [1, 20, 3], 'readings/<device> keeps its format')
  const [unknown] = kept.unknownDevices(() => false)
  t.match(unknown, { name: 'attic', family: 'zigbee2mqtt', owner: 1, metrics: ['temperature'], messages: 1 })
  t.strictSame(closed, [])
  client.publish('other/porch', reading(6), { qos: 1 })
  await until('a topic without a decoder closes the connection', () => closed[0] === 'topic')
})

/** Decoders of people that are there while `isThere`. */
function ownDecoders(isThere: () => boolean): Decoders {
  const family = ownFamily('garden', { topics: ['garden/{device}'], device: ['{device}'] })
  const [own, readTopic] = [{ family: 'garden', decode: createDecoder(family) }, createTopicReader(family)]
  return {
    named: decoderOf,
    ofTopic: topic => (isThere() && readTopic(topic) !== undefined ? own : undefined),
    haveTopics: isThere,
  }
}

test("a topic of a user's decoder is decoded while it exists and kept before", async t => {
  let isThere = false
  const recent = createRecentMessages(Date.now)
  const { url, journal, closed } = await startListener(t, { ownDecoders: ownDecoders(() => isThere), recent })
  const body = JSON.stringify({ temperature: 1, secret: 'x' })
  const before = await connectClient(t, url)
  before.publish('garden/porch', body, { qos: 1 })
  await until('the connection is closed', () => closed[0] === 'topic')
  t.match(
    recent.of(() => true),
    [{ place: 'garden/porch', text: '{"temperature":1,"secret":"***"}' }],
  )
  isThere = true
  const client = await connectClient(t, url)
  await client.publishAsync('garden/porch', body, { qos: 1 })
  await client.publishAsync('readings/porch', reading(2), { qos: 1 })
  t.strictSame(journal.stored, [1, 2])
  t.strictSame(
    recent.places().map(({ place, count }) => [place, count]),
    [['garden/porch', 2]],
  )
})

test('a device publishes its own readings only', async t => {
  const { url, journal, rejections } = await startListener(t, { decoders })
  const client = await connectClient(t, url)
  for (const device of ['porch', 'barn', 'attic']) {
    await client.publishAsync(`zigbee2mqtt/${device}`, JSON.stringify({ temperature: 1 }), { qos: 1 })
  }
  t.strictSame([journal.stored, rejections], [[1], ['mismatch', 'mismatch']])
})

test('a retained message of a sensor is a reading, one of a bridge only with its own time', async t => {
  const { url, journal, kept } = await startListener(t, { decoders })
  const zigbee = { topic: 'zigbee2mqtt/porch', retain: true } as const
  const bodies = [{ temperature: 1 }, { temperature: 2, last_seen: new Date().toISOString() }]
  const messages = Buffer.concat(
    bodies.map((body, at) => publish(4, { ...zigbee, id: at + 1, payload: JSON.stringify(body) })),
  )
  const sensor = await openRawMqtt(t, url, connect(4))
  sensor.socket.write(messages)
  await until('both are acknowledged', () => sensor.received() === `${accepted}4002000140020002`)
  t.strictSame(journal.stored.splice(0), [1, 2])
  const bridge = await openRawMqtt(t, url, connect(0x84))
  bridge.socket.write(messages)
  await until('both are acknowledged', () => bridge.received() === `${accepted}4002000140020002`)
  t.strictSame(journal.stored, [2])
  t.match(kept.list({ limit: 9 }).entries, [{ part: 'field', reason: /retained message/ }])
})

test('a gateway may subscribe where topics are decoded', async t => {
  for (const [given, granted] of [
    [{ decoders }, 0],
    [{}, 128],
  ] as const) {
    const { url } = await startListener(t, given)
    const client = await connectClient(t, url)
    const answer = new Promise(resolve =>
      client.on('packetreceive', packet => packet.cmd === 'suback' && resolve(packet)),
    )
    await client.subscribeAsync('zigbee2mqtt/#').catch(() => undefined)
    t.match(await answer, { granted: [granted] })
  }
})

test('MQTT_DECODERS', async t => {
  t.strictSame(mqttDecoders.parse(' tasmota=tele/+/SENSOR own=garden/#'), [
    { family: 'tasmota', filter: 'tele/+/SENSOR' },
    { family: 'own', filter: 'garden/#' },
  ])
  const tooMany = 'tasmota=a '.repeat(51)
  for (const wrong of ['', 'tasmota', 'none=a', 'tasmota=a/#/b', 'mqtt://h tasmota=a', tooMany]) {
    t.notOk(mqttDecoders.safeParse(wrong).success, wrong)
  }
})
