/** `POST /import` over a real socket: codings, aborted bodies, a full journal, a stop in the middle. */

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { importReadingsGroup } from '../../api/admin/imports.ts'
import type { FindPrincipal } from '../../api/credentials/find-principal.ts'
import type { Device } from '../../auth/devices/device.ts'
import { ChangeInDoubt } from '../../auth/record-cache.ts'
import { defaultRanges } from '../../ingest/reading.ts'
import { everybody, serveEverybody } from '../support/admin-scope.ts'
import { waitFor } from '../support/wait-for.ts'
import { noMetrics } from './no-metrics.ts'

const header = 'timestamp,device,temperature,humidity,pressure\n'
const alamosa = readFileSync(new URL('../../cli/demo/data/alamosa-minutes.csv', import.meta.url))

const readings = alamosa.subarray(header.length).toString()
const ndjson = { 'content-type': 'application/x-ndjson' }

type Append = Parameters<typeof importReadingsGroup>[0]['ingest']['append']

interface Report {
  accepted: number
  rejected: number
  end: string
}

async function startRoute(t: Test, append: Append = async () => 'stored', findPrincipal = everybody) {
  /** The details of the audit entries. */
  const reports: Report[] = []
  const counts: [string, number, number][] = []
  const group = importReadingsGroup({
    ingest: { append, clockUs: () => Date.now() * 1000 },
    devices: { get: name => (name === 'alamosa' ? ({ number: 1, symbol: 'alamosa-1' } as Device) : undefined) },
    bulkFields: noMetrics,
    ranges: defaultRanges,
    aheadMsMax: 300_000,
    meter: { taken: ({ way }, stored, { rejected }) => void counts.push([way, stored, rejected]), refused() {} },
    audit: async ({ details }) => void reports.push(details as unknown as Report),
    findPrincipal,
  })
  const app = fastify()
  app.register(async scope => serveEverybody(scope, group))
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const send = async (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
    const all = { 'content-type': 'text/csv', ...headers }
    const init = { method: 'POST', body, headers: all, duplex: 'half' } as RequestInit
    const response = await fetch(`${url}/import`, init)
    return { response, status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  /** An open body with so many days of readings. */
  const begin = (days: number) => {
    const sent = httpRequest(`${url}/import`, { method: 'POST', headers: { 'content-type': 'text/csv' } })
    sent.on('error', () => undefined)
    sent.write(header + readings.repeat(days))
    return { sent, answered: once(sent, 'response') }
  }
  return { app, send, begin, reports, counts }
}

/** Counts the pieces appended to the journal. */
function counting() {
  const state = { stored: 0 }
  const append: Append = async () => {
    state.stored++
    return 'stored'
  }
  return { state, append }
}

t.test('a body may be plain or compressed', async t => {
  const { send, reports } = await startRoute(t)
  const full = { accepted: 1440, rejected: 0, rejects: [], rejects_truncated: false, ignored_columns: [] }
  t.match(await send(alamosa), { status: 200, body: full })
  t.match(await send(alamosa, { 'content-type': 'text/CSV; charset=utf-8' }), { status: 200, body: full })
  t.match(await send(gzipSync(alamosa), { 'content-encoding': 'gzip' }), { status: 200, body: full })
  t.match(await send(zstdCompressSync(alamosa), { 'content-encoding': 'zstd' }), { status: 200, body: full })
  const line = { timestamp: Date.now(), device: 'alamosa', temperature: 1, humidity: 2, pressure: null }
  t.match(await send(JSON.stringify(line), ndjson), { status: 200, body: { accepted: 1 } })
  t.equal(reports.length, 5)
})

t.test('an unknown coding or media type is rejected with the known ones', async t => {
  const { send } = await startRoute(t)
  const brotli = await send(alamosa, { 'content-encoding': 'br' })
  t.match(brotli, { status: 415, body: { title: 'unsupported content encoding' } })
  t.equal(brotli.response.headers.get('accept-encoding'), 'gzip, zstd')
  t.match(await send(gzipSync(gzipSync(alamosa)), { 'content-encoding': 'gzip, gzip' }), { status: 415 })
  t.match(await send('[]', { 'content-type': 'application/json' }), { status: 415 })
})

t.test('a line that replaces an earlier one of the body is counted as such', async t => {
  const { send } = await startRoute(t)
  const line = (second: number) => `2026-01-01T00:00:0${second}Z,alamosa,1,1,1000\n`
  t.match(await send(`${header}${line(0)}${line(1)}x\n${line(0)}2026-01-01 00:00:01 UTC,alamosa,2,1,1000\n`), {
    status: 200,
    body: { accepted: 2, replaced: 2, rejected: 1 },
  })
})

t.test('each rejected line has its reason', async t => {
  const { send, counts } = await startRoute(t)
  const lines = ['00Z,alamosa,1,1,1000', '00Z,attic,1,1,1000', 'x', '00Z,alamosa,999,,', '01Z,alamosa,999,1,1000']
  const body = lines.map(line => (line === 'x' ? 'x\n' : `2026-01-01T00:00:${line}\n`)).join('')
  const leftOut = { line: 6, device: 'alamosa', reason: /^temperature must .* values of the reading are stored/ }
  const rejects = [
    { line: 3, device: 'attic', code: 'DEVICE_UNKNOWN', reason: /no device/ },
    { line: 4, code: 'LINE_MALFORMED', reason: /1 cells/ },
    { line: 5, device: 'alamosa', code: 'READING_INVALID', reason: /temperature must be between/ },
  ]
  t.match(await send(header + body), {
    status: 200,
    body: { accepted: 2, rejected: 3, left_out: 1, left_out_lines: [leftOut], rejects },
  })
  t.strictSame(counts, [['import', 2, 3]])
})

t.test('an unreadable body, or one without a reading, is a 400 with the reason', async t => {
  const { send, reports } = await startRoute(t)
  const gzip = { 'content-encoding': 'gzip' }
  const half = gzipSync(alamosa).subarray(0, 8000)
  const cases: [body: string | Buffer<ArrayBuffer>, headers: Record<string, string>, title: string, detail: RegExp][] =
    [
      ['a,b\n1,2\n', {}, 'invalid header', /lacks timestamp/],
      [Buffer.from(alamosa), gzip, 'broken body', /incorrect header/],
      [Buffer.from(half), gzip, 'broken body', /unexpected end of file/],
      [Buffer.from(alamosa), { 'content-encoding': 'zstd' }, 'broken body', /./],
      ['', {}, 'unknown content', /it is empty/],
      ['', ndjson, 'unknown content', /it is empty/],
      ['[{"device":"alamosa"}]', ndjson, 'unknown content', /it is a JSON array; send one object a line/],
      [header, {}, 'no readings', /there is no line with a reading/],
    ]
  for (const [body, headers, title, detail] of cases) {
    const answer = await send(body, headers)
    t.match(answer, { status: 400, body: { title, detail, accepted: 0, rejected: 0 } }, `${title} ${detail}`)
  }
  t.strictSame(reports, [])
  const tabbed = `${header}2026-01-01T00:00:00Z,alamosa,1,1,1000\n`.replaceAll(',', '\t')
  t.match(await send(`\uFEFF${tabbed}`), { status: 200, body: { accepted: 1, rejected: 0 } })
})

t.test('a full journal is a 503 with the number of stored readings', async t => {
  let room = 1
  const { send, reports } = await startRoute(t, async () => (room-- > 0 ? 'stored' : 'full'))
  const { response, status, body } = await send(header + readings.repeat(40))
  t.equal(status, 503)
  t.equal(response.headers.get('retry-after'), '5')
  t.match(response.headers.get('content-type'), /^application\/problem\+json/)
  t.match(body, {
    title: 'storage full',
    detail: /the journal is full; \d+ readings of the lines up to \d+ are stored/,
  })
  t.equal(Number(body['lines_done']), Number(body['accepted']) + Number(body['replaced']) + 1)
  t.match(reports, [{ accepted: body['accepted'], end: 'STORAGE_FULL' }])
})

t.test('a client that disconnects in the middle leaves whole lines and frees its place', async t => {
  const { state, append } = counting()
  const { begin, reports } = await startRoute(t, append)
  for (let client = 0; client < 6; client++) {
    const { sent, answered } = begin(20)
    answered.catch(() => undefined)
    await waitFor('some of it is stored', () => state.stored > client)
    sent.destroy()
    await waitFor('its end is reported', () => reports.length > client)
  }
  t.ok(reports.every(({ accepted, rejected, end }) => accepted > 0 && rejected === 0 && end === 'BODY_BROKEN'))
})

t.test('an import whose credential ends stores nothing more, and reports the stored readings', async t => {
  const later = { status: 503, body: { title: 'database unavailable' } }
  const cases: [FindPrincipal, object][] = [
    [async () => undefined, { status: 401, body: { title: 'unauthorized', detail: /no longer valid/ } }],
    [async () => ({ kind: 'service' }), { status: 401 }],
    [async () => Promise.reject(Object.assign(new Error('away'), { syscall: 'connect' })), later],
    [async () => Promise.reject(new ChangeInDoubt('a test')), later],
  ]
  for (const [ended, expected] of cases) {
    let now: FindPrincipal = everybody
    const { state, append } = counting()
    const { begin, reports } = await startRoute(t, append, request => now(request))
    const { sent, answered } = begin(20)
    await waitFor('some of it is stored', () => state.stored > 0)
    now = ended
    const before = state.stored
    sent.end(readings.repeat(40))
    const [response] = (await answered) as [IncomingMessage]
    const body = (await json(response)) as { accepted: number }
    t.match({ status: response.statusCode, body }, expected)
    t.equal(state.stored, before)
    t.ok(body.accepted > 0)
    t.match(reports, [{ accepted: body.accepted }])
    if (response.statusCode === 401) t.equal(response.headers['www-authenticate'], 'Bearer realm="admin"')
  }
})

t.test('a stop answers the import in progress', async t => {
  const { state, append } = counting()
  const { app, begin } = await startRoute(t, append)
  const { answered } = begin(20)
  await waitFor('some of it is stored', () => state.stored > 0)
  await app.close()
  const [response] = (await answered) as [IncomingMessage]
  t.equal(response.statusCode, 503)
  t.equal(response.headers['retry-after'], '5')
})
