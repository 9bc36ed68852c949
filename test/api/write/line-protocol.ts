/** The paths of InfluxDB on a real PostgreSQL and a real journal, also with InfluxDB's client. */

import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { HttpError, InfluxDB, Point } from '@influxdata/influxdb-client'
import t, { type Test } from 'tap'
import { lineProtocolFamilies } from '../../../api/write/line-protocol/line-protocol.ts'
import { openDevices } from '../../../auth/devices/devices.ts'
import { createAuthRateLimit } from '../../../auth/rate-limits.ts'
import { createWriters } from '../../../auth/writers.ts'
import { defaultLineNames } from '../../../ingest/formats/line-protocol-names.ts'
import { createFairShare } from '../../../ingest/intake/rates.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import type { Rate } from '../../../store/limits/token-buckets.ts'
import { openTestIngest } from '../../ingest/open-ingest.ts'
import { perOwner, startAccounts } from '../../support/accounts.ts'
import { createApp } from '../../support/app.ts'
import { addDeviceTo } from '../../support/changed.ts'
import { recordingLog, silentLog } from '../../support/databases.ts'
import { holdToContract } from '../../support/held-answers.ts'
import { readingsIn } from '../../support/journal-parts.ts'
import { basic } from '../../support/service.ts'
import { waitFor } from '../../support/wait-for.ts'
import { noMetrics } from '../no-metrics.ts'

const { keyOf, keys, person, store } = await startAccounts(t)
const devices = await openDevices({ pool: store.postgres, now: Date.now, log: silentLog, graceMs: 3_600_000 })
t.teardown(() => devices.close())
const bodyBytesMax = 100_000
const { log, texts: errors } = recordingLog('error')

type Counts = [way: string, stored: number, rejected: number]

interface Answer {
  status: number
  headers: Headers
  body: Record<string, unknown>
}

interface StartOptions {
  journalBytesMax?: number
  isReady?: boolean
  findKey?: typeof keys.find
  bulkRate?: Rate
}

const commonJournal = openTestIngest(t)

async function start(t: Test, options: StartOptions = {}) {
  const { journalBytesMax, isReady = true, findKey = keys.find } = options
  const { bulkRate = { perSecond: 1e6, burst: 1e9 } } = options
  const journal = journalBytesMax === undefined ? commonJournal : openTestIngest(t, { journalBytesMax })
  /** Device's symbol, milliseconds and values of each record in the journal. */
  const stored: object[] = []
  const counts: Counts[] = []
  const append: typeof journal.append = async records => {
    const outcome = await journal.append(records)
    if (outcome === 'stored') stored.push(...recordsIn(records))
    return outcome
  }
  const families = lineProtocolFamilies({
    ingest: { ...journal, append },
    devices,
    bulkFields: noMetrics,
    writers: createWriters(devices, perOwner),
    keys: { find: findKey },
    log,
    nowMs: Date.now,
    names: defaultLineNames,
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    earliestMs: () => Number.NEGATIVE_INFINITY,
    bodyBytesMax,
    authRateLimit: createAuthRateLimit(5, Date.now),
    isReady: () => isReady,
    meter: { taken: ({ way }, stored, { rejected }) => void counts.push([way, stored, rejected]), refused() {} },
    fairShare: createFairShare(bulkRate, Date.now),
  })
  const app = createApp(...families)
  holdToContract(t, app)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  async function post(
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${url}${path}`, { method: 'POST', body, headers })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) }
  }
  return { app, url, post, stored, counts }
}

function recordsIn(bytes: Uint8Array): object[] {
  return readingsIn(bytes).map(({ symbol, timeUs, reading }) => {
    const given = Object.entries(reading).filter(([, value]) => Number.isFinite(value))
    return { device: symbol, timeMs: timeUs / 1000, ...Object.fromEntries(given) }
  })
}

const addDevice = (name: string, fields = {}) => addDeviceTo(devices, name, fields)

const owner = await person('owner@example.com')
const key = await keyOf(owner)
const makingKey = await keyOf(owner, { createDevices: true })
const readingKey = await keyOf(owner, { scopes: ['read'] })
const password = await addDevice('porch', { owner })
await addDevice('attic', { owner })
await addDevice('strange')
const symbolOf = (name: string) => devices.get(name)?.symbol
const token = (text: string) => ({ authorization: `Token ${text}` })
const asDevice = (name: string, text: string) => ({ authorization: basic(name, text) })

const timeMs = Date.now() - 60_000
/** InfluxDB's client times out after ten seconds by itself. This limit is only for hangs. */
const clientMsMax = 300_000
const line = (device: string, fields: string, ms = timeMs) => `w,device=${device} ${fields} ${ms}000000\n`
const many = Array.from({ length: 30 }, (_, index) => line('porch', 'temperature=1', timeMs + index)).join('')

t.test('a body is stored as a whole, with one reading from lines of one device and time', async t => {
  const { post, stored, counts } = await start(t)
  const body = line('porch', 'temperature=21.5') + line('attic', 'humidity=40i') + line('porch', 'pressure=1013.2')
  t.match(await post('/api/v2/write?org=o&bucket=b', body, token(key)), { status: 204 })
  t.strictSame(stored, [
    { device: symbolOf('porch'), timeMs, temperature: 21.5, pressure: 1013.2 },
    { device: symbolOf('attic'), timeMs, humidity: 40 },
  ])
  t.strictSame(counts, [['line_protocol', 2, 0]])
  t.match(await devices.details('attic'), { last_seen: /^20/ })
})

t.test('units of timestamps depend on the version, in plain and compressed bodies', async t => {
  const { post, stored } = await start(t)
  const seconds = Math.floor(timeMs / 1000)
  const at = (time: number) => `w,device=porch temperature=1 ${time}`
  const hour = Math.floor(seconds / 3600)
  t.match(await post('/write?db=x&precision=h', at(hour), asDevice('porch', password)), { status: 204 })
  t.match(await post('/write?db=x&precision=u', at(timeMs * 1000), asDevice('porch', password)), { status: 204 })
  t.match(await post('/api/v2/write?precision=s', at(seconds), token(key)), { status: 204 })
  const gzip = { 'content-encoding': 'gzip', ...token(key) }
  t.match(await post('/api/v2/write?precision=ms', gzipSync(at(timeMs + 1)), gzip), { status: 204 })
  const times = [hour * 3_600_000, timeMs, seconds * 1000, timeMs + 1].map(timeMs => ({ timeMs }))
  t.match(stored, times)
  t.match(await post('/write?precision=d', at(1), token(key)), { status: 400, body: { error: /invalid precision/ } })
  const units = { code: 'invalid', message: /valid precision units are ns, us, ms, and s/ }
  t.match(await post('/api/v2/write?precision=h', at(1), token(key)), { status: 400, body: units })
  const broken = { message: 'broken body: it cannot be decompressed' }
  t.match(await post('/api/v2/write', 'no gzip', gzip), { status: 400, body: broken })
  t.match(await post('/write', 'x', { ...token(key), 'content-encoding': 'br' }), { status: 415 })
})

t.test('every form of a credential is accepted, with a key as token or password', async t => {
  const { post, stored } = await start(t)
  const body = line('porch', 'temperature=1')
  const ways: [string, Record<string, string>][] = [
    ['/api/v2/write', token(key)],
    ['/api/v2/write', { authorization: `Bearer ${key}` }],
    ['/api/v2/write', token(`porch:${password}`)],
    ['/write', asDevice('porch', password)],
    ['/write', asDevice('anybody', key)],
    ['/write', asDevice(key, '')],
    [`/write?u=porch&p=${password}`, {}],
    [`/write?u=x&p=${key}`, {}],
    [`/write?p=${key}`, {}],
  ]
  for (const [path, headers] of ways) t.match(await post(path, body, headers), { status: 204 }, path)
  t.equal(stored.length, ways.length)
})

t.test('without a valid credential a body is rejected, in the form of each version', async t => {
  const { post, stored } = await start(t)
  const body = line('porch', 'temperature=1')
  const v1 = { status: 401, body: { error: 'unauthorized' } }
  t.match(await post('/write', body), v1)
  t.match(await post(`/write?u=porch&p=${password}`, body, asDevice('porch', password)), v1, 'two are none')
  t.match(await post(`/write?p=${key}&p=${key}`, body), v1)
  const v2 = { code: 'unauthorized', message: 'unauthorized' }
  t.match(await post('/api/v2/write', body, token(`porch:${key.slice(1)}`)), { status: 401, body: v2 })
  const lacking = { code: 'forbidden', message: 'forbidden: the API key lacks the scope ingest' }
  t.match(await post('/api/v2/write', body, token(readingKey)), { status: 403, body: lacking })
  for (let attempt = 0; attempt < 5; attempt++) await post('/write', body, asDevice('porch', 'wrong'))
  t.match(await post('/write', body, asDevice('porch', 'wrong')), { status: 429, body: { error: /too many/ } })
  t.match(await post('/write', body), v1, 'who tries no credential is asked for one')
  t.match(
    await post('/write', body, asDevice('porch', password)),
    { status: 204 },
    'failures do not block other senders',
  )
  t.equal(stored.length, 1)
})

t.test('lines that the credential may not write are rejects, counted and listed up to a number', async t => {
  const { post, stored, counts } = await start(t)
  const body = line('porch', 'temperature=1') + line('nobody', 'temperature=2') + line('strange', 'temperature=3')
  const error = /^partial write: line 2: device nobody: there is no device.*; line 3: device strange: .* dropped=3$/
  t.match(await post('/write', body + line('nobody', 'humidity=2'), token(key)), { status: 400, body: { error } })
  t.strictSame(stored, [{ device: symbolOf('porch'), timeMs, temperature: 1 }])
  const own = `${line('attic', 'temperature=1')}w temperature=4 ${timeMs}000000`
  const message = /^partial write: line 1: device attic: .*another device dropped=1$/
  const byDevice = await post('/api/v2/write', own, asDevice('porch', password))
  t.match(byDevice, { status: 400, body: { code: 'invalid', message } })
  t.strictSame(stored.at(-1), { device: symbolOf('porch'), timeMs, temperature: 4 }, 'its own needs no tag')
  t.strictSame(counts, [
    ['line_protocol', 1, 3],
    ['line_protocol', 1, 1],
  ])
  const { status, body: malformed } = await post('/write', 'x\n'.repeat(500), token(key))
  t.match([status, malformed['error']], [400, /line 10: has no fields; … dropped=500$/])
  const mixed = await post('/write', `${line('nobody', 'temperature=1')}x\n`, token(key))
  t.match(mixed.body, { error: /^partial write: line 1: device nobody: .*; line 2: has no fields dropped=2$/ })
})

t.test('a body with a device that is being changed is rejected as a whole, for a later attempt', async t => {
  const { post, stored } = await start(t)
  const attic = devices.get('attic') as { suspended: boolean }
  const body = line('porch', 'temperature=1') + line('attic', 'temperature=1')
  attic.suspended = true
  t.match(await post('/write', body, token(key)), { status: 503, body: { error: 'database unavailable' } })
  attic.suspended = false
  t.equal(stored.length, 0)
  t.match(await post('/write', body, token(key)), { status: 204 })
  t.equal(stored.length, 2)
})

t.test('while keys cannot be looked up a body is rejected, for a later attempt', async t => {
  const findKey = async () => {
    throw Object.assign(new Error('away'), { syscall: 'connect' })
  }
  const { post, stored } = await start(t, { findKey })
  const refused = await post('/api/v2/write', line('porch', 'temperature=1'), token(key))
  t.match(refused, { status: 503, body: { code: 'unavailable', message: 'database unavailable' } })
  t.equal(refused.headers.get('retry-after'), '5')
  t.equal(stored.length, 0)
})

t.test('a body whose credential ends while it arrives is not stored', async t => {
  let asked = 0
  let isRevoked = false
  const findKey = async (text: string) => {
    asked++
    return isRevoked ? undefined : await keys.find(text)
  }
  const { url, stored } = await start(t, { findKey })
  const headers = { ...token(key), expect: '100-continue' }
  const sent = httpRequest(`${url}/api/v2/write`, { method: 'POST', headers })
  const answered = once(sent, 'response')
  sent.flushHeaders()
  await once(sent, 'continue')
  await waitFor('the credential was looked at', () => asked > 0)
  sent.write(line('porch', 'temperature=1'))
  isRevoked = true
  sent.end(line('porch', 'temperature=2', timeMs + 1))
  const [response] = (await answered) as [IncomingMessage]
  t.equal(response.statusCode, 401)
  t.match(await json(response), { code: 'unauthorized' })
  t.strictSame(stored, [])
})

t.test('a key with the permission adds missing devices', async t => {
  const { post, stored } = await start(t)
  t.match(await post('/api/v2/write', line('new\\ one', 'temperature=5'), token(makingKey)), { status: 204 })
  t.equal(devices.get('new one')?.owner, owner)
  const misnamed = await post('/write', line('a+b', 'temperature=5') + line('porch', 'temperature=6'), token(makingKey))
  const error = /line 1: device a\+b: no new device can have this name: it must not/
  t.match(misnamed, { status: 400, body: { error } })
  t.strictSame(stored, [
    { device: symbolOf('new one'), timeMs, temperature: 5 },
    { device: symbolOf('porch'), timeMs, temperature: 6 },
  ])
})

t.test('a body that is too large is rejected as a whole, plain, compressed or in chunks', async t => {
  const { url, post, stored } = await start(t)
  const body = line('porch', 'temperature=1').repeat(3000)
  const v2 = { status: 413, body: { code: 'request too large', message: /too large/ } }
  t.match(await post('/api/v2/write', body, token(key)), v2)
  t.match(await post('/api/v2/write', gzipSync(body), { ...token(key), 'content-encoding': 'gzip' }), v2)
  t.match(await post('/write', body, token(key)), { status: 413, body: { error: /entity too large/ } })
  const status = await new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}/write`, { method: 'POST', headers: token(key), agent: new Agent() })
    sent.on('response', response => resolve(response.resume().statusCode)).on('error', reject)
    for (let piece = 0; piece < 200; piece++) sent.write('#'.repeat(1000))
    sent.end()
  })
  t.equal(status, 413)
  t.equal(stored.length, 0)
})

/** A request whose body is sent in pieces by the test. */
function open(url: string, length: number) {
  const headers = { ...token(key), 'content-length': length }
  const sent = httpRequest(`${url}/api/v2/write`, { method: 'POST', headers, agent: new Agent() })
  const status = new Promise<number | undefined>(resolve => {
    sent.on('response', response => resolve(response.resume().statusCode)).on('error', () => resolve(undefined))
  })
  return { sent, status }
}

t.test('slow bodies of one credential leave capacity for another, and free it at the end', async t => {
  const { url, post, stored } = await start(t)
  const body = `${line('porch', 'temperature=1')}#`.padEnd(bodyBytesMax - 1, 'x')
  const small = '#'.repeat(100)
  const held = Array.from({ length: 2 }, () => open(url, bodyBytesMax))
  for (const { sent } of held) sent.write(body)
  await waitFor('the bodies are held', async () => (await post('/write', small, token(key))).status === 503)
  const refused = { status: 503, body: { code: 'unavailable', message: 'too many points at once' } }
  t.match(await post('/api/v2/write', small, token(key)), refused)
  t.match(await post('/write', `${body}x`, token(makingKey)), { status: 204 }, 'as large as a body may be')
  const [first, second] = held
  first?.sent.destroy()
  second?.sent.end('x')
  t.equal(await second?.status, 204)
  t.match(await post('/write', line('attic', 'temperature=1'), token(key)), { status: 204 })
  t.strictSame([stored.length, errors], [3, []], 'and nothing is logged of the one that broke off')
})

t.test('a credential that exceeds its share gets a 429 with the time to wait', async t => {
  const { post, stored } = await start(t, { bulkRate: { perSecond: 0.01, burst: 1 } })
  t.match(await post('/write', many, token(key)), { status: 204 })
  const refused = await post('/api/v2/write', many, token(key))
  t.match(refused, { status: 429, body: { code: 'too many requests', message: 'too many readings' } })
  t.equal(refused.headers.get('retry-after'), '3000')
  t.match(await post('/write', line('porch', 'temperature=1'), asDevice('porch', password)), { status: 204 })
  t.equal(stored.length, 31)
})

t.test('a body without points is charged by its uncompressed bytes, also if it is broken', async t => {
  const blank = gzipSync('\n'.repeat(60_000))
  for (const body of [blank, blank.subarray(0, blank.length - 10)]) {
    const { post } = await start(t, { bulkRate: { perSecond: 0.01, burst: 200 } })
    const headers = { ...token(key), 'content-encoding': 'gzip' }
    t.not((await post('/write', body, headers)).status, 429)
    t.match(await post('/write', line('porch', 'temperature=1'), token(key)), { status: 429 })
  }
})

t.test('a full journal is a 503 with the time to wait', async t => {
  const { post, stored } = await start(t, { journalBytesMax: 1000 })
  t.match(await post('/write', line('porch', 'temperature=1'), token(key)), { status: 204 })
  const refused = await post('/api/v2/write', many, token(key))
  t.match(refused, { status: 503, body: { code: 'unavailable', message: 'storage full' } })
  t.strictSame([refused.headers.get('retry-after'), refused.headers.get('x-influxdb-error')], ['5', 'storage full'])
  t.equal(stored.length, 1)
})

t.test('requests that clients send before they write are answered', async t => {
  const { url, post } = await start(t)
  const ping = await fetch(`${url}/ping`)
  t.strictSame([ping.status, ping.headers.get('x-influxdb-version')], [204, '1.8.10'])
  t.equal((await fetch(`${url}/ping`, { method: 'HEAD' })).status, 204)
  t.match(await (await fetch(`${url}/ping?verbose=true`)).json(), { version: '1.8.10' })
  t.match(await (await fetch(`${url}/health`)).json(), { name: 'influxdb', status: 'pass', version: '1.8.10' })
  const starting = await start(t, { isReady: false })
  const health = await fetch(`${starting.url}/health`)
  t.match([health.status, await health.json()], [503, { status: 'fail' }])
  const form = { 'content-type': 'application/x-www-form-urlencoded', ...asDevice('x', key) }
  const created = { status: 200, body: { results: [{ statement_id: 0 }] } }
  t.match(await post('/query', 'q=CREATE+DATABASE+%22telegraf%22', form), created)
  t.match(await post('/query?q=create%20database%20x', '', asDevice('x', key)), created)
  t.match(await post('/query', 'q=SHOW+SERIES', form), { status: 400, body: { error: /CREATE DATABASE/ } })
  t.match(await post('/query', 'q=CREATE+DATABASE+x', { 'content-type': form['content-type'] }), { status: 401 })
  const buckets = await fetch(`${url}/api/v2/buckets?name=home`, { headers: token(key) })
  t.match(await buckets.json(), { buckets: [{ name: 'home' }] })
  t.match(await post('/write', '# nothing', token(key)), { status: 204 })
  t.match(await post('/api/v2/write', '', token(key)), { status: 400, body: { message: 'writing requires points' } })
  t.match(await post('/api/v2/delete', '', token(key)), { status: 404, body: { code: 'not found' } })
  const wrongMethod = await fetch(`${url}/write`, { headers: token(key) })
  t.match(await wrongMethod.json(), { error: 'method not allowed' })
  t.strictSame([wrongMethod.status, wrongMethod.headers.get('allow')], [405, 'POST'])
})

t.test("InfluxDB's client writes points and understands the rejections", async t => {
  const { url, stored } = await start(t)
  const options = { maxRetries: 0, flushInterval: 0, gzipThreshold: 1 }
  const client = new InfluxDB({ url, token: key, timeout: clientMsMax })
  const api = client.getWriteApi('org', 'bucket', 'ms', options)
  const pointOf = () => new Point('weather').tag('device', 'porch')
  for (let index = 0; index < 50; index++) {
    const point = pointOf()
      .tag('room', 'north, wing=1')
      .timestamp(timeMs + index)
    api.writePoint(
      point
        .floatField('temperature', 20 + index / 10)
        .intField('humidity', 40)
        .uintField('pressure', 1000),
    )
  }
  await api.close()
  t.equal(stored.length, 50)
  const values = { temperature: 20.3, humidity: 40, pressure: 1000 }
  t.strictSame(stored[3], { device: symbolOf('porch'), timeMs: timeMs + 3, ...values })
  const failures: unknown[] = []
  const writeFailed = (error: Error) => void failures.push(error)
  const wrong = client.getWriteApi('org', 'bucket', 'ns', { ...options, writeFailed })
  wrong.writePoint(pointOf().stringField('temperature', 'warm\nw,device=porch humidity=1'))
  await wrong.close().catch(() => undefined)
  t.ok(failures[0] instanceof HttpError)
  t.match(failures[0], { statusCode: 400, code: 'invalid', message: /temperature must be a number dropped=1/ })
  t.equal(stored.length, 50)
})

t.test('a stopping service rejects bodies with 503', async t => {
  const { app, url, stored } = await start(t)
  const body = line('porch', 'temperature=1')
  const { sent, status } = open(url, body.length)
  const reached = new Promise<void>(resolve => app.server.once('request', () => resolve()))
  sent.write(body.slice(0, 10))
  await reached
  const closed = app.close()
  sent.end(body.slice(10))
  t.equal(await status, 503)
  await closed
  t.equal(stored.length, 0)
})
