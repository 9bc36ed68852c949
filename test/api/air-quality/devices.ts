/** The devices of the air-quality API, exactly as in its interface, and the common behaviour of its addresses. */

import t from 'tap'
import { base, basicOf, startAirQuality } from '../../support/air-quality.ts'
import { trustedProxy } from '../../support/app.ts'

const { app, ask, person, keyOf, addStation, people } = await startAirQuality(t, 3)

const ownerId = await person('owner@example.com')
const administratorId = await person('administrator@example.com', 'administrator')
const user = await keyOf(await person('user@example.com'))
const owner = await keyOf(ownerId)
const administrator = await keyOf(administratorId)
const operator = await keyOf(await person('operator@example.com', 'operator'))
const everybody = { anonymous: undefined, user, owner, administrator, operator }
const id = await person('ada@example.com')
const key = await keyOf(id)
await addStation('S-1')
const foreign = await person('grace@example.com')
await addStation('P-1', { private: true }, foreign)
people.clock.ms = Date.parse('2016-05-30T02:20:00Z')

t.test('a device has the fields of the interface, in its time zone', async t => {
  const fields = { city: 'Delhi', country: 'IN', latitude: '28.6257', longitude: 77.25, timezone: 'Asia/Kolkata' }
  const station = await addStation('IN-1', { ...fields, location: 'Roof', outdoors: true }, ownerId)
  const { status, headers, body } = await ask('GET', '/device/IN-1', { key: user })
  t.equal(status, 200)
  t.equal(headers['content-type'], 'application/json')
  t.strictSame(body, {
    city: 'Delhi',
    country: 'IN',
    last_updated: '2016-05-30T07:50:00+05:30',
    latitude: '28.6257',
    location: 'Roof',
    longitude: '77.25',
    model: 'M1',
    outdoors: true,
    sn: 'IN-1',
    timezone: 'Asia/Kolkata',
    url: `${base}/device/IN-1`,
  })
  people.stations.noteData(station, Date.parse('2016-05-30T02:21:00Z'))
  t.match((await ask('GET', '/device/IN-1', { key: user })).body, { last_updated: '2016-05-30T07:51:00+05:30' })
  t.match((await ask('GET', '/devices/IN-1', { key: user })).body, { sn: 'IN-1' }, 'also by the alias')
})

t.test('permissions on a device', async t => {
  const table: [method: string, statuses: number[]][] = [
    ['GET', [401, 403, 200, 200, 200]],
    ['PUT', [401, 403, 200, 200, 200]],
    ['DELETE', [401, 403, 403, 403, 202]],
  ]
  for (const [method, statuses] of table) {
    await addStation(method, { private: true }, ownerId)
    for (const [at, [name, key]] of Object.entries(everybody).entries()) {
      const options = { key, ...(method === 'PUT' ? { body: { city: name } } : {}) }
      const answer = await ask(method, `/device/${method}`, options)
      t.equal(answer.status, statuses[at], `${method}: ${name}`)
      const errorIds: Partial<Record<number, string>> = { 401: 'unauthorized', 403: 'forbidden' }
      t.equal(answer.body['id'], errorIds[answer.status])
    }
  }
  const added: number[] = []
  for (const [name, key] of Object.entries(everybody)) {
    added.push((await ask('POST', '/device/', { key, body: { sn: `by-${name}`, model: 'M1' } })).status)
  }
  t.strictSame(added, [401, 403, 403, 201, 201], 'add')
})

t.test('lists and totals include a private station only for its readers', async t => {
  await addStation('hidden', { private: true, model: 'secret' }, ownerId)
  const seen: Record<string, unknown> = {}
  for (const [name, key] of Object.entries(everybody)) {
    const { body } = await ask('GET', '/device/?filter=model,eq,secret', { key })
    const { meta, data } = body as { meta?: { total: number; pages: number }; data?: object[] }
    seen[name] = meta && [meta.total, meta.pages, data?.length]
  }
  const one = [1, 1, 1]
  t.strictSame(seen, { anonymous: undefined, user: [0, 0, 0], owner: one, administrator: one, operator: one })
})

t.test('an administrator adds a device', async t => {
  const add = (body: unknown, key = administrator) => ask('POST', '/device/', { key, body })
  const made = await add({ sn: 'N-1', model: 'M2', lat: 1.5, lon: '-2', description: 'by other names', per_page: 5 })
  t.equal(made.status, 201)
  t.equal(made.headers['location'], `${base}/device/N-1`)
  const shown = { sn: 'N-1', model: 'M2', latitude: '1.5', longitude: '-2', city: null }
  t.match(made.body, { ...shown, location: 'by other names' })
  t.strictSame(made.body, (await ask('GET', '/device/N-1', { key: user })).body, 'the full object')
  t.equal((await people.stations.find('N-1'))?.owner, administratorId, 'the caller owns it')
  t.match(await add({ sn: 'N-1', model: 'M2' }), { status: 409, body: { id: 'conflict' } })
  t.equal((await add({ sn: 'N-2', model: 'M2', is_private: true, owner: 'Owner@example.com' })).status, 201)
  t.match(await people.stations.find('N-2'), { private: true, owner: ownerId })
  t.equal((await add({ sn: 'N-3', model: 'M2', is_outdoors: false, owner: null })).status, 201)
  t.match(await people.stations.find('N-3'), { private: false, outdoors: false, owner: administratorId })
  const bad: [unknown, RegExp][] = [
    [{ model: 'M2' }, /^sn: /],
    [{ sn: 'N-4' }, /^model: /],
    [{ sn: '.N', model: 'M2' }, /^sn: must be 1 to 64/],
    [{ sn: 'N-4', model: 'M2', latitude: 91 }, /^latitude: must be a number from -90/],
    [{ sn: 'N-4', model: 'M2', lat: '1', latitude: '2' }, /^lat and latitude differ/],
    [{ sn: 'N-4', model: 'M2', is_private: true, private: false }, /^is_private and private differ/],
    [{ sn: 'N-4', model: 'M2', timezone: 'Mars/Base' }, /^timezone: /],
    [{ sn: 'N-4', model: 'M2', owner: 'nobody@example.com' }, /^owner: /],
    [[], /JSON object/],
    ['{"sn":', /invalid json/],
    ['null', /JSON object/],
  ]
  for (const [body, message] of bad) {
    const answer = await add(body)
    t.match([answer.status, answer.body], [400, { id: 'bad_request', message }], JSON.stringify(body))
  }
  t.equal(await people.stations.find('N-4'), undefined)
  const asText = { key: administrator, body: '{}', headers: { 'content-type': 'text/plain' } }
  const text = await ask('POST', '/device/', asText)
  t.match([text.status, text.body], [415, { id: 'unsupported_media_type' }])
  const large = await add({ sn: 'N-4', model: 'x'.repeat(70_000) })
  t.match([large.status, large.body], [413, { id: 'too_large' }])
  t.match(await add('{"sn":', user), { status: 403 }, 'the body is not judged for a user who may not add')
})

t.test('a device is changed by one field, or by the whole object as read', async t => {
  const fields = { city: 'Agra', latitude: 1, longitude: 2, location: 'Gate', outdoors: true, private: true }
  await addStation('C-1', fields, ownerId)
  const put = (body: unknown) => ask('PUT', '/device/C-1', { key: owner, body })
  const before = (await ask('GET', '/device/C-1', { key: owner })).body
  people.clock.ms += 60_000
  t.strictSame((await put(before)).body, before, 'what changes nothing is no change')
  const changed = await put({ city: 'Delhi' })
  t.equal(changed.status, 200)
  t.strictSame(changed.body, { ...before, city: 'Delhi', last_updated: '2016-05-30T02:21:00+00:00' })
  t.equal((await people.stations.find('C-1'))?.private, true)
  const unset = { city: null, latitude: null, outdoors: null }
  t.match((await put({ ...unset, lat: null })).body, { ...unset, longitude: '2' })
  t.match((await put({ timezone: null })).body, { timezone: 'UTC' })
  for (const body of [{ sn: 'C-2' }, { model: null }, { model: '' }, { country: 'IND' }, []]) {
    t.match(await put(body), { status: 400, body: { id: 'bad_request' } }, JSON.stringify(body))
  }
  t.equal((await put({ sn: 'C-1', owner: 'user@example.com', is_private: false })).status, 200)
  t.match(await people.stations.find('C-1'), { owner: ownerId, private: false })
  t.match(await ask('PUT', '/device/nobody', { key: owner, body: {} }), { status: 404, body: { id: 'not_found' } })
})

t.test('the operator drops a device, once', async t => {
  await addStation('X-1')
  const dropped = await ask('DELETE', '/device/X-1', { key: operator, body: {} })
  t.strictSame([dropped.status, dropped.body], [202, { 'device dropped': 'success' }])
  t.match(await ask('DELETE', '/device/X-1', { key: operator }), { status: 404, body: { id: 'not_found' } })
  t.match(await ask('GET', '/device/X-1', { key: operator }), { status: 404 })
  t.equal((await ask('POST', '/device/', { key: operator, body: { sn: 'X-1', model: 'M1' } })).status, 201)
  const headers = { 'content-type': 'application/json' }
  t.equal((await ask('DELETE', '/device/X-1', { key: operator, headers })).status, 202, 'without a body too')
})

t.test('the list is filtered, sorted and paged', async t => {
  const cities = ['Agra', 'Delhi', null, 'Pune', 'agra']
  for (const [at, city] of cities.entries()) {
    const timezone = at % 2 === 0 ? 'UTC' : 'Asia/Kolkata'
    await addStation(`L-${at}`, { model: 'list', city, latitude: at - 2, timezone })
  }
  const list = async (query: string) => {
    const { status, body } = await ask('GET', `/device/?${query}`, { key: user })
    t.equal(status, 200, query)
    return (body['data'] as { sn: string }[]).map(({ sn }) => sn.slice(2)).join('')
  }
  const filter = (text: string) => list(`filter=model,eq,list;${text}`)
  t.equal(await filter(''), '01234')
  t.equal(await filter('city,eq,Agra'), '0')
  t.equal(await filter('latitude,lt,-0.5'), '01', 'as a number')
  t.equal(await filter('latitude,like,-_'), '01', 'as shown')
  t.equal(await filter('url,like,%25/device/L-3'), '3')
  t.equal(await filter('last_updated,like,%25%2B05:30'), '13')
  t.equal(await list('filter=model,eq,list&sort=city,desc'), '24310', 'null comes first, ties by sn')
  t.equal(await list('filter=model,eq,list&limit=3&sort=sn,desc'), '432')
  for (const query of ['filter=private,eq,true', 'filter=sn,is,x', 'sort=owner', 'filter=latitude,lt,north']) {
    const { status, body } = await ask('GET', `/device/?${query}`, { key: user })
    t.match([status, body], [400, { id: 'bad_request', message: /"/ }], query)
  }
})

t.test('the links of a list visit every device once, also while others are added', async t => {
  for (let at = 0; at < 5; at++) await addStation(`W-${at}`, { model: 'walk' })
  let url: string | null = `${base}/devices/?filter=model,eq,walk&per_page=2`
  const seen: string[] = []
  for (let page = 1; url !== null; page++) {
    const { body } = await ask('GET', '', { key: user, url: url.replace('https://air.example', '') })
    const meta = body['meta'] as Record<string, string | null>
    t.match(meta, { page, pages: 3, per_page: 2, total: 5 })
    t.equal(meta['prev_page'] === null, page === 1)
    seen.push(...(body['data'] as { sn: string }[]).map(({ sn }) => sn))
    await addStation(`W-${page}-new`, { model: 'walk' })
    url = meta['next_url'] ?? null
  }
  t.strictSame(seen, ['W-0', 'W-1', 'W-2', 'W-3', 'W-4'])
  const beyond = await ask('GET', '/device/?filter=model,eq,walk&per_page=3&page=4', { key: user })
  t.match([beyond.status, beyond.body], [404, { id: 'not_found' }])
})

t.test('a key is the user name of an ignored password', async t => {
  for (const password of ['', 'None', 'x:y', key]) {
    const headers = { authorization: basicOf(key, password) }
    const { status, body } = await ask('GET', '/auth/', { headers })
    t.strictSame([status, body], [200, { 'Authentication Check': 'All good!' }], password)
  }
  const wrong = [{}, { authorization: `Bearer ${key}` }, { authorization: basicOf('', key) }, { 'x-api-key': key }]
  for (const [at, headers] of wrong.entries()) {
    const { status, headers: given, body } = await ask('GET', '/auth/', { headers, address: `127.0.0.${at + 1}` })
    t.match([status, body], [401, { id: 'unauthorized' }], JSON.stringify(headers))
    t.equal(given['www-authenticate'], 'Basic realm="Authentication Required"')
    t.equal(given['content-type'], 'application/json')
  }
  const revoked = await keyOf(id)
  await people.keys.revokeAny((await people.keys.find(revoked))?.keyId ?? 0, 'test')
  t.equal((await ask('GET', '/auth/', { key: revoked })).status, 401, 'a revoked one')
})

t.test('only wrong keys of one address are delayed', async t => {
  const wrong = () => ask('GET', '/auth/', { key: 'guess', address: '127.0.0.99' })
  const statuses = [(await wrong()).status, (await wrong()).status, (await wrong()).status]
  t.strictSame(statuses, [401, 401, 401])
  const { status, headers, body } = await wrong()
  t.match([status, headers['retry-after'], body], [429, '5', { id: 'too_many_requests' }])
  t.equal((await ask('GET', '/auth/', { key, address: '127.0.0.99' })).status, 200)
  t.equal((await ask('GET', '/auth/', { address: '127.0.0.99' })).status, 401, 'no key is no guess')
})

t.test('HTTPS is required, except on loopback', async t => {
  const get = (address: string, headers: Record<string, string> = {}) => ask('GET', '/auth/', { key, address, headers })
  t.equal((await get('127.0.0.1')).status, 200)
  t.equal((await get('::1')).status, 200)
  t.match(await get('192.0.2.1'), { status: 403, body: { id: 'forbidden', message: 'use HTTPS' } })
  t.equal((await get('192.0.2.1', { 'x-forwarded-proto': 'https' })).status, 403, 'anybody can say so')
  t.equal((await get('127.0.0.1', { 'x-forwarded-proto': 'http' })).status, 403, 'a proxy on the machine')
  t.equal((await get(trustedProxy, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' })).status, 200)
  t.equal((await get(trustedProxy, { 'x-forwarded-proto': 'http', 'x-forwarded-for': '192.0.2.1' })).status, 403)
})

t.test('a missing slash is redirected, an extra slash rejected', async t => {
  const targets = ['/auth', '/device', '/devices', '/log', '/researcher/device/S-1/data', '/device/S-1/data/raw']
  for (const path of targets) {
    for (const query of ['', '?a=1&b=//x']) {
      const { status, headers } = await ask('GET', `${path}${query}`)
      t.strictSame([status, headers['location']], [308, `/api/v1.0${path}/${query}`])
      t.not((await ask('GET', `${path}/${query}`, { key })).status, 308)
    }
  }
  t.equal((await ask('POST', '/device', { key, body: {} })).status, 308)
  t.match(await ask('GET', '/device/S-1/', { key }), { status: 404, body: { id: 'not_found' } })
})

t.test('OPTIONS and other methods have their responses', async t => {
  const paths = { '/auth/': 'GET, HEAD, OPTIONS', '/device/': 'GET, HEAD, POST, OPTIONS' }
  const allowed = { ...paths, '/device/S-1': 'GET, HEAD, PUT, DELETE, OPTIONS', '/account': 'GET, HEAD, OPTIONS' }
  for (const [path, allow] of Object.entries(allowed)) {
    const options = await ask('OPTIONS', path)
    t.strictSame([options.status, options.text, options.headers['allow']], [200, '', allow], path)
    for (const method of ['PATCH', 'PROPFIND', 'TRACE']) {
      const other = await ask(method, path, { key })
      t.match([other.status, other.headers['allow']], [405, allow], `${method} ${path}`)
      if (method !== 'TRACE') t.match(other.body, { id: 'method_not_allowed' })
    }
  }
})

t.test('an ETag omits an unchanged body or guards it with If-Match', async t => {
  const { headers, text } = await ask('GET', '/device/S-1', { key })
  const etag = String(headers['etag'])
  t.match(etag, /^"[\w-]+"$/)
  for (const method of ['GET', 'HEAD']) {
    const get = async (conditions: Record<string, string>) =>
      (await ask(method, '/device/S-1', { key, headers: conditions })).status
    for (const tags of [etag, `W/${etag}`, '*', `"x", ${etag}`])
      t.equal(await get({ 'if-none-match': tags }), 304, tags)
    t.equal(await get({ 'if-none-match': '"x"' }), 200)
    for (const tags of [etag, '*', `"x",${etag}`]) t.equal(await get({ 'if-match': tags }), 200, tags)
    for (const tags of ['"x"', `W/${etag}`]) t.equal(await get({ 'if-match': tags }), 412, tags)
    t.equal(await get({ 'if-match': '"x"', 'if-none-match': etag }), 412)
    const unchanged = await ask(method, '/device/S-1', { key, headers: { 'if-none-match': etag } })
    t.notOk('content-length' in unchanged.headers, `${method}: nothing has no length`)
  }
  const failed = await ask('GET', '/device/S-1', { key, headers: { 'if-match': '"x"' } })
  t.match(failed.body, { id: 'precondition_failed' })
  const station = await people.stations.find('S-1')
  await people.stations.change(station?.id ?? 0, { city: 'Agra' }, 'test')
  const changed = await ask('GET', '/device/S-1', { key, headers: { 'if-none-match': etag } })
  t.equal(changed.status, 200)
  t.not(changed.text, text)
})

t.test('the owner of a key is returned', async t => {
  const splits: [string | null, string | null, string | null][] = [
    [null, null, null],
    ['Ada', 'Ada', null],
    ['Ada King Lovelace', 'Ada King', 'Lovelace'],
    ['  ', null, null],
  ]
  people.clock.ms = Date.parse('2026-01-31T12:00:00.250Z')
  for (const [name, first_name, last_name] of splits) {
    await people.set(id, { name })
    const { status, body } = await ask('GET', '/account', { key })
    t.equal(status, 200)
    t.match(body['member_since'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?$/)
    const { member_since: _, ...rest } = body
    const person = { id, username: 'ada', email: 'ada@example.com', confirmed: true, first_name, last_name }
    const rights = { role: 'user', is_administrator: false }
    t.strictSame(rest, { ...person, ...rights, last_seen: '2026-01-31T12:00:00' })
  }
})

t.test('addresses of other servers have an empty list for readers of the device', async t => {
  const empty = (url: string) => {
    const link = `${base}${url}?page=1&per_page=7`
    const links = { first_url: link, last_url: link, next_url: null, prev_page: null }
    return { meta: { ...links, page: 1, pages: 0, per_page: 7, total: 0 }, data: [] }
  }
  const of = (sn: string) => [
    ...['', '/'].flatMap(slash => [`/log/${sn}${slash}`, `/connection_event/${sn}${slash}`]),
    ...[`/researcher/device/${sn}/data/`, `/device/${sn}/data/raw/`, `/devices/${sn}/data/raw/`],
  ]
  for (const path of ['/log/', ...of('S-1')]) {
    const { status, body } = await ask('GET', `${path}?per_page=7`, { key })
    t.strictSame([status, body], [200, empty(path)], path)
    t.equal((await ask('GET', `${path}?page=2`, { key })).status, 404)
  }
  for (const path of of('P-1')) t.equal((await ask('GET', path, { key })).status, 403, path)
  for (const path of of('nobody')) t.equal((await ask('GET', path, { key })).status, 404, path)
  const entry = await ask('GET', '/log/123', { key })
  t.strictSame([entry.status, entry.body], [200, {}])
})

t.test('every error is a JSON object with id and message', async t => {
  const cases: [string, string, number, string][] = [
    ['GET', '/nowhere', 404, 'not_found'],
    ['POST', '/device/x/y/z', 404, 'not_found'],
    ['GET', '/device/%zz', 404, 'not_found'],
    ['GET', `/device/${'x'.repeat(1_000)}`, 414, 'too_large'],
    ['GET', '/device/ä', 404, 'not_found'],
    ['GET', '/device/%2e%2e%2f', 404, 'not_found'],
    ['GET', `/device/?${'&a=1'.repeat(1_001)}`, 400, 'bad_request'],
  ]
  for (const [method, path, status, errorId] of cases) {
    const { status: given, body, headers } = await ask(method, path, { key })
    t.match([given, body], [status, { id: errorId, message: /./ }], path.slice(0, 40))
    t.strictSame(Object.keys(body), ['id', 'message'])
    t.equal(headers['content-type'], 'application/json')
  }
})

t.test('unreadable data points return the fault found by the server', async t => {
  const read = async (path: string) => {
    const { status, body } = await ask('GET', `/device/S-1/${path}`, { key })
    return [status, body]
  }
  const away = (message: string) => [503, { id: 'unavailable', message }]
  const paths = ['data/', 'data/?format=csv', 'data/5', 'latest']
  for (const path of paths) t.strictSame(await read(path), away('database unavailable'), path)
  app.databaseFault = () => 'QuestDB is starting'
  for (const path of paths) t.strictSame(await read(path), away('database unavailable: QuestDB is starting'), path)
})

t.test('data in memory stay readable without PostgreSQL', async t => {
  const changing = await keyOf(foreign, ['read', 'stations'])
  const change = () => ask('PUT', '/device/P-1', { key: changing, body: { city: 'Agra' } })
  t.equal((await change()).status, 200)
  t.equal((await ask('GET', '/device/P-1', { key: changing })).status, 200)
  await people.store.close()
  t.equal((await ask('GET', '/device/P-1', { key: changing })).status, 200)
  const refused = await ask('PUT', '/device/P-1', { key: changing, body: { city: 'Pune' } })
  t.match([refused.status, refused.body, refused.headers['retry-after']], [503, { id: 'unavailable' }, '5'])
  const read = await ask('GET', '/device/P-1', { key: changing })
  t.match([read.status, read.body], [200, { city: 'Agra' }], 'a change that was not made leaves the record in memory')
})
