/** The tenant exchange: what a partner has to sign, whose account it becomes, and how a tenant and its secrets end. */

import { generateKeyPairSync, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { type JWTPayload, SignJWT } from 'jose'
import t from 'tap'
import type { TenantChanged } from '../../../auth/tenants/tenants.ts'
import { goodPassword, publicUrl, startAccounts } from '../../support/accounts.ts'

const { ask, tenants, accounts, store, clock, person } = await startAccounts(t)
const pool = store.postgres
const audience = `${publicUrl}/v1/auth/tenant-exchange`
const minuteMs = 60_000

function valueIn<Value>(changed: TenantChanged<Value>): Value {
  if (!changed.ok) throw new Error(changed.code)
  return changed.value
}

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
const statusOf = async (more: JWTPayload = {}) => (await exchangeOf(more)).status
const meWith = async (token: unknown) => await ask('GET', '/me', { headers: { authorization: `Bearer ${token}` } })
const invalid = { status: 401, body: { detail: 'Invalid or expired tenant token' } }

t.test('the user of a tenant gets a token and an account of the tenant', async t => {
  const answer = await exchangeOf()
  t.match(answer, {
    status: 200,
    headers: { 'cache-control': 'no-store' },
    body: { access_token: String, token_type: 'bearer', expires_in: 1800 },
  })
  const user = { email: 'ada@acme.example', name: 'Ada', is_active: true, email_verified: null, tenant_slug: 'acme' }
  t.match(answer.body['user'], user)
  const me = await meWith(answer.body['access_token'])
  t.match(me, { status: 200, body: user })
  t.strictSame(me.body, answer.body['user'])
  const again = await exchangeOf({ email: 'ada.b@acme.example', name: 'Ada B' })
  const { id } = answer.body['user'] as { id: number }
  t.match(again.body['user'], { id, email: 'ada.b@acme.example', name: 'Ada B' }, 'the subject decides')
  t.match(await meWith(answer.body['access_token']), { body: { email: 'ada.b@acme.example' } })
  const { rows } = await pool.query('SELECT actor, action, subject FROM audit WHERE action = $1', ['tenant.exchange'])
  t.strictSame(rows[0], { actor: 'tenant acme', action: 'tenant.exchange', subject: `account ${id}` })
})

t.test('it is no ordinary account: no password, no reset, no look-up by address', async t => {
  const { body } = await exchangeOf({ sub: 'u2', email: 'plain@acme.example' })
  const email = 'plain@acme.example'
  t.equal((await ask('POST', '/login', { body: { email, password: goodPassword } })).status, 401)
  t.equal(await accounts.findByEmail(email), undefined)
  const ordinary = await person(email)
  t.not(ordinary, (body['user'] as { id: number }).id, 'the address is free for an ordinary account')
  const known = await exchangeOf({ sub: 'u3', email: 'plain2@acme.example' })
  await person('victim@acme.example')
  const victim = await exchangeOf({ sub: 'u4', email: 'victim@acme.example' })
  t.match(victim.body['user'], { tenant_slug: 'acme' }, 'an ordinary account is never attached')
  t.not((known.body['user'] as { id: number }).id, (victim.body['user'] as { id: number }).id)
  const headers = { authorization: `Bearer ${body['access_token']}` }
  t.equal((await ask('POST', '/api-keys', { headers, body: { name: 'k' } })).status, 403)
  t.equal((await ask('DELETE', '/me', { headers })).status, 403)
})

t.test('an address is unique in its tenant, and nowhere else', async t => {
  t.equal(await statusOf({ sub: 'e1', email: 'one@acme.example' }), 200)
  const taken = { status: 409, body: { detail: 'Email already registered' } }
  t.match(await exchangeOf({ sub: 'e2', email: 'ONE@acme.example' }), taken)
  t.equal(await statusOf({ sub: 'e2', email: 'two@acme.example' }), 200)
  t.match(await exchangeOf({ sub: 'e2', email: 'one@acme.example' }), taken, 'nor does a change take it')
  const token = await sign(claims({ iss: 'other', sub: 'e1', email: 'one@acme.example' }), otherSecret)
  const other = await exchange(token, 'other')
  t.match(other, { status: 200, body: { user: { tenant_slug: 'other' } } })
})

t.test('a token is refused for whatever is wrong with it', async t => {
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
  t.equal(await statusOf({ iat: seconds() + 10, exp: seconds() + 310 }), 200, 'clocks differ a little')
  t.equal(await statusOf({ aud: ['https://elsewhere.example', audience] }), 200)
  for (const email of [
    '',
    'ada',
    'a@b',
    'a@b.test',
    'a b@c.example',
    'a@@c.example',
    '"a"@c.example',
    'a\u0000@c.example',
  ]) {
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

t.test('a token is good once, whoever brings it', async t => {
  const token = await sign(claims())
  t.equal((await exchange(token)).status, 200)
  t.match(await exchange(token), { status: 409, body: { detail: 'Token was exchanged before' } })
  t.equal(await statusOf({ jti: 'same' }), 200)
  t.equal(await statusOf({ jti: 'same' }), 409, 'also in a token that was signed anew')
  const other = claims({ iss: 'other', jti: 'same' })
  t.equal((await exchange(await sign(other, otherSecret), 'other')).status, 200, 'each tenant has ids of its own')
  const raced = await sign(claims({ sub: 'raced', email: 'raced@acme.example' }))
  const answers = await Promise.all(Array.from({ length: 16 }, () => exchange(raced)))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 15 }, () => 409)])
})

t.test('sixteen tokens of a new user at once make one account', async t => {
  const tokens = []
  for (let at = 0; at < 16; at++) tokens.push(await sign(claims({ sub: 'new', email: 'new@acme.example' })))
  const answers = await Promise.all(tokens.map(token => exchange(token)))
  t.ok(
    answers.every(({ status }) => status === 200),
    answers.map(({ status, text }) => `${status} ${text.slice(0, 60)}`).join('\n'),
  )
  t.equal(new Set(answers.map(({ body }) => (body['user'] as { id: number }).id)).size, 1)
})

t.test('a tenant that is unknown, and one that is switched off', async t => {
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
})

t.test('a user who is switched off does not come in by the tenant', async t => {
  const { body } = await exchangeOf({ sub: 'off', email: 'off@acme.example' })
  const { id } = body['user'] as { id: number }
  await accounts.memory.change(id, () => pool.query('UPDATE accounts SET is_active = false WHERE id = $1', [id]))
  t.match(await exchangeOf({ sub: 'off', email: 'off@acme.example' }), { status: 403 })
  t.equal((await meWith(body['access_token'])).status, 401)
})

t.test('a new secret: beside the old one for the grace time, or at once instead of it', async t => {
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
  const { rows } = await pool.query("SELECT t::text, encode(secret, 'escape') AS escaped FROM tenants AS t")
  for (const stored of [secret, otherSecret, first, second.secret, third.secret]) {
    t.notMatch(JSON.stringify(rows), stored, 'no secret is in the database')
  }
})

t.test('the body is checked as everywhere, and tells no token', async t => {
  const token = 'geheim.geheim.geheim'
  const missing = (...fields: string[]) => fields.map(field => ({ type: 'missing', loc: ['body', field] }))
  const sent = (body: unknown) => ask('POST', '/tenant-exchange', { body })
  t.match(await sent({}), { status: 422, body: { detail: missing('tenant_slug', 'token') } })
  t.match(await sent({ token }), { status: 422, body: { detail: missing('tenant_slug') } })
  t.match(await sent({ tenant_slug: 'acme', token: 7 }), { status: 422 })
  t.match(await exchange('x'.repeat(8_001)), {
    status: 422,
    body: { detail: [{ type: 'string_too_long', input: null }] },
  })
  t.match(await exchange(token, 'x'.repeat(41)), { status: 422, body: { detail: [{ loc: ['body', 'tenant_slug'] }] } })
  t.match(await exchange(token, 'a\u0000b'), { status: 422 })
  for (const body of [{ token }, { tenant_slug: ['acme'], token: [token] }, JSON.stringify({ token })]) {
    t.notMatch((await sent(body)).text, 'geheim')
  }
})

t.test('who tries many tokens is told to wait', async t => {
  clock.ms += 10 * minuteMs
  const kind = 'tenant-exchange'
  for (let at = 0; at < 600; at++) await accounts.limits.take({ kind, countMax: 600, windowMs: 600_000 }, '10.9.9.9')
  const late = await ask('POST', '/tenant-exchange', { body: { tenant_slug: 'a', token: 'b' }, address: '10.9.9.9' })
  t.match(late, { status: 429, headers: { 'retry-after': /^\d+$/ } })
  t.equal(await statusOf(), 200, 'others are not')
})

t.test('no claim and no token is too much', async t => {
  clock.ms += 10 * minuteMs
  const name = fc.constantFrom('iss', 'aud', 'sub', 'email', 'name', 'iat', 'exp', 'jti', 'nbf', '__proto__', 'x')
  const value = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.emailAddress(),
    fc.integer().map(offset => seconds() + (offset % 400)),
  )
  const known = new Set([200, 401, 409, 422, 429])
  let address = 0
  const property = fc.asyncProperty(
    fc.array(fc.tuple(name, value)),
    fc.string({ unit: 'binary' }),
    async (more, junk) => {
      const token = await sign(claims(Object.fromEntries(more) as JWTPayload))
      for (const sent of [token, `${token.slice(0, 40)}${junk}`, junk]) {
        address = (address + 1) % 250
        const body = { tenant_slug: 'acme', token: sent }
        const { status, text } = await ask('POST', '/tenant-exchange', { body, address: `10.3.${address}.1` })
        if (!known.has(status)) throw new Error(`${status} ${text}`)
      }
    },
  )
  await fc.assert(property, { numRuns: 300 })
  t.pass('all were answered')
})
