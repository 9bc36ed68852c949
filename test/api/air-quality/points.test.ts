/** The data points of the air-quality API, exactly as in its interface: read, added, imported, and as the contract describes them. */

import { gzipSync, zstdCompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import t from 'tap'
import { importPointsGroup } from '../../../api/admin/imports.ts'
import { createOpenApi, type Parameter, type PublishedOperation } from '../../../api/docs/contract.ts'
import { publishOperations } from '../../../api/docs/published-operations.ts'
import type { AuditEntry } from '../../../auth/audit.ts'
import type { Station } from '../../../auth/stations/station.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { createRejections } from '../../../ingest/rejections/rejections.ts'
import { createReplicas } from '../../../query/replicas.ts'
import { everybody, serveEverybody } from '../../support/admin-scope.ts'
import { base, startAirQuality } from '../../support/air-quality.ts'
import { createContractChecker } from '../../support/contract.ts'
import { until } from '../../support/processes.ts'
import { startPointsQuestdb, type TestPoint } from '../../support/questdb-points.ts'

const { address, write } = await startPointsQuestdb(t)
const { ask, family, person, keyOf, addStation, people, pointsIngest } = await startAirQuality(t, 3, {
  replicas: createReplicas([{ address }]),
})
pointsIngest.startForwarding(address.http, true)
people.clock.ms = Date.parse('2026-05-30T02:20:00Z')

const ownerId = await person('owner@example.com')
const everyone = {
  anonymous: undefined,
  user: await keyOf(await person('user@example.com')),
  reader: await keyOf(ownerId, ['read', 'stations']),
  owner: await keyOf(ownerId),
  administrator: await keyOf(await person('administrator@example.com', 'administrator')),
  operator: await keyOf(await person('operator@example.com', 'operator')),
}
const { user: key, owner, administrator, operator } = everyone

const minuteUs = 60_000_000
const startUs = Date.parse('2016-05-30T02:20:00Z') * 1000

function numberOf({ series }: Station, parameter: 'pm25' | 'no2'): number {
  const number = series.get(parameter)
  if (number === undefined) throw new Error('a station has every parameter')
  return number
}

function minutesOf(station: Station, minutes: number): TestPoint[] {
  return Array.from({ length: minutes }, (_, minute) => minute).flatMap(minute => {
    const timeUs = startUs + minute * minuteUs
    const shared = { timeUs, storedUs: timeUs + 1_500_000 }
    return [
      { ...shared, series: numberOf(station, 'pm25'), value: minute, unit: 'ugm3' },
      { ...shared, series: numberOf(station, 'no2'), value: 0.5, unit: 'ppb' },
    ]
  })
}

const station = await addStation('IN-1', { timezone: 'Asia/Kolkata' }, ownerId)
await write(minutesOf(station, 60))
const place = { city: 'Delhi', latitude: 28.6257, longitude: 77.2, outdoors: true, timezone: 'Asia/Kolkata' }
await write(minutesOf(await addStation('S-1', place), 1))
const data = '/device/IN-1/data/'

async function listOf(path: string) {
  const { status, body } = await ask('GET', path, { key })
  const { meta, data } = body as {
    meta: { total: number; next_url: string | null; prev_page: string | null }
    data: { id: number; value_1min: number }[]
  }
  return { status, meta, data }
}

t.test('a point has the fields of the interface, in every read', async t => {
  const idOf = (parameter: 'pm25' | 'no2', timeUs: number) => {
    return ((timeUs - Date.UTC(2000, 0, 1) * 1000) / 1e6) * 2 ** 21 + numberOf(station, parameter)
  }
  const last = {
    sn: 'IN-1',
    unit: 'ugm3',
    parameter: 'pm25',
    timestamp: '2016-05-30T03:19:00',
    timestamp_local: '2016-05-30T08:49:00+05:30',
    last_updated: '2016-05-30T03:19:01.500000',
    id: idOf('pm25', startUs + 59 * minuteUs),
    value_1min: 59,
    value_15min: 52,
    value_30min: 44.5,
    value_60min: 29.5,
  }
  const listed = await listOf(`${data}?filter=parameter,eq,pm25&sort=timestamp,desc&per_page=1`)
  t.strictSame(listed.data, [last])
  const point = await ask('GET', `${data}${last.id}`, { key })
  t.equal(point.headers['content-type'], 'application/json')
  t.strictSame(point.body, last)
  const { body } = await ask('GET', '/device/IN-1/latest', { key })
  t.equal(body['timestamp'], last.timestamp)
  for (const id of [last.id + 1, '0', 'x', '-1', '99999999999999999']) {
    const unknown = await ask('GET', `${data}${id}`, { key })
    t.equal(unknown.status, 404, String(id))
    t.equal(unknown.body['id'], 'not_found')
  }
})

t.test('pages: the oldest first, links from the first to the last', async t => {
  const ids: number[] = []
  let url: string | null = `${base}${data}?per_page=50`
  for (let pages = 0; url !== null && pages < 10; pages++) {
    const page = await listOf(url.slice(base.length))
    t.equal(page.meta.total, 120)
    ids.push(...page.data.map(({ id }) => id))
    url = page.meta.next_url
    // The walk does not include newer points.
    const late = { timeUs: startUs + (100 + pages) * minuteUs, storedUs: startUs, value: 1, unit: 'ppb' }
    await write([{ ...late, series: numberOf(station, 'no2') }])
  }
  const ordered = [...new Set(ids)].sort((a, b) => a - b)
  t.equal(ordered.length, 120)
  t.strictSame(ids, ordered)
  t.equal((await listOf(data)).meta.total, 123)
  const { meta } = await listOf(`${data}?per_page=50&page=2&limit=70&filter=timestamp,lt,2016-05-30T03:20`)
  t.match(meta, { page: 2, pages: 2, per_page: 50, total: 70, next_url: null })
  t.match(meta.prev_page, /page=1&per_page=50&filter=timestamp%2Clt%2C2016-05-30T03%3A20&limit=70&until=\d+$/)
})

t.test('an empty list has one page', async t => {
  const filter = 'filter=parameter,eq,so2'
  const first = `${base}${data}?page=1&per_page=50&filter=parameter%2Ceq%2Cso2`
  const meta = { first_url: first, last_url: first, next_url: null, page: 1, pages: 0, prev_page: null, total: 0 }
  t.match(await listOf(`${data}?${filter}`), { status: 200, meta, data: [] })
  for (const page of [0, -1, 2]) t.equal((await listOf(`${data}?${filter}&page=${page}`)).status, 404)
  await addStation('IN-2')
  t.strictSame((await ask('GET', '/device/IN-2/latest', { key })).text, '{}')
  t.match((await listOf('/device/IN-2/data/')).meta, { total: 0, pages: 0 })
})

t.test('an invalid list is rejected, with the reason', async t => {
  const gives = async (query: string, message: RegExp | string) => {
    const { status, body } = await ask('GET', `${data}?${query}`, { key })
    t.equal(status, 400, query)
    t.match(body, { id: 'bad_request', message }, query)
  }
  await gives('filter=humidity,eq,1', /unknown column "humidity"/)
  await gives('filter=value_15min,gt,1', /lower and an upper bound on timestamp/)
  await gives('sort=value_60min&filter=timestamp,ge,2016-05-01;timestamp,lt,2016-06-02', /31 days/)
  await gives('format=xml', /json, csv or ndjson/)
  const bounded = 'filter=value_15min,ge,50;timestamp,ge,2016-05-30;timestamp,lt,2016-05-31'
  const { data: high } = await listOf(`${data}?${bounded}`)
  t.match(high, [{ value_1min: 57 }, { value_1min: 58 }, { value_1min: 59 }])
})

t.test('CSV and NDJSON by Accept or format, with the same filters', async t => {
  const filter = 'filter=parameter,eq,pm25;value_1min,lt,3'
  const csv = await ask('GET', `${data}?${filter}`, { key, headers: { accept: 'text/csv' } })
  t.match(csv.headers['content-type'], /^text\/csv/)
  const [header = '', first = '', ...rest] = csv.text.split('\r\n')
  t.match(header, /^id,sn,parameter,unit,timestamp,/)
  t.match(first, /^\d+,IN-1,pm25,ugm3,2016-05-30T02:20:00,2016-05-30T07:50:00\+05:30,2016-05-30T02:20:01.500000,0,,,$/)
  t.equal(rest.length, 3, 'two more and the end')
  const ndjson = await ask('GET', `${data}?${filter}&format=ndjson`, { key })
  t.equal(ndjson.headers['content-type'], 'application/x-ndjson')
  const lines = ndjson.text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  t.strictSame(lines, (await listOf(`${data}?${filter}`)).data)
  const plain = await ask('GET', data, { key, headers: { accept: 'text/html, */*;q=0.1' } })
  t.equal(plain.headers['content-type'], 'application/json')
  const head = await ask('HEAD', `${data}?format=csv`, { key })
  t.equal(head.status, 200)
  t.equal(head.text, '')
  t.equal((await ask('GET', `${data}?format=csv&sort=value,asc`, { key })).status, 400)
})

t.test('points of a private station are for its owner and administrators', async t => {
  const hidden = await addStation('IN-3', { private: true }, ownerId)
  await write(minutesOf(hidden, 1))
  const id = (await ask('GET', '/device/IN-3/latest', { key: owner })).body['id']
  for (const path of ['/device/IN-3/data/', `/device/IN-3/data/${id}`, '/device/IN-3/latest']) {
    for (const [status, by] of [
      [401, undefined],
      [403, key],
      [200, owner],
      [200, administrator],
    ] as const) {
      t.equal((await ask('GET', path, { key: by })).status, status, path)
    }
  }
  t.equal((await ask('GET', `${data}${id}`, { key })).status, 404, 'nor by another station')
})

const prefix = '/api/v1.0'
const document = createOpenApi([publishOperations(family)])
const checker = createContractChecker(document)
const point = { parameter: 'pm25', unit: 'ugm3', timestamp: '2026-05-30T02:00:00', value: 12.5 }
const json = 'application/json'

t.test('every GET of the contract supports its ETag, and HEAD', async t => {
  const [newest] = (await listOf('/device/S-1/data/?per_page=1')).data
  for (const path of Object.keys(document.paths).map(path => path.slice(prefix.length))) {
    const url = path.replace('{sn}', 'S-1').replace('{id}', String(newest?.id)).replace('{which}', '1')
    const { status, headers, text } = await ask('GET', url, { key: operator })
    const etag = String(headers['etag'])
    const unchanged = await ask('GET', url, { key: operator, headers: { 'if-none-match': etag } })
    t.match([status, unchanged.status, unchanged.headers['etag']], [200, 304, etag], url)
    const head = await ask('HEAD', url, { key: operator })
    t.match(head.headers, { etag, 'content-length': String(Buffer.byteLength(text)) }, url)
  }
})

/** Returns the words that the description of an argument lists after a label. */
function wordsOf(operation: PublishedOperation, name: string, label: string): string[] {
  const { description = '' } = argumentOf(operation, name)
  return (new RegExp(`${label}: ([^.]*)\\.`).exec(description)?.[1] ?? '').split(', ')
}

function argumentOf({ parameters = [] }: PublishedOperation, name: string): Parameter {
  const found = parameters.find(parameter => parameter.name === name)
  if (found === undefined) throw new Error(`there is no argument ${name}`)
  return found
}

const lists = [
  { path: '/device/', url: '/device/', bounds: '' },
  { path: '/device/{sn}/data/', url: '/device/S-1/data/', bounds: ';timestamp,ge,2026-05-30;timestamp,lt,2026-05-31' },
]

for (const { path, url, bounds } of lists) {
  const operation = checker.operation('GET', `${prefix}${path}`)
  const statusOf = async (query: string) => (await ask('GET', `${url}?${query}`, { key: operator })).status

  t.test(`${path}: columns, operators, defaults and the maximum match the contract`, async t => {
    const columns = wordsOf(operation, 'filter', 'Columns')
    const { body } = await ask('GET', url, { key: operator })
    const [row = {}] = body['data'] as object[]
    t.strictSame(new Set(columns), new Set(Object.keys(row)))
    t.strictSame(wordsOf(operation, 'sort', 'Columns'), columns)
    for (const column of columns) {
      const isTime = /timestamp|updated/.test(column)
      const query = `filter=${column},eq,${isTime ? '2026-05-30' : '1'}${bounds}&sort=${column},desc`
      t.equal(await statusOf(query), 200, query)
    }
    const operators = wordsOf(operation, 'filter', 'Operators')
    for (const operator of operators) t.equal(await statusOf(`filter=sn,${operator},S-1`), 200, operator)
    t.equal(await statusOf('filter=sn,is,S-1'), 400)
    const metaOf = async (query: string) => (await ask('GET', `${url}?${query}`, { key: operator })).body['meta']
    const perPage = argumentOf(operation, 'per_page').schema
    t.match(await metaOf(''), { per_page: perPage['default'], page: argumentOf(operation, 'page').schema['default'] })
    t.match(await metaOf('per_page=999999999'), { per_page: perPage['maximum'] })
  })
}

t.test('formats and bodies are accepted or rejected as in the contract', async t => {
  const formats = argumentOf(checker.operation('GET', `${prefix}/device/{sn}/data/`), 'format').schema['enum']
  t.ok(Array.isArray(formats) && formats.length === 3)
  for (const format of formats as string[]) {
    t.equal((await ask('GET', `/device/S-1/data/?format=${format}`, { key: operator })).status, 200, format)
  }
  const fields = [{ value: -1 }, { sn: 'S-1' }, { more: 1 }, { value: '1' }, { value: null }, { unit: undefined }]
  const custom = [{ unit: 'kg' }, { parameter: 'nh3' }, { timestamp: 5 }]
  const points = [point, [point], [], 1, {}, ...[...fields, ...custom].map(more => ({ ...point, ...more }))]
  const added = checker.operation('POST', `${prefix}/device/{sn}/data/`).requestBody?.content
  for (const body of points) {
    const { status } = await ask('POST', '/device/S-1/data/', { key: operator, body })
    const fault = checker.fault(added, json, JSON.parse(JSON.stringify(body)))
    t.equal(fault === undefined, status === 201, `${JSON.stringify(body)}: ${status}, ${fault}`)
  }
  const good = [{}, { city: null }, { latitude: '1.5' }, { lon: 7, is_outdoors: false }, { description: 'x' }]
  const bad = [{ city: 1 }, { latitude: 'north' }, { country: 'IND' }, { private: null }, { is_private: 'yes' }]
  const changes = [...good, { more: 1 }, ...bad, [], { model: '' }, { lat: true }, { model: 'x'.repeat(101) }]
  const changed = checker.operation('PUT', `${prefix}/device/{sn}`).requestBody?.content
  for (const body of changes) {
    const { status } = await ask('PUT', '/device/S-1', { key: operator, body })
    const fault = checker.fault(changed, json, body)
    t.equal(fault === undefined, status === 200, `${JSON.stringify(body)}: ${status}, ${fault}`)
  }
})

const audits: AuditEntry[] = []
let isAway = false

const importing = fastify()
importing.register((scope, _options, done) => {
  const registry: typeof people.stations.registry = async () => {
    if (isAway) throw Object.assign(new Error('away'), { syscall: 'connect' })
    return await people.stations.registry()
  }
  serveEverybody(
    scope,
    importPointsGroup({
      pointsIngest,
      stations: { ...people.stations, registry },
      ranges: defaultRanges,
      aheadMsMax: 300_000,
      audit: async entry => void audits.push(entry),
      findPrincipal: everybody,
      rejections: createRejections({ nowMs: Date.now, senderLog() {} }),
    }),
  )
  done()
})
t.teardown(() => importing.close())

const header = 'timestamp,sn,parameter,unit,value\n'

async function post(payload: string | Buffer, headers: Record<string, string> = { 'content-type': 'text/csv' }) {
  const response = await importing.inject({ method: 'POST', url: '/import-points', headers, payload })
  return { status: response.statusCode, body: response.json() as Record<string, unknown> }
}

t.test('every format and coding stores the same points, and replaces repeated ones', async t => {
  const rows = Array.from({ length: 60 }, (_, minute) => {
    return [`2026-05-30T01:${String(minute).padStart(2, '0')}:00`, 'no2', 'ppb', minute / 4] as const
  })
  const csv = (sn: string) => header + rows.map(([time, ...rest]) => [time, sn, ...rest].join(',')).join('\n')
  const pointOf = (sn: string, [timestamp, parameter, unit, value]: (typeof rows)[number]) =>
    JSON.stringify({ timestamp, sn, parameter, unit, value })
  const ndjson = (sn: string) => rows.map(row => pointOf(sn, row)).join('\n')
  const ways: Record<string, (sn: string) => [string | Buffer, Record<string, string>]> = {
    csv: sn => [csv(sn), { 'content-type': 'text/csv' }],
    gzip: sn => [gzipSync(csv(sn)), { 'content-type': 'text/csv', 'content-encoding': 'gzip' }],
    ndjson: sn => [ndjson(sn), { 'content-type': 'application/x-ndjson' }],
    zstd: sn => [zstdCompressSync(ndjson(sn)), { 'content-type': 'application/x-ndjson', 'content-encoding': 'zstd' }],
  }
  const answers: unknown[] = []
  for (const [sn, request] of Object.entries(ways)) {
    await addStation(sn)
    const { status, body } = await post(...request(sn))
    t.match({ status, body }, { status: 200, body: { accepted: 60, rejected: 0, rejects: [], ignored_columns: [] } })
    const found = await pointsOf(sn)
    answers.push(found.map(({ timestamp, parameter, unit, value_1min }) => [timestamp, parameter, unit, value_1min]))
    t.match((await ask('GET', `/device/${sn}`, { key: operator })).body, { last_updated: /^20/ })
  }
  for (const answer of answers) t.strictSame(answer, rows)
  const [first] = await pointsOf('csv')
  await post(`${header}2026-05-30T01:00:00Z,csv,no2,ppm,9\n`)
  const [again, ...others] = await pointsOf('csv')
  t.match(again, { id: first?.['id'], value_1min: 9, unit: 'ppm' })
  t.equal(others.length, 59)
  t.match(audits[0], { action: 'points.import', subject: 'points', details: { format: 'csv', accepted: 60 } })
})

t.test('a removed and a re-added station are different stations', async t => {
  const line = `${header}2026-05-30T01:00:00,moved,no2,ppb,1\n`
  const unknown = { accepted: 0, rejected: 1, rejects: [{ line: 2, sn: 'moved', code: 'STATION_UNKNOWN' }] }
  t.match(await post(line), { status: 200, body: unknown })
  await addStation('moved')
  t.match(await post(line), { status: 200, body: { accepted: 1 } })
  t.equal((await ask('DELETE', '/device/moved', { key: operator })).status, 202)
  t.match(await post(line), { status: 200, body: unknown })
  await addStation('moved')
  t.strictSame(await pointsOf('moved'), [])
})

t.test('points are rejected while PostgreSQL is unavailable', async t => {
  isAway = true
  const answer = await post(`${header}2026-05-30T01:00:00,csv,no2,ppb,1\n`)
  t.match(answer, {
    status: 503,
    body: { title: 'database unavailable', accepted: 0, detail: /0 points of the lines up to \d+ are stored/ },
  })
  isAway = false
})

const untilApplied = () => until('the points are visible', () => pointsIngest.status().lag.rows === 0)

async function pointsOf(sn: string): Promise<Record<string, unknown>[]> {
  await untilApplied()
  const { body } = await ask('GET', `/device/${sn}/data/?per_page=1000`, { key: owner })
  return body['data'] as Record<string, unknown>[]
}

t.test('permissions to add points', async t => {
  const statuses = { anonymous: 401, user: 403, reader: 403, owner: 201, administrator: 201, operator: 201 }
  await addStation('who', {}, ownerId)
  for (const [name, key] of Object.entries(everyone)) {
    const { status } = await ask('POST', '/device/who/data/', { key, body: point })
    t.equal(status, statuses[name as keyof typeof statuses], name)
  }
  t.equal((await ask('POST', '/device/nowhere/data/', { key: owner, body: point })).status, 404)
  const redirected = await ask('POST', '/device/who/data?a=1', { key: owner, body: point })
  t.match(redirected, { status: 308, headers: { location: '/api/v1.0/device/who/data/?a=1' } })
})

t.test('a repeated point replaces the old one and keeps its id', async t => {
  await addStation('again', {}, ownerId)
  const add = async (value: number, more = {}) => {
    const options = { key: owner, body: { ...point, value, ...more } }
    const { status, body } = await ask('POST', '/devices/again/data/', options)
    t.strictSame({ status, body }, { status: 201, body: { stored: 1, rejected: 0, errors: [] } })
  }
  await add(1)
  const [first] = await pointsOf('again')
  t.match(first, { ...point, value: undefined, value_1min: 1, last_updated: '2026-05-30T02:20:00' })
  people.clock.ms += 60_000
  // The point is sent as it was read, in another zone and with another unit.
  await add(2, { ...first, unit: 'ppb', timestamp: '2026-05-30 07:30+05:30' })
  const points = await pointsOf('again')
  t.equal(points.length, 1)
  t.match(points[0], { id: first?.['id'], value_1min: 2, unit: 'ppb', last_updated: '2026-05-30T02:21:00' })
  t.match((await ask('GET', '/device/again', { key: owner })).body, { last_updated: '2026-05-30T02:21:00+00:00' })
})

t.test('the good elements of an array are stored, the later one of two with one key', async t => {
  await addStation('array', {}, ownerId)
  const body = [
    { ...point, value: 1 },
    { ...point, value: '1' },
    { ...point, parameter: 'no2', value: 2 },
    null,
    { ...point, value: 3 },
    { ...point, unit: 'furlong', timestamp: 'now' },
    { ...point, parameter: 'noise' },
    { ...point, sn: 'other' },
  ]
  const answer = await ask('POST', '/device/array/data/', { key: owner, body })
  t.equal(answer.status, 201)
  t.strictSame(answer.body, {
    stored: 3,
    rejected: 5,
    errors: [
      { index: 1, message: 'value: must be a number' },
      { index: 3, message: 'a data point must be an object' },
      {
        index: 5,
        message: 'timestamp: must be an ISO 8601 time, as 2026-01-31T12:00:00; unit: must be one of ppb, ppm, ugm3',
      },
      { index: 6, message: 'parameter: must be one of so2, o3, no2, no, co, pm1, pm25, pm10' },
      { index: 7, message: 'sn: must be array, as in the path' },
    ],
  })
  const points = await pointsOf('array')
  const valuesOf = (name: string) => points.filter(({ parameter }) => parameter === name).map(p => p['value_1min'])
  t.strictSame([points.length, valuesOf('no2'), valuesOf('pm25')], [2, [2], [3]])
  const allBad = await ask('POST', '/device/array/data/', { key: owner, body: [{}] })
  t.match(allBad, { status: 201, body: { stored: 0, rejected: 1 } })
})

t.test('codes without a value are rejected, and excluded from the running means', async t => {
  await addStation('coded', {}, ownerId)
  const minute = (at: number, value: number) => {
    return { ...point, timestamp: `2026-05-30T02:${String(at).padStart(2, '0')}:00`, value }
  }
  const codes = [-999, -9999, 65_535, 1e9]
  const values = Array.from({ length: 15 }, (_, at) => minute(at, 12))
  const body = [...values, ...codes.map((code, at) => minute(at + 2, code))]
  const { body: answer } = await ask('POST', '/device/coded/data/', { key: owner, body })
  const errors = codes.map((_, at) => ({ index: 15 + at, message: /^value: must be from / }))
  t.match(answer, { stored: 15, rejected: 4, errors })
  t.match((await pointsOf('coded')).at(-1), { value_15min: 12 })
  const one = await ask('POST', '/device/coded/data/', { key: owner, body: minute(20, -999) })
  t.match(one, { status: 400, body: { id: 'bad_request', message: /^value: must be from / } })
})

t.test('bad requests are rejected', async t => {
  await addStation('bad', {}, ownerId)
  const bad: [body: unknown, message: string | RegExp][] = [
    [[], 'an array must hold 1 to 10000 data points'],
    [Array(10_001).fill(point), 'an array must hold 1 to 10000 data points'],
    [7, 'a data point must be an object'],
    ['{"value":', /JSON/i],
    [{}, 'timestamp: is required; parameter: is required; unit: is required; value: is required'],
    [{ ...point, value: null }, 'value: must be a number'],
    [{ ...point, timestamp: '2026-05-30T02:00:00.5' }, 'timestamp: must be a whole second'],
    [{ ...point, timestamp: '2026-05-31' }, 'timestamp: must not be in the future'],
  ]
  for (const [body, message] of bad) {
    const answer = await ask('POST', '/device/bad/data/', { key: owner, body })
    t.match(answer, { status: 400, body: { id: 'bad_request', message } })
  }
  const tooLarge = await ask('POST', '/device/bad/data/', { key: owner, body: `"${'x'.repeat(4_000_001)}"` })
  t.match(tooLarge, { status: 413, body: { id: 'too_large' } })
  t.strictSame(await pointsOf('bad'), [])
})

t.test('points are not stored for a key or a station removed during the body', async t => {
  const going = await addStation('going', {}, ownerId)
  const { keys, stations } = people
  const { find } = keys
  t.teardown(() => {
    keys.find = find
  })
  const second = (then: () => Promise<unknown>) => {
    let calls = 0
    keys.find = async text => {
      if (++calls === 2) await then()
      return await find(text)
    }
  }
  const ending = await keyOf(ownerId)
  const { keyId = 0 } = (await find(ending)) ?? {}
  second(() => keys.revokeAny(keyId, 'test'))
  const revoked = await ask('POST', '/device/going/data/', { key: ending, body: [point] })
  t.match(revoked, { status: 401, body: { id: 'unauthorized' } })
  second(() => stations.change(going.id, { owner: null }, 'test'))
  const forbidden = await ask('POST', '/device/going/data/', { key: owner, body: point })
  t.match(forbidden, { status: 403, body: { id: 'forbidden' } })
  second(async () => {
    await stations.remove(going, 'test')
    await addStation('going', {}, ownerId)
  })
  t.match(await ask('POST', '/device/going/data/', { key: administrator, body: point }), { status: 404 })
  keys.find = find
  t.strictSame(await pointsOf('going'), [])
})

t.test('large bodies are parsed in a separate thread, up to a limit', async t => {
  await addStation('elsewhere', {}, ownerId)
  const parse = JSON.parse
  let charactersMax = 0
  JSON.parse = (text: string, ...more) => {
    charactersMax = Math.max(charactersMax, text.length)
    return parse(text, ...more)
  }
  t.teardown(() => {
    JSON.parse = parse
  })
  const path = '/device/elsewhere/data/'
  const body = Array.from({ length: 1000 }, (_, index) => ({ ...point, value: index % 2 === 0 ? index : 'none' }))
  const { status, text } = await ask('POST', path, { key: owner, body })
  const { errors, ...counts } = parse(text) as { errors: { index: number }[] }
  t.strictSame([status, counts, errors.length, errors[1]?.index], [201, { stored: 500, rejected: 500 }, 500, 3])
  for (const [sent, message] of [
    ['['.repeat(100_000), /json/i],
    [`[${'{},'.repeat(200_000)}{}]`, 'an array must hold 1 to 10000 data points'],
  ] as const) {
    t.match(await ask('POST', path, { key: owner, body: sent }), { status: 400, body: { id: 'bad_request', message } })
  }
  const large = () => ask('POST', path, { key: owner, body: `[${' '.repeat(3_000_000)}]` })
  const answers = await Promise.all(Array.from({ length: 70 }, large))
  t.strictSame(new Set(answers.map(answer => answer.status)), new Set([400, 503]))
  const refused = answers.find(answer => answer.status === 503)
  const unavailable = { id: 'unavailable', message: 'too many data points at once' }
  t.match(refused, { headers: { 'retry-after': '5' }, body: unavailable })
  // The test itself reads larger texts: responses.
  t.ok(charactersMax < 100_000, `${charactersMax} characters were parsed here`)
})

t.test('a full journal is a 503', async t => {
  await addStation('closing', {}, ownerId)
  await pointsIngest.close()
  const answer = await ask('POST', '/device/closing/data/', { key: owner, body: [point] })
  t.match(answer, { status: 503, headers: { 'retry-after': '5' }, body: { id: 'unavailable' } })
})
