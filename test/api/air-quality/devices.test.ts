/** The devices of the air-quality API: every operation, for everybody, to the letter of the interface. */

import t from 'tap'
import { base, startAirQuality } from '../../support/air-quality.ts'

const { ask, person, keyOf, addStation, people } = await startAirQuality(t)

const [userId, ownerId, administratorId, operatorId] = [
  await person('user@example.com'),
  await person('owner@example.com'),
  await person('administrator@example.com', 'administrator'),
  await person('operator@example.com', 'operator'),
]
const [user, owner, administrator, operator] = [
  await keyOf(userId),
  await keyOf(ownerId),
  await keyOf(administratorId),
  await keyOf(operatorId),
]
const everybody = { anonymous: undefined, user, owner, administrator, operator }

t.before(async () => {
  people.clock.ms = Date.parse('2016-05-30T02:20:00Z')
})

t.test('a device has the fields of the interface, in its own time zone', async t => {
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

t.test('who may do what with a device', async t => {
  const table: [operation: string, method: string, isPrivate: boolean, statuses: number[]][] = [
    ['read', 'GET', false, [401, 200, 200, 200, 200]],
    ['read', 'GET', true, [401, 403, 200, 200, 200]],
    ['change', 'PUT', false, [401, 403, 200, 200, 200]],
    ['change', 'PUT', true, [401, 403, 200, 200, 200]],
    ['remove', 'DELETE', false, [401, 403, 403, 403, 202]],
    ['remove', 'DELETE', true, [401, 403, 403, 403, 202]],
  ]
  for (const [operation, method, isPrivate, statuses] of table) {
    const sn = `${operation}-${isPrivate}`
    await addStation(sn, { private: isPrivate }, ownerId)
    for (const [at, [name, key]] of Object.entries(everybody).entries()) {
      const answer = await ask(method, `/device/${sn}`, { key, ...(method === 'PUT' ? { body: { city: name } } : {}) })
      t.equal(answer.status, statuses[at], `${operation}, private ${isPrivate}: ${name}`)
      const errorIds: Partial<Record<number, string>> = { 401: 'unauthorized', 403: 'forbidden' }
      t.equal(answer.body['id'], errorIds[answer.status])
    }
  }
  const added: number[] = []
  for (const [name, key] of Object.entries(everybody)) {
    added.push((await ask('POST', '/device/', { key, body: { sn: `by-${name}`, model: 'M1' } })).status)
  }
  t.strictSame(added, [401, 403, 403, 201, 201], 'add')
  t.equal((await ask('GET', '/device/read-true/', { key: owner })).status, 404, 'a slash too many')
})

t.test('a key needs the scope', async t => {
  const reading = await keyOf(operatorId, ['read'])
  const changing = await keyOf(operatorId, ['stations'])
  await addStation('scope')
  t.equal((await ask('GET', '/device/scope', { key: changing })).status, 403)
  t.equal((await ask('GET', '/auth/', { key: changing })).status, 403)
  for (const method of ['PUT', 'DELETE']) {
    t.equal((await ask(method, '/device/scope', { key: reading, body: {} })).status, 403)
  }
  t.equal((await ask('POST', '/device/', { key: reading, body: { sn: 'x', model: 'M1' } })).status, 403)
  t.equal((await ask('PUT', '/device/scope', { key: changing, body: {} })).status, 200)
})

t.test('a private station is in nobody’s list and in no total but of those who may see it', async t => {
  await addStation('hidden', { private: true, model: 'secret' }, ownerId)
  const seen: Record<string, unknown> = {}
  for (const [name, key] of Object.entries(everybody)) {
    const { body } = await ask('GET', '/device/?filter=model,eq,secret', { key })
    const { meta, data } = body as { meta?: { total: number; pages: number }; data?: object[] }
    seen[name] = meta && [meta.total, meta.pages, data?.length]
  }
  t.strictSame(seen, {
    anonymous: undefined,
    user: [0, 0, 0],
    owner: [1, 1, 1],
    administrator: [1, 1, 1],
    operator: [1, 1, 1],
  })
})

t.test('a device is added by an administrator', async t => {
  const add = (body: unknown, key = administrator) => ask('POST', '/device/', { key, body })
  const made = await add({ sn: 'N-1', model: 'M2', lat: 1.5, lon: '-2', description: 'by other names', per_page: 5 })
  t.equal(made.status, 201)
  t.equal(made.headers['location'], `${base}/device/N-1`)
  t.match(made.body, {
    sn: 'N-1',
    model: 'M2',
    latitude: '1.5',
    longitude: '-2',
    location: 'by other names',
    city: null,
  })
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
  const text = await ask('POST', '/device/', {
    key: administrator,
    body: '{}',
    headers: { 'content-type': 'text/plain' },
  })
  t.match([text.status, text.body], [415, { id: 'unsupported_media_type' }])
  const large = await add({ sn: 'N-4', model: 'x'.repeat(70_000) })
  t.match([large.status, large.body], [413, { id: 'too_large' }])
  t.match(await add('{"sn":', user), { status: 403 }, 'who may not add learns nothing of the body')
})

t.test('a device is changed by one field, or by the whole object as it was read', async t => {
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
  t.match((await put({ city: null, latitude: null, outdoors: null, lat: null })).body, {
    city: null,
    latitude: null,
    outdoors: null,
    longitude: '2',
  })
  t.match((await put({ timezone: null })).body, { timezone: 'UTC' })
  for (const body of [{ sn: 'C-2' }, { model: null }, { model: '' }, { country: 'IND' }, []]) {
    t.match(await put(body), { status: 400, body: { id: 'bad_request' } }, JSON.stringify(body))
  }
  t.equal((await put({ sn: 'C-1', owner: 'user@example.com', is_private: false })).status, 200)
  t.match(await people.stations.find('C-1'), { owner: ownerId, private: false })
  t.match(await ask('PUT', '/device/nobody', { key: owner, body: {} }), { status: 404, body: { id: 'not_found' } })
})

t.test('a device is dropped by the operator, once', async t => {
  await addStation('X-1')
  const dropped = await ask('DELETE', '/device/X-1', { key: operator, body: {} })
  t.strictSame([dropped.status, dropped.body], [202, { 'device dropped': 'success' }])
  t.match(await ask('DELETE', '/device/X-1', { key: operator }), { status: 404, body: { id: 'not_found' } })
  t.match(await ask('GET', '/device/X-1', { key: operator }), { status: 404 })
  t.equal((await ask('POST', '/device/', { key: operator, body: { sn: 'X-1', model: 'M1' } })).status, 201)
  const headers = { 'content-type': 'application/json' }
  t.equal((await ask('DELETE', '/device/X-1', { key: operator, headers })).status, 202, 'without a body too')
})

t.test('the list is filtered, sorted and cut into pages', async t => {
  const cities = ['Agra', 'Delhi', null, 'Pune', 'agra']
  for (const [at, city] of cities.entries()) {
    await addStation(`L-${at}`, {
      model: 'list',
      city,
      latitude: at - 2,
      timezone: at % 2 === 0 ? 'UTC' : 'Asia/Kolkata',
    })
  }
  const list = async (query: string) => {
    const { status, body } = await ask('GET', `/device/?${query}`, { key: user })
    t.equal(status, 200, query)
    return (body['data'] as { sn: string }[]).map(({ sn }) => sn.slice(2)).join('')
  }
  const filter = (text: string) => list(`filter=model,eq,list;${text}`)
  t.equal(await filter(''), '01234')
  t.equal(await filter('city,eq,Agra'), '0')
  t.equal(await filter('city,ne,Agra'), '134', 'null never matches')
  t.equal(await filter('city,like,%25gra'), '04')
  t.equal(await filter('city,in,Pune,Delhi'), '13')
  t.equal(await filter('latitude,lt,-0.5'), '01', 'as a number')
  t.equal(await filter('latitude,like,-_'), '01', 'as shown')
  t.equal(await filter('latitude,ge,0;longitude,eq,0'), '')
  t.equal(await filter('url,like,%25/device/L-3'), '3')
  t.equal(await filter('last_updated,like,%25%2B05:30'), '13')
  t.equal(await list('filter=model,eq,list&sort=city,desc'), '24310', 'null comes first, ties by sn')
  t.equal(await list('filter=model,eq,list&sort=city'), '01342')
  t.equal(await list('filter=model,eq,list&sort=timezone;latitude,desc'), '31420')
  t.equal(await list('filter=model,eq,list&limit=3&sort=sn,desc'), '432')
  for (const query of ['filter=private,eq,true', 'filter=sn,is,x', 'sort=owner', 'filter=latitude,lt,north']) {
    const { status, body } = await ask('GET', `/device/?${query}`, { key: user })
    t.match([status, body], [400, { id: 'bad_request', message: /"/ }], query)
  }
})

t.test('the links of a list lead through every device once, also while others are added', async t => {
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
  const one = await ask('GET', '/device/?filter=sn,eq,W-0', { key: user })
  t.match(one.body['meta'], {
    first_url: `${base}/device/?page=1&per_page=50&filter=sn%2Ceq%2CW-0`,
    next_url: null,
    prev_page: null,
  })
  for (const page of ['0', '-1', '4']) {
    const beyond = await ask('GET', `/device/?filter=model,eq,walk&per_page=3&page=${page}`, { key: user })
    t.match([beyond.status, beyond.body], [404, { id: 'not_found' }], page)
  }
})
