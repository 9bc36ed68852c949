/** The data points of the air-quality API, to the letter of the interface: read, added, imported, and as the contract describes them. */

import { gzipSync, zstdCompressSync } from 'node:zlib'
import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { importPointsGroup } from '../../../api/admin/import-points.ts'
import { createOpenApi, type Parameter, type PublishedOperation } from '../../../api/docs/contract.ts'
import { publishOperations } from '../../../api/docs/published-operations.ts'
import type { AuditEntry } from '../../../auth/audit.ts'
import type { Station } from '../../../auth/stations/station.ts'
import { defaultRanges } from '../../../ingest/reading.ts'
import { createRejections } from '../../../ingest/rejections/rejections.ts'
import { everybody, serveEverybody } from '../../support/admin-scope.ts'
import { base, startAirQuality } from '../../support/air-quality.ts'
import { createContractChecker } from '../../support/contract.ts'
import { until } from '../../support/processes.ts'
import { startPointsQuestdb, type TestPoint } from '../../support/questdb-points.ts'

const { address, write } = await startPointsQuestdb(t)
const { ask, family, person, keyOf, addStation, people, pointsIngest } = await startAirQuality(t, 3, {
  questdb: address,
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
await addStation('S-1', { city: 'Delhi', latitude: 28.6257, longitude: 77.2, outdoors: true, timezone: 'Asia/Kolkata' })
await addStation('P-1', { private: true })

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

interface DataPoint {
  id: number
  parameter: string
  value_1min: number
}

const station = await addStation('IN-1', { timezone: 'Asia/Kolkata' }, ownerId)
await write(minutesOf(station, 60))
const data = '/device/IN-1/data/'

interface Meta {
  total: number
  next_url: string | null
  prev_page: string | null
}

async function listOf(path: string) {
  const { status, body } = await ask('GET', path, { key })
  return { status, meta: body['meta'] as Meta, data: body['data'] as DataPoint[] }
}

t.test('a point has the fields of the interface, however it is asked for', async t => {
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
    // Newer ones that the walk does not see.
    const late = { timeUs: startUs + (100 + pages) * minuteUs, storedUs: startUs, value: 1, unit: 'ppb' }
    await write([{ ...late, series: numberOf(station, 'no2') }])
  }
  t.equal(new Set(ids).size, 120)
  t.strictSame(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  t.equal((await listOf(data)).meta.total, 123)
  const { meta } = await listOf(`${data}?per_page=50&page=2&limit=70&filter=timestamp,lt,2016-05-30T03:20`)
  t.match(meta, { page: 2, pages: 2, per_page: 50, total: 70, next_url: null })
  t.match(meta.prev_page, /page=1&per_page=50&filter=timestamp%2Clt%2C2016-05-30T03%3A20&limit=70&until=\d+$/)
})

t.test('an empty list has one page, and no further one', async t => {
  const filter = 'filter=parameter,eq,so2'
  const { status, meta, data: none } = await listOf(`${data}?${filter}`)
  t.equal(status, 200)
  t.strictSame(none, [])
  const first = `${base}${data}?page=1&per_page=50&filter=parameter%2Ceq%2Cso2`
  t.strictSame(meta, {
    first_url: first,
    last_url: first,
    next_url: null,
    page: 1,
    pages: 0,
    per_page: 50,
    prev_page: null,
    total: 0,
  })
  for (const page of [0, -1, 2]) t.equal((await listOf(`${data}?${filter}&page=${page}`)).status, 404)
  t.equal((await listOf(`${data}?page=9`)).status, 404)
  await addStation('IN-2')
  t.strictSame((await ask('GET', '/device/IN-2/latest', { key })).text, '{}')
  t.match((await listOf('/device/IN-2/data/')).meta, { total: 0, pages: 0 })
})

t.test('what is wrong with a list is named', async t => {
  const gives = async (query: string, message: RegExp | string) => {
    const { status, body } = await ask('GET', `${data}?${query}`, { key })
    t.equal(status, 400, query)
    t.match(body, { id: 'bad_request', message }, query)
  }
  await gives('filter=humidity,eq,1', /unknown column "humidity"/)
  await gives('filter=value_1min,gt,much', /the value "much" is no number/)
  await gives('filter=id,eq,1.5', /the value "1.5" is no whole number/)
  await gives('sort=parameter,up', /unknown direction "up"/)
  await gives('filter=value_15min,gt,1', /lower and an upper bound on timestamp/)
  await gives('sort=value_60min&filter=timestamp,ge,2016-05-01;timestamp,lt,2016-06-02', /31 days/)
  await gives('format=xml', /json, csv or ndjson/)
  const bounded = 'filter=value_15min,ge,50;timestamp,ge,2016-05-30;timestamp,lt,2016-05-31'
  const { data: high } = await listOf(`${data}?${bounded}`)
  t.strictSame(
    high.map(point => point.value_1min),
    [57, 58, 59],
  )
})

t.test('CSV and NDJSON by Accept or format, with the same filters', async t => {
  const filter = 'filter=parameter,eq,pm25;value_1min,lt,3'
  const csv = await ask('GET', `${data}?${filter}`, { key, headers: { accept: 'text/csv' } })
  t.match(csv.headers['content-type'], /^text\/csv/)
  const [header = '', first = '', ...rest] = csv.text.split('\r\n')
  t.match(header, /^id,sn,parameter,unit,timestamp,/)
  t.match(first, /^\d+,IN-1,pm25,ugm3,2016-05-30T02:20:00,2016-05-30T07:50:00\+05:30,2016-05-30T02:20:01.500000,0,,,$/)
  t.equal(rest.length, 3, 'two more and the end')
  const [, ...all] = (await ask('GET', `${data}?format=csv`, { key })).text.trimEnd().split('\r\n')
  const storedTexts = all.map(line => line.split(',')[6])
  const isWhole = (text: string | undefined) => text?.endsWith('.000000') === true
  t.ok(storedTexts.some(isWhole) && !storedTexts.every(isWhole), 'some were stored at a whole second')
  t.ok(
    storedTexts.every(text => text?.length === '2016-05-30T02:20:00.000000'.length),
    'and all times are of one form',
  )
  const ndjson = await ask('GET', `${data}?${filter}&format=ndjson`, { key })
  t.equal(ndjson.headers['content-type'], 'application/x-ndjson')
  const lines = ndjson.text.trimEnd().split('\n')
  t.strictSame(
    lines.map(line => JSON.parse(line)),
    (await listOf(`${data}?${filter}`)).data,
  )
  const plain = await ask('GET', data, { key, headers: { accept: 'text/html, */*;q=0.1' } })
  t.equal(plain.headers['content-type'], 'application/json')
  const head = await ask('HEAD', `${data}?format=csv`, { key })
  t.equal(head.status, 200)
  t.equal(head.text, '')
  t.equal((await ask('GET', `${data}?format=csv&sort=value,asc`, { key })).status, 400)
})

t.test('ETag, HEAD, slashes and methods', async t => {
  for (const path of [data, '/device/IN-1/latest']) {
    const { headers, text } = await ask('GET', path, { key })
    const etag = String(headers['etag'])
    t.equal((await ask('GET', path, { key, headers: { 'if-none-match': etag } })).status, 304)
    t.equal((await ask('GET', path, { key, headers: { 'if-match': '"other"' } })).status, 412)
    const head = await ask('HEAD', path, { key })
    t.match(head.headers, { etag, 'content-length': String(Buffer.byteLength(text)) })
  }
  const redirected = await ask('GET', '/device/IN-1/data?page=1', { key })
  t.equal(redirected.status, 308)
  t.equal(redirected.headers['location'], '/api/v1.0/device/IN-1/data/?page=1')
  t.equal((await ask('GET', '/device/IN-1/latest/', { key })).status, 404)
  t.equal((await ask('DELETE', data, { key })).status, 405)
  t.equal((await ask('OPTIONS', '/device/IN-1/latest')).headers['allow'], 'GET, HEAD, OPTIONS')
})

t.test('points of a private station are for its owner and administrators', async t => {
  const hidden = await addStation('IN-3', { private: true }, ownerId)
  await write(minutesOf(hidden, 1))
  const id = (await ask('GET', '/device/IN-3/latest', { key: owner })).body['id']
  for (const path of ['/device/IN-3/data/', `/device/IN-3/data/${id}`, '/device/IN-3/latest']) {
    const statusOf = async (by: string | undefined) => (await ask('GET', path, { key: by })).status
    t.strictSame(
      [await statusOf(undefined), await statusOf(key), await statusOf(owner), await statusOf(administrator)],
      [401, 403, 200, 200],
      path,
    )
  }
  t.equal((await ask('GET', `${data}${id}`, { key })).status, 404, 'nor by another station')
})

const prefix = '/api/v1.0'
const document = createOpenApi([publishOperations(family)])
const checker = createContractChecker(document)
const point = { parameter: 'pm25', unit: 'ugm3', timestamp: '2026-05-30T02:00:00', value: 12.5 }
const json = 'application/json'

type AskOptions = Parameters<typeof ask>[2]
const seen = new Set<string>()

/** Sends it and holds the answer to the contract. `path` is the one of the contract. */
async function answer(t: Test, method: string, path: string, url: string, status: number, options: AskOptions = {}) {
  const name = `${method} ${url}`
  const got = await ask(method, url, { key: operator, ...options })
  const { responses } = checker.operation(method, `${prefix}${path}`)
  const response = responses[String(got.status)]
  t.equal(got.status, status, name)
  if (response === undefined) throw new Error(`${name}: ${got.status} is not in the contract`)
  const type = String(got.headers['content-type'] ?? '').split(';')[0] ?? ''
  const value = type === json ? got.body : got.text
  if (response.content === undefined) t.equal(got.text, '', name)
  else t.equal(checker.fault(response.content, type, value), undefined, `${name}: ${got.text.slice(0, 200)}`)
  const headers = Object.keys(response.headers ?? {}).filter(header => header !== 'ETag' || type === json)
  for (const header of headers) t.ok(got.headers[header.toLowerCase()], `${name} has ${header}`)
  seen.add(`${method} ${path} ${status}`)
  return got
}

function namesIn(url: string): string {
  return url.replace(':sn', 'S-1').replace(':id', '1').replace(':which', '1')
}

t.test('every route is in the contract with its methods, and nothing else is', async t => {
  const urls = new Set<string>()
  const other = fastify()
  t.teardown(() => other.close())
  other.addHook('onRoute', ({ url }) => void urls.add(url))
  await other.register(async scope => family.register(scope), { prefix })
  const routed: string[] = []
  for (const url of urls) {
    const path = url.slice(prefix.length).replace(/\/$/, '')
    const found = await ask('OPTIONS', namesIn(path))
    const slash = found.status === 308 ? '/' : ''
    const { headers } = slash === '' ? found : await ask('OPTIONS', `${namesIn(path)}/`)
    const methods = String(headers['allow']).split(', ')
    const own = methods.filter(method => method !== 'HEAD' && method !== 'OPTIONS')
    routed.push(...own.map(method => `${method} ${prefix}${path.replaceAll(/:(\w+)/g, '{$1}')}${slash}`))
  }
  const published = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  t.ok(routed.length > 14)
  t.strictSame(new Set(published), new Set(routed))
  const ids = Object.values(document.paths).flatMap(methods => Object.values(methods).map(own => own.operationId))
  t.equal(new Set(ids).size, ids.length, 'no two operations have one id')
})

t.test('answers have the shapes of the contract', async t => {
  const data = '/device/{sn}/data/'
  await answer(t, 'GET', '/auth/', '/auth/', 200)
  await answer(t, 'GET', '/account', '/account', 200)
  await answer(t, 'POST', '/device/', '/device/', 201, {
    body: { sn: 'N-1', model: 'M', lat: '1.5', is_private: true },
  })
  await answer(t, 'GET', '/device/', '/device/?per_page=1&sort=sn,desc&filter=sn,ne,x', 200)
  await answer(t, 'GET', '/device/{sn}', '/device/S-1', 200)
  await answer(t, 'GET', '/device/{sn}/latest', '/device/S-1/latest', 200)
  await answer(t, 'POST', data, '/device/S-1/data/', 201, { body: point })
  const bad = { ...point, value: 'x' }
  const again = { ...point, timestamp: '2026-05-30T02:01:00' }
  await answer(t, 'POST', data, '/device/S-1/data/', 201, { body: [again, bad] })
  await until('the points are visible', () => pointsIngest.status().lag.rows === 0)
  const list = await answer(t, 'GET', data, '/device/S-1/data/?per_page=1', 200)
  const [first] = list.body['data'] as { id: number }[]
  await answer(t, 'GET', data, '/device/S-1/data/?format=csv', 200)
  await answer(t, 'GET', data, '/device/S-1/data/', 200, { headers: { accept: 'application/x-ndjson' } })
  await answer(t, 'GET', '/device/{sn}/data/{id}', `/device/S-1/data/${first?.id}`, 200)
  await answer(t, 'GET', '/device/{sn}/latest', '/device/S-1/latest', 200)
  await answer(t, 'GET', '/log/', '/log/', 200)
  await answer(t, 'GET', '/log/{which}', '/log/S-1', 200)
  await answer(t, 'GET', '/log/{which}', '/log/7', 200)
  await answer(t, 'GET', '/connection_event/{sn}', '/connection_event/S-1', 200)
  await answer(t, 'GET', '/researcher/device/{sn}/data/', '/researcher/device/S-1/data/', 200)
  await answer(t, 'GET', '/device/{sn}/data/raw/', '/device/S-1/data/raw/', 200)
  const { body } = await ask('GET', '/device/S-1', { key: operator })
  await answer(t, 'PUT', '/device/{sn}', '/device/S-1', 200, { body: { ...body, city: 'New Delhi' } })
  await answer(t, 'DELETE', '/device/{sn}', '/device/N-1', 202)
})

t.test('refusals have the shape of the contract', async t => {
  const data = '/device/{sn}/data/'
  await answer(t, 'GET', '/device/', '/device/?filter=x,eq,1', 400)
  await answer(t, 'GET', '/device/', '/device/', 401, { key: undefined })
  await answer(t, 'GET', '/device/', '/device/', 403, { address: '192.0.2.1' })
  await answer(t, 'GET', '/device/', '/device/?page=9', 404)
  await answer(t, 'GET', '/device/', '/device/', 412, { headers: { 'if-match': '"x"' } })
  const guess = { key: 'guess', address: '127.0.0.9' }
  for (let attempt = 0; attempt < 3; attempt++) await ask('GET', '/device/', guess)
  await answer(t, 'GET', '/device/', '/device/', 429, guess)
  await answer(t, 'POST', '/device/', '/device/', 400, { body: '{' })
  await answer(t, 'POST', '/device/', '/device/', 403, { key, body: { sn: 'N-2', model: 'M' } })
  await answer(t, 'POST', '/device/', '/device/', 409, { body: { sn: 'S-1', model: 'M' } })
  await answer(t, 'POST', '/device/', '/device/', 413, { body: { sn: 'x'.repeat(70_000), model: 'M' } })
  await answer(t, 'POST', '/device/', '/device/', 415, { body: '{}', headers: { 'content-type': 'text/plain' } })
  await answer(t, 'GET', '/device/{sn}', '/device/P-1', 403, { key })
  await answer(t, 'PUT', '/device/{sn}', '/device/S-1', 400, { body: { sn: 'other' } })
  await answer(t, 'PUT', '/device/{sn}', '/device/none', 404, { body: {} })
  await answer(t, 'DELETE', '/device/{sn}', '/device/none', 404)
  await answer(t, 'GET', data, '/device/S-1/data/?format=xml', 400)
  await answer(t, 'GET', data, '/device/S-1/data/?sort=value_15min', 400)
  await answer(t, 'GET', data, '/device/none/data/', 404)
  await answer(t, 'POST', data, '/device/S-1/data/', 400, { body: [] })
  await answer(t, 'GET', '/device/{sn}/data/{id}', '/device/S-1/data/1', 404)
  await answer(t, 'GET', '/log/{which}', '/log/none', 404)
})

t.test('every GET knows its ETag, and every success of the contract was seen', async t => {
  const urls = Object.keys(document.paths).map(path => path.slice(prefix.length))
  const [newest] = (await ask('GET', '/device/S-1/data/?per_page=1', { key: operator })).body['data'] as {
    id: number
  }[]
  for (const path of urls) {
    const url = path.replace('{sn}', 'S-1').replace('{id}', String(newest?.id)).replace('{which}', '1')
    const { headers } = await ask('GET', url, { key: operator })
    await answer(t, 'GET', path, url, 304, { headers: { 'if-none-match': String(headers['etag']) } })
  }
  const successes = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses)
        .filter(status => status < '400')
        .map(status => `${method.toUpperCase()} ${path.slice(prefix.length)} ${status}`),
    ),
  )
  t.strictSame(
    successes.filter(success => !seen.has(success)),
    [],
  )
})

/** The names of the arguments that are read while it runs. */
async function argumentsRead(work: () => Promise<unknown>): Promise<Set<string>> {
  const names = new Set<string>()
  const { get, getAll } = URLSearchParams.prototype
  URLSearchParams.prototype.get = function (name) {
    names.add(name)
    return get.call(this, name)
  }
  URLSearchParams.prototype.getAll = function (name) {
    names.add(name)
    return getAll.call(this, name)
  }
  try {
    await work()
  } finally {
    Object.assign(URLSearchParams.prototype, { get, getAll })
  }
  return names
}

t.test('the arguments of the contract are those that are read', async t => {
  for (const [path, { get }] of Object.entries(document.paths)) {
    const url = path.slice(prefix.length).replace('{sn}', 'S-1').replace('{id}', '1').replace('{which}', 'S-1')
    const documented = (get?.parameters ?? []).filter(parameter => parameter.in === 'query').map(({ name }) => name)
    t.strictSame(await argumentsRead(() => ask('GET', url, { key: operator })), new Set(documented), path)
  }
})

/** The words that the description of an argument lists behind a label. */
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

  t.test(`${path}: the columns and operators of the contract are those that count`, async t => {
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
  })

  t.test(`${path}: the defaults and the maximum of the contract are those of the pages`, async t => {
    const metaOf = async (query: string) => (await ask('GET', `${url}?${query}`, { key: operator })).body['meta']
    const perPage = argumentOf(operation, 'per_page').schema
    t.match(await metaOf(''), { per_page: perPage['default'], page: argumentOf(operation, 'page').schema['default'] })
    t.match(await metaOf('per_page=999999999'), { per_page: perPage['maximum'] })
  })
}

t.test('the formats of the contract are those that are taken', async t => {
  const formats = argumentOf(checker.operation('GET', `${prefix}/device/{sn}/data/`), 'format').schema['enum']
  t.ok(Array.isArray(formats) && formats.length === 3)
  for (const format of formats as string[]) {
    t.equal((await ask('GET', `/device/S-1/data/?format=${format}`, { key: operator })).status, 200, format)
  }
})

t.test('bodies are taken or refused as the contract says', async t => {
  const points = [
    point,
    [point],
    { ...point, value: -1 },
    { ...point, sn: 'S-1' },
    { ...point, more: 1 },
    [],
    1,
    {},
    { ...point, value: '1' },
    { ...point, value: null },
    { ...point, unit: 'kg' },
    { ...point, parameter: 'nh3' },
    { ...point, timestamp: 5 },
    { ...point, unit: undefined },
  ]
  const added = checker.operation('POST', `${prefix}/device/{sn}/data/`).requestBody?.content
  for (const body of points) {
    const { status } = await ask('POST', '/device/S-1/data/', { key: operator, body })
    const fault = checker.fault(added, json, JSON.parse(JSON.stringify(body)))
    t.equal(fault === undefined, status === 201, `${JSON.stringify(body)}: ${status}, ${fault}`)
  }
  const changes = [
    {},
    { city: null },
    { latitude: '1.5' },
    { lon: 7, is_outdoors: false },
    { description: 'x' },
    { more: 1 },
    [],
    { city: 1 },
    { latitude: 'north' },
    { country: 'IND' },
    { private: null },
    { is_private: 'yes' },
    { model: '' },
    { lat: true },
    { model: 'x'.repeat(101) },
  ]
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

t.test('every format and coding gives the same points; one sent again replaces the first', async t => {
  const rows = Array.from({ length: 60 }, (_, minute) => {
    return [`2026-05-30T01:${String(minute).padStart(2, '0')}:00`, 'no2', 'ppb', minute / 4] as const
  })
  const csv = (sn: string) => header + rows.map(([time, ...rest]) => [time, sn, ...rest].join(',')).join('\n')
  const ndjson = (sn: string) =>
    rows
      .map(([timestamp, parameter, unit, value]) => JSON.stringify({ timestamp, sn, parameter, unit, value }))
      .join('\n')
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

t.test('a station that is removed, and one that is added again, are others than before', async t => {
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

t.test('while PostgreSQL is away nothing is stored, and the answer says so', async t => {
  isAway = true
  const answer = await post(`${header}2026-05-30T01:00:00,csv,no2,ppb,1\n`)
  t.match(answer, { status: 503, body: { title: 'database unavailable', accepted: 0, detail: /stored are 0 points/ } })
  isAway = false
})

async function stationOf(sn: string): Promise<Station> {
  const station = await people.stations.find(sn)
  if (station === undefined) throw new Error('no such station')
  return station
}

const untilApplied = () => until('the points are visible', () => pointsIngest.status().lag.rows === 0)

async function pointsOf(sn: string): Promise<Record<string, unknown>[]> {
  await untilApplied()
  return (await ask('GET', `/device/${sn}/data/?per_page=1000`, { key: owner })).body['data'] as Record<
    string,
    unknown
  >[]
}

t.test('who may add points', async t => {
  const statuses = { anonymous: 401, user: 403, reader: 403, owner: 201, administrator: 201, operator: 201 }
  for (const isPrivate of [false, true]) {
    await addStation(`who-${isPrivate}`, { private: isPrivate }, ownerId)
    for (const [name, key] of Object.entries(everyone)) {
      const { status } = await ask('POST', `/device/who-${isPrivate}/data/`, { key, body: point })
      t.equal(status, statuses[name as keyof typeof statuses], `private ${isPrivate}: ${name}`)
    }
  }
  t.equal((await ask('POST', '/device/nowhere/data/', { key: owner, body: point })).status, 404)
  const redirected = await ask('POST', '/device/who-true/data', { key: owner, body: point })
  t.match(redirected, { status: 308, headers: { location: '/api/v1.0/device/who-true/data/' } })
  t.equal((await ask('OPTIONS', '/device/who-true/data/', { key: owner })).headers['allow'], 'GET, HEAD, POST, OPTIONS')
})

t.test('a point sent again replaces the old one and keeps its id', async t => {
  await addStation('again', {}, ownerId)
  const add = async (value: number, more = {}) => {
    const { status, body } = await ask('POST', '/devices/again/data/', {
      key: owner,
      body: { ...point, value, ...more },
    })
    t.strictSame({ status, body }, { status: 201, body: { stored: 1, rejected: 0, errors: [] } })
  }
  await add(1)
  const [first] = await pointsOf('again')
  t.match(first, { ...point, value: undefined, value_1min: 1, last_updated: '2026-05-30T02:20:00' })
  people.clock.ms += 60_000
  // As it was read, in another zone and with another unit.
  await add(2, { ...first, unit: 'ppb', timestamp: '2026-05-30 07:30+05:30' })
  const points = await pointsOf('again')
  t.equal(points.length, 1)
  t.match(points[0], { id: first?.['id'], value_1min: 2, unit: 'ppb', last_updated: '2026-05-30T02:21:00' })
  t.match((await ask('GET', '/device/again', { key: owner })).body, { last_updated: '2026-05-30T02:21:00+00:00' })
})

t.test('of an array the good elements are stored; of two with one key the later one', async t => {
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

t.test('codes that stand for no value are rejected, and the running means never see them', async t => {
  await addStation('coded', {}, ownerId)
  const minute = (at: number, value: number) => ({
    ...point,
    timestamp: `2026-05-30T02:${String(at).padStart(2, '0')}:00`,
    value,
  })
  const codes = [-999, -9999, 65_535, 1e9]
  const body = Array.from({ length: 15 }, (_, at) => minute(at, 12)).concat(
    codes.map((code, at) => minute(at + 2, code)),
  )
  const { body: answer } = await ask('POST', '/device/coded/data/', { key: owner, body })
  t.match(answer, {
    stored: 15,
    rejected: 4,
    errors: codes.map((_, at) => ({ index: 15 + at, message: /^value: must be from / })),
  })
  t.match((await pointsOf('coded')).at(-1), { value_15min: 12 })
  const one = await ask('POST', '/device/coded/data/', { key: owner, body: minute(20, -999) })
  t.match(one, { status: 400, body: { id: 'bad_request', message: /^value: must be from / } })
})

t.test('bad requests', async t => {
  await addStation('bad', {}, ownerId)
  const bad: [body: unknown, message: string | RegExp][] = [
    [[], 'an array must hold 1 to 10000 data points'],
    [Array(10_001).fill(point), 'an array must hold 1 to 10000 data points'],
    [7, 'a data point must be an object'],
    ['{"value":', /JSON/i],
    [{}, 'timestamp: is required; parameter: is required; unit: is required; value: is required'],
    [{ ...point, value: null }, 'value: must be a number'],
    [{ ...point, timestamp: 0 }, /^timestamp: must be an ISO 8601 time/],
    [{ ...point, timestamp: '2026-02-30' }, /^timestamp: must be an ISO 8601 time/],
    [{ ...point, timestamp: '1999-12-31T23:59:59' }, 'timestamp: must not be before 2000-01-01'],
    [{ ...point, timestamp: '2026-05-30T02:00:00.5' }, 'timestamp: must be a whole second'],
    [{ ...point, timestamp: '2026-05-30T02:00:00.000001' }, 'timestamp: must be a whole second'],
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

t.test('many points in a request; those of a device that was dropped are gone', async t => {
  await addStation('many', {}, ownerId)
  const startMs = Date.parse('2026-05-01T00:00:00Z')
  const body = Array.from({ length: 3_000 }, (_, minute) => ({
    parameter: 'o3',
    unit: 'ppb',
    value: minute,
    timestamp: new Date(startMs + minute * 60_000).toISOString(),
  }))
  const total = async () => {
    await untilApplied()
    const { meta } = (await ask('GET', '/device/many/data/?per_page=1', { key: owner })).body as {
      meta: { total: number }
    }
    return meta.total
  }
  t.match((await ask('POST', '/device/many/data/', { key: owner, body })).body, { stored: 3_000, rejected: 0 })
  t.equal(await total(), 3_000)
  t.equal((await ask('DELETE', '/device/many', { key: operator })).status, 202)
  t.equal((await ask('POST', '/device/many/data/', { key: owner, body: point })).status, 404)
  await addStation('many', {}, ownerId)
  t.equal(await total(), 0)
})

t.test('nothing is stored by a key, or of a station, that goes while a body comes in', async t => {
  const { id } = await addStation('going', {}, ownerId)
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
  second(() => stations.change(id, { owner: null }, 'test'))
  t.match(await ask('POST', '/device/going/data/', { key: owner, body: point }), {
    status: 403,
    body: { id: 'forbidden' },
  })
  second(async () => {
    await stations.remove(await stationOf('going'), 'test')
    await addStation('going', {}, ownerId)
  })
  t.match(await ask('POST', '/device/going/data/', { key: administrator, body: point }), { status: 404 })
  keys.find = find
  t.strictSame(await pointsOf('going'), [])
})

t.test('a large body is read on no thread that serves anybody else, and one too many is a 503', async t => {
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
  const nonsense = { status: 400, body: { id: 'bad_request', message: /json/i } }
  t.match(await ask('POST', path, { key: owner, body: '['.repeat(100_000) }), nonsense)
  t.match(await ask('POST', path, { key: owner, body: `[${'{},'.repeat(200_000)}{}]` }), {
    status: 400,
    body: { message: 'an array must hold 1 to 10000 data points' },
  })
  const large = () => ask('POST', path, { key: owner, body: `[${' '.repeat(3_000_000)}]` })
  const answers = await Promise.all(Array.from({ length: 70 }, large))
  t.strictSame(new Set(answers.map(answer => answer.status)), new Set([400, 503]))
  t.match(
    answers.find(answer => answer.status === 503),
    { headers: { 'retry-after': '5' }, body: { id: 'unavailable', message: 'too many data points at once' } },
  )
  // Of answers the test itself reads larger ones.
  t.ok(charactersMax < 100_000, `${charactersMax} characters were parsed here`)
})

t.test('a journal that takes nothing more is a 503', async t => {
  await addStation('closing', {}, ownerId)
  await pointsIngest.close()
  const answer = await ask('POST', '/device/closing/data/', { key: owner, body: [point] })
  t.match(answer, { status: 503, headers: { 'retry-after': '5' }, body: { id: 'unavailable' } })
})
