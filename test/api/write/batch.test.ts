/** `POST /api/log/batch` on a real registry and a real journal: permissions, every format, limits, strict bodies. */

import { once } from 'node:events'
import { mkdtempSync, readdirSync } from 'node:fs'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { connect } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import t from 'tap'
import { registerGroup } from '../../../api/http/route-family.ts'
import { loggerRules } from '../../../api/http/status-operations.ts'
import { type BatchOptions, batchGroup } from '../../../api/write/batch.ts'
import type { Scope } from '../../../auth/keys/key.ts'
import { createAuthRateLimit } from '../../../auth/rate-limits.ts'
import { createWriters, type WriterDevices } from '../../../auth/writers.ts'
import { FlatObjectReader } from '../../../ingest/formats/ndjson.ts'
import { createClaims } from '../../../ingest/idempotency/claims.ts'
import { ArrayLines } from '../../../ingest/import/array-body.ts'
import { createFairShare, type FairShare } from '../../../ingest/intake/rates.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { openVariant, perOwner } from '../../support/accounts.ts'
import { openParts } from '../../support/admin.ts'
import { addDeviceTo } from '../../support/changed.ts'
import { nowhere, silentLog, startDatabases, type TestHooks, temporaryFolder } from '../../support/databases.ts'
import { holdToContract } from '../../support/held-answers.ts'
import { readingsIn } from '../../support/journal-parts.ts'
import { basic } from '../../support/service.ts'
import { waitFor } from '../../support/wait-for.ts'
import { noMetrics } from '../no-metrics.ts'

const { store } = await startDatabases(t, nowhere)
const { ingest, devices } = await openParts(t, store)
const people = await openVariant(t, store, { devices })
const folder = temporaryFolder(t)

const owner = await people.person('owner@example.com')
const other = await people.person('other@example.com')

const addDevice = (name: string, fields = {}) => addDeviceTo(devices, name, fields)
const keyOf = (id: number, scopes: Scope[] = ['ingest'], createDevices = false) =>
  people.keyOf(id, { scopes, createDevices })

const passwords = {
  kitchen: await addDevice('kitchen', { owner }),
  porch: await addDevice('porch', { owner }),
  foreign: await addDevice('foreign', { owner: other }),
  silent: await addDevice('silent', { owner, log_switch: false }),
}
const key = await keyOf(owner)
const claims = createClaims({
  pool: store.postgres,
  ingest,
  nowMs: Date.now,
  log: silentLog,
  rowsPerWriterMax: 10,
})
t.teardown(() => claims.close())

interface Stored {
  device: number
  timeUs: number
  temperature: number
}

interface Changes {
  /** Called with the name of each device that is looked up. */
  onLookUp?: (name: string) => void
  findPrincipal?: BatchOptions['findPrincipal']
  earliestMs?: () => number
  fairShare?: FairShare
  claim?: typeof claims.claim
  status?: typeof ingest.status
  outcome?: Awaited<ReturnType<typeof ingest.append>>
}

const usualShare = createFairShare({ perSecond: 1e6, burst: 1e9 }, Date.now)

/** A server, and its records in the journal. */
async function startRoute(t: TestHooks, more: Partial<BatchOptions> = {}) {
  const stored: Stored[] = []
  const counts: [string, number, number][] = []
  const spoolDirectory = mkdtempSync(join(folder, 'spool-'))
  let changes: Changes = {}
  async function append(records: Uint8Array) {
    const { outcome = 'stored' } = changes
    if (outcome !== 'stored') return outcome
    for (const { deviceNumber, timeUs, reading } of readingsIn(records)) {
      stored.push({ device: deviceNumber, timeUs, temperature: reading.temperature })
    }
    return await ingest.append(records)
  }
  const lookingUp: WriterDevices = {
    ...devices,
    get(name) {
      changes.onLookUp?.(name)
      return devices.get(name)
    },
    byNumber(number) {
      const device = devices.byNumber(number)
      changes.onLookUp?.(device?.name ?? '')
      return device
    },
  }
  const group = batchGroup({
    devices,
    bulkFields: noMetrics,
    ingest: { ...ingest, append, status: () => (changes.status ?? ingest.status)() },
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    earliestMs: () => changes.earliestMs?.() ?? Number.NEGATIVE_INFINITY,
    spoolDirectory,
    writers: createWriters(lookingUp, perOwner),
    findPrincipal: request => (changes.findPrincipal ?? people.findPrincipal)(request),
    bodyBytesMax: 10 << 20,
    authRateLimit: createAuthRateLimit(60, Date.now),
    meter: { taken: ({ way }, stored, { rejected }) => void counts.push([way, stored, rejected]), refused() {} },
    claims: { ...claims, claim: request => (changes.claim ?? claims.claim)(request) },
    fairShare: {
      waitSeconds: id => (changes.fairShare ?? usualShare).waitSeconds(id),
      charge: (...given) => (changes.fairShare ?? usualShare).charge(...given),
    },
    ...more,
  })
  const app = fastify()
  holdToContract(t, app)
  app.register(async scope => registerGroup(scope, group, loggerRules), { prefix: '/api' })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  async function send(
    body: string | Uint8Array<ArrayBuffer>,
    headers: Record<string, string> = {},
    query = '',
  ): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
    const all = { 'content-type': 'text/csv', 'x-api-key': key, ...headers }
    const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
    const init = { method: 'POST', body, headers: sent, duplex: 'half' } as RequestInit
    const response = await fetch(`${url}/api/log/batch${query}`, init)
    const answer = (await response.json()) as Record<string, unknown>
    return { status: response.status, headers: response.headers, body: answer }
  }
  const setOutcome = (outcome: Changes['outcome']) => (changes = { ...changes, ...(outcome && { outcome }) })
  const route = { url, send, stored, counts, spoolDirectory, setOutcome }
  return {
    ...route,
    /** The route for one test, without earlier records. */
    use(next: Changes = {}) {
      changes = next
      stored.length = 0
      counts.length = 0
      return route
    },
  }
}

/** A start of the importer's threads takes a third of a second, so most tests share a route. */
const usual = await startRoute(t)
/** Parts of its bodies are stored as they arrive. */
const inParts = await startRoute(t, { limits: { chunkBytes: 70_000, largeChunkBytes: 70_000 } })

const header = 'timestamp,device,temperature,humidity,pressure\n'
const startMs = Date.UTC(2026, 0, 1)

function fieldsOf(index: number, device: string | undefined) {
  const timestamp = new Date(startMs + index * 1000).toISOString()
  return { timestamp, device, temperature: (index % 800) / 10, humidity: 50, pressure: 1000 }
}

const csvOf = (count: number, device: string) =>
  header + Array.from({ length: count }, (_, index) => `${Object.values(fieldsOf(index, device)).join(',')}\n`).join('')
const objectsOf = (count: number, device?: string) =>
  Array.from({ length: count }, (_, index) => fieldsOf(index, device))

t.test('every format and coding stores the same readings', async t => {
  const { send, stored } = usual.use()
  const objects = objectsOf(300, 'kitchen')
  const ways: [string, string][] = [
    ['text/csv', csvOf(300, 'kitchen')],
    ['text/csv; charset=utf-8', csvOf(300, 'kitchen').replaceAll('\n', '\r\n')],
    ['application/x-ndjson', objects.map(each => JSON.stringify(each)).join('\n')],
    ['application/json', JSON.stringify(objects)],
    ['application/json', `\ufeff ${JSON.stringify(objects, null, 2)}\n`],
  ]
  const expected = objects.map(({ timestamp, temperature }) => {
    return { device: devices.get('kitchen')?.number, timeUs: Date.parse(timestamp) * 1000, temperature }
  })
  const codings = { identity: (body: string) => Buffer.from(body), gzip: gzipSync, zstd: zstdCompressSync }
  for (const [type, text] of ways) {
    for (const [coding, encode] of Object.entries(codings)) {
      stored.length = 0
      for (const query of ['', '?strict=1']) {
        const { status, body } = await send(encode(text), { 'content-type': type, 'content-encoding': coding }, query)
        t.strictSame([status, body], [200, { status: 'success', stored: 300, rejected: 0, rejects: [] }])
      }
      t.strictSame(stored, [...expected, ...expected], `${type} ${coding}`)
    }
  }
})

t.test('the main thread decompresses and parses no body', async t => {
  const zlib: object = createRequire(import.meta.url)('node:zlib')
  // Each thread has separate modules.
  for (const [owner, name] of [
    [zlib, 'createGunzip'],
    [zlib, 'createZstdDecompress'],
    [ArrayLines.prototype, 'take'],
    [FlatObjectReader.prototype, 'read'],
  ] as const) {
    const original = Object.getOwnPropertyDescriptor(owner, name) as PropertyDescriptor
    Object.defineProperty(owner, name, { ...original, value: () => t.fail(`${name} ran on the main thread`) })
    t.teardown(() => {
      Object.defineProperty(owner, name, original)
      syncBuiltinESMExports()
    })
  }
  syncBuiltinESMExports()
  const { send } = usual.use()
  const packed = gzipSync(JSON.stringify(objectsOf(100, 'kitchen')))
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  for (const query of ['', '?strict=1']) {
    t.match(await send(packed, headers, query), { status: 200, body: { stored: 100 } })
  }
  const lines = Buffer.from(JSON.stringify(objectsOf(100, 'kitchen')).slice(1, -1).replaceAll('},{', '}\n{'))
  const ndjson = { 'content-type': 'application/x-ndjson', 'content-encoding': 'zstd' }
  t.match(await send(zstdCompressSync(lines), ndjson), { status: 200, body: { stored: 100 } })
})

t.test('a device or a key with the scope ingest may write, each its devices', async t => {
  const { send, url } = usual.use()
  const line = (device: string) => `${header}2026-01-01T00:00:00Z,${device},1,2,1000\n`
  const noCredential = { 'x-api-key': '' }
  const as = (authorization: string) => ({ 'x-api-key': '', authorization })
  async function asks(headers: Record<string, string>, device = 'kitchen') {
    const { status, headers: answered, body } = await send(line(device), headers)
    const [reject] = (body['rejects'] as { code: string }[] | undefined) ?? []
    return { status, text: body['status'], stored: body['stored'], code: reject?.code, headers: answered }
  }
  t.match(await asks(noCredential), { status: 401, text: 'unauthorized' })
  t.match((await asks(noCredential)).headers.get('www-authenticate'), /^Basic realm="logger"/)
  t.match(await asks({ 'x-api-key': await keyOf(owner, ['read', 'stations']) }), { status: 403, text: 'forbidden' })
  t.match(await asks({ 'x-api-key': key }), { status: 200, stored: 1 })
  t.match(await asks(as(`Bearer ${key}`)), { status: 200, stored: 1 })
  t.match(await asks({ 'x-api-key': key }, 'foreign'), { status: 200, stored: 0, code: 'DEVICE_FORBIDDEN' })
  const device = as(basic('kitchen', passwords.kitchen))
  t.match(await asks(device), { status: 200, stored: 1 })
  t.match(await asks(device, 'porch'), { status: 200, stored: 0, code: 'DEVICE_MISMATCH' })
  t.match(await (await fetch(`${url}/api/log/batch`)).json(), { status: 'method not allowed' })
  t.match(await send('x', { 'content-type': 'text/plain' }), {
    status: 415,
    body: { detail: /send application\/json/ },
  })
  t.match(await send('x', { 'content-encoding': 'br' }), { status: 415, body: { detail: /gzip, zstd/ } })
})

t.test('only a key needs device names in its readings', async t => {
  const { send, stored } = usual.use()
  const body = JSON.stringify(objectsOf(3))
  const json = { 'content-type': 'application/json' }
  const own = await send(body, { ...json, 'x-api-key': '', authorization: basic('porch', passwords.porch) })
  t.match(own.body, { status: 'success', stored: 3, rejected: 0 })
  t.match(stored, Array(3).fill({ device: devices.get('porch')?.number }))
  t.not((await devices.details('porch'))?.last_seen, null)
  stored.length = 0
  const reject = { index: 0, code: 'READING_INVALID', reason: 'device is required' }
  t.match((await send(body, json)).body, { stored: 0, rejected: 3, rejects: [reject] })
  t.strictSame(stored, [])
})

t.test('a key with the permission adds missing devices', async t => {
  const { send, stored } = usual.use()
  const maker = { 'x-api-key': await keyOf(other, ['ingest'], true) }
  const body = ['new-1', 'new-2', 'kitchen', 'a/b'].map(name => csvOf(1, name).slice(header.length)).join('')
  const reason = 'no new device can have this name: it must not contain ":", "/", "+" or "#"'
  const rejects = [
    { line: 4, code: 'DEVICE_FORBIDDEN' },
    { line: 5, code: 'NAME_INVALID', reason },
  ]
  t.match(await send(header + body, maker), { status: 200, body: { stored: 2, rejected: 2, rejects } })
  t.equal(devices.get('new-1')?.owner, other)
  t.match(stored, [{ device: devices.get('new-1')?.number }, { device: devices.get('new-2')?.number }])
  t.equal(stored.length, 2)
})

t.test('each reject has its place and its reason, the first thousand of them', async t => {
  const { send, counts } = usual.use()
  const [first, second] = objectsOf(2, 'kitchen')
  const elements = [first, { ...second, temperature: 'warm' }, 7, { ...second, timestamp: undefined }, second]
  const rejects = [
    { index: 1, device: 'kitchen', code: 'READING_INVALID', reason: 'temperature must be a number or null' },
    { index: 2, code: 'LINE_MALFORMED', reason: 'is not a JSON object' },
    { index: 3, device: 'kitchen', code: 'READING_INVALID', reason: 'timestamp is required' },
  ]
  t.match(await send(JSON.stringify(elements), { 'content-type': 'application/json' }), {
    status: 200,
    body: { status: 'success', stored: 2, rejected: 3, rejects },
  })
  const { body } = await send(`${header}${'x\n'.repeat(1500)}`)
  t.match(body, { stored: 0, rejected: 1500, rejects_truncated: true })
  t.equal((body['rejects'] as unknown[]).length, 1000)
  t.match(await send(`note,${header}x,${csvOf(1, 'kitchen').slice(header.length)}`), {
    body: { stored: 1, ignored: ['note'] },
  })
  t.match(await send(`${csvOf(2, 'kitchen')}x\n`, {}, '?strict=1'), { body: { stored: 0 } })
  t.strictSame(counts, [
    ['batch', 2, 3],
    ['batch', 0, 1500],
    ['batch', 1, 0],
    ['batch', 0, 1],
  ])
})

t.test('strict is one of four words', async t => {
  const { send } = usual.use()
  const refused = { status: 400, body: { detail: 'strict must be one of 0, 1, false, true' } }
  for (const word of ['', 'yes', 'TRUE', '1&strict=1']) t.match(await send('', {}, `?strict=${word}`), refused, word)
  for (const word of ['0', 'false', 'true'])
    t.match(await send(csvOf(1, 'kitchen'), {}, `?strict=${word}`), { status: 200 })
})

t.test('an unreadable body is a 400 in the shape of the logger API', async t => {
  const { send, stored } = usual.use()
  const json = { 'content-type': 'application/json' }
  const refuses = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>, answer: object) => {
    for (const query of ['', '?strict=1']) t.match(await send(body, headers, query), { status: 400, body: answer })
  }
  await refuses('{"device":"kitchen"}', json, { status: 'invalid json', detail: 'the body is not a JSON array' })
  for (const text of ['', '[', '[{}', '[{},', '[{}]x', '[,{}]', '[{},]', 'null', '[{}] []']) {
    await refuses(text, json, { status: 'invalid json', stored: 0 })
  }
  await refuses('[ \n ]', json, { status: 'no readings' })
  await refuses(header, {}, { status: 'no readings' })
  await refuses('a,b\n1,2\n', {}, { status: 'invalid payload', detail: /lacks timestamp/ })
  const cut = gzipSync(csvOf(9, 'kitchen')).subarray(0, 60)
  await refuses(cut, { 'content-encoding': 'gzip' }, { status: 'broken body' })
  t.strictSame(stored, [])
  const torn = await send('[{"device":"kitchen\n"},{"a":[1}]},3]', json)
  t.match(torn, { status: 200, body: { stored: 0, rejected: 3 } }, 'a line feed within a text is no JSON')
})

t.test('a body above the limit is a 413, compressed or not', async t => {
  const bodyBytesMax = 99_999
  const { url, send, stored } = (await startRoute(t, { bodyBytesMax })).use()
  const fits = csvOf(2000, 'kitchen').slice(0, bodyBytesMax)
  const whole = fits.slice(0, fits.lastIndexOf('\n') + 1).padEnd(bodyBytesMax, '\n')
  t.match(await send(whole), { status: 200, body: { rejected: 0 } })
  t.match(await send(`${whole}\n`), { status: 413, body: { status: 'payload too large' } })
  t.match(await send(gzipSync(whole), { 'content-encoding': 'gzip' }), { status: 200, body: { rejected: 0 } })
  const before = stored.length
  const answer = await send(gzipSync(`${whole}\n`), { 'content-encoding': 'gzip' })
  t.match(answer, { status: 413, body: { status: 'payload too large', stored: 0 } })
  t.equal(stored.length, before)
  const announced = await beginBody(url, 'x')
  await announced.ended
  t.match(announced.answer(), /^HTTP\/1\.1 413 /, 'one that says so is not read')
  const bomb = gzipSync(Buffer.alloc(20_000_000, '\n'))
  t.match(await send(bomb, { 'content-encoding': 'gzip' }), { status: 413 })
})

t.test('strict: all or nothing, also if the records are spooled to a file', async t => {
  const limits = { spoolMemoryBytesMax: 10_000 }
  const spooling = await startRoute(t, { bodyBytesMax: 200_000, limits })
  const { send, stored, spoolDirectory, setOutcome } = spooling.use()
  const body = csvOf(2_000, 'kitchen')
  const strict = '?strict=1'
  const rejects = [
    { line: 2_002, code: 'DEVICE_UNKNOWN' },
    { line: 2_003, code: 'LINE_MALFORMED' },
  ]
  t.match(await send(`${body}2026-01-01T00:00:00Z,nothing,1,2,1000\nx\n`, {}, strict), {
    status: 400,
    body: { status: 'readings rejected', stored: 0, rejected: 2, rejects },
  })
  t.strictSame(stored, [])
  t.match(await send(gzipSync(body), { 'content-encoding': 'gzip' }, strict), { body: { stored: 2_000, rejected: 0 } })
  const times = stored.map(({ timeUs }) => timeUs)
  const expected = Array.from({ length: 2_000 }, (_, index) => (startMs + index * 1000) * 1000)
  t.strictSame(times, expected)
  stored.length = 0
  t.match(await send(csvOf(4_000, 'kitchen'), {}, strict), { status: 413, body: { stored: 0 } })
  setOutcome('closing')
  t.match(await send(body, {}, strict), { status: 503, body: { status: 'shutting down', stored: 0 } })
  setOutcome('full')
  t.match(await send(body, {}, strict), { status: 503, body: { status: 'storage full', stored: 0 } })
  t.strictSame(stored, [])
  t.strictSame(readdirSync(spoolDirectory), [], 'no file is left')
})

t.test('a batch is stored as a whole under its idempotency key', async t => {
  const { send, stored, setOutcome, url } = usual.use()
  const json = { 'content-type': 'application/json' }
  const sendKeyed = (body: string | Uint8Array<ArrayBuffer>, name: string, headers: object = {}, query = '') =>
    send(body, { 'idempotency-key': name, ...headers }, query)
  const body = csvOf(3, 'kitchen')
  const good = { status: 200, body: { status: 'success', stored: 3, rejected: 0 } }
  const reused = { status: 422, body: { status: 'idempotency key belongs to another request', stored: 0 } }
  t.match(await sendKeyed(body, '"one"'), good)
  const packed = await sendKeyed(gzipSync(body), 'one', { 'content-encoding': 'gzip' })
  t.match(packed, good, 'with another coding it is the same')
  t.match(await sendKeyed(body, 'one', {}, '?strict=1'), good)
  t.equal(stored.length, 3, 'it is appended once')
  t.match(await sendKeyed(csvOf(4, 'kitchen'), 'one'), reused)
  t.match(await sendKeyed(JSON.stringify(objectsOf(3, 'kitchen')), 'one', json), reused)
  const other = await sendKeyed(body, 'one', { 'x-api-key': await keyOf(owner) })
  t.match(other, good, 'another credential has its own keys')
  t.equal(stored.length, 6)
  stored.length = 0
  const rejected = `${body}x\n`
  t.match(await sendKeyed(rejected, 'two', {}, '?strict=1'), { status: 400, body: { stored: 0, rejected: 1 } })
  const partly = { status: 200, body: { stored: 3, rejected: 1, rejects: [{ line: 5 }] } }
  t.match(await sendKeyed(rejected, 'two'), partly, 'a refused body has no key')
  t.match(await sendKeyed(rejected, 'two'), partly)
  const { socket, ended } = await beginBody(url, body, ['idempotency-key: three'])
  socket.destroy()
  await ended
  const whole = await sendKeyed(csvOf(1, 'kitchen'), 'three')
  t.match(whole, { status: 200, body: { stored: 1 } }, 'nor has one that broke off')
  setOutcome('full')
  t.match(await sendKeyed(csvOf(2, 'kitchen'), 'four'), { status: 503 })
  setOutcome('stored')
  t.match(await sendKeyed(csvOf(2, 'kitchen'), 'four'), { status: 200, body: { stored: 2 } })
  t.equal(stored.length, 9)
  const both = await Promise.all([sendKeyed(body, 'five'), sendKeyed(csvOf(2, 'kitchen'), 'five')])
  t.strictSame(both.map(({ status }) => status).sort(), [200, 422])
})

t.test('an invalid or unclaimable idempotency key is rejected in the shape of the logger API', async t => {
  const { send, stored } = usual.use()
  const keyed = (idempotencyKey: string) => send(csvOf(1, 'kitchen'), { 'idempotency-key': idempotencyKey })
  t.match(await keyed('"'), { status: 400, body: { status: 'invalid idempotency key', detail: /^must be one string/ } })
  t.match(await keyed('a'.repeat(256)), { status: 400, body: { detail: /at most 255/ } })
  const own = { 'x-api-key': await keyOf(owner) }
  const few = async (name: string) => await send(csvOf(1, 'kitchen'), { ...own, 'idempotency-key': name })
  for (let index = 0; index < 10; index++) t.match(await few(String(index)), { status: 200 })
  const { status, headers, body } = await few('10')
  t.match({ status, body }, { status: 429, body: { status: 'too many idempotency keys', stored: 0 } })
  t.equal(headers.get('retry-after'), '600')
  t.equal(stored.length, 10)
  const away = usual.use({ claim: async () => ({ kind: 'database away' }) })
  const refused = await away.send(csvOf(1, 'kitchen'), { 'idempotency-key': 'a' })
  t.match(refused, { status: 503, body: { status: 'database unavailable', stored: 0 } })
  t.equal(refused.headers.get('retry-after'), '5')
  t.match(await away.send(csvOf(1, 'kitchen')), { status: 200, body: { stored: 1 } })
  t.equal(away.stored.length, 1)
})

t.test('only the credential that exceeds its share waits', async t => {
  let nowMs = 0
  const fairShare = createFairShare({ perSecond: 10, burst: 50 }, () => nowMs)
  const { send, stored } = usual.use({ fairShare })
  /** The minimal wait, since each piece of a body is rounded up. */
  const waits = async (secondsMin: number, message: string) => {
    const { status, headers, body } = await send(csvOf(1, 'kitchen'))
    t.match({ status, body }, { status: 429, body: { status: 'too many readings' } }, message)
    const seconds = Number(headers.get('retry-after'))
    t.ok(seconds >= secondsMin && seconds < secondsMin + 5, `${message}: ${seconds} s`)
    nowMs += seconds * 1000
  }
  t.match(await send(csvOf(100, 'kitchen')), { status: 200, body: { stored: 100 } }, 'one that has begun is taken')
  t.match(await send(csvOf(1, 'kitchen'), { 'x-api-key': await keyOf(owner) }), { status: 200 })
  await waits(6, 'the header of the file is a line, too')
  t.match(await send(`${header}${'x\n'.repeat(100)}`, {}, '?strict=1'), { status: 400 })
  await waits(10, 'what is rejected counts')
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  t.match(await send(gzipSync(`[${' '.repeat(1_000_000)}`), headers), { status: 400 })
  await waits(389, 'bytes without readings count, as long as they are without their compression')
  t.equal(stored.length, 101)
})

t.test('a full journal stops a batch before single readings', async t => {
  const full = { ...ingest.status(), journal: { ...ingest.status().journal, bytes: 740, bytesMax: 1000 } }
  const { send, stored } = usual.use({ status: () => full })
  for (const query of ['', '?strict=1']) {
    t.match(await send(csvOf(1, 'kitchen'), {}, query), { status: 503, body: { status: 'storage full', stored: 0 } })
  }
  t.strictSame(stored, [])
  const journal = usual.use({ outcome: 'full' })
  const { status, headers, body } = await journal.send(csvOf(10, 'kitchen'))
  t.match({ status, body }, { status: 503, body: { status: 'storage full', stored: 0 } })
  t.equal(headers.get('retry-after'), '5')
})

/** A body that has begun and does not end. */
async function beginBody(url: string, text: string, more: string[] = []) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let answer = ''
  socket.on('data', (piece: Buffer) => (answer += piece.toString()))
  socket.on('error', () => undefined)
  const head = [
    'POST /api/log/batch HTTP/1.1',
    'host: x',
    `x-api-key: ${key}`,
    'content-type: text/csv',
    'content-length: 100000',
    ...more,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${text}`)
  await once(socket, 'connect')
  return { socket, answer: () => answer, ended: once(socket, 'close') }
}

/** A body whose parts are stored as they arrive. The parts end at lines. */
async function openBody(headers: OutgoingHttpHeaders, query = '', changes: Changes = {}) {
  const lookedUp = new Set<string>()
  const { url, stored } = inParts.use({ onLookUp: name => void lookedUp.add(name), ...changes })
  const path = `${url}/api/log/batch${query}`
  const sent = request(path, { method: 'POST', headers: { 'content-type': 'text/csv', ...headers } })
  const answered = once(sent, 'response').then(async ([response]) => {
    const { statusCode: status, headers } = response as IncomingMessage
    return { status, headers, body: (await json(response)) as Record<string, unknown> }
  })
  sent.write(header)
  return {
    stored,
    answered,
    sent,
    lookedUp,
    /** A thousand readings, and blank lines up to more than a chunk, so that the first chunk has all readings. */
    async send(device: string) {
      const lines = csvOf(1000, device).slice(header.length).padEnd(100_000, '\n')
      await new Promise(resolve => sent.write(lines, resolve))
    },
  }
}

const asKey = (text: string) => ({ 'x-api-key': text })

for (const query of ['', '?strict=1']) {
  const how = query === '' ? 'in parts' : 'as a whole'
  t.test(`readings are not stored ${how} after the credential has ended while a body is open`, async t => {
    const text = await keyOf(owner)
    const { keyId = 0 } = (await people.keys.find(text)) ?? {}
    const { send, sent, stored, answered, lookedUp } = await openBody(asKey(text), query)
    await send('kitchen')
    await waitFor('a part has come', () => (query === '' ? stored.length > 0 : lookedUp.has('kitchen')))
    await people.keys.revokeAny(keyId, 'test')
    const before = stored.length
    for (let part = 0; part < 3; part++) await send('kitchen')
    sent.end()
    const { status, headers, body } = await answered
    const refusal = { status: 'unauthorized', stored: before, detail: /no longer valid/ }
    t.match({ status, body }, { status: 401, body: refusal })
    t.match(headers['www-authenticate'], /^Basic realm="logger"/)
    t.equal(stored.length, before)
  })
}

t.test('a key that cannot be looked up while a body is open stores nothing more', async t => {
  let isAway = false
  const findPrincipal: BatchOptions['findPrincipal'] = async () => {
    if (isAway) throw Object.assign(new Error('away'), { syscall: 'connect' })
    return await people.keys.find(key)
  }
  const { send, sent, stored, answered } = await openBody(asKey(key), '', { findPrincipal })
  await send('kitchen')
  await waitFor('a part is stored', () => stored.length > 0)
  isAway = true
  const before = stored.length
  await send('kitchen')
  sent.end()
  t.match(await answered, { status: 503, body: { status: 'try again later', stored: before } })
  t.equal(stored.length, before)
})

t.test('readings of a device that gets another owner while a body is open are not stored', async t => {
  for (const query of ['', '?strict=1']) {
    const name = `changed${query}`
    await addDevice(name, { owner })
    const { send, sent, stored, answered, lookedUp } = await openBody(asKey(key), query)
    await send(name)
    await waitFor('a part has come', () => (query === '' ? stored.length > 0 : lookedUp.has(name)))
    await devices.change(name, { owner: other }, 'test')
    const before = stored.length
    // Earlier lines are not resolved again unless further lines of the device follow.
    if (query === '') await send(name)
    await send('kitchen')
    sent.end()
    const { status, body } = await answered
    if (query === '') {
      t.match({ status, body }, { status: 200, body: { stored: stored.length } })
      t.ok(Number(body['rejected']) > 0)
      t.equal(stored.filter(({ device }) => device === stored[0]?.device).length, before)
    } else {
      t.match({ status, body }, { status: 503, body: { status: 'try again later', stored: 0 } })
      t.strictSame(stored, [])
    }
  }
})

t.test('readings that expire while a body is collected are not stored', async t => {
  const keyed = { ...asKey(key), 'idempotency-key': 'expiring' }
  const cases: [string, OutgoingHttpHeaders, object][] = [
    ['?strict=1', asKey(key), { status: 400, body: { status: 'readings rejected' } }],
    ['?strict=1', keyed, { status: 400, body: { status: 'readings rejected' } }],
    ['', keyed, { status: 503, body: { status: 'try again later' } }],
  ]
  for (const [query, headers, expected] of cases) {
    let fromMs = startMs
    const { send, sent, stored, answered, lookedUp } = await openBody(headers, query, { earliestMs: () => fromMs })
    await send('kitchen')
    await waitFor('it has come', () => lookedUp.has('kitchen'))
    fromMs += 86_400_000
    sent.end('2026-01-03T00:00:00Z,kitchen,1,2,1000\n')
    const answer = await answered
    t.match(answer, expected, `${query} ${Object.keys(headers)}`)
    t.match(answer.body, { stored: 0, detail: /must not be before 2026-01-02: older readings have expired/ })
    t.strictSame(stored, [])
  }
})

t.test('readings that expire between the check of their lines and their records are rejects', async t => {
  let isOver = false
  const earliestMs = () => (isOver ? startMs + 1000 * 1000 : startMs)
  const { send, stored } = usual.use({ earliestMs, onLookUp: () => (isOver = true) })
  const { status, body } = await send(csvOf(2000, 'kitchen'))
  t.match({ status, body }, { status: 200, body: { stored: 1000, rejected: 1000 } })
  const reason = 'timestamp must not be before 2026-01-01: older readings have expired'
  const [first] = body['rejects'] as object[]
  t.strictSame(first, { line: 2, device: 'kitchen', code: 'READING_INVALID', reason })
  t.equal(stored.length, 1000)
})

t.test('open bodies of a credential are limited until they end or abort', async t => {
  const { send, url } = (await startRoute(t, { limits: { silenceMsMax: 2000, sessionsPerWriterMax: 1 } })).use()
  const untilStatus = async (status: number) => {
    for (;;) {
      const answer = await send(csvOf(1, 'kitchen'))
      if (answer.status === status) return answer
    }
  }
  const slow = await beginBody(url, csvOf(2, 'kitchen'))
  const busy = await untilStatus(429)
  t.match(busy, { body: { status: 'too many batches' } })
  t.equal(busy.headers.get('retry-after'), '5')
  await slow.ended
  t.match(slow.answer(), /^HTTP\/1\.1 408 .*"status":"timeout"/s)
  t.match(await send(csvOf(1, 'kitchen')), { status: 200, body: { stored: 1 } })
  for (let client = 0; client < 3; client++) {
    const { socket, ended } = await beginBody(url, csvOf(2, 'kitchen'))
    socket.destroy()
    await ended
  }
  t.match(await untilStatus(200), { body: { stored: 1 } })
})
