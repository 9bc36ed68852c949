/** Accounts, keys and tenants by the admin API: whole responses, permissions, and effects before the response. */

import t from 'tap'
import type { AddedKey, AdminKeyPage } from '../../../api/admin/answers.ts'
import { goodPassword } from '../../support/accounts.ts'
import { at, invalidBody, isoTime, problem, startAdmin } from '../../support/admin.ts'

const { app, people, store, ask, answers, devices } = await startAdmin(t)
const pool = store.postgres
const { keys, person, clock } = people
const dayMs = 24 * 3_600_000

const keyOf = (id: number, more = {}) => people.makeKey(id, { name: 'a script', scopes: ['read'], ...more })
const setRole = (id: number, role: string) => people.set(id, { role })
const list = async (query = '') => (await ask('GET', `/keys${query}`)).body as AdminKeyPage

const ada = await person('ada@keys.example')
const bob = await person('bob@keys.example')
const first = await keyOf(ada)
const second = await keyOf(bob, { expiresInDays: 1 })

type Body = Record<string, unknown>

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

async function rowsOf<Row = { id: number }>(sql: string, values: unknown[] = []): Promise<Row[]> {
  return (await pool.query(sql, values)).rows
}
const withRole = (role: string) => rowsOf('SELECT id FROM accounts WHERE role = $1 AND is_active', [role])

/** A key with the scope admin, made by its owner. */
async function adminKeyOf(cookie: string): Promise<string> {
  const body = { name: 'k', scopes: ['admin', 'read'] }
  return String((await people.ask('POST', '/api-keys', { body, headers: { cookie } })).body['key'])
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
  t.match(added.body, { ...shown, is_active: true, tenant_slug: null, password_link: null })
  t.match(added.body, { created_at: isoTime, updated_at: isoTime })
  t.equal(await login('ada@example.com'), 200)
  const { password_link: _, ...details } = added.body as Body
  t.strictSame((await ask('GET', `/accounts/${id}`)).body, details)
  const found = (await ask('GET', '/accounts?search=ada@ex')).body
  t.strictSame(found, { accounts: [details], total: 1, page: 1, next: null })
  const taken = problem(409, 'email taken', at('email', 'belongs to another account'))
  t.match(await ask('POST', '/accounts', { email: 'ADA@example.com' }), taken)
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
  const mails = await rowsOf("SELECT id FROM mail_outbox WHERE kind = 'password-reset'")
  t.strictSame(mails, [], 'nothing is sent, so that the link stays the newest')
})

t.test('the last active administrator keeps the role, by every operation', async t => {
  const administrators = await withRole('administrator')
  t.equal(administrators.length, 1)
  const grace = administrators[0]?.id ?? 0
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

t.test('administrators change neither their role nor their activation', async t => {
  const id = await add('self@example.com', { role: 'administrator' })
  const { cookie } = await people.cookieOf(id)
  const ways: Record<string, string>[] = [{ cookie }, { 'x-api-key': await adminKeyOf(cookie) }]
  for (const headers of ways) {
    for (const wanted of [{ role: 'user' }, { is_active: false }]) {
      const own = await askAs(headers, 'PATCH', `/accounts/${id}`, wanted)
      t.match(own, { status: 403, body: problem(403, 'own account').body }, JSON.stringify(wanted))
    }
    const same = await askAs(headers, 'PATCH', `/accounts/${id}`, { role: 'administrator', is_active: true })
    t.equal(same.status, 200, 'what changes nothing is no change')
  }
  t.match(await change(id, { role: 'user' }), { status: 200 }, 'others do it')
})

t.test('one of several administrators who demote each other at once remains', async t => {
  const ids: number[] = []
  for (let at = 0; at < 6; at++) ids.push(await add(`rival${at}@example.com`, { role: 'administrator' }))
  const cookies = await Promise.all(ids.map(id => people.cookieOf(id)))
  for (const { id } of await withRole('administrator')) {
    if (!ids.includes(id)) t.match(await change(id, { role: 'user' }), { status: 200 })
  }
  const demoted = ids.map((id, at) => {
    const { cookie = '' } = cookies[(at + 1) % ids.length] ?? {}
    return askAs({ cookie }, 'PATCH', `/accounts/${id}`, at % 2 ? { is_active: false } : { role: 'user' })
  })
  const statuses = (await Promise.all(demoted)).map(({ status }) => status)
  // Status 403 means that the caller was demoted just before.
  t.strictSame(
    statuses.filter(status => ![200, 403, 409].includes(status)),
    [],
  )
  t.equal((await withRole('administrator')).length, 1)
})

t.test('an administrator verifies an address', async t => {
  const id = await add('vouched@example.com')
  const first = await change(id, { email_verified: true })
  t.match(first, { status: 200, body: { email_verified: isoTime } })
  people.clock.ms += 1000
  t.strictSame((await change(id, { email_verified: true })).body, first.body, 'the first time stays')
  t.match(await change(id, { email_verified: false }), problem(422, 'invalid body'))
  const verified = "SELECT actor FROM audit WHERE action = 'email.verify' AND subject = $1"
  t.strictSame(await rowsOf(verified, [`account ${id}`]), [{ actor: 'local admin token' }])
  const added = await ask('POST', '/accounts', { email: 'known@example.com', email_verified: true })
  t.match(added, { status: 201, body: { email_verified: isoTime } })
})

t.test('each fault of an account is reported by its field', async t => {
  const email = 'new@example.com'
  const id = await add('known-id@example.com')
  await answers(
    t,
    ['POST', '/accounts', {}, invalidBody('email')],
    ['POST', '/accounts', { email: 'ada' }, invalidBody('email', 'An email address must have an @-sign.')],
    ['POST', '/accounts', { email, name: '' }, invalidBody('name', 'must not be empty')],
    ['POST', '/accounts', { email, password: 'short' }, invalidBody('password', 'must have 8 to 128 characters')],
    [
      ...(['POST', '/accounts', { email, password: 'password123' }] as const),
      invalidBody('password', 'is one of the most common passwords'),
    ],
    ['POST', '/accounts', { email, is_active: true }, invalidBody('', /is_active/)],
    ['PATCH', `/accounts/${id}`, {}, invalidBody('', 'must name at least one field to change')],
    ['PATCH', `/accounts/${id}`, { email: 'other@example.com' }, invalidBody('', /email/)],
  )
  const refused = await ask('POST', '/accounts', { email, password: '🌡'.repeat(7) })
  t.match(refused, { status: 422 }, 'lengths count code points')
  t.notMatch(JSON.stringify(refused.body), '🌡', 'a password is not sent back')
  for (const none of ['999999', '2147483648', 'x', '%00', '01']) {
    const unknown = problem(404, 'account unknown')
    await answers(t, ['GET', `/accounts/${none}`, undefined, unknown])
    await answers(t, ['PATCH', `/accounts/${none}`, { is_active: true }, unknown])
  }
  for (const query of ['page=0', 'search=a%00b', `search=${'x'.repeat(257)}`, 'other=1']) {
    await answers(t, ['GET', `/accounts?${query}`, undefined, problem(400, 'invalid query')])
  }
})

t.test('a deactivated account is signed out at once, also after its reactivation', async t => {
  const email = 'off@example.com'
  const id = await add(email)
  const { cookie } = await people.cookieOf(id)
  const token = (await people.ask('POST', '/token', { body: { email, password: goodPassword } })).body['access_token']
  const made = await people.ask('POST', '/api-keys', { body: { name: 'k' }, headers: { cookie } })
  const key = String(made.body['key'])
  const credentials: Record<string, string>[] = [{ cookie }, { authorization: `Bearer ${token}` }, { 'x-api-key': key }]
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
  t.match(await people.ask('POST', '/password/reset', { body }), { status: 400 }, 'a mail from before is not good')
})

t.test('a granted or revoked role is effective at the next request', async t => {
  const id = await add('role@example.com')
  const { cookie } = await people.cookieOf(id)
  const admin = async () => (await askAs({ cookie }, 'GET', '/accounts')).status
  t.equal(await admin(), 403)
  t.match(await change(id, { role: 'administrator' }), { status: 200, body: { role: 'administrator' } })
  t.equal(await admin(), 200)
  const key = await adminKeyOf(cookie)
  t.equal((await askAs({ 'x-api-key': key }, 'GET', '/accounts')).status, 200)
  t.match(await change(id, { role: 'user', is_active: true }), { status: 200, body: { role: 'user' } })
  t.equal(await admin(), 403)
  t.equal((await askAs({ 'x-api-key': key }, 'GET', '/accounts')).status, 403)
})

async function addGuest(slug: string): Promise<number> {
  const sql = `INSERT INTO accounts (email, tenant_id, tenant_subject, created_at, updated_at)
    SELECT $2, id, 'g', now(), now() FROM tenants WHERE slug = $1 RETURNING id`
  return (await rowsOf(sql, [slug, `guest@${slug}.example`]))[0]?.id ?? 0
}

t.test('an account of any kind can be marked as a viewer, and unmarked', async t => {
  await pool.query('TRUNCATE audit')
  const id = await add('viewer@example.com', { viewer: true })
  t.match((await ask('GET', `/accounts/${id}`)).body, { role: 'user', viewer: true })
  t.equal((await people.accounts.find(id))?.isViewer, true)
  t.match(await change(id, { viewer: false }), { status: 200, body: { viewer: false } })
  t.equal((await people.accounts.find(id))?.isViewer, false, 'in force at the next request')
  for (const body of [{ viewer: true, role: 'administrator' }, { viewer: false, role: 'operator' }, { viewer: true }]) {
    t.match(await change(id, body), { body }, JSON.stringify(body))
  }
  await ask('POST', '/tenants', { slug: 'partner', name: 'P' })
  const guest = await addGuest('partner')
  t.match(await change(guest, { viewer: true }), { status: 200, body: { viewer: true, tenant_slug: 'partner' } })
  t.match(await ask('POST', '/devices', { name: 'lent', owner: guest }), { status: 201 }, 'or is given a device')
  t.match(await change(id, { viewer: 1 }), invalidBody('viewer'))
  const changes = await rowsOf<{ subject: string; details: { viewer: boolean } }>(
    "SELECT subject, details FROM audit WHERE action = 'account.viewer' ORDER BY id",
  )
  const ofAccount = [false, true, false, true].map(viewer => ({ subject: `account ${id}`, details: { viewer } }))
  t.strictSame(changes, [...ofAccount, { subject: `account ${guest}`, details: { viewer: true } }])
  await pool.query("UPDATE accounts SET role = 'user' WHERE id = $1", [id])
})

t.test('there is one operator, who alone transfers the role', async t => {
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
  const byKey = await askAs({ 'x-api-key': await adminKeyOf(asFirst) }, 'PATCH', `/accounts/${second}`, {
    role: 'operator',
  })
  t.match(byKey, { status: 403, body: no.body }, 'not even by a key of the operator')
  for (const wanted of [{ role: 'user' }, { role: 'administrator' }, { is_active: false }]) {
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
  for (const { id } of await withRole('administrator'))
    t.match(await change(id, { role: 'user' }), { status: 200 }, 'the operator is there')
})

t.test('concurrent transfers result in one operator', async t => {
  const ids: number[] = []
  for (let at = 0; at < 8; at++) ids.push(await add(`candidate${at}@example.com`))
  const [before = { id: 0 }] = await withRole('operator')
  const { cookie } = await people.cookieOf(before.id)
  const moves = ids.map(id => askAs({ cookie }, 'PATCH', `/accounts/${id}`, { role: 'operator' }))
  const statuses = (await Promise.all(moves)).map(({ status }) => status)
  t.equal(statuses.filter(status => status === 200).length, 1)
  t.strictSame(
    statuses.filter(status => ![200, 403, 409].includes(status)),
    [],
  )
  const winner = ids[statuses.indexOf(200)] ?? 0
  t.strictSame(await withRole('operator'), [{ id: winner }])
  t.equal((await people.accounts.find(winner))?.role, 'operator', 'memory knows it')
  t.equal((await people.accounts.find(before.id))?.role, 'administrator')
})

t.test('the audit names the actor, newest first', async t => {
  await pool.query('TRUNCATE audit')
  const id = await add('audited@example.com', { name: 'A' })
  await change(id, { role: 'administrator', is_active: false })
  const { body } = await ask('GET', '/audit')
  const { entries, ...rest } = body as { entries: Body[] }
  t.equal(entries.length, 3)
  const subject = `account ${id}`
  t.strictSame(rest, { names: { [subject]: 'A' }, page: 1, next: null })
  t.match(entries, [
    { id: Number, at: isoTime, actor: 'local admin token', subject, action: 'account.role' },
    { subject, action: 'account.deactivate', details: {} },
    { subject, action: 'account.add', details: { role: 'user', viewer: false } },
  ])
  t.strictSame(entries[0]?.['details'], { from: 'user', to: 'administrator' })
  t.notMatch(JSON.stringify(body), goodPassword)
  t.match(await ask('GET', '/audit?page=0'), problem(400, 'invalid query', at('page')))
  t.match(await ask('POST', '/audit'), { status: 405, headers: { allow: 'GET, HEAD' } })
})

t.test('devices of an owner, given by id or address, go to the operator with its account', async t => {
  const email = 'owner@example.com'
  const owner = await add(email)
  const unknown = (path: string) => problem(422, 'owner unknown', at(path, 'is not an account'))
  const nobody = 'nobody@example.com'
  await answers(
    t,
    ['POST', '/devices', { name: 'kitchen', owner: 'OWNER@example.com' }, { status: 201 }],
    ['POST', '/devices', [{ name: 'roof', owner }, { name: 'porch' }], { status: 201 }],
    ['GET', '/devices/kitchen', undefined, { body: { owner } }],
    ['PATCH', '/devices/porch', { owner: email }, { body: { owner } }],
    ['PATCH', '/devices/porch', { battery: true }, { body: { owner, battery: true } }],
    ['POST', '/devices', { name: 'shed', owner: nobody }, unknown('owner')],
    ['POST', '/devices', [{ name: 'shed' }, { name: 'hut', owner: nobody }], unknown('[1].owner')],
    ['PATCH', '/devices/porch', { owner: 'anna' }, unknown('owner')],
    ['PATCH', '/devices/porch', { owner: 999_999 }, problem(422, 'owner unknown')],
  )
  for (const wrong of [0, -1, 1.5, 2 ** 31, true, ['x'], 'a\u0000@example.com']) {
    await answers(t, ['PATCH', '/devices/porch', { owner: wrong }, problem(422, 'invalid body')])
  }
  t.match((await ask('PATCH', '/devices/porch', { owner: null })).body, { owner: null })
  const [operator] = await withRole('operator')
  const { cookie } = await people.cookieOf(owner)
  t.equal((await people.ask('DELETE', '/me', { headers: { cookie } })).status, 204)
  t.match((await ask('GET', '/devices/kitchen')).body, { owner: operator?.id })
  t.strictSame([devices.get('roof')?.owner, devices.get('porch')?.owner], [operator?.id, null])
  t.match(await ask('GET', `/accounts/${owner}`), problem(404, 'account unknown'))
})

t.test('the list has all keys, the newest first, or those of one account', async t => {
  const shown = { name: 'a script', scopes: ['read'], create_devices: false, last_used_at: null, revoked_at: null }
  const of = ({ id, prefix }: typeof first, account: number, email: string) => {
    return { ...shown, id, account, email, prefix, state: 'active' }
  }
  const [adas, bobs] = [of(first, ada, 'ada@keys.example'), of(second, bob, 'bob@keys.example')]
  t.match((await list()).keys.slice(-2), [bobs, adas])
  t.match(await list(`?account=${ada}`), { keys: [adas], total: 1 })
  t.match(await list('?account=BOB@keys.example'), { keys: [bobs], total: 1 })
  t.notMatch(JSON.stringify(await list()), first.text)
  await keys.find(first.text)
  t.match(await list(`?account=${ada}`), { keys: [{ last_used_at: new Date(clock.ms).toISOString() }] })
})

t.test('a list of keys needs an existing account and a valid page', async t => {
  for (const account of ['nobody@example.com', '9999999999', 'x', '']) {
    const { status, body } = await ask('GET', `/keys?account=${account}`)
    t.match({ status, body }, { status: account === '' ? 400 : 404, body: { errors: [{ path: 'account' }] } }, account)
  }
  for (const query of ['page=0', 'page=x', 'page=1&page=2', 'more=1', `account=${'a'.repeat(255)}`]) {
    t.match(await ask('GET', `/keys?${query}`), { status: 400 }, query)
  }
  t.match(await list('?page=7'), { keys: [], page: 7, next: null })
})

t.test('an administrator revokes any key, with the actor in the audit', async t => {
  t.ok(await keys.find(second.text))
  t.match(await ask('DELETE', `/keys/${second.id}`), { status: 204 })
  t.equal(await keys.find(second.text), undefined)
  t.match(await ask('DELETE', `/keys/${second.id}`), { status: 204 }, 'a second time too')
  for (const id of [999_999, 0, 'x', '99999999999', '2147483648']) {
    t.match(await ask('DELETE', `/keys/${id}`), { status: 404, body: { title: 'key unknown' } })
  }
  const revoked = await rowsOf("SELECT actor, subject, details FROM audit WHERE action = 'key.revoke'")
  t.strictSame(revoked, [{ actor: 'local admin token', subject: `account ${bob}`, details: { key: second.id } }])
  t.match(await list(`?account=${bob}`), { keys: [{ state: 'revoked' }] })
  const third = await keyOf(bob, { expiresInDays: 1 })
  clock.ms += dayMs
  t.match(await list(`?account=${bob}`), { keys: [{ id: third.id, state: 'expired' }, { state: 'revoked' }] })
})

t.test('a key with the scope admin revokes another one as its actor, until it is revoked itself', async t => {
  const id = await person('admin@keys.example')
  await setRole(id, 'administrator')
  const admin = await keyOf(id, { scopes: ['read', 'admin'] })
  const reader = await keyOf(id)
  const revoke = async (key: typeof admin, by = admin) => {
    const headers = { 'x-api-key': by.text }
    return (await app.inject({ method: 'DELETE', url: `/api/admin/keys/${key.id}`, headers })).statusCode
  }
  t.equal(await revoke(admin, reader), 403)
  t.equal(await revoke(await keyOf(ada)), 204)
  const [last] = await rowsOf("SELECT actor FROM audit WHERE action = 'key.revoke' ORDER BY id DESC LIMIT 1")
  t.strictSame(last, { actor: `key ${admin.id} of account ${id}` })
  t.equal(await revoke(admin), 204)
  t.equal(await revoke(reader), 401)
})

t.test('the admin token makes keys, by the rules for owners', async t => {
  const id = await person('maker@example.com')
  const wanted = { account: 'MAKER@example.com', name: 'gateway', scopes: ['ingest', 'read'], expires_in_days: 90 }
  const conflict = (title: string, detail?: RegExp) => ({ status: 409, body: { title, ...(detail && { detail }) } })
  await people.set(id, { email_verified_at: null })
  await answers(
    t,
    ['POST', '/keys', wanted, conflict('owner unverified', /verify/)],
    ['POST', '/keys', { account: id, name: 'x', create_devices: true }, { status: 409 }],
  )
  await people.set(id, { email_verified_at: new Date(clock.ms) })
  const { status, body } = await ask('POST', '/keys', wanted)
  t.equal(status, 201)
  const added = body as AddedKey
  const expires_at = new Date(clock.ms + 90 * dayMs).toISOString()
  t.match(added, { account: id, email: 'maker@example.com', name: 'gateway', scopes: ['read', 'ingest'], expires_at })
  t.equal((await keys.find(added.key))?.keyId, added.id)
  const [created] = await rowsOf(
    "SELECT actor, subject, details FROM audit WHERE action = 'key.create' ORDER BY id DESC LIMIT 1",
  )
  const details = { key: added.id, prefix: added.prefix, scopes: ['read', 'ingest'] }
  t.strictSame(created, { actor: 'local admin token', subject: `account ${id}`, details })
  const plain = { scopes: ['read'], expires_at: null }
  await answers(
    t,
    ['POST', '/keys', { account: id, name: 'plain' }, { status: 201, body: plain }],
    ['POST', '/keys', { ...wanted, scopes: ['admin'] }, conflict('scope not allowed')],
  )
  await people.set(id, { is_active: false })
  t.match(await ask('POST', '/keys', wanted), conflict('account inactive'))
})

t.test('a key cannot add keys for other accounts, or invalid ones', async t => {
  const id = await person('chief@example.com')
  await setRole(id, 'administrator')
  const right = { account: id, name: 'x' }
  const byKey = { 'x-api-key': (await keyOf(id, { scopes: ['read', 'admin'] })).text }
  t.equal((await askAs(byKey, 'POST', '/keys', right)).status, 403)
  for (const body of [{ account: id }, { name: 'x' }, { ...right, scopes: ['all'] }, { ...right, more: 1 }]) {
    await answers(t, ['POST', '/keys', body, { status: 422 }])
  }
  for (const account of ['nobody@example.com', 999_999]) {
    await answers(t, ['POST', '/keys', { ...right, account }, { status: 422, body: at('account') }])
  }
})

const secret = /^[\w-]{43}$/

t.test('a tenant is added with a secret that is shown once, listed, changed and disabled', async t => {
  const added = await ask('POST', '/tenants', { slug: 'acme', name: 'Acme' })
  t.match(added, { status: 201, headers: { location: '/api/admin/tenants/acme' }, body: { secret } })
  const { secret: shown, ...details } = added.body as Body
  t.match(details, { slug: 'acme', name: 'Acme', is_active: true, created_at: isoTime, old_secret_until: null })
  t.strictSame((await ask('GET', '/tenants/acme')).body, details)
  const { tenants } = (await ask('GET', '/tenants')).body as { tenants: { slug: string }[] }
  t.strictSame(
    tenants.filter(({ slug }) => slug === 'acme'),
    [details],
  )
  const changed = await ask('PATCH', '/tenants/acme', { name: 'Acme Weather', is_active: false })
  t.match(changed, { status: 200, body: { ...details, name: 'Acme Weather', is_active: false } })
  t.match(await ask('PATCH', '/tenants/acme', { is_active: true }), { body: { name: 'Acme Weather', is_active: true } })
  const taken = problem(409, 'slug taken', at('slug', 'is taken by another tenant'))
  t.match(await ask('POST', '/tenants', { slug: 'acme', name: 'B' }), taken)
  const rows = await rowsOf("SELECT actor, action, details FROM audit WHERE subject = 'tenant acme' ORDER BY id")
  const actor = 'local admin token'
  t.strictSame(rows, [
    { actor, action: 'tenant.add', details: {} },
    { actor, action: 'tenant.change', details: { name: 'Acme Weather', is_active: false } },
    { actor, action: 'tenant.change', details: { is_active: true } },
  ])
  t.notMatch(JSON.stringify(rows), String(shown))
})

t.test('each new secret differs, and is shown once', async t => {
  const first = (await ask('POST', '/tenants', { slug: 'r', name: 'R' })).body as Body
  const second = await ask('POST', '/tenants/r/rotate')
  t.match(second, { status: 200, body: { slug: 'r', secret, old_secret_until: isoTime } })
  const third = await ask('POST', '/tenants/r/rotate?now=1')
  t.match(third, { status: 200, body: { secret, old_secret_until: null } })
  const secrets = [first, second.body as Body, third.body as Body].map(body => String(body['secret']))
  t.equal(new Set(secrets).size, 3)
  const text = JSON.stringify([await ask('GET', '/tenants'), await ask('GET', '/audit')])
  for (const value of secrets) t.notMatch(text, value)
  t.match(await ask('POST', '/tenants/r/rotate?now=yes'), problem(400, 'invalid query', at('now')))
})

t.test('each fault of a tenant is reported by its field', async t => {
  const form = invalidBody('slug', 'must be lower-case letters, digits and single hyphens')
  for (const slug of ['', 'A', 'a--b', 'a\u0000']) await answers(t, ['POST', '/tenants', { slug, name: 'A' }, form])
  await answers(
    t,
    ['POST', '/tenants', {}, problem(422, 'invalid body', { errors: [{ path: 'slug' }, { path: 'name' }] })],
    ['POST', '/tenants', { slug: 'a'.repeat(41), name: 'A' }, invalidBody('slug')],
    ['POST', '/tenants', { slug: 'a', name: '' }, invalidBody('name', 'must not be empty')],
    ['POST', '/tenants', { slug: 'a', name: 'a\u0000' }, invalidBody('name')],
    ['POST', '/tenants', { slug: 'a', name: 'A', secret: 'x' }, invalidBody('', /secret/)],
    ['PATCH', '/tenants/acme', {}, problem(422, 'invalid body')],
    ['PATCH', '/tenants/acme', { slug: 'b' }, problem(422, 'invalid body')],
    ['GET', '/tenants?page=0', undefined, problem(400, 'invalid query', at('page'))],
    ['DELETE', '/tenants/acme', undefined, { status: 405, headers: { allow: 'GET, HEAD, PATCH' } }],
  )
  const unknown = problem(404, 'tenant unknown')
  for (const slug of ['nobody', '%00', 'a%2Fb', "'"]) {
    await answers(t, ['GET', `/tenants/${slug}`, undefined, unknown])
    await answers(t, ['PATCH', `/tenants/${slug}`, { is_active: true }, unknown])
    await answers(t, ['POST', `/tenants/${slug}/rotate`, undefined, unknown])
  }
})

t.test('each list has pages of a hundred', async t => {
  const owner = await person('many@keys.example')
  const lists: [path: string, rows: string, insert: string][] = [
    [
      '/accounts?search=MANY-',
      'accounts',
      `accounts (email, name, created_at, updated_at)
       SELECT 'many-' || n || '@example.com', CASE n WHEN 7 THEN 'Zoë 50%_' END, now(), now() FROM generate_series(1, 150) AS n`,
    ],
    [
      `/keys?account=${owner}`,
      'keys',
      `api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at)
       SELECT ${owner}, 'n', sha256(n::text::bytea), 'p', '{}', false, now() FROM generate_series(1, 150) AS n`,
    ],
    [
      '/tenants?',
      'tenants',
      `tenants (slug, name, secret, created_at, updated_at) SELECT 'many-' || n, 'M', '\\x00', now(), now()
       FROM generate_series(1, 150 - (SELECT count(*) FROM tenants)) AS n`,
    ],
    [
      '/audit?',
      'entries',
      "audit (actor, action, subject) SELECT 'test', 'n', n::text FROM generate_series(1, 150) AS n",
    ],
  ]
  await pool.query('TRUNCATE audit')
  for (const [path, rows, insert] of lists) {
    await pool.query(`INSERT INTO ${insert}`)
    const pages = await Promise.all(
      [1, 2, 3].map(async page => (await ask('GET', `${path}&page=${page}`)).body as Body),
    )
    const shown = pages.map(body => [(body[rows] as Body[]).length, body['page'], body['next']])
    t.strictSame(
      shown,
      [
        [100, 1, 2],
        [50, 2, null],
        [0, 3, null],
      ],
      path,
    )
    const ids = pages.flatMap(body => (body[rows] as Body[]).map(row => row['id'] ?? row['slug']))
    t.equal(new Set(ids).size, 150, path)
    if (rows !== 'entries')
      t.strictSame(
        pages.map(({ total }) => total),
        [150, 150, 150],
        path,
      )
  }
})

t.test('a search finds parts of addresses and names', async t => {
  const found: [search: string, total: number, first?: string][] = [
    ['MANY-', 150, 'many-1@example.com'],
    ['zo%C3%AB', 1, 'many-7@example.com'],
    ['50%25_', 1, 'many-7@example.com'],
    ["';--", 0],
  ]
  for (const [search, total, email] of found) {
    const accounts = email === undefined ? [] : { 0: { email } }
    await answers(t, ['GET', `/accounts?search=${search}`, undefined, { body: { total, accounts } }])
  }
})

t.test('there are at most ten thousand tenants', async t => {
  const { total } = (await ask('GET', '/tenants')).body as { total: number }
  await pool.query(
    `INSERT INTO tenants (slug, name, secret, created_at, updated_at)
     SELECT 'full-' || n, 'M', '\\x00', now(), now() FROM generate_series($1::int + 1, 10000) AS n`,
    [total],
  )
  t.match(await ask('POST', '/tenants', { slug: 'late', name: 'L' }), problem(409, 'too many tenants'))
})

t.test('a user of a tenant has no other role', async t => {
  const id = await addGuest('acme')
  t.match(await ask('GET', `/accounts/${id}`), { status: 200, body: { tenant_slug: 'acme', role: 'user' } })
  for (const role of ['administrator', 'operator']) {
    t.match(await change(id, { role }), problem(409, 'role impossible'), role)
  }
  t.match(await change(id, { role: 'user', is_active: false }), { status: 200 })
  t.match(await ask('POST', '/devices', { name: 'd', owner: 'guest@acme.example' }), problem(422, 'owner unknown'))
  t.match(await ask('POST', '/accounts', { email: 'guest@acme.example' }), { status: 201 }, 'its address is free')
})
