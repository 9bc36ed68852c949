/** People, their keys and partners by the admin API: whole answers, who may give what, and that what ends, ends before the answer. */

import t from 'tap'
import type { AddedKey, AdminKeyPage } from '../../api/admin/key-answers.ts'
import { goodPassword } from '../support/accounts.ts'
import { startAdmin } from '../support/admin.ts'

const { app, people, store, ask, devices } = await startAdmin(t)
const pool = store.postgres
const { accounts, keys, person, clock } = people
const dayMs = 24 * 3_600_000

async function keyOf(id: number, more: { scopes?: ('read' | 'admin')[]; expiresInDays?: number } = {}) {
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const { scopes = ['read'], expiresInDays } = more
  const created = await keys.create(account, { name: 'a script', scopes, createDevices: false, expiresInDays })
  if (!created.ok) throw new Error(created.code)
  return created.value
}
const setRole = (id: number, role: string) => people.set(id, { role })
const list = async (query = '') => (await ask('GET', `/keys${query}`)).body as AdminKeyPage

const ada = await person('ada@keys.example')
const bob = await person('bob@keys.example')
const first = await keyOf(ada)
const second = await keyOf(bob, { expiresInDays: 1 })

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
type Body = Record<string, unknown>

const problem = (status: number, title: string, more: object = {}) => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  body: { type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`, title, status, ...more },
})

async function askAs(
  headers: Record<string, string>,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  payload?: object,
) {
  const url = `/api/admin${path}`
  const { statusCode, body } = await app.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) })
  return { status: statusCode, body: JSON.parse(body) as Body }
}

async function add(email: string, more: object = {}): Promise<number> {
  const { status, body } = await ask('POST', '/accounts', { email, password: goodPassword, ...more })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return Number((body as Body)['id'])
}

const change = (id: number, body: object) => ask('PATCH', `/accounts/${id}`, body)
const roleOf = async (id: number) => ((await ask('GET', `/accounts/${id}`)).body as Body)['role']
const statusWith = async (headers: Record<string, string>, path = '/me') =>
  (await people.ask('GET', path, { headers })).status
const login = async (email: string) =>
  (await people.ask('POST', '/login', { body: { email, password: goodPassword } })).status

t.test('an account is added with a password, listed and shown', async t => {
  const added = await ask('POST', '/accounts', { email: ' Ada@EXAMPLE.com', name: 'Ada', password: goodPassword })
  const id = Number((added.body as Body)['id'])
  t.match(added, { status: 201, headers: { location: `/api/admin/accounts/${id}` } })
  const shown = { id, email: 'Ada@example.com', name: 'Ada', role: 'user', viewer: false, email_verified: null }
  t.match(added.body, {
    ...shown,
    is_active: true,
    tenant_slug: null,
    created_at: time,
    updated_at: time,
    password_link: null,
  })
  t.equal(await login('ada@example.com'), 200)
  const { password_link: _, ...details } = added.body as Body
  t.strictSame((await ask('GET', `/accounts/${id}`)).body, details)
  const found = (await ask('GET', '/accounts?search=ada@ex')).body
  t.strictSame(found, { accounts: [details], total: 1, page: 1, next: null })
  t.match(await ask('POST', '/accounts', { email: 'ADA@example.com' }), {
    ...problem(409, 'email taken', { errors: [{ path: 'email', message: 'belongs to another account' }] }),
  })
})

t.test('without a password, a link sets it, once', async t => {
  const added = await ask('POST', '/accounts', { email: 'grace@example.com', role: 'administrator' })
  const link = String((added.body as Body)['password_link'])
  t.match(link, /^https:\/\/barograph\.example\/reset\?token=[\w-]{43}$/)
  t.equal(await login('grace@example.com'), 401)
  const reset = (new_password: string) =>
    people.ask('POST', '/password/reset', { body: { token: new URL(link).searchParams.get('token'), new_password } })
  t.match(await reset(goodPassword), { status: 200 })
  t.equal(await login('grace@example.com'), 200)
  t.match(await reset('another good phrase'), { status: 400 })
  const { rows } = await pool.query("SELECT count(*)::int AS count FROM mail_outbox WHERE kind = 'password-reset'")
  t.strictSame(rows, [{ count: 0 }], 'nothing is sent, so that the link stays the newest')
})

t.test('the last active administrator stays one, by every way', async t => {
  const { rows } = await pool.query<{ id: number }>("SELECT id FROM accounts WHERE role = 'administrator'")
  t.equal(rows.length, 1)
  const grace = rows[0]?.id ?? 0
  for (const wanted of [{ role: 'user' }, { is_active: false }, { role: 'user', is_active: false }]) {
    t.match(await change(grace, wanted), problem(409, 'last administrator'), JSON.stringify(wanted))
  }
  t.match(await change(grace, { role: 'administrator', is_active: true }), { status: 200 })
  const { cookie } = await people.cookieOf(grace)
  const deleted = await people.ask('DELETE', '/me', { headers: { cookie } })
  t.match(deleted, { status: 409, body: { detail: 'The last active administrator cannot be deleted' } })
  const off = await add('off-duty@example.com', { role: 'administrator' })
  t.match(await change(off, { is_active: false }), { status: 200 }, 'another one stays')
  t.match(await change(grace, { role: 'user' }), problem(409, 'last administrator'), 'one that is off does not count')
  t.match(await change(off, { role: 'user' }), { status: 200 })
})

t.test('nobody changes his own role or switches himself off', async t => {
  const id = await add('self@example.com', { role: 'administrator' })
  const { cookie } = await people.cookieOf(id)
  const made = await people.ask('POST', '/api-keys', { body: { name: 'k', scopes: ['admin'] }, headers: { cookie } })
  for (const headers of [{ cookie }, { 'x-api-key': String(made.body['key']) }] as Record<string, string>[]) {
    for (const wanted of [{ role: 'user' }, { is_active: false }]) {
      const own = await askAs(headers, 'PATCH', `/accounts/${id}`, wanted)
      t.match(own, { status: 403, body: problem(403, 'own account').body }, JSON.stringify(wanted))
    }
    const same = await askAs(headers, 'PATCH', `/accounts/${id}`, { role: 'administrator', is_active: true })
    t.equal(same.status, 200, 'what changes nothing is no change')
  }
  t.match(await change(id, { role: 'user' }), { status: 200 }, 'others do it')
})

t.test('of two who demote each other at once, one stays', async t => {
  const ids = []
  for (let at = 0; at < 6; at++) ids.push(await add(`rival${at}@example.com`, { role: 'administrator' }))
  const cookies = await Promise.all(ids.map(id => people.cookieOf(id)))
  const { rows: before } = await pool.query("SELECT id FROM accounts WHERE role = 'administrator' AND id <> ALL($1)", [
    ids,
  ])
  for (const { id } of before) t.match(await change(id, { role: 'user' }), { status: 200 })
  const statuses = await Promise.all(
    ids.map(async (id, at) => {
      const { cookie = '' } = cookies[(at + 1) % ids.length] ?? {}
      return (
        await askAs({ cookie }, 'PATCH', `/accounts/${id}`, {
          [at % 2 ? 'is_active' : 'role']: at % 2 ? false : 'user',
        })
      ).status
    }),
  )
  // 403: the one who asks was demoted just before.
  t.ok(
    statuses.every(status => [200, 403, 409].includes(status)),
    String(statuses),
  )
  const { rows } = await pool.query("SELECT id FROM accounts WHERE role = 'administrator' AND is_active")
  t.equal(rows.length, 1)
})

t.test('an administrator answers for an address', async t => {
  const id = await add('vouched@example.com')
  const verified = await change(id, { email_verified: true })
  t.match(verified, { status: 200, body: { email_verified: time } })
  people.clock.ms += 1000
  t.strictSame((await change(id, { email_verified: true })).body, verified.body, 'the first time stays')
  t.match(await change(id, { email_verified: false }), problem(422, 'invalid body'))
  const { rows } = await pool.query("SELECT actor FROM audit WHERE action = 'email.verify' AND subject = $1", [
    `account ${id}`,
  ])
  t.strictSame(rows, [{ actor: 'local admin token' }])
  const added = await ask('POST', '/accounts', { email: 'known@example.com', email_verified: true })
  t.match(added, { status: 201, body: { email_verified: time } })
})

t.test('what is wrong with a request is told field by field', async t => {
  const told = async (body: unknown, ...errors: object[]) =>
    t.match(await ask('POST', '/accounts', body), problem(422, 'invalid body', { errors }), JSON.stringify(body))
  const email = 'new@example.com'
  await told({}, { path: 'email' })
  await told({ email: 'ada' }, { path: 'email', message: 'An email address must have an @-sign.' })
  await told({ email, name: '' }, { path: 'name', message: 'must not be empty' })
  await told({ email, password: 'short' }, { path: 'password', message: 'must have 8 to 128 characters' })
  await told({ email, password: 'password123' }, { path: 'password', message: 'is one of the most common passwords' })
  await told({ email, is_active: true }, { path: '', message: /is_active/ })
  const refused = await ask('POST', '/accounts', { email, password: '🌡'.repeat(7) })
  t.match(refused, { status: 422 }, 'lengths count code points')
  t.notMatch(JSON.stringify(refused.body), '🌡', 'a password is not sent back')
  const id = await add('told@example.com')
  const patch = async (body: unknown, ...errors: object[]) =>
    t.match(await ask('PATCH', `/accounts/${id}`, body), problem(422, 'invalid body', { errors }))
  await patch({}, { path: '', message: 'must name at least one field to change' })
  await patch({ email: 'other@example.com' }, { path: '', message: /email/ })
  for (const none of ['999999', '2147483648', 'x', '%00', '01']) {
    t.match(await ask('GET', `/accounts/${none}`), problem(404, 'account unknown'), none)
    t.match(await ask('PATCH', `/accounts/${none}`, { is_active: true }), problem(404, 'account unknown'), none)
  }
  for (const query of ['page=0', 'search=a%00b', `search=${'x'.repeat(257)}`, 'other=1']) {
    t.match(await ask('GET', `/accounts?${query}`), problem(400, 'invalid query'), query)
  }
})

t.test('a search finds parts of addresses and names, page by page', async t => {
  await pool.query(
    `INSERT INTO accounts (email, name, created_at, updated_at)
     SELECT 'many' || n || '@example.com', CASE n WHEN 7 THEN 'Zoë 50%_' END, now(), now() FROM generate_series(1, 150) AS n`,
  )
  const found = async (query: string) => {
    const { accounts, ...rest } = (await ask('GET', `/accounts?${query}`)).body as { accounts: { email: string }[] }
    return { count: accounts.length, first: accounts[0]?.email, ...rest }
  }
  const first = await found('search=MANY')
  t.strictSame(first, { count: 100, first: 'many1@example.com', total: 150, page: 1, next: 2 })
  t.match(await found('search=many&page=2'), { count: 50, page: 2, next: null })
  t.match(await found('search=many&page=999999999'), { count: 0, total: 150, next: null })
  t.match(await found('search=zo%C3%AB'), { count: 1, first: 'many7@example.com' })
  t.match(await found('search=50%25_'), { count: 1, first: 'many7@example.com' })
  t.match(await found("search=';--"), { count: 0, total: 0 })
})

t.test(
  'an account that is switched off is out before the answer, and stays out when it is switched on again',
  async t => {
    const email = 'off@example.com'
    const id = await add(email)
    const { cookie } = await people.cookieOf(id)
    const token = (await people.ask('POST', '/token', { body: { email, password: goodPassword } })).body['access_token']
    const made = await people.ask('POST', '/api-keys', { body: { name: 'k' }, headers: { cookie } })
    const credentials = [
      { cookie },
      { authorization: `Bearer ${token}` },
      { 'x-api-key': String(made.body['key']) },
    ] as Record<string, string>[]
    const statuses = async () => await Promise.all(credentials.map(headers => statusWith(headers)))
    t.strictSame(await statuses(), [200, 200, 200])
    await people.ask('POST', '/password/reset-request', { body: { email } })
    const reset = await people.tokenIn(/new password/, email)
    t.match(await change(id, { is_active: false }), { status: 200, body: { id, is_active: false } })
    t.strictSame(await statuses(), [401, 401, 401])
    t.equal(await login(email), 403)
    t.match(await change(id, { is_active: true }), { status: 200, body: { is_active: true } })
    t.strictSame(await statuses(), [401, 401, 401])
    t.equal(await login(email), 200)
    const body = { token: reset, new_password: 'another good phrase' }
    t.match(await people.ask('POST', '/password/reset', { body }), { status: 400 }, 'nor does a mail of before')
  },
)

t.test('roles: given and taken, and in force at the next request', async t => {
  const id = await add('role@example.com')
  const { cookie } = await people.cookieOf(id)
  const admin = async () => (await askAs({ cookie }, 'GET', '/accounts')).status
  t.equal(await admin(), 403)
  t.match(await change(id, { role: 'administrator' }), { status: 200, body: { role: 'administrator' } })
  t.equal(await admin(), 200)
  const body = { name: 'k', scopes: ['admin', 'read'] }
  const key = String((await people.ask('POST', '/api-keys', { body, headers: { cookie } })).body['key'])
  t.equal((await askAs({ 'x-api-key': key }, 'GET', '/accounts')).status, 200)
  t.match(await change(id, { role: 'user', is_active: true }), { status: 200, body: { role: 'user' } })
  t.equal(await admin(), 403)
  t.equal((await askAs({ 'x-api-key': key }, 'GET', '/accounts')).status, 403)
})

t.test('an account of any kind is marked as a viewer, and no longer', async t => {
  await pool.query('TRUNCATE audit')
  const id = await add('viewer@example.com', { viewer: true })
  t.match((await ask('GET', `/accounts/${id}`)).body, { role: 'user', viewer: true })
  t.equal((await people.accounts.find(id))?.isViewer, true)
  t.match(await change(id, { viewer: false }), { status: 200, body: { viewer: false } })
  t.equal((await people.accounts.find(id))?.isViewer, false, 'in force at the next request')
  t.match(await change(id, { viewer: true, role: 'administrator' }), { body: { viewer: true, role: 'administrator' } })
  t.match(await change(id, { viewer: false, role: 'operator' }), { body: { viewer: false, role: 'operator' } })
  t.match(await change(id, { viewer: true }), { body: { viewer: true } }, 'the operator, too')
  await pool.query(
    "INSERT INTO tenants (slug, name, created_at, updated_at, secret) VALUES ('partner', 'P', now(), now(), '')",
  )
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO accounts (email, tenant_id, tenant_subject, created_at, updated_at)
     SELECT 'guest@example.com', id, 'g', now(), now() FROM tenants WHERE slug = 'partner' RETURNING id`,
  )
  const guest = rows[0]?.id ?? 0
  t.match(await change(guest, { viewer: true }), { status: 200, body: { viewer: true, tenant_slug: 'partner' } })
  t.match(await ask('POST', '/devices', { name: 'lent', owner: guest }), { status: 201 }, 'or is given a device')
  t.match(await change(id, { viewer: 1 }), problem(422, 'invalid body', { errors: [{ path: 'viewer' }] }))
  const told = await pool.query("SELECT subject, details FROM audit WHERE action = 'account.viewer' ORDER BY id")
  t.strictSame(
    told.rows.map(({ subject, details }) => [subject, details.viewer]),
    [...[false, true, false, true].map(viewer => [`account ${id}`, viewer]), [`account ${guest}`, true]],
  )
  await pool.query("UPDATE accounts SET role = 'user' WHERE id = $1", [id])
})

t.test('there is one operator, who alone gives the role away', async t => {
  const administrator = await add('administrator@example.com', { role: 'administrator' })
  const { cookie: asAdministrator } = await people.cookieOf(administrator)
  const patchAs = (cookie: string, id: number, body: object) => askAs({ cookie }, 'PATCH', `/accounts/${id}`, body)
  const no = problem(403, 'operator only')
  const operator = { email: 'first@example.com', role: 'operator', password: goodPassword }
  t.match(await askAs({ cookie: asAdministrator }, 'POST', '/accounts', operator), { status: 403, body: no.body })
  const first = await add(operator.email, { role: 'operator' })
  t.match(await ask('POST', '/accounts', { ...operator, email: 'second@example.com' }), problem(409, 'other operator'))
  const second = await add('second@example.com')
  const { cookie: asFirst } = await people.cookieOf(first)
  t.match(await patchAs(asAdministrator, second, { role: 'operator' }), { status: 403, body: no.body })
  t.match(await patchAs(asAdministrator, administrator, { role: 'operator' }), { status: 403 })
  const body = { name: 'k', scopes: ['admin'] }
  const key = String((await people.ask('POST', '/api-keys', { body, headers: { cookie: asFirst } })).body['key'])
  const byKey = await askAs({ 'x-api-key': key }, 'PATCH', `/accounts/${second}`, { role: 'operator' })
  t.match(byKey, { status: 403, body: no.body }, 'not even by a key of the operator')
  for (const wanted of [
    { role: 'user' },
    { role: 'administrator' },
    { is_active: false },
    { role: 'user', is_active: false },
  ]) {
    t.match(await change(first, wanted), problem(409, 'operator stays'), JSON.stringify(wanted))
    t.match(await patchAs(asFirst, first, wanted), { status: 409 })
  }
  t.match(await change(second, { role: 'operator', is_active: false }), problem(409, 'role impossible'))
  t.match(await change(999_999, { role: 'operator' }), problem(404, 'account unknown'))
  t.match(await change(first, { role: 'operator' }), { status: 200, body: { role: 'operator' } }, 'he is it already')
  t.match(await patchAs(asFirst, second, { role: 'operator' }), { status: 200, body: { role: 'operator' } })
  t.strictSame([await roleOf(first), await roleOf(second)], ['administrator', 'operator'])
  t.equal((await askAs({ cookie: asFirst }, 'GET', '/accounts')).status, 200, 'he is an administrator')
  t.match(await patchAs(asFirst, first, { role: 'operator' }), { status: 403, body: no.body }, 'and takes nothing back')
  t.match(await change(administrator, { is_active: false }), { status: 200 })
  t.match(await change(administrator, { role: 'operator' }), problem(409, 'role impossible'), 'one that is off')
  t.match(await change(first, { role: 'operator' }), { status: 200 }, 'the local admin token gives it to anybody')
  const { rows } = await pool.query<{ id: number }>("SELECT id FROM accounts WHERE role = 'administrator'")
  for (const { id } of rows) t.match(await change(id, { role: 'user' }), { status: 200 }, 'the operator is there')
})

t.test('of several moves at once there comes one operator', async t => {
  const ids = []
  for (let at = 0; at < 8; at++) ids.push(await add(`candidate${at}@example.com`))
  const { rows: before } = await pool.query<{ id: number }>("SELECT id FROM accounts WHERE role = 'operator'")
  const { cookie } = await people.cookieOf(before[0]?.id ?? 0)
  const answers = await Promise.all(ids.map(id => askAs({ cookie }, 'PATCH', `/accounts/${id}`, { role: 'operator' })))
  const statuses = answers.map(({ status }) => status)
  t.equal(statuses.filter(status => status === 200).length, 1)
  t.ok(
    statuses.every(status => [200, 403, 409].includes(status)),
    String(statuses),
  )
  const { rows } = await pool.query<{ id: number }>("SELECT id FROM accounts WHERE role = 'operator'")
  const [winner] = rows
  t.strictSame(rows, [{ id: ids[statuses.indexOf(200)] }])
  t.equal((await people.accounts.find(winner?.id ?? 0))?.role, 'operator', 'memory knows it')
  t.equal((await people.accounts.find(before[0]?.id ?? 0))?.role, 'administrator')
})

t.test('the audit says who did it, newest first, page by page', async t => {
  await pool.query('TRUNCATE audit')
  const id = await add('audited@example.com', { name: 'A' })
  await change(id, { role: 'administrator', is_active: false })
  const { body } = await ask('GET', '/audit')
  const { entries, ...rest } = body as { entries: Body[] }
  t.strictSame(rest, { page: 1, next: null })
  t.match(entries[0], { id: Number, at: time, actor: 'local admin token', subject: `account ${id}` })
  t.strictSame(
    entries.map(({ action, details }) => [action, details]),
    [
      ['account.role', { from: 'user', to: 'administrator' }],
      ['account.deactivate', {}],
      ['account.add', { role: 'user', viewer: false }],
    ],
  )
  t.notMatch(JSON.stringify(body), goodPassword)
  await pool.query(
    "INSERT INTO audit (actor, action, subject) SELECT 'test', 'n', n::text FROM generate_series(1, 250) AS n",
  )
  const page = async (query: string) => {
    const found = (await ask('GET', `/audit${query}`)).body as {
      entries: { subject: string }[]
      page: number
      next: unknown
    }
    return [found.entries.length, found.entries[0]?.subject, found.page, found.next]
  }
  t.strictSame(await page(''), [100, '250', 1, 2])
  t.strictSame(await page('?page=2'), [100, '150', 2, 3])
  t.strictSame(await page('?page=3'), [53, '50', 3, null])
  t.strictSame(await page('?page=4'), [0, undefined, 4, null])
  t.match(await ask('GET', '/audit?page=0'), problem(400, 'invalid query', { errors: [{ path: 'page' }] }))
  t.match(await ask('POST', '/audit'), { status: 405, headers: { allow: 'GET, HEAD' } })
})

t.test('an owner is named by id or by address, and its devices go to the operator with the account', async t => {
  const email = 'owner@example.com'
  const owner = await add(email)
  const device = (more: object) => ask('POST', '/devices', more)
  t.match(await device({ name: 'kitchen', owner: 'OWNER@example.com' }), { status: 201 })
  t.match(await device([{ name: 'roof', owner }, { name: 'porch' }]), { status: 201 })
  t.match((await ask('GET', '/devices/kitchen')).body, { owner })
  t.match((await ask('PATCH', '/devices/porch', { owner: email })).body, { owner })
  t.match((await ask('PATCH', '/devices/porch', { battery: true })).body, { owner, battery: true })
  const unknown = (path: string) => problem(422, 'owner unknown', { errors: [{ path, message: 'is no account' }] })
  t.match(await device({ name: 'shed', owner: 'nobody@example.com' }), unknown('owner'))
  t.match(await device([{ name: 'shed' }, { name: 'hut', owner: 'nobody@example.com' }]), unknown('[1].owner'))
  t.match(await ask('PATCH', '/devices/porch', { owner: 'anna' }), unknown('owner'))
  t.match(await ask('PATCH', '/devices/porch', { owner: 999_999 }), problem(422, 'owner unknown'))
  for (const wrong of [0, -1, 1.5, 2 ** 31, true, ['x'], 'a\u0000@example.com']) {
    t.match(await ask('PATCH', '/devices/porch', { owner: wrong }), problem(422, 'invalid body'), String(wrong))
  }
  t.match((await ask('PATCH', '/devices/porch', { owner: null })).body, { owner: null })
  const { rows } = await pool.query<{ id: number }>("SELECT id FROM accounts WHERE role = 'operator'")
  const { cookie } = await people.cookieOf(owner)
  t.equal((await people.ask('DELETE', '/me', { headers: { cookie } })).status, 204)
  t.match((await ask('GET', '/devices/kitchen')).body, { owner: rows[0]?.id })
  t.strictSame([devices.get('roof')?.owner, devices.get('porch')?.owner], [rows[0]?.id, null])
  t.match(await ask('GET', `/accounts/${owner}`), problem(404, 'account unknown'))
})

t.test('all keys, the newest first, or those of one account', async t => {
  const shown = { name: 'a script', scopes: ['read'], create_devices: false, last_used_at: null, revoked_at: null }
  const of = (key: typeof first, account: number, email: string) => ({
    ...shown,
    id: key.id,
    account,
    email,
    prefix: key.prefix,
    state: 'active',
  })
  const [adas, bobs] = [of(first, ada, 'ada@keys.example'), of(second, bob, 'bob@keys.example')]
  t.match((await list()).keys.slice(-2), [bobs, adas])
  t.match(await list(`?account=${ada}`), { keys: [adas], total: 1 })
  t.match(await list('?account=BOB@keys.example'), { keys: [bobs], total: 1 })
  t.notMatch(JSON.stringify(await list()), first.text)
  await keys.find(first.text)
  t.match(await list(`?account=${ada}`), { keys: [{ last_used_at: new Date(clock.ms).toISOString() }] })
})

t.test('what is no account and no page is told', async t => {
  for (const account of ['nobody@example.com', '9999999999', 'x', '']) {
    const { status, body } = await ask('GET', `/keys?account=${account}`)
    t.match({ status, body }, { status: account === '' ? 400 : 404, body: { errors: [{ path: 'account' }] } }, account)
  }
  for (const query of ['page=0', 'page=x', 'page=1&page=2', 'more=1', `account=${'a'.repeat(255)}`]) {
    t.match(await ask('GET', `/keys?${query}`), { status: 400 }, query)
  }
  t.match(await list('?page=7'), { keys: [], page: 7, next: null })
})

t.test('a key is revoked whosever it is, and the audit says by whom', async t => {
  t.ok(await keys.find(second.text))
  t.match(await ask('DELETE', `/keys/${second.id}`), { status: 204 })
  t.equal(await keys.find(second.text), undefined)
  t.match(await ask('DELETE', `/keys/${second.id}`), { status: 204 }, 'a second time too')
  for (const id of [999_999, 0, 'x', '99999999999', '2147483648']) {
    t.match(await ask('DELETE', `/keys/${id}`), { status: 404, body: { title: 'key unknown' } })
  }
  const { rows } = await pool.query("SELECT actor, subject, details FROM audit WHERE action = 'key.revoke'")
  t.strictSame(rows, [{ actor: 'local admin token', subject: `account ${bob}`, details: { key: second.id } }])
  t.match(await list(`?account=${bob}`), { keys: [{ state: 'revoked' }] })
  const third = await keyOf(bob, { expiresInDays: 1 })
  clock.ms += dayMs
  t.match(await list(`?account=${bob}`), { keys: [{ id: third.id, state: 'expired' }, { state: 'revoked' }] })
})

t.test('a hundred keys to a page', async t => {
  const id = await person('many@keys.example')
  await pool.query(
    `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at)
     SELECT $1, 'n', sha256(n::text::bytea), 'p', '{}', false, now() FROM generate_series(1, 201) AS n`,
    [id],
  )
  const pages = [await list(`?account=${id}`), await list(`?account=${id}&page=2`), await list(`?account=${id}&page=3`)]
  t.strictSame(
    pages.map(({ keys, next, total }) => [keys.length, next, total]),
    [
      [100, 2, 201],
      [100, 3, 201],
      [1, null, 201],
    ],
  )
  t.equal(new Set(pages.flatMap(({ keys }) => keys.map(({ id }) => id))).size, 201)
})

t.test('a key with the scope admin comes in while its owner is an administrator', async t => {
  const id = await person('admin@keys.example')
  await setRole(id, 'administrator')
  const admin = await keyOf(id, { scopes: ['read', 'admin'] })
  const reader = await keyOf(id)
  const victim = await keyOf(ada)
  const statusOf = async (text: string) => {
    const headers = { authorization: `Bearer ${text}` }
    return (await app.inject({ url: '/api/admin/keys', headers })).statusCode
  }
  t.equal(await statusOf(reader.text), 403)
  t.equal(await statusOf(admin.text), 200)
  const headers = { 'x-api-key': admin.text }
  const revoked = await app.inject({ method: 'DELETE', url: `/api/admin/keys/${victim.id}`, headers })
  t.equal(revoked.statusCode, 204)
  const { rows } = await pool.query("SELECT actor FROM audit WHERE action = 'key.revoke' ORDER BY id DESC LIMIT 1")
  t.strictSame(rows, [{ actor: `key ${admin.id} of account ${id}` }])
  await setRole(id, 'user')
  t.equal(await statusOf(admin.text), 403, 'at once')
  await setRole(id, 'administrator')
  t.equal(await statusOf(admin.text), 200)
  t.match(await ask('DELETE', `/keys/${admin.id}`), { status: 204 })
  t.equal(await statusOf(admin.text), 401)
})

t.test('the admin token makes keys, under the rules of those that their owners make', async t => {
  const id = await person('maker@example.com')
  const setVerified = (time: string) =>
    accounts.memory.change(id, () => pool.query(`UPDATE accounts SET email_verified_at = ${time} WHERE id = $1`, [id]))
  await setVerified('NULL')
  const wanted = { account: 'MAKER@example.com', name: 'gateway', scopes: ['ingest', 'read'], expires_in_days: 90 }
  t.match(await ask('POST', '/keys', wanted), { status: 409, body: { title: 'owner unverified', detail: /verify/ } })
  t.match(await ask('POST', '/keys', { account: id, name: 'x', create_devices: true }), { status: 409 })
  await setVerified('now()')
  const { status, body } = await ask('POST', '/keys', wanted)
  t.equal(status, 201)
  const added = body as AddedKey
  const expires_at = new Date(clock.ms + 90 * dayMs).toISOString()
  t.match(added, { account: id, email: 'maker@example.com', name: 'gateway', scopes: ['read', 'ingest'], expires_at })
  t.equal((await keys.find(added.key))?.keyId, added.id)
  const { rows } = await pool.query(
    "SELECT actor, subject, details FROM audit WHERE action = 'key.create' ORDER BY id DESC LIMIT 1",
  )
  const details = { key: added.id, prefix: added.prefix, scopes: ['read', 'ingest'] }
  t.strictSame(rows, [{ actor: 'local admin token', subject: `account ${id}`, details }])
  t.match(await ask('POST', '/keys', { account: id, name: 'plain' }), {
    status: 201,
    body: { scopes: ['read'], expires_at: null },
  })
  t.match(await ask('POST', '/keys', { ...wanted, scopes: ['admin'] }), {
    status: 409,
    body: { title: 'scope not allowed' },
  })
  await people.set(id, { is_active: false })
  t.match(await ask('POST', '/keys', wanted), { status: 409, body: { title: 'account inactive' } })
})

t.test('no session and no key makes a key for somebody', async t => {
  const id = await person('chief@example.com')
  await setRole(id, 'administrator')
  const headers = { 'x-api-key': (await keyOf(id, { scopes: ['read', 'admin'] })).text }
  const payload = { account: id, name: 'more' }
  const { statusCode } = await app.inject({ method: 'POST', url: '/api/admin/keys', headers, payload })
  t.equal(statusCode, 403)
})

t.test('what is no new key is refused with the reason', async t => {
  const id = await person('strict@example.com')
  const right = { account: id, name: 'x' }
  const wrong = [{ account: id }, { name: 'x' }, { ...right, scopes: ['all'] }, { ...right, more: 1 }]
  for (const body of wrong)
    t.match(await ask('POST', '/keys', body), { status: 422 }, JSON.stringify(body).slice(0, 80))
  for (const account of ['nobody@example.com', 999_999]) {
    t.match(await ask('POST', '/keys', { ...right, account }), { status: 422, body: { errors: [{ path: 'account' }] } })
  }
})

const secret = /^[\w-]{43}$/

t.test('a tenant is added with a secret that is shown once, listed, changed and switched off', async t => {
  const added = await ask('POST', '/tenants', { slug: 'acme', name: 'Acme' })
  t.match(added, { status: 201, headers: { location: '/api/admin/tenants/acme' }, body: { secret } })
  const { secret: shown, ...details } = added.body as Body
  t.match(details, { slug: 'acme', name: 'Acme', is_active: true, created_at: time, old_secret_until: null })
  t.strictSame((await ask('GET', '/tenants/acme')).body, details)
  const { tenants } = (await ask('GET', '/tenants')).body as { tenants: { slug: string }[] }
  t.strictSame(
    tenants.find(({ slug }) => slug === 'acme'),
    details,
  )
  const changed = await ask('PATCH', '/tenants/acme', { name: 'Acme Weather', is_active: false })
  t.match(changed, { status: 200, body: { ...details, name: 'Acme Weather', is_active: false } })
  t.match(await ask('PATCH', '/tenants/acme', { is_active: true }), { body: { name: 'Acme Weather', is_active: true } })
  t.match(await ask('POST', '/tenants', { slug: 'acme', name: 'B' }), {
    ...problem(409, 'slug taken', { errors: [{ path: 'slug', message: 'is taken by another tenant' }] }),
  })
  const { rows } = await pool.query("SELECT actor, action, subject, details FROM audit WHERE subject = 'tenant acme'")
  t.strictSame(
    rows.map(({ actor, action, details }) => [actor, action, details]),
    [
      ['local admin token', 'tenant.add', {}],
      ['local admin token', 'tenant.change', { name: 'Acme Weather', is_active: false }],
      ['local admin token', 'tenant.change', { is_active: true }],
    ],
  )
  t.notMatch(JSON.stringify(rows), String(shown))
})

t.test('a new secret is another one each time, and shown once', async t => {
  const first = (await ask('POST', '/tenants', { slug: 'r', name: 'R' })).body as Body
  const second = await ask('POST', '/tenants/r/rotate')
  t.match(second, { status: 200, body: { slug: 'r', secret, old_secret_until: time } })
  t.match((await ask('GET', '/tenants/r')).body, { old_secret_until: time })
  const third = await ask('POST', '/tenants/r/rotate?now=1')
  t.match(third, { status: 200, body: { secret, old_secret_until: null } })
  const secrets = [first, second.body as Body, third.body as Body].map(body => String(body['secret']))
  t.equal(new Set(secrets).size, 3)
  const text = JSON.stringify([
    await ask('GET', '/tenants/r'),
    await ask('GET', '/tenants'),
    await ask('GET', '/audit'),
  ])
  for (const value of secrets) t.notMatch(text, value)
  t.match(await ask('POST', '/tenants/r/rotate?now=yes'), problem(400, 'invalid query', { errors: [{ path: 'now' }] }))
})

t.test('what is wrong with a tenant is told field by field', async t => {
  const told = async (body: unknown, ...errors: object[]) =>
    t.match(await ask('POST', '/tenants', body), problem(422, 'invalid body', { errors }), JSON.stringify(body))
  await told({}, { path: 'slug' }, { path: 'name' })
  const message = 'must be lower-case letters, digits and single hyphens'
  for (const slug of ['', 'A', 'a--b', 'a\u0000']) {
    await told({ slug, name: 'A' }, { path: 'slug', message })
  }
  await told({ slug: 'a'.repeat(41), name: 'A' }, { path: 'slug' })
  await told({ slug: 'a', name: '' }, { path: 'name', message: 'must not be empty' })
  await told({ slug: 'a', name: 'a\u0000' }, { path: 'name' })
  await told({ slug: 'a', name: 'A', secret: 'x' }, { path: '', message: /secret/ })
  t.match(await ask('PATCH', '/tenants/acme', {}), problem(422, 'invalid body'))
  t.match(await ask('PATCH', '/tenants/acme', { slug: 'b' }), problem(422, 'invalid body'))
  for (const slug of ['nobody', '%00', 'a%2Fb', "'"]) {
    t.match(await ask('GET', `/tenants/${slug}`), problem(404, 'tenant unknown'), slug)
    t.match(await ask('PATCH', `/tenants/${slug}`, { is_active: true }), problem(404, 'tenant unknown'), slug)
    t.match(await ask('POST', `/tenants/${slug}/rotate`), problem(404, 'tenant unknown'), slug)
  }
  t.match(await ask('GET', '/tenants?page=0'), problem(400, 'invalid query', { errors: [{ path: 'page' }] }))
  t.match(await ask('DELETE', '/tenants/acme'), { status: 405, headers: { allow: 'GET, HEAD, PATCH' } })
})

t.test('there are pages of them, and not more than ten thousand', async t => {
  const add = (from: number, to: number) =>
    pool.query(
      `INSERT INTO tenants (slug, name, secret, created_at, updated_at)
       SELECT 'many-' || n, 'M', '\\x00', now(), now() FROM generate_series($1::int, $2::int) AS n`,
      [from, to],
    )
  const { total: before } = (await ask('GET', '/tenants')).body as { total: number }
  await add(before + 1, 150)
  const page = async (number: number) => {
    const { body } = await ask('GET', `/tenants?page=${number}`)
    const { tenants, total, next } = body as { tenants: []; total: 0; next: 0 }
    return [tenants.length, total, next]
  }
  t.strictSame(await page(1), [100, 150, 2])
  t.strictSame(await page(2), [50, 150, null])
  await add(151, 10_000)
  t.match(await ask('POST', '/tenants', { slug: 'late', name: 'L' }), problem(409, 'too many tenants'))
})

t.test('a user of a tenant has no other role', async t => {
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO accounts (email, tenant_id, tenant_subject, created_at, updated_at)
     SELECT 'u@acme.example', id, 'u', now(), now() FROM tenants WHERE slug = 'acme' RETURNING id`,
  )
  const id = rows[0]?.id
  t.match(await ask('GET', `/accounts/${id}`), { status: 200, body: { tenant_slug: 'acme', role: 'user' } })
  for (const role of ['administrator', 'operator']) {
    t.match(await ask('PATCH', `/accounts/${id}`, { role }), problem(409, 'role impossible'), role)
  }
  t.match(await ask('PATCH', `/accounts/${id}`, { role: 'user', is_active: false }), { status: 200 })
  t.match(await ask('POST', '/devices', { name: 'd', owner: 'u@acme.example' }), problem(422, 'owner unknown'))
  t.match(await ask('POST', '/accounts', { email: 'u@acme.example' }), { status: 201 }, 'its address is free')
})
