/** API keys and tenants by their operations: every success and failure, each change of state, and authentication. */

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { type JWTPayload, SignJWT } from 'jose'
import t from 'tap'
import type { Role } from '../../../auth/accounts/account-details.ts'
import { administerAccount } from '../../../auth/accounts/administration.ts'
import { goodPassword, publicUrl, startAccounts } from '../../support/accounts.ts'
import { valueIn } from '../../support/changed.ts'
import { waitFor } from '../../support/wait-for.ts'

const service = await startAccounts(t)
const { ask, person, cookieOf, store, clock, accounts, mails } = service
const pool = store.postgres
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const dayMs = 24 * 3_600_000
let people = 0

const { tenants } = service
const audience = `${publicUrl}/v1/auth/tenant-exchange`
const minuteMs = 60_000

const { secret } = valueIn(await tenants.add({ slug: 'acme', name: 'Acme' }, 'test'))
const { secret: otherSecret } = valueIn(await tenants.add({ slug: 'other', name: 'Other' }, 'test'))
const seconds = () => Math.floor(clock.ms / 1000)
const claims = (more: JWTPayload = {}): JWTPayload => ({
  iss: 'acme',
  aud: audience,
  sub: 'u1',
  email: 'ada@acme.example',
  name: 'Ada',
  iat: seconds(),
  exp: seconds() + 300,
  jti: randomUUID(),
  ...more,
})
const sign = (payload: JWTPayload, key = secret, alg = 'HS256') =>
  new SignJWT(payload).setProtectedHeader({ alg }).sign(new TextEncoder().encode(key))
const exchange = (token: unknown, tenant_slug: unknown = 'acme') =>
  ask('POST', '/tenant-exchange', { body: { tenant_slug, token } })
const exchangeOf = async (more: JWTPayload = {}) => exchange(await sign(claims(more)))
const exchangeStatus = async (more: JWTPayload = {}) => (await exchangeOf(more)).status
const meWith = async (token: unknown) => await ask('GET', '/me', { headers: { authorization: `Bearer ${token}` } })
const invalid = { status: 401, body: { detail: 'Invalid or expired tenant token' } }

type Headers = Record<string, string>
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const list = async (headers: Headers) =>
  JSON.parse((await ask('GET', '/api-keys', { headers })).text) as Record<string, unknown>[]
const create = (headers: Headers, body: object = { name: 'a script' }) => ask('POST', '/api-keys', { body, headers })
const revoke = (headers: Headers, id: unknown) => ask('DELETE', `/api-keys/${id}`, { headers })
const me = (key: unknown) => ask('GET', '/me', { headers: { authorization: `Bearer ${key}` } })

async function signedIn(): Promise<{ id: number; headers: Headers }> {
  people += 1
  const id = await person(`person-${people}@example.com`)
  const { cookie } = await cookieOf(id)
  return { id, headers: { cookie } }
}

const byHand = { actor: 'local admin token', accountId: undefined, mayReplace: () => true }
const change = (id: number, column: string, value: unknown) =>
  accounts.memory.change(id, () => pool.query(`UPDATE accounts SET ${column} = $2 WHERE id = $1`, [id, value]))

t.test('a key is shown once, is valid in both headers, and is deleted when revoked', async t => {
  const { id, headers } = await signedIn()
  t.strictSame(await list(headers), [])
  const created = await create(headers)
  const defaults = { name: 'a script', scopes: ['read'], create_devices: false, created_at: time, expires_at: null }
  t.match(created, { status: 201, body: defaults })
  const fields = ['id', 'name', 'key', 'prefix', 'scopes', 'create_devices', 'created_at', 'expires_at']
  t.strictSame(new Set(Object.keys(created.body)), new Set(fields))
  const { key, id: keyId, prefix } = created.body as { key: string; id: number; prefix: string }
  t.ok(key.startsWith(prefix))
  t.match(await me(key), { status: 200, body: { id } })
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': key } }), { status: 200, body: { id } })
  const listed = await list(headers)
  t.match(listed, [{ id: keyId, name: 'a script', prefix, scopes: ['read'], last_used_at: time, revoked_at: null }])
  t.notOk('key' in (listed[0] ?? {}))
  await waitFor('its owner gets a mail', () => mails.some(({ subject }) => /API key/.test(subject)))
  t.notMatch(JSON.stringify(mails), key)
  const revoked = await revoke(headers, keyId)
  t.match(revoked, { status: 200, body: { id: keyId, revoked: true, revoked_at: time } })
  t.match(await me(key), { status: 401, body: { detail: 'Not authenticated' } })
  t.equal(await statusOf(ask('GET', '/me', { headers: { 'x-api-key': key } })), 401)
  clock.ms += 1000
  t.strictSame((await revoke(headers, keyId)).body, revoked.body, 'a second time too')
  t.match(await list(headers), [{ id: keyId, revoked_at: revoked.body['revoked_at'] }])
})

t.test('a key has the requested fields, and expires', async t => {
  const { headers } = await signedIn()
  const body = { name: 'all', scopes: ['stations', 'read', 'ingest', 'read'], create_devices: true, expires_in_days: 7 }
  const created = await create(headers, body)
  const expiresAt = new Date(clock.ms + 7 * dayMs).toISOString()
  const given = { name: 'all', scopes: ['read', 'ingest', 'stations'], create_devices: true, expires_at: expiresAt }
  t.match(created, { status: 201, body: given })
  t.match(await list(headers), [given])
  const { key } = created.body
  clock.ms += 7 * dayMs - 1
  t.equal(await statusOf(me(key)), 200)
  clock.ms += 1
  t.equal(await statusOf(me(key)), 401, 'it has expired')
  clock.ms -= 7 * dayMs
  t.match(await create(headers, { name: 'none', scopes: [] }), { status: 201, body: { scopes: [] } })
  t.match(await create(headers, { name: 'x', expires_in_days: null }), { status: 201, body: { expires_at: null } })
})

t.test('keys of other accounts are as unknown as missing ones', async t => {
  const mine = await signedIn()
  const other = await signedIn()
  const { id, key } = (await create(mine.headers)).body
  const unknown = { status: 404, body: { detail: 'API key not found' } }
  for (const keyId of [id, 999_999, 0, -1, '99999999999999999999']) t.match(await revoke(other.headers, keyId), unknown)
  t.equal(await statusOf(me(key)), 200)
  t.strictSame(await list(other.headers), [])
  t.match(await revoke(other.headers, 'x'), { status: 422, body: { detail: [{ type: 'int_parsing' }] } })
})

t.test('an account has at most 50 keys, also with concurrent requests', async t => {
  const { headers } = await signedIn()
  const first = (await create(headers)).body
  await Promise.all(Array.from({ length: 41 }, () => create(headers)))
  const answers = await Promise.all(Array.from({ length: 16 }, () => create(headers)))
  const statuses = answers.map(({ status }) => status).sort()
  t.strictSame(statuses, [...Array(8).fill(201), ...Array(8).fill(409)])
  t.match(await create(headers), { status: 409, body: { detail: 'Too many API keys' } })
  t.equal(await statusOf(revoke(headers, first['id'])), 200)
  t.equal(await statusOf(create(headers, { name: 'in its place', expires_in_days: 1 })), 201)
  t.equal(await statusOf(create(headers)), 409)
  clock.ms += dayMs
  t.equal(await statusOf(create(headers)), 201, 'one that is expired does not count')
})

t.test('an account creates at most 200 keys a day', async t => {
  const { id, headers } = await signedIn()
  const key = String(id)
  await accounts.limits.take({ kind: 'api-key', countMax: 200, windowMs: dayMs }, key)
  await pool.query("UPDATE rate_limits SET count = 199 WHERE kind = 'api-key' AND count = 1")
  t.equal(await statusOf(create(headers)), 201)
  t.match(await create(headers), { status: 429, headers: { 'retry-after': /^\d+$/ } })
})

t.test('a scope is limited to the role, and ends permanently with the role', async t => {
  const { id, headers } = await signedIn()
  const wanted = { name: 'admin', scopes: ['read', 'admin'] }
  t.match(await create(headers, wanted), { status: 403, body: { detail: 'Scope is beyond the role of the user' } })
  t.strictSame(await list(headers), [])
  const scopesNow = async (key: unknown) => (await service.keys.find(String(key)))?.scopes
  const { key: own } = (await create(headers, { name: 'a sensor', scopes: ['stations', 'ingest'] })).body
  const give = async (role: Role) => t.match(await administerAccount(accounts, id, { role }, byHand), { ok: true })
  await change((await signedIn()).id, 'role', 'administrator')
  await give('administrator')
  const { body } = await create(headers, wanted)
  t.strictSame(body['scopes'], ['read', 'admin'])
  t.strictSame(await scopesNow(body['key']), ['read', 'admin'])
  await give('user')
  t.strictSame(await scopesNow(body['key']), ['read'], 'at once')
  await give('administrator')
  t.strictSame(await scopesNow(body['key']), ['read'], 'it does not come back')
  t.match(await list(headers), [{ scopes: ['read'] }, { scopes: ['ingest', 'stations'] }])
  t.strictSame(await scopesNow(own), ['ingest', 'stations'], 'what the role allows stays')
  const { key: next } = (await create(headers, wanted)).body
  await give('operator')
  t.strictSame(await scopesNow(next), ['read', 'admin'], 'an operator is one, too')
})

t.test('a key that sends readings needs a verified address', async t => {
  const email = 'unverified@example.com'
  const { cookie } = await cookieOf(await person(email, { isUnverified: true }))
  const wanted = [{ scopes: ['ingest'] }, { create_devices: true }]
  const refused = { status: 403, body: { detail: 'Keys that send readings need a verified email address' } }
  for (const more of wanted) t.match(await create({ cookie }, { name: 'k', ...more }), refused)
  t.strictSame(await list({ cookie }), [])
  t.equal(await statusOf(create({ cookie }, { name: 'k', scopes: ['read', 'stations'] })), 201)
  const token = await service.tokenIn(/Confirm/, email)
  t.equal(await statusOf(ask('POST', '/verification/verify', { body: { token } })), 200)
  for (const more of wanted) t.equal(await statusOf(create({ cookie }, { name: 'k', ...more })), 201)
})

t.test('a key survives a new password, and is valid while its account exists and is active', async t => {
  const { id, headers } = await signedIn()
  const { key } = (await create(headers)).body
  for (const isActive of [false, true]) {
    await change(id, 'is_active', isActive)
    t.equal(await statusOf(me(key)), isActive ? 200 : 401)
  }
  const body = { current_password: 'correct horse battery', new_password: 'another fine phrase' }
  t.equal(await statusOf(ask('POST', '/password/change', { body, headers })), 200)
  t.match(await me(key), { status: 200, body: { id } })
  t.equal(await statusOf(ask('DELETE', '/me', { headers: { cookie: (await cookieOf(id)).cookie } })), 204)
  t.equal(await statusOf(me(key)), 401)
  const { rows } = await pool.query('SELECT 1 FROM api_keys WHERE account_id = $1', [id])
  t.strictSame(rows, [])
})

const literal = "'read', 'ingest', 'stations', 'alerts' or 'admin'"
const faulty: [body: object, type: string, place: (string | number)[], more?: object][] = [
  [{}, 'missing', ['name']],
  [{ name: '' }, 'string_too_short', ['name'], { ctx: { min_length: 1 } }],
  [{ name: 'n'.repeat(101) }, 'string_too_long', ['name'], { ctx: { max_length: 100 } }],
  [{ name: 'a', expires_in_days: 0 }, 'greater_than_equal', ['expires_in_days'], { ctx: { ge: 1 } }],
  [{ name: 'a', expires_in_days: 366 }, 'less_than_equal', ['expires_in_days'], { ctx: { le: 365 } }],
  [{ name: 'a', scopes: 'read' }, 'list_type', ['scopes'], { msg: 'Input should be a valid list', input: 'read' }],
  [{ name: 'a', scopes: ['read', 7] }, 'literal_error', ['scopes', 1], { msg: `Input should be ${literal}`, input: 7 }],
  [{ name: 'a', scopes: Array(21).fill('x') }, 'too_long', ['scopes'], { ctx: { max_length: 20, actual_length: 21 } }],
  [{ name: 'a', create_devices: 'perhaps' }, 'bool_parsing', ['create_devices']],
]

t.test('an invalid key is rejected, with the field', async t => {
  const { headers } = await signedIn()
  for (const [body, type, place, more = {}] of faulty) {
    const { status, body: answer } = await create(headers, body)
    t.match({ status, answer }, { status: 422, answer: { detail: [{ type, loc: ['body', ...place], ...more }] } }, type)
    t.equal((answer['detail'] as unknown[]).length, 1, type)
  }
})

t.test('the user of a tenant gets a token and an account of the tenant', async t => {
  const answer = await exchangeOf()
  const bearer = { access_token: String, token_type: 'bearer', expires_in: 1800 }
  t.match(answer, { status: 200, headers: { 'cache-control': 'no-store' }, body: bearer })
  const user = { email: 'ada@acme.example', name: 'Ada', is_active: true, email_verified: null, tenant_slug: 'acme' }
  t.match(answer.body['user'], user)
  const me = await meWith(answer.body['access_token'])
  t.match(me, { status: 200, body: user })
  t.strictSame(me.body, answer.body['user'])
  const again = await exchangeOf({ email: 'ada.b@acme.example', name: 'Ada B' })
  const { id } = answer.body['user'] as { id: number }
  t.match(again.body['user'], { id, email: 'ada.b@acme.example', name: 'Ada B' }, 'the subject decides')
  t.match(await meWith(answer.body['access_token']), { body: { email: 'ada.b@acme.example' } })
  const { rows } = await pool.query("SELECT actor, subject FROM audit WHERE action = 'tenant.exchange'")
  t.strictSame(rows[0], { actor: 'tenant acme', subject: `account ${id}` })
})

t.test("a tenant's account has no password, no reset and no look-up by address", async t => {
  const { body } = await exchangeOf({ sub: 'u2', email: 'plain@acme.example' })
  const email = 'plain@acme.example'
  t.equal((await ask('POST', '/login', { body: { email, password: goodPassword } })).status, 401)
  t.equal(await accounts.findByEmail(email), undefined)
  const ordinary = await person(email)
  t.not(ordinary, (body['user'] as { id: number }).id, 'the address is free for an ordinary account')
  await person('victim@acme.example')
  const victim = await exchangeOf({ sub: 'u4', email: 'victim@acme.example' })
  t.match(victim.body['user'], { tenant_slug: 'acme' }, 'an ordinary account is never attached')
  const headers = { authorization: `Bearer ${body['access_token']}` }
  t.equal((await ask('POST', '/api-keys', { headers, body: { name: 'k' } })).status, 403)
  t.equal((await ask('DELETE', '/me', { headers })).status, 403)
})

t.test('an address is unique in its tenant only', async t => {
  t.equal(await exchangeStatus({ sub: 'e1', email: 'one@acme.example' }), 200)
  const taken = { status: 409, body: { detail: 'Email already registered' } }
  t.match(await exchangeOf({ sub: 'e2', email: 'ONE@acme.example' }), taken)
  t.equal(await exchangeStatus({ sub: 'e2', email: 'two@acme.example' }), 200)
  t.match(await exchangeOf({ sub: 'e2', email: 'one@acme.example' }), taken, 'nor does a change take it')
  const token = await sign(claims({ iss: 'other', sub: 'e1', email: 'one@acme.example' }), otherSecret)
  const other = await exchange(token, 'other')
  t.match(other, { status: 200, body: { user: { tenant_slug: 'other' } } })
})

t.test('any fault of a token is rejected', async t => {
  const refused = async (what: string, token: string) => t.match(await exchange(token), invalid, what)
  const refusedClaims = async (what: string, more: JWTPayload) => refused(what, await sign(claims(more)))
  for (const name of ['iss', 'aud', 'sub', 'email', 'name', 'iat', 'exp', 'jti']) {
    await refusedClaims(`no ${name}`, { [name]: undefined })
    await refusedClaims(`${name} of another type`, { [name]: { a: 1 } as never })
  }
  await refusedClaims('another issuer', { iss: 'other' })
  await refusedClaims('another audience', { aud: publicUrl })
  await refusedClaims('no audience', { aud: [] })
  await refusedClaims('over', { iat: seconds() - 100, exp: seconds() - 20 })
  await refusedClaims('too far ahead', { exp: seconds() + 301 })
  await refusedClaims('too far ahead, from the future', { iat: seconds() + 60, exp: seconds() + 120 })
  await refusedClaims('not yet', { nbf: seconds() + 60 })
  t.equal(await exchangeStatus({ iat: seconds() + 10, exp: seconds() + 310 }), 200, 'clocks differ a little')
  t.equal(await exchangeStatus({ aud: ['https://elsewhere.example', audience] }), 200)
  for (const email of ['', 'ada', 'a@b.test', 'a\u0000@c.example']) {
    await refusedClaims(`the address ${JSON.stringify(email)}`, { email })
  }
  for (const text of ['', 'a\u0000b', '\ud800', 'x'.repeat(256)]) {
    await refusedClaims('a subject', { sub: text })
    await refusedClaims('an id', { jti: text })
    await refusedClaims('a name', { name: text })
  }
  const good = claims()
  await refused("another tenant's secret", await sign(good, otherSecret))
  await refused('another algorithm', await sign(good, secret, 'HS512'))
  const header = (alg: string) => Buffer.from(JSON.stringify({ alg })).toString('base64url')
  const payload = Buffer.from(JSON.stringify(good)).toString('base64url')
  await refused('without a signature', `${header('none')}.${payload}.`)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await refused('a key of its own', await new SignJWT(good).setProtectedHeader({ alg: 'ES256' }).sign(privateKey))
  for (const junk of ['', '.', '..', 'a.b.c', 'x'.repeat(8_000), `${await sign(good)}x`]) await refused(junk, junk)
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM tenant_tokens WHERE tenant_id <> 1')
  t.strictSame(rows, [{ count: 1 }])
})

t.test('a token is valid once, for any caller', async t => {
  const token = await sign(claims())
  t.equal((await exchange(token)).status, 200)
  t.match(await exchange(token), { status: 409, body: { detail: 'Token was exchanged before' } })
  t.equal(await exchangeStatus({ jti: 'same' }), 200)
  t.equal(await exchangeStatus({ jti: 'same' }), 409, 'also in a token that was signed again')
  const other = claims({ iss: 'other', jti: 'same' })
  t.equal((await exchange(await sign(other, otherSecret), 'other')).status, 200, 'each tenant has ids of its own')
  const ofNew = { sub: 'new', email: 'new@acme.example' }
  const tokens = await Promise.all(Array.from({ length: 16 }, () => sign(claims(ofNew))))
  const made = await Promise.all(tokens.map(token => exchange(token)))
  t.strictSame(new Set(made.map(({ status }) => status)), new Set([200]))
  const ids = new Set(made.map(({ body }) => (body['user'] as { id: number }).id))
  t.equal(ids.size, 1, 'sixteen tokens of a new user at once make one account')
  const raced = await sign(claims({ sub: 'raced', email: 'raced@acme.example' }))
  const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(raced)))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(7).fill(409)])
})

t.test('unknown or disabled tenants and inactive users are rejected', async t => {
  const token = await sign(claims())
  const unknown = { status: 404, body: { detail: 'Tenant not found' } }
  for (const slug of ['nobody', 'ACME', 'a/b', '..', "';--"]) t.match(await exchange(token, slug), unknown, slug)
  const { body } = await exchangeOf()
  t.equal((await meWith(body['access_token'])).status, 200)
  valueIn(await tenants.change('acme', { is_active: false }, 'test'))
  t.equal((await meWith(body['access_token'])).status, 401, 'its users are out before the answer')
  t.match(await exchange(token), { status: 403, body: { detail: 'Tenant is disabled' } })
  valueIn(await tenants.change('acme', { is_active: true }, 'test'))
  t.equal((await exchange(token)).status, 200, 'the token was not used up')
  const { body: off } = await exchangeOf({ sub: 'off', email: 'off@acme.example' })
  await service.set((off['user'] as { id: number }).id, { is_active: false })
  t.equal(await exchangeStatus({ sub: 'off', email: 'off@acme.example' }), 403, 'a user who is inactive')
  t.equal((await meWith(off['access_token'])).status, 401)
})

t.test('a new secret applies beside the old one for the grace time, or replaces it at once', async t => {
  const { secret: first } = valueIn(await tenants.add({ slug: 'rotated', name: 'R' }, 'test'))
  const with_ = async (key: string) => {
    const token = await sign(claims({ iss: 'rotated', sub: 'r', email: 'r@acme.example' }), key)
    return (await exchange(token, 'rotated')).status
  }
  const second = valueIn(await tenants.rotate('rotated', false, 'test'))
  t.match(second, { slug: 'rotated', old_secret_until: new Date(clock.ms + 60 * minuteMs).toISOString() })
  t.strictSame([await with_(first), await with_(second.secret)], [200, 200])
  clock.ms += 60 * minuteMs + 1
  t.strictSame([await with_(first), await with_(second.secret)], [401, 200])
  t.match(await tenants.get('rotated'), { old_secret_until: null })
  const third = valueIn(await tenants.rotate('rotated', true, 'test'))
  t.equal(third.old_secret_until, null)
  t.strictSame([await with_(second.secret), await with_(third.secret)], [401, 200])
})

t.test('lengths are limited, and no response has the token', async t => {
  const token = 'geheim.geheim.geheim'
  const tooLong = { detail: [{ type: 'string_too_long', input: null }] }
  t.match(await exchange('x'.repeat(8_001)), { status: 422, body: tooLong })
  t.match(await exchange(token, 'x'.repeat(41)), { status: 422, body: { detail: [{ loc: ['body', 'tenant_slug'] }] } })
  t.match(await exchange(token, 'a\u0000b'), { status: 422 })
  for (const body of [{ token }, { tenant_slug: ['acme'], token: [token] }, JSON.stringify({ token })]) {
    t.notMatch((await ask('POST', '/tenant-exchange', { body })).text, 'geheim')
  }
})

t.test('an address that tries many tokens has to wait', async t => {
  clock.ms += 10 * minuteMs
  const kind = 'tenant-exchange'
  await accounts.limits.take({ kind, countMax: 600, windowMs: 600_000 }, '10.9.9.9')
  await pool.query('UPDATE rate_limits SET count = 600 WHERE kind = $1 AND count = 1', [kind])
  const late = await ask('POST', '/tenant-exchange', { body: { tenant_slug: 'a', token: 'b' }, address: '10.9.9.9' })
  t.match(late, { status: 429, headers: { 'retry-after': /^\d+$/ } })
  t.equal(await exchangeStatus(), 200, 'others are not')
})
