/** The air-quality API as its part of the contract describes it: every route, every argument, every answer. */

import { fastify } from 'fastify'
import t, { type Test } from 'tap'
import { createOpenApi, type Parameter, type PublishedOperation } from '../../../api/docs/contract.ts'
import { publishOperations } from '../../../api/docs/published-operations.ts'
import { startAirQuality } from '../../support/air-quality.ts'
import { createContractChecker } from '../../support/contract.ts'
import { until } from '../../support/processes.ts'
import { startQuestdb } from '../../support/questdb.ts'

const { address } = await startQuestdb(t)
const under = await startAirQuality(t, 3, { questdb: address })
const { ask, family, person, keyOf, addStation, people, pointsIngest } = under
pointsIngest.startForwarding(address.http, true)
people.clock.ms = Date.parse('2026-05-30T02:20:00Z')

const prefix = '/api/v1.0'
const document = createOpenApi([publishOperations(family)])
const checker = createContractChecker(document)
const key = await keyOf(await person('operator@example.com', 'operator'))
const stranger = await keyOf(await person('user@example.com'))
await addStation('S-1', { city: 'Delhi', latitude: 28.6257, longitude: 77.2, outdoors: true, timezone: 'Asia/Kolkata' })
await addStation('P-1', { private: true })

const point = { parameter: 'pm25', unit: 'ugm3', timestamp: '2026-05-30T02:00:00', value: 12.5 }
const json = 'application/json'

type AskOptions = Parameters<typeof ask>[2]
const seen = new Set<string>()

/** Sends it and holds the answer to the contract. `path` is the one of the contract. */
async function answer(t: Test, method: string, path: string, url: string, status: number, options: AskOptions = {}) {
  const name = `${method} ${url}`
  const got = await ask(method, url, { key, ...options })
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
  const { body } = await ask('GET', '/device/S-1', { key })
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
  await answer(t, 'POST', '/device/', '/device/', 403, { key: stranger, body: { sn: 'N-2', model: 'M' } })
  await answer(t, 'POST', '/device/', '/device/', 409, { body: { sn: 'S-1', model: 'M' } })
  await answer(t, 'POST', '/device/', '/device/', 413, { body: { sn: 'x'.repeat(70_000), model: 'M' } })
  await answer(t, 'POST', '/device/', '/device/', 415, { body: '{}', headers: { 'content-type': 'text/plain' } })
  await answer(t, 'GET', '/device/{sn}', '/device/P-1', 403, { key: stranger })
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
  const [newest] = (await ask('GET', '/device/S-1/data/?per_page=1', { key })).body['data'] as { id: number }[]
  for (const path of urls) {
    const url = path.replace('{sn}', 'S-1').replace('{id}', String(newest?.id)).replace('{which}', '1')
    const { headers } = await ask('GET', url, { key })
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
    t.strictSame(await argumentsRead(() => ask('GET', url, { key })), new Set(documented), path)
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
  const statusOf = async (query: string) => (await ask('GET', `${url}?${query}`, { key })).status

  t.test(`${path}: the columns and operators of the contract are those that count`, async t => {
    const columns = wordsOf(operation, 'filter', 'Columns')
    const { body } = await ask('GET', url, { key })
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
    const metaOf = async (query: string) => (await ask('GET', `${url}?${query}`, { key })).body['meta']
    const perPage = argumentOf(operation, 'per_page').schema
    t.match(await metaOf(''), { per_page: perPage['default'], page: argumentOf(operation, 'page').schema['default'] })
    t.match(await metaOf('per_page=999999999'), { per_page: perPage['maximum'] })
  })
}

t.test('the formats of the contract are those that are taken', async t => {
  const formats = argumentOf(checker.operation('GET', `${prefix}/device/{sn}/data/`), 'format').schema['enum']
  t.ok(Array.isArray(formats) && formats.length === 3)
  for (const format of formats as string[]) {
    t.equal((await ask('GET', `/device/S-1/data/?format=${format}`, { key })).status, 200, format)
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
    const { status } = await ask('POST', '/device/S-1/data/', { key, body })
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
    const { status } = await ask('PUT', '/device/S-1', { key, body })
    const fault = checker.fault(changed, json, body)
    t.equal(fault === undefined, status === 200, `${JSON.stringify(body)}: ${status}, ${fault}`)
  }
})
