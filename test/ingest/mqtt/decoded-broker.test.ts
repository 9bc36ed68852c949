/** Messages of sensors in formats of their own, from an outside broker in a process of its own. */

import { fork } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Account } from '../../../auth/accounts/account.ts'
import type { Device, NewDevice } from '../../../auth/devices/device.ts'
import { createWriters } from '../../../auth/writers.ts'
import { createDecoder } from '../../../ingest/decoders/decode.ts'
import { ownFamily } from '../../../ingest/decoders/own-decoder.ts'
import type { Decoders } from '../../../ingest/decoders/own-decoders.ts'
import { createRecentMessages } from '../../../ingest/decoders/recent-messages.ts'
import { type BrokerLinkOptions, openBrokerLink } from '../../../ingest/mqtt/broker-link.ts'
import { matchesFilter } from '../../../ingest/mqtt/topics.ts'
import type { Rejection } from '../../../ingest/rejections/rejection.ts'
import { mqttBrokers, mqttDecoders } from '../../../service/settings/setting-values.ts'
import { silentLog } from '../../support/databases.ts'
import { connectClient, createIntakeParts, type IntakeParts } from '../../support/mqtt.ts'
import { messageOf, until } from '../../support/processes.ts'

const broker = fork(join(import.meta.dirname, '..', '..', 'support', 'mqtt-broker.ts'), { stdio: 'inherit' })
t.teardown(() => broker.kill())
const brokerUrl = `mqtt://127.0.0.1:${await messageOf<number>(broker)}`

const subscriptions = [
  { filter: 'zigbee2mqtt/#', family: 'zigbee2mqtt' },
  { filter: 'tele/+/SENSOR', family: 'tasmota' },
  { filter: 'v1/gateway/telemetry', family: 'thingsboard' },
]

async function link(
  t: Test,
  parts: IntakeParts & Partial<BrokerLinkOptions>,
  writer = writersOf(parts).ofTrustedBroker(),
) {
  const own = { url: brokerUrl, clientId: t.name.slice(0, 20), protocolVersion: 4, writer, log: silentLog } as const
  const opened = openBrokerLink({ subscriptions, ...parts, ...own })
  t.teardown(() => opened.close())
  await until('it is connected', () => opened.fault() === undefined)
  return opened
}

/** The devices of the parts, to which those that are added belong. */
function writersOf({ devices }: IntakeParts, ownedMax = 1) {
  const added: string[] = []
  const registry = {
    get: (name: string) => devices.get(name),
    isCurrent: () => true,
    ownedBy: () => added.length,
    async add(additions: readonly NewDevice[], actor: string) {
      for (const { name, owner } of additions) {
        added.push(`${name} of ${owner} by ${actor}`)
        devices.set(name, { number: 100 + added.length, name, log_switch: true, metrics: null } as Device)
      }
      return { ok: true }
    },
  }
  const perOwner = { user: ownedMax, administrator: ownedMax, operator: ownedMax }
  return { added, ...createWriters(registry as never, perOwner) }
}

/** Collects rejected and ignored parts. */
function keepingParts() {
  const kept: Rejection[] = []
  return { kept, parts: createIntakeParts(undefined, { add: (rejection: Rejection) => void kept.push(rejection) }) }
}

t.test('each filter has its decoder', async t => {
  const { kept, parts } = keepingParts()
  await link(t, parts)
  const sender = await connectClient(t, brokerUrl)
  const publish = (topic: string, body: unknown) =>
    sender.publishAsync(topic, typeof body === 'string' ? body : JSON.stringify(body), { qos: 1 })
  await publish('zigbee2mqtt/porch', { temperature: 1, battery: 90 })
  await publish('tele/barn/SENSOR', { AM2301: { Temperature: 2 }, TempUnit: 'C' })
  await publish('v1/gateway/telemetry', {
    porch: [{ values: { temperature: 3 } }],
    barn: [{ values: { temperature: 4 } }],
  })
  await publish('zigbee2mqtt/bridge/state', { state: 'online' })
  await publish('zigbee2mqtt/nobody', { temperature: 99 })
  await publish('zigbee2mqtt/porch', 'no JSON')
  await publish('zigbee2mqtt/silent', { temperature: 99 })
  await until('all have an outcome', () => parts.journal.stored.length === 4 && kept.length === 3)
  t.strictSame(parts.journal.stored, [1, 2, 3, 4])
  t.strictSame(
    kept.map(({ device, reason }) => [device, reason]),
    [
      ['nobody', 'device unknown'],
      [undefined, 'zigbee2mqtt: must be a JSON object'],
      ['silent', 'logging disabled'],
    ],
  )
  const unregistered = { family: 'zigbee2mqtt', owner: null, fields: { temperature: 99, device: 'nobody' } }
  t.strictSame(
    kept.map(rejection => rejection.unregistered),
    [unregistered, undefined, undefined],
  )
})

t.test('own decoders choose their messages by their topics', async t => {
  const { kept, parts } = keepingParts()
  const family = ownFamily('garden', { topics: ['garden/{device}'], device: ['{device}'] })
  const own = { family: 'garden', decode: createDecoder(family) }
  const decoders: Decoders = {
    named: () => undefined,
    ofTopic: topic => (topic === 'garden/porch' ? own : undefined),
    haveTopics: () => true,
  }
  const recent = createRecentMessages(Date.now)
  await link(t, { ...parts, decoders, recent, subscriptions: mqttDecoders.parse('own=garden/#') })
  const sender = await connectClient(t, brokerUrl)
  for (const topic of ['garden/shed', 'garden/porch']) await sender.publishAsync(topic, '{"temperature":1}', { qos: 1 })
  await until('both have an outcome', () => parts.journal.stored.length === 1 && kept.length === 1)
  t.match(kept, [{ reason: 'the topic has no decoder' }])
  t.equal(recent.places().length, 2)
})

t.test('a message is redelivered until each of its readings is stored', async t => {
  // The second reading waits for the rate of its device.
  const parts = createIntakeParts({ perSecond: 0.001, burst: 1 })
  const opened = await link(t, parts)
  const sender = await connectClient(t, brokerUrl)
  const two = { porch: [{ values: { temperature: 5 } }, { values: { temperature: 6 } }] }
  await sender.publishAsync('v1/gateway/telemetry', JSON.stringify(two), { qos: 1 })
  await until('the first one is stored', () => parts.journal.stored.length === 1)
  await opened.close()
  const again = createIntakeParts()
  await link(t, again)
  await until('it comes to the next service', () => again.journal.stored.length === 2)
  t.strictSame(again.journal.stored, [5, 6])
})

t.test('devices that are not there are added to an account, up to its limit and while it is enabled', async t => {
  const { kept, parts } = keepingParts()
  const { added, ofTrustedBroker } = writersOf(parts)
  let isActive = false
  await link(
    t,
    parts,
    ofTrustedBroker(async () => ({ id: 7, role: 'user', isActive }) as Account),
  )
  const sender = await connectClient(t, brokerUrl)
  const publish = (device: string, body: object) =>
    sender.publishAsync(`zigbee2mqtt/${device}`, JSON.stringify(body), { qos: 1 })
  await publish('attic', { temperature: 1 })
  await until('a disabled account adds none', () => kept.length === 1)
  isActive = true
  await publish('attic', { battery: 'low' })
  await until('a reading that is not good adds none', () => kept.length === 2)
  await publish('attic', { temperature: 2 })
  await publish('cellar', { temperature: 3 })
  await until('beyond the limit none is added', () => kept.length === 3)
  await publish('porch', { temperature: 4 })
  await until('both are stored', () => parts.journal.stored.length === 2)
  t.strictSame([added, parts.journal.stored], [['attic of 7 by broker'], [2, 4]])
})

t.test('topic filters', async t => {
  const yes = ['a/#:a', 'a/#:a/b/c', '#:a', '+/b:a/b', 'a/+/c:a//c', 'a:a', '$SYS/#:$SYS/x']
  const no = ['a:b', 'a/+:a', 'a/+:a/b/c', 'a/b:a', '#:$SYS/x', '+/x:$SYS/x', 'A:a']
  const matches = (pair: string) => matchesFilter(...(pair.split(':') as [string, string]))
  for (const pair of yes) t.ok(matches(pair), pair)
  for (const pair of no) t.notOk(matches(pair), pair)
})

t.test('MQTT_BROKERS', async t => {
  const text =
    'mqtt://10.0.0.5 zigbee2mqtt=zigbee2mqtt/#  tasmota=tele/+/SENSOR mqtts://u:p@host:8883 the-things-stack=v3/+/devices/+/up'
  t.strictSame(mqttBrokers.parse(text), [
    {
      url: 'mqtt://10.0.0.5',
      subscriptions: [
        { family: 'zigbee2mqtt', filter: 'zigbee2mqtt/#' },
        { family: 'tasmota', filter: 'tele/+/SENSOR' },
      ],
    },
    { url: 'mqtts://u:p@host:8883', subscriptions: [{ family: 'the-things-stack', filter: 'v3/+/devices/+/up' }] },
  ])
  const wrong = [
    '',
    'tasmota=a',
    'mqtt://h',
    'mqtt://h none=a',
    'mqtt://h tasmota=a/#/b',
    'mqtt://h tasmota',
    'http://u:secret@h tasmota=a',
  ]
  for (const one of wrong) {
    const { success, error } = mqttBrokers.safeParse(one)
    t.notOk(success, one)
    t.notOk(error?.message.includes('secret'))
  }
})
