/** Each decoder answers any message soon, with readings that the intake can take, or with a reason. */

import fc from 'fast-check'
import t, { type Test } from 'tap'
import { decoderOf, familyNames } from '../../../ingest/decoders/decoders.ts'
import { type Message, readingsMax } from '../../../ingest/decoders/family.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 2 ** 31)
t.comment(`FUZZ_SEED=${seed}`)

/** Bodies have 256 KB at most. */
const bodyLengthMax = 256 * 1024
/** Processor time, since the machine may be busy. */
const messageMsMax = 500

const names = [
  ...[
    'uplink_message',
    'decoded_payload',
    'object',
    'sensordatavalues',
    'value_type',
    'value',
    'values',
    'ts',
    'params',
  ],
  ...[
    'model',
    'id',
    'device',
    'src',
    'tempf',
    'temperature',
    '__proto__',
    'constructor',
    'toString',
    'Time',
    'dateutc',
  ],
]
const key = fc.oneof(fc.constantFrom(...names), fc.string({ unit: 'binary', maxLength: 80 }))
const leaf = fc.oneof(
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('ON', '1e999', '21.5', '-9999', 'nan', '2026-01-01T00:00:00Z', '9'.repeat(400)),
)
const { tree } = fc.letrec(tie => ({
  tree: fc.oneof(
    { maxDepth: 8 },
    leaf,
    fc.array(tie('tree'), { maxLength: 6 }),
    fc.array(fc.tuple(key, tie('tree'))).map(own),
  ),
}))
const topic = fc.oneof(
  fc.constantFrom(
    'zigbee2mqtt/a',
    'tele/a/SENSOR',
    'a/events/rpc',
    'a/status/temperature:0',
    'a/sensor/b/state',
    'v1/gateway/telemetry',
  ),
  fc
    .array(fc.constantFrom('tele', 'sensor', 'state', 'a', '', 'events', 'BTtoMQTT', 'ü', '$'), { maxLength: 200 })
    .map(levels => levels.join('/')),
  fc.constant(undefined),
)
const parameters = fc.oneof(
  fc.constant(undefined),
  fc.constant({ device: 'porch' }),
  fc.constant({ device: '__proto__' }),
)
const message: fc.Arbitrary<Message> = fc.record({ body: tree, topic, parameters })

/** Entries as from JSON.parse, where `__proto__` is an ordinary name. */
function own(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries)
}

function check(t: Test, family: string, made: Message): void {
  const before = process.cpuUsage()
  const decoded = decoderOf(family)?.(made)
  const tookMs = process.cpuUsage(before).user / 1000
  if (tookMs > messageMsMax) t.fail(`${family} took ${tookMs} ms`)
  if (decoded === undefined) throw new Error('no decoder')
  if (decoded.kind !== 'readings') {
    if (decoded.reason.length > 200) t.fail(`${family}: the reason has ${decoded.reason.length} characters`)
    return
  }
  const isSound = decoded.readings.every(({ device, timestamp = 0, ...fields }) => {
    const isFlat = Object.values(fields).every(value => typeof value !== 'object')
    return typeof device === 'string' && device !== '' && !/[:/+#]/.test(device) && Number.isFinite(timestamp) && isFlat
  })
  if (!isSound || decoded.readings.length > readingsMax)
    t.fail(`${family}: ${JSON.stringify(decoded.readings).slice(0, 300)}`)
}

t.test('any message', async t => {
  for (const family of familyNames) {
    const property = fc.property(message, made => check(t, family, made))
    t.doesNotThrow(() => fc.assert(property, { seed, numRuns: 150 }), family)
  }
})

/** Each as large as a body may be. */
const large: [string, string][] = [
  ['deep arrays', '['.repeat(60_000) + ']'.repeat(60_000)],
  ['deep objects', `${'{"values":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ['many fields', `{${Array.from({ length: 15_000 }, (_, at) => `"f${at}":${at}`).join()}}`],
  ['many readings', `[${Array(20_000).fill('{"t":1}').join()}]`],
  ['many devices', `{${Array.from({ length: 15_000 }, (_, at) => `"d${at}":[{}]`).join()}}`],
  ['many pairs', `{"sensordatavalues":[${Array(5000).fill('{"value_type":"P1","value":"1"}').join()}]}`],
  ['one name again and again', `{${Array(20_000).fill('"tempf":"50"').join()}}`],
  ['a long name', `{"${'a'.repeat(250_000)}":1}`],
  ['a long text', JSON.stringify({ tempf: '1'.repeat(50_000), dateutc: ' '.repeat(250), device: 'x'.repeat(50_000) })],
  ['a pattern that could go back', JSON.stringify({ [`${'temp1'.repeat(50_000)}`]: 1, [`${'1'.repeat(120)}f`]: 1 })],
]

t.test('large messages', async t => {
  for (const [name, text] of large) {
    t.ok(text.length <= bodyLengthMax, name)
    const body: unknown = JSON.parse(text)
    for (const family of familyNames) {
      t.doesNotThrow(() => check(t, family, { body, parameters: { device: 'porch' } }), `${family}: ${name}`)
      check(t, family, { body, topic: `${'a/'.repeat(120)}state` })
    }
  }
})
