/** Stations by the admin API: a page of them, one, a new one, changes and removal. */

import t from 'tap'
import { startAdmin } from '../support/admin.ts'

const { app, ask, people } = await startAdmin(t)
const ada = await people.person('ada@example.com')

t.test('a station is added, read, changed and removed', async t => {
  const body = {
    sn: 'A-1',
    model: 'M1',
    city: 'Delhi',
    country: 'in',
    latitude: '28.5',
    private: true,
    owner: 'Ada@example.com',
  }
  const added = await ask('POST', '/stations', body)
  t.equal(added.status, 201)
  t.equal(added.headers['location'], '/api/admin/stations/A-1')
  t.match(added.body, { ...body, country: 'IN', latitude: 28.5, owner: ada, timezone: 'UTC', last_data_at: null })
  t.strictSame((await ask('GET', '/stations/A-1')).body, added.body)
  t.notMatch(added.body, { id: Number }, 'nothing of its inside')
  const changed = await ask('PATCH', '/stations/A-1', { city: null, owner: null, private: false })
  t.match([changed.status, changed.body], [200, { city: null, owner: null, private: false, country: 'IN' }])
  t.match((await ask('PATCH', '/stations/A-1', { owner: ada })).body, { owner: ada })
  t.equal((await ask('DELETE', '/stations/A-1')).status, 204)
  for (const method of ['GET', 'DELETE', 'PATCH']) {
    const { status, body } = await ask(method, '/stations/A-1', method === 'PATCH' ? { city: null } : undefined)
    t.match([status, body], [404, { title: 'station unknown' }], method)
  }
  const { rows } = await people.store.postgres.query(
    "SELECT actor, action FROM audit WHERE subject = 'station A-1' ORDER BY id",
  )
  t.strictSame(
    rows.map(({ actor, action }) => `${actor}: ${action}`),
    ['add', 'change', 'change', 'remove'].map(action => `local admin token: station.${action}`),
  )
})

t.test('a removal is asked for again where the erase of its points has failed', async t => {
  await ask('POST', '/stations', { sn: 'A-2', model: 'M1' })
  t.equal((await ask('DELETE', '/stations/A-2')).status, 204)
  t.equal((await ask('DELETE', '/stations/A-2')).status, 404)
  await people.store.postgres.query("UPDATE erase_jobs SET state = 'failed' WHERE name = 'A-2'")
  t.equal((await ask('DELETE', '/stations/A-2')).status, 204)
  t.match((await ask('GET', '/stations/A-2/erase')).body, { state: /waiting|running/, error: null })
  t.equal((await ask('DELETE', '/stations/A-2')).status, 404)
})

t.test('what is wrong is told with its place', async t => {
  await ask('POST', '/stations', { sn: 'B-1', model: 'M1' })
  const wrong: [string, string, object, number, string][] = [
    ['POST', '', { sn: 'B-1', model: 'M1' }, 409, 'sn'],
    ['POST', '', { sn: 'B-2', model: 'M1', owner: 'nobody@example.com' }, 422, 'owner'],
    ['POST', '', { sn: 'B-2', model: 'M1', owner: 999_999 }, 422, 'owner'],
    ['POST', '', { sn: 'B-2' }, 422, 'model'],
    ['POST', '', { sn: 'B-2', model: 'M1', colour: 'red' }, 422, ''],
    ['PATCH', '/B-1', {}, 422, ''],
    ['PATCH', '/B-1', { sn: 'B-2' }, 422, ''],
    ['PATCH', '/B-1', { owner: 999_999 }, 422, 'owner'],
    ['PATCH', '/B-1', { latitude: 91 }, 422, 'latitude'],
  ]
  for (const [method, path, body, status, place] of wrong) {
    const answer = await ask(method, `/stations${path}`, body)
    t.match([answer.status, answer.body], [status, { errors: [{ path: place }] }], JSON.stringify(body))
  }
  t.equal((await ask('GET', '/stations/B-2')).status, 404)
  t.equal((await ask('GET', '/stations?page=0')).status, 400)
  t.equal((await ask('PUT', '/stations/B-1', {})).status, 405)
})

t.test('the list is searched and comes in pages', async t => {
  const pool = people.store.postgres
  await pool.query(
    `INSERT INTO stations (sn, model, city, timezone, private, created_at, updated_at)
     SELECT 'P-' || n, 'M9', CASE WHEN n = 7 THEN 'Île (Nord)' END, 'UTC', true, now(), now()
     FROM generate_series(1, 150) AS n`,
  )
  // Makes memory read them.
  await ask('POST', '/stations', { sn: 'P-0', model: 'M9' })
  const page = async (query: string) => {
    const { body } = await ask('GET', `/stations?${query}`)
    const { stations, total, next } = body as { stations: { sn: string }[]; total: number; next: number | null }
    return [stations.length, total, next]
  }
  t.strictSame(await page('search=m9'), [100, 151, 2])
  t.strictSame(await page('search=m9&page=2'), [51, 151, null])
  t.strictSame(await page('search=%C3%AEle%20(n'), [1, 1, null])
  t.strictSame(await page('search=.*'), [0, 0, null])
})

t.test('the operator alone removes a station, with the local admin token as his hand', async t => {
  await ask('POST', '/stations', { sn: 'KEPT-1', model: 'M1', owner: ada })
  const known = async (role: string) => {
    const id = await people.person(`${role}-of-stations@example.com`)
    const set = 'UPDATE accounts SET role = $2 WHERE id = $1'
    await people.accounts.memory.change(id, () => people.store.postgres.query(set, [id, role]))
    const { cookie } = await people.cookieOf(id)
    const body = { name: 'k', scopes: ['admin', 'stations'] }
    const { key } = (await people.ask('POST', '/api-keys', { body, headers: { cookie } })).body
    return [{ cookie }, { 'x-api-key': String(key) }] as Record<string, string>[]
  }
  const send = (method: 'DELETE' | 'PATCH', headers: Record<string, string>) =>
    app.inject({
      method,
      url: '/api/admin/stations/KEPT-1',
      headers,
      ...(method === 'PATCH' ? { payload: { city: 'Delhi' } } : {}),
    })
  for (const headers of await known('administrator')) {
    const refused = await send('DELETE', headers)
    t.match([refused.statusCode, refused.json()], [403, { title: 'operator only', detail: /only the operator/ }])
    t.equal((await send('PATCH', headers)).statusCode, 200, 'changes are his')
  }
  for (const headers of await known('operator')) {
    t.equal((await send('DELETE', headers)).statusCode, 204)
    await ask('POST', '/stations', { sn: 'KEPT-1', model: 'M1' })
  }
})
