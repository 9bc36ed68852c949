/** Prometheus remote write and OTLP/HTTP on a real socket, with real registries and a real journal. */

import { gzipSync } from 'node:zlib'
import tap from 'tap'
import { message, remoteWrite, type SentSeries, text } from '../../support/remote-bodies.ts'
import { basic } from '../../support/service.ts'
import { startWriteServer } from '../write-server.ts'

const server = await startWriteServer(tap, {
  DEVICES_PER_OWNER: '2',
  FAILED_ATTEMPTS: '20',
  LINE_PROTOCOL_BODY_MAX: '64KiB',
})
const { url, stored, metrics, devices, rejections } = server
const { key, owner } = await server.addKey('owner@example.com')
const making = await server.addKey('making@example.com', { createDevices: true })
const reader = await server.addKey('reader@example.com', { scopes: ['read'] })
const password = await server.addDevice('porch', { owner })
const symbolOf = (name: string) => devices.get(name)?.symbol
const timeMs = Date.now() - 60_000
const idOf = (name: string) => metrics.find(name)?.id ?? Number.NaN

const series = (name: string, value: number, labels: Record<string, string> = { device: 'porch' }): SentSeries => ({
  labels: { __name__: name, ...labels },
  samples: [[value, timeMs]],
})
const bearer = (text = key) => ({ authorization: `Bearer ${text}` })
const asPrometheus = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
}

async function write(body: Buffer<ArrayBuffer>, headers: Record<string, string> = bearer()): Promise<[number, string]> {
  const response = await fetch(`${url}/api/v1/write`, {
    method: 'POST',
    body,
    headers: { ...asPrometheus, ...headers },
  })
  return [response.status, await response.text()]
}

const point = (value: number, more: object = {}) => ({ timeUnixNano: `${timeMs}000000`, asDouble: value, ...more })
const request = (...sent: object[]) => ({
  resourceMetrics: [
    {
      resource: { attributes: [{ key: 'host.name', value: { stringValue: 'porch' } }] },
      scopeMetrics: [{ metrics: sent }],
    },
  ],
})

async function send(body: unknown, headers: Record<string, string> = {}): Promise<[number, unknown]> {
  const isBytes = Buffer.isBuffer(body)
  const response = await fetch(`${url}/v1/metrics`, {
    method: 'POST',
    body: isBytes ? (body as Buffer<ArrayBuffer>) : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...bearer(), ...headers },
  })
  if (response.headers.get('content-type')?.includes('json')) return [response.status, await response.json()]
  return [response.status, Buffer.from(await response.arrayBuffer())]
}

tap.test('samples of Prometheus are on disk before the response, as one reading for each time', async t => {
  stored.length = 0
  t.strictSame(await write(remoteWrite(series('temperature', 21.5), series('humidity', 48))), [204, ''])
  t.match(stored, [{ device: symbolOf('porch'), reading: { temperature: 21.5, humidity: 48 } }])
  t.equal(stored[0]?.timeUs, timeMs * 1000 + idOf('temperature'))
  t.strictSame(await write(remoteWrite(series('hive_weight', 31.5))), [204, ''])
  t.equal(stored[1]?.timeUs, timeMs * 1000 + (idOf('hive_weight') % 1000), 'it does not replace the other reading')
  t.strictSame(await write(remoteWrite()), [204, ''], 'metadata alone')
})

tap.test('each form of a credential is accepted', async t => {
  const ways: Record<string, string>[] = [
    bearer(),
    { 'x-api-key': key },
    { authorization: basic('anybody', key) },
    { authorization: basic('porch', password) },
  ]
  for (const headers of ways) t.strictSame(await write(remoteWrite(series('temperature', 1)), headers), [204, ''])
  t.strictSame((await write(remoteWrite(series('temperature', 1)), { authorization: 'Bearer x' }))[0], 401)
  t.strictSame((await write(remoteWrite(series('temperature', 1)), { ...bearer(), 'x-api-key': key }))[0], 401)
  t.strictSame((await write(remoteWrite(series('temperature', 1)), bearer(reader.key)))[0], 403)
  t.strictSame(
    await write(remoteWrite(series('temperature', 1, { instance: 'x:9100' })), {
      authorization: basic('porch', password),
    }),
    [204, ''],
  )
})

tap.test('a 400 names the samples that can never be stored', async t => {
  stored.length = 0
  const sent = [series('temperature', 21.5), series('temperature', 999), series('temperature', 1, { device: 'nobody' })]
  const [status, body] = await write(remoteWrite(...sent, series('humidity', 40), series('humidity', 1, {})))
  t.equal(status, 400)
  t.match(body, /partial write: humidity names no device: .*; device porch: .* and 85; device nobody: .* dropped=3/)
  t.match(stored, [{ reading: { temperature: 21.5, humidity: 40 } }])
  t.match(rejections.list({ limit: 10 }).entries, [
    { way: 'webhook', device: 'nobody', reason: /^prometheus: there is no device/ },
    { way: 'webhook', device: 'porch', reason: /^prometheus: temperature/ },
    { way: 'webhook', reason: /^prometheus: humidity names no device/ },
  ])
  t.match(
    rejections.unknownDevices(() => false),
    [{ name: 'nobody', family: 'prometheus', owner }],
  )
})

tap.test('a key that may add devices adds those that samples name', async t => {
  const sent = ['roof', 'cellar', 'attic'].map(device => series('temperature', 1, { device }))
  const [status, body] = await write(remoteWrite(...sent), bearer(making.key))
  t.match([status, body], [400, /device attic: .*as many as it may add dropped=1/])
  t.match(devices.get('cellar'), { owner: making.owner })
})

tap.test('unreadable bodies get a 4xx, so that Prometheus drops them', async t => {
  t.match(await write(Buffer.from('nothing')), [400, '{"error":"broken body: it is not a block of Snappy"}'])
  t.equal((await write(remoteWrite(), { ...bearer(), 'content-encoding': 'gzip' }))[0], 415)
  const version2 = { 'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request' }
  t.equal((await write(remoteWrite(), { ...bearer(), ...version2 }))[0], 415)
  const version1 = { 'content-type': 'application/x-protobuf;proto=prometheus.WriteRequest' }
  t.equal((await write(remoteWrite(), { ...bearer(), ...version1 }))[0], 204)
  const swelling = remoteWrite({ ...series('temperature', 1), samples: Array(10_000).fill([1, timeMs]) })
  t.equal((await write(swelling))[0], 413)
  t.equal((await fetch(`${url}/api/v1/write`)).status, 405)
})

tap.test('temporary faults get a 503, since Prometheus drops the samples of a 429', async t => {
  for (let attempt = 0; attempt < 20; attempt++) await write(remoteWrite(), { authorization: 'Bearer wrong' })
  const response = await fetch(`${url}/api/v1/write`, {
    method: 'POST',
    headers: { ...asPrometheus, authorization: 'Bearer wrong' },
  })
  t.strictSame([response.status, response.headers.get('retry-after')], [503, '5'])
  t.match(await send({}, { authorization: 'Bearer wrong' }), [429, { code: 8, message: /too many/ }])
})

tap.test('points of OTLP are on disk before the response, also compressed and in Protocol Buffers', async t => {
  const first = request({ name: 'gate.opened', sum: { dataPoints: [point(3)] } })
  t.strictSame(await send(first), [200, {}], 'a name in another spelling, which makes a metric')
  t.ok(metrics.find('gate_opened'))
  stored.length = 0
  const body = request({ name: 'temperature', unit: 'K', gauge: { dataPoints: [point(294.65)] } })
  t.strictSame(await send(body), [200, {}])
  t.strictSame(await send(gzipSync(JSON.stringify(body)), { 'content-encoding': 'gzip' }), [200, {}])
  t.match(
    stored,
    Array(2).fill({
      device: symbolOf('porch'),
      reading: { temperature: 21.5 },
      timeUs: timeMs * 1000 + idOf('temperature'),
    }),
  )
  const resource = message(1, message(1, text(1, 'device'), message(2, text(1, 'nobody'))))
  const one = message(5, message(1, Buffer.of(0x31), Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])))
  const bytes = message(1, resource, message(2, message(2, text(1, 'temperature'), one)))
  const [status, partial] = await send(bytes, { 'content-type': 'application/x-protobuf' })
  t.equal(status, 200)
  t.match(String(partial), /device nobody: there is no device/s)
})

tap.test('points that can never be stored are counted in a partial success', async t => {
  const hot = { name: 'temperature', gauge: { dataPoints: [point(999), point(21.5)] } }
  const histogram = { name: 'took', histogram: { dataPoints: [{}, {}] } }
  t.match(await send(request(hot, histogram)), [
    200,
    { partialSuccess: { rejectedDataPoints: '3', errorMessage: /histogram.*; device porch: temperature .* 85; …$/ } },
  ])
  t.match(await send('[]' as never, { 'content-type': 'text/plain' }), [415, { code: 3 }])
  t.match(await send([]), [400, { code: 3, message: 'broken body: the body is not a JSON object' }])
  t.match(await send({}, bearer(reader.key)), [403, { code: 7 }])
  const [status, bytes] = await send(Buffer.from('x'), { 'content-type': 'application/x-protobuf' })
  t.match([status, String(bytes)], [400, /broken body: /])
  t.strictSame([...(bytes as Buffer).subarray(0, 3)], [0x08, 3, 0x12])
})
