/** Who may use the admin API, by which credential, and who the audit says it was. */

import t from 'tap'
import { actorOf } from '../../auth/actor.ts'
import { authorize, type Principal } from '../../auth/policy.ts'
import { adminToken, goodPassword, serviceSecret } from '../support/accounts.ts'
import { startAdmin } from '../support/admin.ts'

const { app, people, store } = await startAdmin(t)
const pool = store.postgres

async function personOf(role: string): Promise<{ id: number; cookie: string; token: string }> {
  const email = `${role}@example.com`
  const id = await people.person(email)
  await people.accounts.memory.change(id, () => pool.query('UPDATE accounts SET role = $2 WHERE id = $1', [id, role]))
  const { body } = await people.ask('POST', '/token', { body: { email, password: goodPassword } })
  return { id, cookie: (await people.cookieOf(id)).cookie, token: String(body['access_token']) }
}

const user = await personOf('user')
const administrator = await personOf('administrator')
const operator = await personOf('operator')
const token = { authorization: `Bearer ${adminToken}` }

async function statusOf(headers: Record<string, string>, method: 'GET' | 'POST' | 'PUT' = 'GET', url = '/devices') {
  const response = await app.inject({ method, url: `/api/admin${url}`, headers })
  t.match(response, {
    headers: { 'content-type': response.statusCode < 400 ? /json/ : 'application/problem+json' },
    json: Function,
  })
  t.equal(response.headers['cache-control'], 'no-store')
  return response.statusCode
}

t.test('administrators come in by their session, and whoever holds the admin token', async t => {
  const table: [who: string, headers: Record<string, string>, status: number][] = [
    ['nobody', {}, 401],
    ['the admin token', token, 200],
    ['the admin token as a key', { 'x-api-key': adminToken }, 401],
    ['the session of a user', { cookie: user.cookie }, 403],
    ['the session of an administrator', { cookie: administrator.cookie }, 200],
    ['the session of the operator', { cookie: operator.cookie }, 200],
    ['the token of a user', { authorization: `Bearer ${user.token}` }, 401],
    ['the token of the operator', { authorization: `Bearer ${operator.token}` }, 401],
    ['the service secret', { 'x-service-secret': serviceSecret }, 401],
    ['a cookie that is not good', { cookie: `${administrator.cookie}x` }, 401],
    ['the admin token and a session', { ...token, cookie: administrator.cookie }, 401],
    ['the admin token and a cookie that is not good', { ...token, cookie: `${people.codec.cookieName}=x` }, 401],
    ['a session and a key', { cookie: administrator.cookie, 'x-api-key': 'x' }, 401],
    ['a session and the service secret', { cookie: administrator.cookie, 'x-service-secret': serviceSecret }, 401],
  ]
  for (const [who, headers, status] of table) {
    t.equal(await statusOf(headers), status, who)
    // Whatever the path and the method are, and with the method that the path has: who comes in learns what it takes.
    t.equal(await statusOf(headers, 'GET', '/nothing'), status === 200 ? 404 : status, `${who}: no path`)
    t.equal(await statusOf(headers, 'PUT'), status === 200 ? 405 : status, `${who}: no method`)
    t.equal(await statusOf(headers, 'POST'), status === 200 ? 422 : status, `${who}: a write`)
  }
})

t.test('the policy of API keys: the scope admin, and a role that has it now', async t => {
  const account = async (id: number) => {
    const found = await people.accounts.find(id)
    if (found === undefined) throw new Error('no such account')
    return found
  }
  const key = async (id: number, scopes: string[]) => ({ kind: 'key', account: await account(id), keyId: 7, scopes })
  const decisionOf = async (id: number, scopes: string[]) => authorize('admin', (await key(id, scopes)) as Principal)
  t.equal(await decisionOf(administrator.id, ['read', 'admin']), 'allowed')
  t.equal(await decisionOf(operator.id, ['admin']), 'allowed')
  t.equal(await decisionOf(administrator.id, ['read', 'ingest', 'stations']), 'FORBIDDEN')
  t.equal(await decisionOf(user.id, ['admin']), 'FORBIDDEN')
  t.equal(actorOf((await key(user.id, [])) as Principal), `key 7 of account ${user.id}`)
})

t.test('a page of another site changes nothing with a cookie', async t => {
  const { cookie } = administrator
  const write = (headers: Record<string, string>) => statusOf({ cookie, ...headers }, 'POST')
  t.equal(await write({ 'sec-fetch-site': 'cross-site' }), 403)
  t.equal(await write({ 'sec-fetch-site': 'same-site' }), 403)
  t.equal(await write({ origin: 'https://evil.example' }), 403)
  t.equal(await write({ 'sec-fetch-site': 'same-origin' }), 422)
  t.equal(await write({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }), 422, 'of a listed one it may')
  t.equal(await statusOf({ cookie, 'sec-fetch-site': 'cross-site' }), 200, 'reading is no change')
  t.equal(await statusOf({ ...token, 'sec-fetch-site': 'cross-site' }, 'POST'), 422, 'no browser adds the token')
})

t.test('the audit names who it was', async t => {
  await pool.query('TRUNCATE audit')
  const add = (name: string, headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/api/admin/devices', headers, payload: { name } })
  t.equal((await add('one', token)).statusCode, 201)
  t.equal((await add('two', { cookie: administrator.cookie })).statusCode, 201)
  t.equal((await add('three', { cookie: user.cookie })).statusCode, 403)
  const lines = (type: string, url: string, payload: string) =>
    app.inject({
      method: 'POST',
      url: `/api/admin${url}`,
      payload,
      headers: { cookie: operator.cookie, 'content-type': type },
    })
  const csv = 'timestamp,device,temperature,humidity,pressure\n2026-01-01T00:00:00Z,one,20,50,1000\n'
  t.equal((await lines('text/csv', '/import', csv)).statusCode, 200)
  t.equal((await lines('application/json', '/dead-letters/replay', '')).statusCode, 200)
  t.equal((await lines('application/json', '/devices/two/erase', '')).statusCode, 202)
  const { rows } = await pool.query("SELECT actor, action FROM audit WHERE actor <> 'test' ORDER BY id")
  t.strictSame(
    rows.map(({ actor, action }) => [actor, action]),
    [
      ['local admin token', 'device.add'],
      [`account ${administrator.id}`, 'device.add'],
      [`account ${operator.id}`, 'readings.import'],
      [`account ${operator.id}`, 'dead-letters.replay'],
      [`account ${operator.id}`, 'device.erase'],
      [`account ${operator.id}`, 'device.remove'],
    ],
  )
})

t.test('a role that is taken away, and an account that is off, count at the next request', async t => {
  const { id, cookie } = administrator
  const set = (text: string) =>
    people.accounts.memory.change(id, () => pool.query(`UPDATE accounts SET ${text} WHERE id = $1`, [id]))
  await set("role = 'user'")
  t.equal(await statusOf({ cookie }), 403)
  await set("role = 'administrator', is_active = false")
  t.equal(await statusOf({ cookie }), 401)
  await set('is_active = true')
  t.equal(await statusOf({ cookie }), 200)
})
