/** The reads of the logger API over HTTP, of devices and of ranges, with a real QuestDB. */

import { once } from 'node:events'
import http from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import { parquetReadObjects } from 'hyparquet'
import t from 'tap'
import { registerGroup } from '../../../api/http/route-family.ts'
import { loggerRules } from '../../../api/http/status-operations.ts'
import { readingsGroup } from '../../../api/read/readings.ts'
import { readsGroup } from '../../../api/read/reads.ts'
import { unsetSettings } from '../../../auth/devices/device.ts'
import { createReadingsExport } from '../../../query/export/readings-export.ts'
import { createReplicas } from '../../../query/replicas.ts'
import { metrics } from '../../../store/tables.ts'
import { makeDevice, queryAt } from '../../query/query-at.ts'
import { silentLog } from '../../support/databases.ts'
import { madeMetrics } from '../../support/made-metrics.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { openGate } from '../../support/pg-gate.ts'
import { startQuestdb } from '../../support/questdb.ts'
import { readClient, refusing } from './reading-client.ts'

const questdb = await startQuestdb(t)
const gate = await openGate(t, questdb.address.pg)
const query = queryAt(t, gate.address, '2025-06-01T12:00:30Z')

const names = ['Kitchen', 'Attic', 'a,b', 'Küche/Nord & "Süd" 100%', 'ж'.repeat(64)]
const devices = [
  ...names.map(name => ({ ...unsetSettings, ...makeDevice(name, 'upstairs'), location_desc: `where ${name} is` })),
  { ...unsetSettings, ...makeDevice('Retired'), log_switch: false },
]
const [kitchen] = devices
if (kitchen === undefined) throw new Error('devices were made')

const minuteMs = 60_000
const count = 15_000
const startMs = Date.UTC(2026, 0, 10, 0, 0, 30)
const endMs = startMs + count * minuteMs
const name = 'Küche, "N"'
const ranged = { ...unsetSettings, ...makeDevice(name) }
const path = `/readings/${encodeURIComponent(name)}`

const app = fastify({ routerOptions: { ignoreTrailingSlash: true, maxParamLength: 768 } })
app.register(async scope => registerGroup(scope, readsGroup(openReadsOf(devices), { query }), loggerRules), {
  prefix: '/api',
})
const rangeReads = createReadingsExport({
  replicas: createReplicas([{ address: questdb.address }]),
  log: silentLog,
  limits: { timeoutMs: 600_000 },
})
t.teardown(() => rangeReads.close())
const rangeOptions = {
  rangeReads,
  metrics: madeMetrics(),
  nowMs: Date.now,
  expiredBeforeUs: () => Number.NEGATIVE_INFINITY,
  log: silentLog,
}
const ranges = readingsGroup(openReadsOf([...devices, ranged]), rangeOptions)
app.register(async scope => registerGroup(scope, ranges, loggerRules), { prefix: '/api' })
await app.listen({ port: 0, host: '127.0.0.1' })
t.teardown(() => app.close())
const { port } = app.server.address() as AddressInfo

const readings = Array.from({ length: 60 }, (_, i) => {
  const time = new Date(Date.parse('2025-06-01T11:00:30Z') + i * 60_000).toISOString()
  return { symbol: kitchen.symbol, time, temperature: i / 4, humidity: 50 - i, pressure: 1000 + i }
})
await questdb.write(readings)
const empty = { temperature: [], humidity: [], pressure: [] }

const ask = readClient(port)
const refuses = refusing(ask)

type Row = { ts: number } & Partial<Record<(typeof metrics)[number], number>>
/** Every other row lacks humidity, and few have the battery's voltage. */
const rows = Array.from({ length: count }, (_, i): Row => {
  const ts = startMs + i * minuteMs
  const temperature = 20 + Math.sin(i / 1440) * (i % 7)
  const more = { ...(i % 2 === 0 ? { humidity: i % 101 } : {}), pressure: 1000 + i / 3000 }
  return { ts, temperature, ...more, ...(i % 1000 === 0 ? { battery_voltage: 3 } : {}) }
})

const header = `timestamp,device,${metrics.join()}`
const quotedName = `"${name.replaceAll('"', '""')}"`
await questdb.write(rows.map(({ ts, ...row }) => ({ symbol: ranged.symbol, time: new Date(ts).toISOString(), ...row })))

t.test('the latest readings of all active devices', async t => {
  const answer = await ask('/latest/all/24')
  t.equal(answer.status, 200)
  t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
  const points = (value: (i: number) => number) => {
    return readings.map(({ time }, i) => ({ d: time.replace(/T11/, ' 13').slice(0, 16), v: value(i) }))
  }
  t.strictSame(answer.json(), {
    cached_at: '2025-06-01 14:00',
    data: names.map((device, i) => {
      const [humidity, temperature] = i === 0 ? [points(j => 50 - j), points(j => j / 4)] : [[], []]
      return { device, device_loc: 'upstairs', humidity, temperature }
    }),
  })
})

t.test('an hour other than a whole number from 1 to 72 is rejected', async t => {
  for (const hour of ['0', '73', '1.5', '1e1', '٣']) {
    await refuses(t, `/latest/all/${encodeURI(hour)}`, 400, /1 to 72/)
  }
  for (const hour of ['1', '72']) t.equal((await ask(`/latest/all/${hour}`)).status, 200, hour)
})

t.test('the latest readings can be limited to named devices', async t => {
  const listed = async (search: string) => {
    const { data } = (await ask(`/latest/all/1?${search}`)).json() as { data: { device: string }[] }
    return data.map(entry => entry.device)
  }
  t.strictSame(await listed('devices=Kitchen,Attic'), ['Attic', 'Kitchen'])
  t.strictSame(await listed('devices=Kitchen%2CAttic%2CKitchen'), ['Attic', 'Kitchen'])
  t.strictSame(await listed('devices=a%2Cb'), ['a,b'], 'a name may have a comma')
  t.strictSame(await listed('devices=a%2Cb&devices=Attic'), ['Attic', 'a,b'])
  t.strictSame(await listed('devices=Attic,Retired'), ['Attic'], 'one that does not log is known, but not listed')
  t.strictSame(await listed(`devices=${encodeURIComponent(names[3] ?? '')}`), names.slice(3, 4))
  await refuses(t, '/latest/all/1?devices=Attic,Nobody', 404, /^device unknown$/)
  await refuses(t, '/latest/all/1?devices=', 400, /1 to 500/)
  await refuses(t, '/latest/all/1?devices=Attic,', 400, /1 to 500/)
  const many = Array.from({ length: 501 }, (_, i) => i).join()
  await refuses(t, `/latest/all/1?devices=${many}`, 400, /1 to 500/)
})

t.test('a day of a device has its readings', async t => {
  const day = (await ask('/data/day/Kitchen/2025-06-01')).json() as typeof empty
  t.strictSame([day.temperature.length, day.humidity.length, day.pressure.length], [60, 60, 60])
  t.strictSame(day.pressure[59], { d: '2025-06-01 13:59', v: 1059 })
  t.strictSame((await ask('/data/day/Kitchen/2025-05-31')).json(), empty)
  t.strictSame((await ask('/data/day/Kitchen/2030-01-01')).json(), empty)
  t.strictSame((await ask('/data/day/Retired/2025-05-31')).json(), empty)
  await refuses(t, '/data/day/Kitchen/2026-02-30', 400, /date/)
  await refuses(t, '/data/day/Nobody/2025-06-01', 404, /^device unknown$/)
})

t.test('a device has its four fields', async t => {
  const fields = { location_short: 'upstairs', location_desc: 'where Kitchen is', log_switch: true, battery: false }
  t.strictSame((await ask('/device/Kitchen')).json(), fields)
  t.match((await ask('/device/Retired')).json(), { log_switch: false })
  await refuses(t, '/device/Nobody', 404, /^device unknown$/)
})

t.test('a name is found in any encoding of a path', async t => {
  for (const name of names) {
    const path = encodeURIComponent(name)
    t.match((await ask(`/device/${path}`)).json(), { location_desc: `where ${name} is` }, name)
    t.equal((await ask(`/data/day/${path}/2025-06-01`)).status, 200, name)
  }
})

t.test('a slash at the end changes nothing', async t => {
  for (const path of ['/latest/all/24', '/data/day/Kitchen/2025-06-01', '/device/Kitchen']) {
    t.same((await ask(`${path}/`)).bytes, (await ask(path)).bytes, path)
  }
})

t.test('HEAD returns the headers of GET, other methods 405 and Allow', async t => {
  for (const path of ['/latest/all/24', '/data/day/Kitchen/2025-06-01', '/device/Kitchen']) {
    const get = await ask(path, { 'accept-encoding': 'gzip' })
    const head = await ask(path, { 'accept-encoding': 'gzip' }, 'HEAD')
    const { date: _getDate, ...expected } = get.headers
    const { date: _headDate, ...headers } = head.headers
    t.strictSame([head.status, headers, head.bytes.length], [200, expected, 0], path)
    for (const method of ['POST', 'TRACE']) {
      const answer = await ask(path, { 'content-type': 'text/odd' }, method)
      t.strictSame([answer.status, answer.headers.allow], [405, 'GET, HEAD, OPTIONS'], `${method} ${path}`)
      t.strictSame(answer.json(), { status: 'method not allowed' })
    }
  }
})

t.test('pages of any origin may read', async t => {
  const get = await ask('/device/Kitchen', { origin: 'https://example.org' })
  t.equal(get.headers['access-control-allow-origin'], '*')
  t.match(get.headers['access-control-expose-headers'], /etag/)
  const headers = { origin: 'https://example.org', 'access-control-request-method': 'GET' }
  const preflight = await ask('/latest/all/24', headers, 'OPTIONS')
  t.equal(preflight.status, 204)
  t.equal(preflight.headers['access-control-allow-origin'], '*')
  t.match(preflight.headers['access-control-allow-methods'], /GET/)
  t.equal(preflight.headers['access-control-allow-headers'], '*')
})

t.test("a response has the client's preferred coding", async t => {
  const plain = await ask('/latest/all/24')
  const decoders = {
    gzip: gunzipSync,
    br: brotliDecompressSync,
    zstd: zstdDecompressSync,
    identity: (bytes: Buffer) => bytes,
  }
  const gives = async (header: string, form: keyof typeof decoders) => {
    const answer = await ask('/latest/all/24', { 'accept-encoding': header })
    t.equal(answer.headers['content-encoding'] ?? 'identity', form, header)
    t.equal(answer.headers['content-length'], String(answer.bytes.length), header)
    t.equal(answer.headers['vary'], 'accept-encoding')
    t.same(decoders[form](answer.bytes), plain.bytes, header)
  }
  await gives('gzip', 'gzip')
  await gives('br', 'br')
  await gives('zstd', 'zstd')
  await gives('zstd, br, gzip', 'gzip')
  await gives('gzip;q=0.5, br;q=0.8, zstd;q=0.2', 'br')
  await gives('gzip;q=0, *', 'br')
  await gives('GZIP', 'gzip')
  await gives('deflate', 'identity')
  await gives('identity', 'identity')
  await gives('identity;q=0.5, gzip;q=0.1', 'identity')
  await gives('gzip;q=0', 'identity')
  await gives('identity;q=0, *;q=0', 'identity')
  await gives('', 'identity')
  await gives(`br, ${'x'.repeat(300)}`, 'br')
})

t.test('a client with the current response gets 304', async t => {
  for (const path of ['/latest/all/24', '/data/day/Kitchen/2025-06-01', '/device/Kitchen']) {
    for (const coding of ['identity', 'gzip']) {
      const headers = { 'accept-encoding': coding }
      const first = await ask(path, headers)
      const etag = first.headers.etag ?? ''
      t.match(etag, /^"[\w-]+"$/)
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const answer = await ask(path, { ...headers, 'if-none-match': known })
        t.strictSame([answer.status, answer.bytes.length, answer.headers.etag], [304, 0, etag], `${path} ${known}`)
        t.equal(answer.headers['cache-control'], first.headers['cache-control'])
        t.equal(answer.headers['vary'], 'accept-encoding')
        t.equal(answer.headers['content-length'], undefined)
      }
      t.equal((await ask(path, { ...headers, 'if-none-match': '"other"' })).status, 200)
    }
  }
  const tags = ['identity', 'gzip', 'br'].map(async coding => {
    return (await ask('/latest/all/24', { 'accept-encoding': coding })).headers.etag
  })
  t.equal(new Set(await Promise.all(tags)).size, 3, 'unlike bytes have unlike tags')
})

t.test('every response has its cache lifetime', async t => {
  const kept = async (path: string) => (await ask(path)).headers['cache-control']
  t.equal(await kept('/latest/all/24'), 'public, max-age=60')
  query.clock.advance(20_500)
  t.equal(await kept('/latest/all/24'), 'public, max-age=39')
  query.clock.advance(40_000)
  t.equal(await kept('/latest/all/24'), 'no-cache', 'the next one is being built')
  t.equal(await kept('/data/day/Kitchen/2025-06-01'), 'public, max-age=5')
  t.equal(await kept('/data/day/Kitchen/2025-05-31'), 'public, max-age=60')
  t.equal(await kept('/device/Kitchen'), 'public, max-age=10')
})

t.test('a client of HTTP/1.0 is served, with a length', async t => {
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/latest/all/24 HTTP/1.0\r\n\r\n')
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 200/)
  t.match(head.toLowerCase(), `content-length: ${Buffer.byteLength(body)}`)
  t.notMatch(head.toLowerCase(), 'transfer-encoding')
})

t.test('while QuestDB is unavailable a new query gets 503, a known one its old response', async t => {
  await ask('/data/day/Kitchen/2025-06-01')
  await ask('/latest/all/24')
  await gate.shut()
  query.clock.advance(10 * 60_000)
  query.revisions.set(kitchen.number, 1)
  for (const path of ['/latest/all/11', '/data/day/Kitchen/2025-05-01']) {
    await refuses(t, path, 503, /^database unavailable$/)
    t.match((await ask(path)).headers['retry-after'], /^\d+$/)
  }
  for (const path of ['/latest/all/24', '/data/day/Kitchen/2025-06-01']) {
    const answer = await ask(path)
    t.strictSame([answer.status, answer.headers['cache-control']], [200, 'no-cache'], path)
  }
  t.equal((await ask('/device/Kitchen')).status, 200)
  await gate.open()
  t.equal((await ask('/latest/all/11')).status, 200)
})

t.test('while reads are open, operations of the original interface ignore unknown parameters', async t => {
  for (const query of ['device=Kitchen', 'a=Kitchen', 'x=1']) {
    const { data } = (await ask(`/latest/all/2?${query}`)).json() as { data: { device: string }[] }
    t.strictSame(
      data.map(({ device }) => device),
      names,
      query,
    )
    for (const path of ['/device/Kitchen', '/data/day/Kitchen/2025-06-01']) {
      t.equal((await ask(`${path}?${query}`)).status, 200, `${path} ${query}`)
    }
  }
})

t.test('a response that would be too large names a way to limit it', async t => {
  const small = queryAt(t, gate.address, '2025-06-01T12:00:30Z', { limits: { latestBytesMax: 100 } })
  const other = fastify()
  other.register(async scope => registerGroup(scope, readsGroup(openReadsOf(devices), { query: small }), loggerRules), {
    prefix: '/api',
  })
  t.teardown(() => other.close())
  const latest = await other.inject('/api/latest/all/24')
  t.strictSame([latest.statusCode, latest.headers['retry-after']], [413, undefined])
  t.match(latest.json(), { status: /\?devices=a,b/ })
  t.match((await other.inject('/api/data/day/Kitchen/2025-06-01')).json(), { status: /too many readings/ })
})

t.test('a thousand parameters are read, one more is rejected', async t => {
  t.equal((await ask(`/device/Kitchen?${'a&'.repeat(999)}`)).status, 200)
  await refuses(t, `/device/Kitchen?${'a&'.repeat(1_000)}`, 400, /at most 1000 parameters/)
})

const all = `start=${startMs}&end=${endMs}`
const get = async (search: string, headers = {}) => {
  const answer = await ask(`${path}?${search}`, headers)
  t.equal(answer.status, 200, answer.status === 200 ? search : answer.bytes.toString())
  return answer
}

async function parquetRows(file: Buffer): Promise<Record<string, unknown>[]> {
  const compressors = { ZSTD: (page: Uint8Array) => new Uint8Array(zstdDecompressSync(page)) }
  return await parquetReadObjects({ file: new Uint8Array(file).buffer, compressors })
}

/** Omits empty cells. */
const withoutNulls = (row: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(row).filter(([, cell]) => cell !== null))

function csvRows(text: string): Record<string, unknown>[] {
  const [head = '', ...table] = text.split('\r\n').slice(0, -1)
  const columns = head.split(',')
  return table.map(line => {
    const cells = line.replace(quotedName, 'name').split(',')
    const values = columns.map((column, i) => [column, cells[i] === '' ? null : Number(cells[i])])
    const { timestamp: _, device: __, ...row } = withoutNulls(Object.fromEntries(values))
    return { ts: Date.parse(cells[0] ?? ''), ...row }
  })
}

/** The first rows in each format. The array's remaining rows are compared at once. */
async function inEveryFormat(search: string): Promise<Record<string, unknown>[][]> {
  const json = (await get(search)).bytes
  const ndjson = (await get(`${search}&format=ndjson`)).bytes.toString()
  const csv = (await get(`${search}&format=csv`)).bytes.toString()
  const parquet = await parquetRows((await get(`${search}&format=parquet`)).bytes)
  return [
    JSON.parse(json.toString()),
    ndjson
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line)),
    csvRows(csv),
    parquet.map(({ timestamp, device, ...row }) => {
      if (device !== name) t.fail(`a row of ${device}`)
      const cells = Object.entries(row).map(([key, cell]) => [key, typeof cell === 'bigint' ? Number(cell) : cell])
      return { ts: (timestamp as Date).getTime(), ...withoutNulls(Object.fromEntries(cells)) }
    }),
  ]
}

t.test('every format has the same rows, oldest first', async t => {
  for (const [index, found] of (await inEveryFormat(all)).entries()) {
    t.equal(found.length, count)
    t.ok(JSON.stringify(found) === JSON.stringify(rows), `format ${index}`)
  }
  const part = `start=${new Date(startMs + minuteMs).toISOString()}&end=${startMs + 3 * minuteMs}`
  for (const found of await inEveryFormat(part)) t.strictSame(found, rows.slice(1, 3), 'the end is not included')
  for (const found of await inEveryFormat('start=0&end=5')) t.strictSame(found, [])
  t.strictSame(JSON.parse((await ask('/readings/Attic?start=0&end=1000')).bytes.toString()), [])
  const csv = (await get('start=0&end=5&format=csv')).bytes.toString()
  t.equal(csv, `${header}\r\n`, 'as an import takes it')
})

t.test('each format has its media type', async t => {
  const types = {
    json: 'application/json; charset=utf-8',
    ndjson: 'application/x-ndjson',
    csv: 'text/csv; charset=utf-8',
    parquet: 'application/vnd.apache.parquet',
  }
  for (const [format, type] of Object.entries(types)) {
    const answer = await get(`start=0&end=5&format=${format}`)
    const named =
      format === 'json'
        ? undefined
        : new RegExp(`^attachment; filename="[A-Za-z0-9.-]+_[\\dTZ-]+_[\\dTZ-]+\\.${format}"$`)
    t.match(answer.headers['content-disposition'] ?? '', named ?? /^$/)
    t.match(answer.headers, { 'content-type': type, vary: 'accept, accept-encoding', 'cache-control': 'no-cache' })
    const accepted = await get('start=0&end=5', { accept: type.replace('; charset=utf-8', '') })
    t.equal(accepted.headers['content-type'], type)
    const head = await ask(`${path}?start=0&end=5&format=${format}`, {}, 'HEAD')
    t.strictSame([head.status, head.headers['content-type'], head.bytes.length], [200, type, 0])
  }
})

t.test("a body is compressed with the client's preferred coding", async t => {
  const plain = (await get(all)).bytes
  const coded = { gzip: gunzipSync, zstd: zstdDecompressSync }
  for (const [coding, decode] of Object.entries(coded)) {
    const answer = await get(all, { 'accept-encoding': coding })
    t.equal(answer.headers['content-encoding'], coding)
    t.ok(answer.bytes.length < plain.length / 3)
    t.ok(decode(answer.bytes).equals(plain), coding)
  }
  t.equal((await get(all, { 'accept-encoding': 'br' })).headers['content-encoding'], undefined)
  t.equal((await get(`${all}&format=parquet`, { 'accept-encoding': 'gzip' })).headers['content-encoding'], undefined)
})

/** The figures of all readings in [fromMs, toMs), by buckets that are aligned to 1970. */
function recomputed(stepSeconds: number, fromMs: number, toMs: number): Record<string, number>[] {
  const buckets = new Map<number, Row[]>()
  for (const row of rows.filter(({ ts }) => ts >= fromMs && ts < toMs)) {
    const bucket = Math.floor(row.ts / 1000 / stepSeconds) * stepSeconds * 1000
    buckets.set(bucket, [...(buckets.get(bucket) ?? []), row])
  }
  return [...buckets].map(([ts, members]) => {
    const figures = metrics.flatMap(metric => {
      const values = members.flatMap(row => row[metric] ?? [])
      if (values.length === 0) return []
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      return Object.entries({ count: values.length, mean, min: Math.min(...values), max: Math.max(...values) }).map(
        ([figure, value]) => [`${metric}_${figure}`, value] as const,
      )
    })
    return { ts, ...Object.fromEntries(figures) }
  })
}

t.test('with a step there are means, minima, maxima and counts by buckets', async t => {
  // 601 s does not divide a day, and many buckets of 60 s take several pieces.
  for (const [step, fromMs, toMs] of [
    [60, startMs, endMs],
    [601, startMs + 12_345, endMs - 777_000],
    [86_400, startMs + 5 * minuteMs, endMs],
  ] as const) {
    const wanted = recomputed(step, fromMs, toMs)
    const rounded = (found: object[]) =>
      JSON.stringify(found, (key, value) => (key.endsWith('_mean') ? Number(value.toPrecision(10)) : value))
    for (const [index, found] of (await inEveryFormat(`start=${fromMs}&end=${toMs}&step=${step}`)).entries()) {
      t.equal(found.length, wanted.length)
      t.ok(rounded(found) === rounded(wanted), `step ${step}, format ${index}`)
    }
  }
})

t.test('impossible ranges are rejected in the shape of the logger', async t => {
  await refuses(t, '/readings/Nobody?start=0', 404, /^device unknown$/)
  await refuses(t, path, 400, /^start is required$/)
  await refuses(t, `${path}?start=0`, 400, /366 days/)
  await refuses(t, `${path}?from=0&to=1`, 400, /^unknown parameter from; did you mean start\?$/)
  await refuses(t, `${path}?start=0&end=1&stop=2`, 400, /^unknown parameter stop; did you mean end\?$/)
  const answer = await ask(`${path}?start=0&end=1`, {}, 'POST')
  t.strictSame([answer.status, answer.headers.allow], [405, 'GET, HEAD, OPTIONS'])
  const request = http.request({ port, host: '127.0.0.1', path: `/api${path}?${all}`, agent: false })
  // Node writes its own version, so the line is rewritten in transit.
  const write = request.once('socket', socket => {
    const send = socket.write.bind(socket)
    socket.write = ((text: string, ...rest: never[]) => send(text.replace('HTTP/1.1', 'HTTP/1.0'), ...rest)) as never
  })
  write.end()
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  t.equal(response.statusCode, 505)
  response.resume()
})
