/** User-defined decoders: valid declarations, the time limit of their patterns, and the messages to try them on. */

import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createDecoder } from '../../../ingest/decoders/decode.ts'
import type { Message } from '../../../ingest/decoders/family.ts'
import { type DecoderDeclaration, NewDecoder, ownFamily } from '../../../ingest/decoders/own-decoder.ts'
import { createRecentMessages } from '../../../ingest/decoders/recent-messages.ts'
import { tryDecoder } from '../../../ingest/decoders/try-decoder.ts'

const noon = '2026-01-01T12:00:00.000Z'

function decoded(declaration: DecoderDeclaration, message: Message): unknown {
  const { name, ...read } = NewDecoder.parse({ name: 'garden', ...declaration })
  const found = createDecoder(ownFamily(name, read))(message)
  return found.kind === 'readings' ? found.readings : found.reason
}

t.test('declarations', async t => {
  const gives = (name: string, declaration: DecoderDeclaration, message: Message, expected: unknown) =>
    t.strictSame(decoded(declaration, message), expected, name)
  const fields = [
    { path: 't', metric: 'temperature', unit: '°F' },
    { path: 'soil/#', metric: 'soil_moisture_#' },
    { path: 'open', metric: 'door', unit: 'not' },
    { path: 'debug', metric: null },
  ]
  const body = { at: noon, data: { t: 50, soil: { 1: 30, 2: 31 }, open: true, debug: 7, other: 3 } }
  const first = { temperature: 10, soil_moisture_1: 30, soil_moisture_2: 31, door: false }
  const read = { time: ['/at'], values: ['/data'], fields }
  const topics = ['garden/{site}/{device}/#']
  const reading = { ...first, timestamp: Date.parse(noon), device: 'north-bed' }
  const message = { topic: 'garden/north/bed/up', body }
  gives('device by the topic', { ...read, topics, device: ['{site}-{device}'] }, message, [{ ...reading, other: 3 }])
  gives('no other fields', { ...read, device: ['bed'], drops_others: true }, { body }, [{ ...reading, device: 'bed' }])
  gives('another topic', { topics, device: ['bed'] }, { topic: 'garden', body }, 'a topic without readings')
  const list = {
    hub: 'h1',
    at: noon,
    sensors: [
      { id: 1, v: '21.5' },
      { id: 2, v: 22, at: '2026-01-01T13:00:00Z' },
    ],
  }
  const each = { each: '/sensors', device: ['{/hub}-{/id}'], time: ['/at'], drops_others: true }
  const values = { ...each, fields: [{ path: 'v', metric: 'temperature' }] }
  gives('a list with its device and time around it', values, { body: list }, [
    { temperature: 21.5, timestamp: Date.parse(noon), device: 'h1-1' },
    { temperature: 22, timestamp: Date.parse(noon) + 3_600_000, device: 'h1-2' },
  ])
  gives('a list alone', { ...values, each: '', device: ['{/id}'] }, { body: [{ id: 3, v: 1 }] }, [
    { temperature: 1, device: '3' },
  ])
  gives('no list', values, { body: {} }, 'no values')
  const many = Array.from({ length: 1001 }, (_, id) => ({ id, v: 1 }))
  gives(
    'too many',
    { ...values, each: '', device: ['{/id}'] },
    { body: many },
    'garden: more than 1000 readings in a message',
  )
  gives('a value a topic', { topics: ['g/{device}/{metric}'], device: ['{device}'] }, { topic: 'g/a/co2', body: 400 }, [
    { co2: 400, device: 'a' },
  ])
})

t.test('each fault is at its field', async t => {
  const faults: [declaration: object, path: string, message: RegExp][] = [
    [{ name: 'Garden' }, 'name', /1 to 40/],
    [{ name: 'own' }, 'name', /the service itself/],
    [{ device: [] }, 'device', /element/],
    [{ device: ['{name}'] }, 'device.0', /not a level of the topics/],
    [{ device: ['{/a'] }, 'device.0', /brace/],
    [{ topics: ['a/{device}/{device}'] }, 'topics.0', /twice/],
    [{ topics: ['a/**/{device+}'] }, 'topics.0', /more than one/],
    [{ topics: ['a/#/b'] }, 'topics.0', /at the end/],
    [{ topics: ['a+b'] }, 'topics.0', /levels such as/],
    [{ topics: ['readings/{device}'] }, 'topics.0', /format of its own/],
    [{ time: ['ts'] }, 'time.0', /JSON pointer/],
    [{ values: ['data'] }, 'values.0', /JSON pointer/],
    [{ fields: [{ path: 'a', metric: 'temperature', unit: 'hPa' }] }, 'fields.0.unit', /cannot be converted/],
    [{ fields: [{ path: 'a', metric: 'sap_flow', unit: '°F' }] }, 'fields.0.unit', /cannot be converted/],
    [{ fields: [{ path: 'a', metric: 'Sap Flow' }] }, 'fields.0.metric', /a-z/],
    [{ fields: [{ path: 'a', metric: 'ts' }] }, 'fields.0.metric', /the service itself/],
    [{ fields: [{ path: 'a', metric: 'a_#' }] }, 'fields.0.metric', /more #/],
    [{ fields: [{ path: '*a*', metric: 'a' }] }, 'fields.0.path', /at most one/],
    [{ fields: [{ path: 'a##', metric: 'a' }] }, 'fields.0.path', /between/],
    [{ split: 'x' }, '', /split/],
  ]
  for (const [wrong, path, message] of faults) {
    const { error } = NewDecoder.safeParse({ name: 'garden', device: ['bed'], ...wrong })
    const found = error?.issues.map(issue => ({ path: issue.path.join('.'), message: issue.message })) ?? []
    t.match(found, [{ path, message }], JSON.stringify(wrong))
  }
})

/** Processor time, since the machine may be busy. */
const messageMsMax = 500

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

t.test('no declaration has a pattern that takes long, whatever the topic and the fields', async (t: Test) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)
  t.comment(`FUZZ_SEED=${seed}`)
  const piece = fc.constantFrom('*', '#', 'a', '1', '-', '/', '+', '**', '{device}', '{x+}', '{', 'a/')
  const made = fc.array(piece, { minLength: 1, maxLength: 40 }).map(pieces => pieces.join(''))
  const part = fc.constantFrom('1', 'a', '-', '/', '11', 'a1', '{')
  const hostile = fc
    .tuple(part, part, fc.constantFrom('', '!', '/'))
    .map(([one, other, last]) => `${`${one}${other}`.repeat(100).slice(0, 127)}${last}`)
  let valid = 0
  fc.assert(
    fc.property(made, made, hostile, hostile, (path, topic, field, name) => {
      const rules = Array.from({ length: 100 }, () => ({ path, metric: 'a' }))
      const read = NewDecoder.safeParse({ name: 'g', device: ['d'], fields: rules })
      const withTopic = NewDecoder.safeParse({ name: 'g', device: ['d'], topics: [topic] })
      if (!read.success && !withTopic.success) return
      valid++
      for (const { data } of [read, withTopic]) {
        if (data === undefined) continue
        const decode = createDecoder(ownFamily('g', data))
        const body = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`${field.slice(0, 120)}${at}`, 1]))
        const took = cpuMs(() => decode({ topic: `${name}${name}`, body }))
        if (took > messageMsMax) throw new Error(`${took} ms`)
      }
    }),
    { seed, numRuns: 300 },
  )
  t.ok(valid > 20, `${valid} valid ones`)
})

t.test('recent messages are bounded and free of secrets', async t => {
  let nowMs = 0
  const recent = createRecentMessages(() => nowMs++)
  const key = `barograph_key_${'a'.repeat(49)}`
  const body = { PASSKEY: 'x1', nested: { apiToken: 'x2', value: 3 }, note: `is ${key}`, temperature: 1 }
  recent.add('webhook', 'garden', { body, parameters: { PASSWORD: key, ID: 'a' } }, 100)
  const [kept] = recent.of((_, place) => place === 'garden')
  t.match(kept, { parameters: { PASSWORD: '***', ID: 'a' } })
  const shown = { PASSKEY: '***', nested: { apiToken: '***', value: 3 }, note: '***', temperature: 1 }
  t.strictSame(JSON.parse(kept?.text ?? ''), shown)
  recent.add('mqtt', `a/${key}`, { body: {} }, 10)
  recent.add('mqtt', 'a', { body: {} }, 100_000)
  recent.add('mqtt', 'a', { body: undefined }, 1)
  recent.add('mqtt', 'a', { body: JSON.parse(`${'['.repeat(4000)}${']'.repeat(4000)}`) }, 8000)
  t.strictSame(
    recent.places().map(({ place }) => place),
    ['a', 'garden'],
  )
  t.strictSame(
    recent.of((_, place) => place === 'a'),
    [],
    'nested too deeply',
  )
  for (let count = 0; count < 15; count++) recent.add('mqtt', 'b', { body: count }, 2)
  t.strictSame(
    recent.of((_, place) => place === 'b').map(({ text }) => Number(text)),
    [14, 13, 12, 11, 10, 9, 8, 7, 6, 5],
  )
  for (let place = 0; place < 500; place++) recent.add('mqtt', `many/${place}`, { body: 'x'.repeat(4000) }, 4000)
  t.equal(recent.places().length, 100)
  for (let place = 0; place < 100; place++) {
    for (let count = 0; count < 10; count++) recent.add('mqtt', `large/${place}`, { body: 'x'.repeat(8000) }, 8000)
  }
  const length = recent.places().length
  t.ok(length > 20 && length < 30, `${length} places of 80,000`)
  recent.clear()
  t.strictSame(recent.places(), [])
})

t.test('a trial has the readings of the latest messages, with the faults of their values', async t => {
  const recent = createRecentMessages(Date.now)
  recent.add('mqtt', 'garden/bed', { body: { t: 999, ts: noon, co2: 400 } }, 10)
  recent.add('mqtt', 'garden/bed', { body: 'offline' }, 10)
  recent.add('mqtt', 'other/bed', { body: { t: 1 } }, 10)
  recent.add('webhook', 'garden', { body: { t: 'hot' }, parameters: { device: 'shed' } }, 10)
  const fields = [{ path: 't', metric: 'temperature' }]
  const trial = { name: 'garden', topics: ['garden/{device}'], device: ['{device}'], time: ['/ts'], fields }
  const tried = tryDecoder(trial, recent, Date.now())
  t.match(tried, [
    { way: 'webhook', readings: [{ device: 'shed', at: null, values: [{ metric: 'temperature', fault: String }] }] },
    { place: 'garden/bed', readings: [], reason: 'garden: must be a JSON object' },
    {
      readings: [
        {
          device: 'bed',
          at: noon,
          values: [
            { metric: 'temperature', fault: String },
            { metric: 'co2', value: 400 },
          ],
        },
      ],
    },
  ])
  t.strictSame(tryDecoder({ device: ['x'] }, recent, Date.now()), [], 'without topics and a name')
})
