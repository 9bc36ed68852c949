/** Bodies of Prometheus and OpenTelemetry become lines. */

import fc from 'fast-check'
import t, { type Test } from 'tap'
import { readProtobuf } from '../../../ingest/remote/protobuf.ts'
import { type RemoteForm, readRemoteBody, readSnappy } from '../../../ingest/remote/remote-body.ts'
import { samplesMax } from '../../../ingest/remote/sample-lines.ts'
import {
  double,
  fixed,
  message,
  remoteWrite,
  type SentSeries,
  snappy,
  text,
  varint,
  writeRequest,
} from '../../support/remote-bodies.ts'
import { runs } from '../../support/runs.ts'

const metrics = [
  { id: 1, name: 'temperature', unit: 'Cel' },
  { id: 2, name: 'humidity', unit: '%' },
  { id: 3, name: 'pressure', unit: 'hPa' },
  { id: 40, name: 'hive_weight', unit: null },
]
const bytesMax = 1 << 20

function read(form: RemoteForm, body: Buffer, deviceDefault?: string) {
  return readRemoteBody(form, body, bytesMax, { metrics, deviceDefault, rejectsMax: 10 })
}

function linesOf(form: RemoteForm, body: Buffer, deviceDefault?: string): [lines: string[], reasons: string[]] {
  const found = read(form, body, deviceDefault)
  if (found.kind !== 'sampled') return [[], [found.kind === 'broken' ? found.reason : found.kind]]
  const lines = found.lines.toString().split('\n').slice(0, -1)
  return [lines, found.rejects.map(({ device, reason }) => (device === undefined ? reason : `${device}: ${reason}`))]
}

const timeMs = 1_767_225_600_123
const series = (name: string, value: number, labels: Record<string, string> = { device: 'porch' }): SentSeries => ({
  labels: { __name__: name, ...labels },
  samples: [[value, timeMs]],
})
const prometheus = (...sent: SentSeries[]) => linesOf('prometheus', remoteWrite(...sent))

t.test('labels name the device and distinguish series of one name', async t => {
  const gives = (labels: Record<string, string>, line: string) =>
    t.strictSame(prometheus(series('hive_weight', 31.5, labels)), [[`${line} ${timeMs}040`], []], line)
  gives({ device: 'porch', instance: '10.0.0.1:9100', job: 'hives' }, 's,device=porch hive_weight=31.5')
  gives({ instance: '10.0.0.1:9100' }, 's,device=10.0.0.1-9100 hive_weight=31.5')
  gives({ instance: 'A4:C1:38:5B:12:0E' }, 's,device=A4C1385B120E hive_weight=31.5')
  gives({ device: 'a/b, c=d\\' }, 's,device=a-b\\,\\ c\\=d\\\\ hive_weight=31.5')
  const [lines] = prometheus(series('hive_weight', 1, { device: 'porch', side: 'left', half: 'top' }))
  t.match(lines, [/^s,device=porch hive_weight_top_left=1 /])
  t.strictSame(linesOf('prometheus', remoteWrite(series('hive_weight', 1, { instance: 'x' })), 'shed'), [
    [`s hive_weight=1 ${timeMs}040`],
    [],
  ])
})

t.test('a unit at the end of a name is converted to the unit of the metric', async t => {
  const gives = (name: string, value: number, field: string) =>
    t.match(prometheus(series(name, value)), [[new RegExp(`^s,device=porch ${field} \\d+$`)], []], name)
  gives('temperature_celsius', 21.5, 'temperature=21.5')
  gives('temperature_fahrenheit', 50, 'temperature=10')
  gives('pressure_pascals', 101_325, 'pressure=1013.25')
  gives('humidity_ratio', 0.48, 'humidity=48')
  gives('energy_joules_total', 3.6e6, 'energy=1')
  gives('battery', 91, 'battery_percentage=91')
  gives('pressure_celsius', 1, 'pressure_celsius=1')
  gives('gate_opened_total', 7, 'gate_opened_total=7')
})

t.test('readings of different metrics never share a time, even in a repeated body', async t => {
  const both = [series('temperature', 1), series('humidity', 2)]
  const timesOf = (...sent: SentSeries[]) => prometheus(...sent)[0].map(line => line.split(' ')[2])
  t.strictSame(timesOf(...both), [`${timeMs}001`, `${timeMs}001`])
  t.strictSame(timesOf(...both.slice(1)), [`${timeMs}002`])
  t.strictSame(timesOf(...both.reverse()), [`${timeMs}001`, `${timeMs}001`])
})

t.test('marks of ended series and parts of histograms are not readings', async t => {
  const stale = Buffer.concat([varint(9), Buffer.from('020000000000f07f', 'hex')])
  const ended = message(
    1,
    message(1, text(1, '__name__'), text(2, 'temperature')),
    message(2, stale, varint(16), varint(timeMs)),
  )
  t.strictSame(linesOf('prometheus', snappy(ended), 'porch'), [[], []])
  t.strictSame(prometheus(series('temperature', Number.NaN)), [[], []])
  t.match(prometheus(series('temperature', Number.POSITIVE_INFINITY)), [
    [],
    ['porch: temperature must be a finite number'],
  ])
  const parts = remoteWrite(series('t_bucket', 4, { le: '0.5' }), series('t', 4, { quantile: '0.5' }))
  t.match(read('prometheus', parts), { kind: 'sampled', ignored: 2, rejected: 0 })
})

t.test('samples without a device, a name or a plain name are rejected, each by its reason', async t => {
  const refuses = (labels: Record<string, string>, reason: string, name = 'x') =>
    t.strictSame(prometheus(series(name, 1, labels)), [[], [reason]])
  refuses({}, 'x names no device: add a label device')
  refuses({ device: 'porch' }, 'porch: a series has no label __name__', '')
  refuses({ device: 'a\nb' }, 'a\nb: device must have no control characters')
  refuses({ device: 'porch', at: 'a\nb' }, 'porch: a name has control characters')
  const [, [reason]] = prometheus(series('x', 1, { device: 'porch', at: 'y'.repeat(100) }))
  t.match(reason, /^porch: field x_yyy.* is not known/)
})

const point = (more: object = {}) => ({ timeUnixNano: `${timeMs}456789`, asDouble: 21.5, ...more })
const text_ = (key: string, stringValue: string) => ({ key, value: { stringValue } })
const request = (...metrics: object[]) => ({
  resourceMetrics: [{ resource: { attributes: [text_('service.name', 'porch')] }, scopeMetrics: [{ metrics }] }],
})
const otlp = (...sent: object[]) => linesOf('otlp_json', Buffer.from(JSON.stringify(request(...sent))))

t.test('points of gauges and sums are samples, in the units that they state', async t => {
  const gives = (metric: object, line: string) => t.strictSame(otlp(metric), [[`s,device=${line}`], []], line)
  gives({ name: 'temperature', unit: 'Cel', gauge: { dataPoints: [point()] } }, `porch temperature=21.5 ${timeMs}001`)
  gives({ name: 'humidity', unit: '1', gauge: { dataPoints: [point()] } }, `porch humidity=2150 ${timeMs}002`)
  gives(
    { name: 'hive_weight', unit: '{g}', sum: { dataPoints: [point({ asDouble: undefined, asInt: '7' })] } },
    `porch hive_weight=7 ${timeMs}040`,
  )
  const own = { attributes: [text_('device', 'attic'), text_('side', 'left')] }
  gives({ name: 'hive_weight', gauge: { dataPoints: [point(own)] } }, `attic hive_weight_left=21.5 ${timeMs}991`)
  gives({ name: 'temperature', gauge: { dataPoints: [point({ timeUnixNano: 0 })] } }, 'porch temperature=21.5')
  t.strictSame(otlp({ name: 'temperature', gauge: { dataPoints: [point({ flags: 1 })] } }), [[], []])
  t.match(otlp({ name: 'temperature', unit: 'By', gauge: { dataPoints: [point()] } })[1], [/the unit "By" /])
  t.match(otlp({ name: 't', histogram: { dataPoints: [{}, {}] } })[1], [/^porch: t: points of a histogram/])
  t.match(otlp({ name: 't', gauge: { dataPoints: [{}] } })[1], ['porch: t: a point has no number'])
})

t.test('the first attribute that names a device counts', async t => {
  const deviceOf = (...attributes: object[]) => {
    const body = {
      resourceMetrics: [
        { resource: { attributes }, scopeMetrics: [{ metrics: [{ name: 't', gauge: { dataPoints: [point()] } }] }] },
      ],
    }
    const [[line], reasons] = linesOf('otlp_json', Buffer.from(JSON.stringify(body)))
    return line === undefined ? reasons[0] : /device=(.*) t=/.exec(line)?.[1]
  }
  t.equal(deviceOf(text_('service.name', 'c'), text_('host.name', 'b'), text_('device.id', 'a')), 'a')
  t.equal(deviceOf(text_('service.name', 'c'), text_('service.instance.id', 'b')), 'b')
  t.equal(deviceOf(text_('service.name', 'unknown_service:node')), 't names no device: add a label device')
})

t.test('Protocol Buffers are read as the JSON of the same request', async t => {
  const points = message(
    1,
    fixed(3, BigInt(timeMs) * 1_000_000n),
    fixed(6, -7n),
    message(7, text(1, 'side'), message(2, text(1, 'left'))),
  )
  const metric = message(2, text(1, 'hive_weight'), text(3, 'kg'), message(5, points))
  const resource = message(1, message(1, text(1, 'device.id'), message(2, text(1, 'porch'))))
  const body = message(1, resource, message(2, message(1, text(1, 'a scope')), metric, text(9, 'unknown')))
  t.strictSame(linesOf('otlp_protobuf', body), [[`s,device=porch hive_weight_left=-7 ${timeMs}991`], []])
})

t.test('a body that is cut or has wrong lengths is broken', async t => {
  const first = writeRequest([series('temperature', 1)])
  const whole = Buffer.concat([first, writeRequest([series('humidity', 2)])])
  for (let length = 1; length < whole.length; length++) {
    const { kind } = read('prometheus', snappy(whole.subarray(0, length)))
    if (kind !== 'broken') t.equal(length, first.length, 'only a whole series may end a body')
  }
  t.match(read('prometheus', Buffer.from('nothing')), { kind: 'broken' })
  t.match(read('otlp_json', Buffer.from('[]')), { kind: 'broken', reason: 'the body is not a JSON object' })
  t.match(read('otlp_json', Buffer.from('{')), { kind: 'broken', reason: 'the body is not JSON' })
  const broken = (bytes: number[], reason: RegExp) =>
    t.match(read('otlp_protobuf', Buffer.from(bytes)), { kind: 'broken', reason })
  broken(Array(11).fill(0xff), /more than ten bytes/)
  broken([0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], /out of range/)
  broken([0x0a, 0x05, 0x00], /longer than its message/)
  broken([0x0b], /wire type/)
  broken([0x08, 0x01], /wire type/)
})

t.test('bodies are bounded before decoding and by their values', async t => {
  const swelling = Buffer.concat([varint(bytesMax + 1), Buffer.of(0)])
  t.match(read('prometheus', swelling), { kind: 'too long' })
  const many = { ...series('temperature', 1), samples: Array(samplesMax + 1).fill([1, timeMs]) }
  t.match(readRemoteBody('prometheus', remoteWrite(many), 1 << 25, { metrics, deviceDefault: 'a', rejectsMax: 1 }), {
    kind: 'too long',
  })
  const schema = { 1: { name: 'a', type: 'text', isList: true } } as const
  t.throws(() => readProtobuf(Buffer.concat([text(1, 'x'), text(1, 'y')]), schema, 1), /too many values/)
})

t.test('snappy', async t => {
  const repeating = fc.array(fc.constantFrom('temperature', 'device', 'porch', 'x', '12345678'), { maxLength: 3000 })
  const property = fc.property(repeating, words => {
    const plain = Buffer.from(words.join(''))
    return plain.equals(readSnappy(snappy(plain), plain.length) as Buffer)
  })
  t.doesNotThrow(() => fc.assert(property, runs(50, 2000)))
  // The example is from google/snappy: "abcdabcdabcd…", with a copy that overlaps its result.
  const overlapping = Buffer.concat([
    varint(20),
    Buffer.of(3 << 2),
    Buffer.from('abcd'),
    Buffer.of(2 | (15 << 2), 4, 0),
  ])
  t.equal(String(readSnappy(overlapping, 20)), 'abcd'.repeat(5))
  const far = Buffer.concat([varint(8), Buffer.of(3 << 2), Buffer.from('abcd'), Buffer.of(3 | (3 << 2), 4, 0, 0, 0)])
  t.equal(String(readSnappy(far, 8)), 'abcdabcd')
  const refused: [string, Buffer][] = [
    ['an offset before the start', Buffer.concat([varint(8), Buffer.of(3 << 2), Buffer.from('abcd'), Buffer.of(1, 9)])],
    ['an offset of zero', Buffer.concat([varint(8), Buffer.of(3 << 2), Buffer.from('abcd'), Buffer.of(1, 0)])],
    ['more than the length', Buffer.concat([varint(3), Buffer.of(3 << 2), Buffer.from('abcd')])],
    ['less than the length', Buffer.concat([varint(5), Buffer.of(3 << 2), Buffer.from('abcd')])],
    ['a literal that is cut', Buffer.concat([varint(4), Buffer.of(3 << 2), Buffer.from('abc')])],
    ['a length of more than 32 bits', Buffer.of(0xff, 0xff, 0xff, 0xff, 0x7f)],
  ]
  for (const [name, block] of refused) t.equal(readSnappy(block, 2 ** 32), undefined, name)
})

const forms: readonly RemoteForm[] = ['prometheus', 'otlp_protobuf', 'otlp_json']
const whole: Record<RemoteForm, Buffer> = {
  prometheus: writeRequest(Array.from({ length: 20 }, (_, at) => series('temperature', at, { device: `d${at}` }))),
  otlp_protobuf: message(1, message(2, message(2, text(1, 't'), message(5, message(1, double(4, 1)))))),
  otlp_json: Buffer.from(JSON.stringify(request({ name: 't', gauge: { dataPoints: [point(), point()] } }))),
}

/** Processor time, since the machine may be busy. */
const bodyMsMax = 500

function takesSoon(t: Test, form: RemoteForm, body: Buffer): void {
  const before = process.cpuUsage()
  const { kind } = read(form, body, 'porch')
  const tookMs = process.cpuUsage(before).user / 1000
  if (tookMs > bodyMsMax) t.fail(`${form} took ${tookMs} ms`)
  if (kind === undefined) t.fail('there is no answer')
}

t.test('any bytes get an answer soon', async t => {
  for (const form of forms) {
    const body = whole[form]
    const changed = fc.array(fc.tuple(fc.nat(body.length - 1), fc.nat(255)), { maxLength: 8 }).map(changes => {
      const copy = Buffer.from(body)
      for (const [at, byte] of changes) copy[at] = byte
      return copy
    })
    const any = fc.oneof(
      changed,
      fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
    )
    const property = fc.property(any, fc.boolean(), (bytes, isPlain) => {
      takesSoon(t, form, form === 'prometheus' && isPlain ? snappy(bytes) : bytes)
    })
    t.doesNotThrow(() => fc.assert(property, runs(300, 20_000)), form)
  }
  const json = fc
    .json({ maxDepth: 6 })
    .map(text => `{"resourceMetrics":[${text},{"scopeMetrics":[{"metrics":[${text}]}]}]}`)
  const property = fc.property(json, body => takesSoon(t, 'otlp_json', Buffer.from(body)))
  t.doesNotThrow(() => fc.assert(property, runs(200, 10_000)))
})

t.test('large bodies get an answer soon', async t => {
  const deep = (name: string, times: number) =>
    Buffer.from([...Array(times).fill(`{"${name}":`), 1, ...Array(times).fill('}')].join(''))
  takesSoon(t, 'otlp_json', deep('resourceMetrics', 50_000))
  takesSoon(t, 'otlp_json', Buffer.from(`{"resourceMetrics":${'['.repeat(100_000)}${']'.repeat(100_000)}}`))
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`l${at}`, 'x']))
  takesSoon(t, 'prometheus', remoteWrite(series('t', 1, labels)))
  takesSoon(t, 'prometheus', remoteWrite(series('t', 1, { device: 'd'.repeat(500_000), a: 'a'.repeat(400_000) })))
  takesSoon(
    t,
    'otlp_json',
    Buffer.from(JSON.stringify(request({ name: 't', unit: '{'.repeat(500_000), gauge: { dataPoints: [point()] } }))),
  )
  takesSoon(t, 'otlp_protobuf', Buffer.alloc(bytesMax, 0x0a))
})
