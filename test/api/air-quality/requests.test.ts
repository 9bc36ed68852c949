/** What every address of the air-quality API has in common: credentials, HTTPS, slashes, methods, ETags and errors. */

import t from 'tap'
import { base, basicOf, startAirQuality } from '../../support/air-quality.ts'
import { trustedProxy } from '../../support/app.ts'

const { app, ask, person, keyOf, addStation, people } = await startAirQuality(t, 3)
const id = await person('ada@example.com')
const key = await keyOf(id)
await addStation('S-1')
const foreign = await person('grace@example.com')
await addStation('P-1', { private: true }, foreign)

t.test('a key is the user name, and the password is ignored', async t => {
  for (const password of ['', 'None', 'x:y', key]) {
    const headers = { authorization: basicOf(key, password) }
    const { status, body } = await ask('GET', '/auth/', { headers })
    t.strictSame([status, body], [200, { 'Authentication Check': 'All good!' }], password)
  }
  const [good] = await people.keys.list((await people.accounts.find(id)) as never)
  const wrong = [{}, { authorization: `Bearer ${key}` }, { authorization: basicOf('', key) }, { 'x-api-key': key }]
  for (const [at, headers] of wrong.entries()) {
    const { status, headers: given, body } = await ask('GET', '/auth/', { headers, address: `127.0.0.${at + 1}` })
    t.match([status, body], [401, { id: 'unauthorized' }], JSON.stringify(headers))
    t.equal(given['www-authenticate'], 'Basic realm="Authentication Required"')
    t.equal(given['content-type'], 'application/json')
  }
  const revoked = await keyOf(id)
  const list = await people.keys.list((await people.accounts.find(id)) as never)
  const newest = list.find(({ id: keyId }) => keyId !== good?.id)
  await people.keys.revoke((await people.accounts.find(id)) as never, newest?.id ?? 0)
  t.equal((await ask('GET', '/auth/', { key: revoked })).status, 401, 'a revoked one')
})

t.test('wrong keys of one address are slowed down, and good ones are not', async t => {
  const wrong = () => ask('GET', '/auth/', { key: 'guess', address: '127.0.0.99' })
  const statuses = [(await wrong()).status, (await wrong()).status, (await wrong()).status]
  t.strictSame(statuses, [401, 401, 401])
  const { status, headers, body } = await wrong()
  t.match([status, headers['retry-after'], body], [429, '5', { id: 'too_many_requests' }])
  t.equal((await ask('GET', '/auth/', { key, address: '127.0.0.99' })).status, 200)
  t.equal((await ask('GET', '/auth/', { address: '127.0.0.99' })).status, 401, 'no key is no guess')
})

t.test('HTTPS is required, but not on the machine itself', async t => {
  const get = (address: string, headers: Record<string, string> = {}) => ask('GET', '/auth/', { key, address, headers })
  t.equal((await get('127.0.0.1')).status, 200)
  t.equal((await get('::1')).status, 200)
  t.match(await get('192.0.2.1'), { status: 403, body: { id: 'forbidden', message: 'use HTTPS' } })
  t.equal((await get('192.0.2.1', { 'x-forwarded-proto': 'https' })).status, 403, 'anybody can say so')
  t.equal((await get('127.0.0.1', { 'x-forwarded-proto': 'http' })).status, 403, 'a proxy on the machine')
  t.equal((await get(trustedProxy, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' })).status, 200)
  t.equal((await get(trustedProxy, { 'x-forwarded-proto': 'http', 'x-forwarded-for': '192.0.2.1' })).status, 403)
})

t.test('a missing slash is redirected, and a slash too many is unknown', async t => {
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

t.test('HEAD, OPTIONS and other methods', async t => {
  const paths = { '/auth/': 'GET, HEAD, OPTIONS', '/device/': 'GET, HEAD, POST, OPTIONS' }
  const allowed = { ...paths, '/device/S-1': 'GET, HEAD, PUT, DELETE, OPTIONS', '/account': 'GET, HEAD, OPTIONS' }
  for (const [path, allow] of Object.entries(allowed)) {
    const options = await ask('OPTIONS', path)
    t.strictSame([options.status, options.text, options.headers['allow']], [200, '', allow], path)
    const get = await ask('GET', path, { key })
    const head = await ask('HEAD', path, { key })
    t.equal(head.text, '')
    for (const name of ['content-length', 'content-type', 'etag']) t.equal(head.headers[name], get.headers[name], name)
    for (const method of ['PATCH', 'PROPFIND', 'TRACE']) {
      const other = await ask(method, path, { key })
      t.match([other.status, other.headers['allow']], [405, allow], `${method} ${path}`)
      if (method !== 'TRACE') t.match(other.body, { id: 'method_not_allowed' })
    }
  }
})

t.test('an ETag saves a body, and If-Match asks for it', async t => {
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
    t.notOk('content-length' in unchanged.headers, `${method} tells no length of nothing`)
  }
  const failed = await ask('GET', '/device/S-1', { key, headers: { 'if-match': '"x"' } })
  t.match(failed.body, { id: 'precondition_failed' })
  const station = await people.stations.find('S-1')
  if (station === undefined) throw new Error('no station')
  await people.stations.change(station.id, { city: 'Agra' }, 'test')
  const changed = await ask('GET', '/device/S-1', { key, headers: { 'if-none-match': etag } })
  t.equal(changed.status, 200)
  t.not(changed.text, text)
})

t.test('whose the key is', async t => {
  const account = await people.accounts.find(id)
  if (account === undefined) throw new Error('no account')
  const named = (name: string | null) =>
    people.accounts.memory.change(id, () =>
      people.store.postgres.query('UPDATE accounts SET name = $2 WHERE id = $1', [id, name]),
    )
  const splits: [string | null, string | null, string | null][] = [
    [null, null, null],
    ['Ada', 'Ada', null],
    ['Ada King Lovelace', 'Ada King', 'Lovelace'],
    ['  ', null, null],
  ]
  people.clock.ms = Date.parse('2026-01-31T12:00:00.250Z')
  for (const [name, first_name, last_name] of splits) {
    await named(name)
    const { status, body } = await ask('GET', '/account', { key })
    t.equal(status, 200)
    t.match(body['member_since'], /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?$/)
    const { member_since: _, ...rest } = body
    t.strictSame(rest, {
      id,
      username: 'ada',
      email: 'ada@example.com',
      confirmed: true,
      first_name,
      last_name,
      role: 'user',
      is_administrator: false,
      last_seen: '2026-01-31T12:00:00',
    })
  }
})

t.test('addresses of other servers have an empty list for whoever may see the device', async t => {
  const empty = (url: string) => {
    const link = `${base}${url}?page=1&per_page=7`
    const meta = {
      first_url: link,
      last_url: link,
      next_url: null,
      page: 1,
      pages: 0,
      per_page: 7,
      prev_page: null,
      total: 0,
    }
    return { meta, data: [] }
  }
  const of = (sn: string) => [
    `/log/${sn}`,
    `/log/${sn}/`,
    `/connection_event/${sn}`,
    `/connection_event/${sn}/`,
    `/researcher/device/${sn}/data/`,
    `/device/${sn}/data/raw/`,
    `/devices/${sn}/data/raw/`,
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

t.test('data points that cannot be read name the fault that the server knows', async t => {
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

t.test('without PostgreSQL, what is in memory goes on being read, and changes get 503', async t => {
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
