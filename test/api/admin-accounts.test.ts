/** Accounts by the admin API: whole answers, who may give which role, and that what ends, ends before the answer. */

import t from 'tap'
import { adminToken, goodPassword } from '../support/accounts.ts'
import { startAdmin } from '../support/admin.ts'

const { app, people, store, ask, devices } = await startAdmin(t)
const pool = store.postgres
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
  t.strictSame((await ask('GET', '/accounts')).body, { accounts: [], total: 0, page: 1, next: null })
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
  t.strictSame((await ask('GET', '/accounts')).body, { accounts: [details], total: 1, page: 1, next: null })
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
  const { rows } = await pool.query("SELECT count(*)::int AS count FROM mail_outbox WHERE kind <> 'password-changed'")
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
  await told({ email, name: 'a\u0000b' }, { path: 'name' })
  await told({ email, name: '\ud800' }, { path: 'name' })
  await told({ email, role: 'king' }, { path: 'role' })
  await told({ email, password: 'short' }, { path: 'password', message: 'must have 8 to 128 characters' })
  await told({ email, password: 'x'.repeat(129) }, { path: 'password' })
  await told({ email, password: 'password123' }, { path: 'password', message: 'is one of the most common passwords' })
  await told({ email, is_active: true }, { path: '', message: /is_active/ })
  const refused = await ask('POST', '/accounts', { email, password: '🌡'.repeat(7) })
  t.match(refused, { status: 422 }, 'lengths count code points')
  t.notMatch(JSON.stringify(refused.body), '🌡', 'a password is not sent back')
  const id = await add('told@example.com')
  const patch = async (body: unknown, ...errors: object[]) =>
    t.match(await ask('PATCH', `/accounts/${id}`, body), problem(422, 'invalid body', { errors }))
  await patch({}, { path: '', message: 'must name at least one field to change' })
  await patch({ role: 'king' }, { path: 'role' })
  await patch({ is_active: 1 }, { path: 'is_active' })
  await patch({ email: 'other@example.com' }, { path: '', message: /email/ })
  for (const none of ['0', '999999', '2147483648', '99999999999', 'x', '1e3', '%00', '-1', '01']) {
    t.match(await ask('GET', `/accounts/${none}`), problem(404, 'account unknown'), none)
    t.match(await ask('PATCH', `/accounts/${none}`, { is_active: true }), problem(404, 'account unknown'), none)
  }
  for (const query of ['page=0', 'page=x', 'search=a%00b', `search=${'x'.repeat(257)}`, 'other=1']) {
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

t.test('of sixteen moves at once there comes one operator', async t => {
  const ids = []
  for (let at = 0; at < 16; at++) ids.push(await add(`candidate${at}@example.com`))
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

t.test('nobody comes in without a credential of an administrator', async t => {
  for (const path of ['/accounts', '/accounts/1', '/tenants', '/tenants/acme', '/audit']) {
    t.equal((await askAs({}, 'GET', path)).status, 401)
    t.equal((await askAs({ authorization: `Bearer ${adminToken}x` }, 'PATCH', path, {})).status, 401)
  }
})
