/** The credentials that each operation accepts, and how requests are rejected. */

import { createHash, hkdfSync } from 'node:crypto'
import { EncryptJWT, SignJWT } from 'jose'
import t from 'tap'
import { readSessionCookie, writeSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import {
  adminToken,
  goodPassword,
  openVariant,
  publicUrl,
  serviceSecret,
  sessionSecret,
  startAccounts,
} from '../../support/accounts.ts'
import { authJs } from '../../support/auth-js.ts'

const service = await startAccounts(t, {
  settings: { mailRequestsPerHour: 1_000_000, registrationsPerHour: 1_000_000 },
})
const { ask, person, cookieOf, clock, store, warnings } = service
const name = '__Secure-authjs.session-token'
const id = await person('ada@example.com')

const email = 'grace@example.com'
const grace = await person(email)
const { cookie } = await cookieOf(grace)
const { body: fetched } = await ask('POST', '/token', { body: { email, password: goodPassword } })
const { body: made } = await ask('POST', '/api-keys', { body: { name: 'a script' }, headers: { cookie } })

const { body: view } = await ask('POST', '/me/views', { headers: { cookie }, body: { name: 'all', address: '/' } })
const { body: linked } = await ask('POST', `/me/views/${view['id']}/links`, {
  headers: { cookie },
  body: { expires_in_days: 1 },
})
/** Sets the clock to now, after the change of the password in this file: older tokens are rejected. */
const setClock = () => {
  clock.ms = Date.now() + 5000
}
const seconds = () => Math.floor(clock.ms / 1000)
const claims = () => ({ sub: String(id), name: 'Ada', email: 'ada@example.com', picture: null, auth_time: seconds() })
const statusWith = async (headers: Record<string, string>, path = '/me', on = service) =>
  (await on.ask('GET', path, { headers })).status
const withCookie = (token: string, on = service) => statusWith({ cookie: `${on.codec.cookieName}=${token}` }, '/me', on)
const session = (token: Record<string, unknown>, more = {}) =>
  authJs.encode({ token, secret: sessionSecret, salt: name, ...more })

/** Encrypts with the key that Auth.js derives from the secret. */
function createEncryption() {
  const key = new Uint8Array(hkdfSync('sha256', sessionSecret, name, `Auth.js Generated Encryption Key (${name})`, 64))
  const k = Buffer.from(key).toString('base64url')
  const kid = createHash('sha512').update(`{"k":"${k}","kty":"oct"}`).digest('base64url')
  const header = { alg: 'dir', enc: 'A256CBC-HS512', kid }
  const make = (payload: object, more = {}) =>
    new EncryptJWT(payload as never).setProtectedHeader({ ...header, ...more }).encrypt(key)
  return { key, kid, make }
}

const encryption = createEncryption()

t.test('a cookie of Auth.js is accepted', async t => {
  t.equal(await withCookie(await session(claims())), 200)
  const { cookie, sid } = await cookieOf(id)
  t.equal(await withCookie(await session({ ...claims(), sid })), 200)
  const token = cookie.slice(cookie.indexOf('=') + 1)
  const decoded = await authJs.decode({ token, secret: sessionSecret, salt: name })
  t.match(decoded, { sub: String(id), sid, email: 'ada@example.com' }, 'and Auth.js reads ours')
  const { body } = await ask('GET', '/session/info', { headers: { cookie } })
  const user = { id: String(id), name: null, email: 'ada@example.com', image: null }
  t.strictSame(body, { user, expires: new Date(seconds() * 1000 + 30 * 24 * 3_600_000).toISOString() })
  t.equal(await withCookie(await session({ sub: String(id) })), 200, 'also one that no reset can end')
  t.equal(await withCookie(await session({ sub: String(id) })), 200)
  t.equal(warnings.filter(text => /sid nor auth_time/.test(text)).length, 1, 'the log has it once')
})

t.test('forged cookies are rejected', async t => {
  const { sid } = await cookieOf(id)
  const refused = async (what: string, token: string) => t.equal(await withCookie(token), 401, what)
  await refused('another salt', await session(claims(), { salt: 'authjs.session-token' }))
  await refused('another secret', await session(claims(), { secret: `${sessionSecret}x` }))
  await refused('over', await session(claims(), { maxAge: -60 }))
  for (const sub of [undefined, '', 'abc', '1e3', '-1', '0', '99999999999', '2147483648', ` ${id}`]) {
    await refused(`sub ${sub}`, await session({ ...claims(), sub }))
  }
  await refused('an unknown account', await session({ ...claims(), sub: '2147483647' }))
  await refused('an unknown session', await session({ ...claims(), sid: `${sid}x` }))
  await refused('a session that is no text', await session({ ...claims(), sid: 7 }))
  const other = await person('other@example.com')
  const asOther = { ...claims(), sub: String(other), iat: seconds(), exp: seconds() + 60 }
  t.equal((await service.sessions.fromClaims(asOther))?.account.id, other)
  await refused("another account's session", await session({ ...claims(), sub: String(other), sid }))
  await refused('an odd auth_time', await session({ ...claims(), auth_time: '7' }))
  await refused('not a token', 'abc')
  await refused('nothing', '')
  const { make, key, kid } = encryption
  const whole = { ...claims(), iat: seconds(), exp: seconds() + 600 }
  t.equal(await withCookie(await make(whole)), 200, 'so far it is right')
  await refused('no exp', await make({ ...whole, exp: undefined }))
  await refused('no iat', await make({ ...whole, iat: undefined }))
  await refused('a sub that is a number', await make({ ...whole, sub: id }))
  await refused('a sub that is a list', await make({ ...whole, sub: [String(id)] }))
  for (const time of ['iat', 'auth_time']) {
    await refused(`${time} ahead`, await make({ ...whole, [time]: seconds() + 60 }))
    await refused(`${time} ahead, with a session`, await make({ ...whole, sid, [time]: seconds() + 60 }))
    t.equal(await withCookie(await make({ ...whole, [time]: seconds() + 10 })), 200, 'clocks differ a little')
  }
  await refused('no kid', await make(whole, { kid: undefined }))
  await refused('another kid', await make(whole, { kid: `${kid}x` }))
  const gcm = new EncryptJWT(whole as never).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid })
  await refused('another algorithm', await gcm.encrypt(key.slice(0, 32)))
  const signed = new SignJWT(whole as never).setProtectedHeader({ alg: 'HS256' })
  await refused('a signed one', await signed.sign(new TextEncoder().encode(sessionSecret)))
  await refused('one without a signature', `${part({ alg: 'none' })}.${part(whole)}.`)
})

t.test('a cookie ends with its session, with the password, and by expiry', async t => {
  const { cookie, sid } = await cookieOf(id)
  const byTime = `${name}=${await session(claims())}`
  t.strictSame([await statusWith({ cookie }), await statusWith({ cookie: byTime })], [200, 200])
  t.match(await ask('POST', '/logout', { headers: { cookie, 'sec-fetch-site': 'cross-site' } }), { status: 200 })
  t.equal(await statusWith({ cookie }), 200, 'another site ends nothing')
  const junk = { body: 'junk{', headers: { 'content-type': 'application/json' } }
  t.equal((await ask('POST', '/logout', junk)).status, 200, 'whatever the body is')
  t.match(await ask('POST', '/logout', { headers: { cookie } }), { status: 200, body: { message: 'Logged out' } })
  t.equal(await statusWith({ cookie }), 401)
  t.equal(await withCookie(await session({ ...claims(), sid })), 401, 'renewed by its host')
  t.equal(await statusWith({ cookie: byTime }), 200)
  clock.ms += 2000
  const current = await cookieOf(id)
  const body = { current_password: goodPassword, new_password: goodPassword }
  const changed = await ask('POST', '/password/change', { body, headers: { cookie: current.cookie } })
  t.equal(changed.status, 200)
  t.strictSame([await statusWith({ cookie: current.cookie }), await statusWith({ cookie: byTime })], [401, 401])
  clock.ms += 1000
  const fresh = await session(claims())
  t.equal(await withCookie(fresh), 200)
  // Auth.js reads the machine's clock, which continues while this file starts.
  clock.ms = Math.max(clock.ms, Date.now()) + 30 * 24 * 3_600_000 + 20_000
  t.equal(await withCookie(fresh), 401, 'also one that was decoded before')
  const old = await cookieOf(id)
  clock.ms += 90 * 24 * 3_600_000
  const renewed = { ...claims(), sid: old.sid, iat: seconds(), exp: seconds() + 600 }
  t.equal(await withCookie(await encryption.make(renewed)), 401)
  setClock()
})

t.test('a long token is split into pieces, without a gap and up to a limit', async t => {
  const token = await session({ ...claims(), picture: `https://example.com/${'p'.repeat(5000)}` })
  t.ok(token.length > 3936)
  const cookies = writeSessionCookie(name, token, { isSecure: true, expiresMs: clock.ms })
  const sent = cookies.map(cookie => cookie.split(';')[0] ?? '').filter(cookie => !cookie.endsWith('='))
  t.equal(await statusWith({ cookie: sent.toReversed().join('; ') }), 200)
  t.equal(await statusWith({ cookie: sent.slice(1).join('; ') }), 401)
  t.equal(await statusWith({ cookie: [...sent, `${name}X=1`, 'theme=dark'].join('; ') }), 200, 'with other cookies')
  const rows: [header: string, read: string][] = [
    ['s.0=a; s.1=b; s.2=c; s.3=d', 'token abcd'],
    ['s.0=a; s.1=b; s.2=c; s.3=d; s.4=e', 'bad'],
    ['s.0=a; s.2=c', 'token a'],
    ['s.1=a', 'none'],
    ['s=a; s=b', 'bad'],
    [`s=${'a'.repeat(12_001)}`, 'bad'],
    ['; =; s; x=s=1', 'none'],
  ]
  for (const [header, read] of rows) t.equal(Object.values(readSessionCookie(header, 's')).join(' '), read, header)
})

t.test('a token for API clients only reads', async t => {
  const fetch = () => ask('POST', '/token', { body: { email: 'ada@example.com', password: goodPassword } })
  const fetched = await fetch()
  t.match(fetched, { status: 200, body: { token_type: 'bearer', expires_in: 1800 } })
  const token = String(fetched.body['access_token'])
  const authorization = `Bearer ${token}`
  const info = await ask('GET', '/session/info', { headers: { authorization } })
  t.match(info, { status: 200, body: { user: { id: String(id) } } })
  const refused = await ask('PATCH', '/me', { body: {}, headers: { authorization } })
  t.match(refused, { status: 403, body: { detail: 'forbidden' } })
  t.equal(await withCookie(token), 401, 'it is no cookie')
  const [head, body, signature] = token.split('.')
  t.equal(await statusWith({ authorization: `Bearer ${head}.${body}.${signature?.slice(0, -2)}AA` }), 401)
  const forging = new SignJWT({ sid: 'x' }).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).setSubject(String(id))
  const forged = await forging.sign(new TextEncoder().encode(sessionSecret))
  t.equal(await statusWith({ authorization: `Bearer ${forged}` }), 401)
  t.equal((await ask('POST', '/logout', { headers: { authorization } })).status, 200)
  t.equal(await statusWith({ authorization }), 401)
  const second = await fetch()
  clock.ms += 1800_000
  t.equal(await statusWith({ authorization: `Bearer ${second.body['access_token']}` }), 401)
  setClock()
})

t.test('a cookie is renewed once a day with a later time, despite any step of the clock', async t => {
  const dayMs = 24 * 3_600_000
  const start = clock.ms
  const { cookie } = await cookieOf(id)
  const signedIn = await service.sessions.fromCookie(cookie.slice(cookie.indexOf('=') + 1))
  if (signedIn === undefined) throw new Error('the cookie is not good')
  t.equal(await service.sessions.renewCookie(signedIn), undefined)
  const times = [start + 2 * dayMs, start]
  Object.defineProperty(clock, 'ms', { get: () => times.shift() ?? start, configurable: true })
  const renewed = await service.sessions.renewCookie(signedIn)
  Object.defineProperty(clock, 'ms', { value: start, writable: true, configurable: true })
  t.ok((renewed?.expiresMs ?? 0) > signedIn.expiresMs)
})

t.test('old secrets are accepted, while the first one encrypts', async t => {
  const rotated = await openVariant(t, store, { secrets: ['n'.repeat(64), sessionSecret] })
  t.equal(await withCookie(await session(claims()), rotated), 200)
  t.equal(await withCookie(await session(claims(), { secret: 'n'.repeat(64) }), rotated), 200)
  t.equal(await withCookie(await session(claims(), { secret: 'o'.repeat(64) }), rotated), 401)
  const { cookie } = await rotated.cookieOf(id)
  t.equal(await statusWith({ cookie }), 401, 'who has the old one alone cannot read it')
})

t.test('the form of cookies is a setting', async t => {
  const v4 = await openVariant(t, store, { format: 'jwe-v4', secrets: ['n'.repeat(64), sessionSecret] })
  t.equal(v4.codec.cookieName, '__Secure-next-auth.session-token')
  for (const secret of ['n'.repeat(64), sessionSecret]) t.equal(await withCookie(await madeByV4(secret), v4), 200)
  t.equal(await withCookie(await madeByV4('o'.repeat(64)), v4), 401)
  t.equal(await withCookie(await session(claims()), v4), 401)
  t.equal(await statusWith({ cookie: (await v4.cookieOf(id)).cookie }, '/me', v4), 200)
  const hs256 = await openVariant(t, store, { format: 'hs256' })
  const whole = { ...claims(), iat: seconds(), exp: seconds() + 60 }
  const sign = (alg: string, secret = sessionSecret) =>
    new SignJWT(whole).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret))
  t.equal(await withCookie(await sign('HS256'), hs256), 200)
  t.equal(await withCookie(await sign('HS512', sessionSecret.repeat(2)), hs256), 401)
  t.equal(await withCookie(`${part({ alg: 'none' })}.${part(whole)}.`, hs256), 401)
  const strict = await openVariant(t, store, { refuseUnrevocable: true })
  t.equal(await withCookie(await session({ sub: String(id) }), strict), 401)
  t.equal(await withCookie(await session(claims()), strict), 200)
})

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** The key derivation of NextAuth.js 4. */
async function madeByV4(secret: string): Promise<string> {
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'NextAuth.js Generated Encryption Key', 32))
  const payload = { ...claims(), iat: seconds(), exp: seconds() + 600, jti: 'x' }
  return await new EncryptJWT(payload).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' }).encrypt(key)
}

const credentials: Record<string, Record<string, string>> = {
  nothing: {},
  session: { cookie },
  bearer: { authorization: `Bearer ${fetched['access_token']}` },
  key: { authorization: `Bearer ${made['key']}` },
  service: { 'x-service-secret': serviceSecret },
  'a wrong cookie': { cookie: '__Secure-authjs.session-token=x.y.z' },
  'a wrong bearer': { authorization: 'Bearer x.y.z' },
  'a wrong key': { 'x-api-key': 'x' },
  'a wrong service secret': { 'x-service-secret': 'x' },
  // The link reads the devices of its view.
  'a view link': { authorization: `Bearer ${linked['token']}` },
  // The token is for the admin API alone.
  'the admin token': { authorization: `Bearer ${adminToken}` },
}
/** The first five credentials are valid for some operation below `/v1/auth`, the others for none. */
const wrong = Object.fromEntries(
  Object.keys(credentials)
    .map(kind => [kind, 401])
    .slice(5),
)
const open = (status: number) => Object.fromEntries(Object.keys(credentials).map(kind => [kind, status]))
const manage = (session: number) => ({ nothing: 401, session, bearer: 403, key: 403, service: 403, ...wrong })
const read = (session: number, key: number, service: number) => {
  return { nothing: 401, session, bearer: session, key, service, ...wrong }
}

/** Each row has the operations of one policy. 422 and 400 show that the credential was accepted. */
const policies: [statuses: Record<string, number | undefined>, ...operations: string[]][] = [
  [open(422), 'POST /register', 'POST /login', 'POST /token', 'POST /tenant-exchange', 'POST /device/poll'],
  [open(422), 'POST /verification/request', 'POST /verification/verify'],
  [open(422), 'POST /password/reset-request', 'POST /password/reset'],
  [open(200), 'POST /device/start'],
  [open(503), 'GET /google-drive/callback'],
  [{ ...open(200), session: undefined, bearer: undefined, key: undefined }, 'POST /logout'],
  [read(401, 401, 422), 'POST /oauth/callback'],
  [manage(200), 'PATCH /me', 'PATCH /me/preferences', 'GET /me/views', 'GET /me/view-links', 'GET /api-keys'],
  [manage(422), 'POST /password/change', 'POST /me/views', 'POST /me/views/999999/links', 'POST /api-keys'],
  [manage(422), 'GET /device/info', 'POST /device/approve', 'POST /device/deny'],
  [manage(404), 'PATCH /me/views/999999', 'DELETE /me/views/999999', 'DELETE /me/view-links/999999'],
  [manage(404), 'DELETE /api-keys/999999'],
  [manage(503), 'GET /google-drive/start'],
  [{ ...open(401), 'a view link': 200 }, 'GET /shared-view'],
  [read(200, 200, 401), 'GET /me', 'GET /me/preferences'],
  [read(200, 401, 401), 'GET /session/info'],
  [read(200, 200, 200), `GET /users/${grace}`, `GET /users/by-email/${email}`],
  [read(403, 403, 404), 'GET /users/999999'],
  [{ ...manage(204), session: undefined }, 'DELETE /me'],
]
const table = policies.flatMap(([statuses, ...operations]) =>
  operations.map(operation => {
    const [method = '', path = ''] = operation.split(' ')
    return { method, path, statuses }
  }),
)

for (const { method, path, statuses } of table) {
  t.test(`${method} ${path}`, async t => {
    for (const [at, [kind, status]] of Object.entries(statuses).entries()) {
      if (status === undefined) continue
      const body = method === 'GET' ? {} : { body: {} }
      // Each request has a different address, as some operations count requests by it.
      const options = { ...body, headers: credentials[kind] ?? {}, address: `10.1.0.${at}` }
      t.equal((await ask(method, path, options)).status, status, kind)
    }
  })
}

t.test("other sites' pages can neither write by a session nor look up a device code", async t => {
  const headers = { cookie, 'sec-fetch-site': 'cross-site' }
  const managed = table.filter(({ method, path, statuses }) => {
    return statuses['bearer'] === 403 && (method !== 'GET' || path === '/device/info')
  })
  for (const { method, path } of managed) {
    const [asked, body] = method === 'GET' ? [`${path}?user_code=x`, {}] : [path, { body: {} }]
    const refused = { status: 403, body: { detail: 'Cross-site request refused' } }
    t.match(await ask(method, asked, { ...body, headers }), refused, `${method} ${path}`)
  }
})

t.test('every operation has a policy', async t => {
  for (const { method, path: url } of service.operations) {
    const pattern = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`)
    const row = table.find(other => other.method === method && pattern.test(other.path))
    t.ok(row, `${method} ${url}`)
  }
})

t.test('two credentials at once are rejected, where one is needed', async t => {
  const { key: _, ...others } = credentials
  const kinds = Object.entries({ ...others, key: { 'x-api-key': String(made['key']) } })
  // The others use the same hook.
  const some = table.filter(({ path }) => ['/me', '/oauth/callback', '/api-keys'].includes(path))
  for (const { method, path } of some) {
    const body = method === 'GET' ? {} : { body: {} }
    for (const [first, ours] of kinds) {
      for (const [second, theirs] of kinds) {
        const headers = { ...ours, ...theirs }
        if (Object.keys(headers).length < 2) continue
        t.equal((await ask(method, path, { ...body, headers })).status, 401, `${method} ${path}: ${first}, ${second}`)
      }
    }
  }
})

interface Sent {
  body?: unknown
  raw?: string
  type?: string
  path?: string
  headers?: Record<string, string>
  method?: string
}

const fault = (type: string, field: string | undefined, msg: string, input: unknown, ctx?: object) => {
  return { type, loc: ['body', ...(field === undefined ? [] : [field])], msg, input, ...(ctx && { ctx }) }
}
const badValue = (field: string, reason: string, input: unknown) =>
  fault('value_error', field, `Value error, ${reason}`, input, { error: {} })
const invalidEmail = (reason: string, input: string) =>
  fault('value_error', 'email', `value is not a valid email address: ${reason}`, input, { reason })
const dictionary = 'Input should be a valid dictionary or object to extract fields from'
const noObject = (input: unknown) => fault('model_attributes_type', undefined, dictionary, input)
const missing = (field: string, input: unknown) => fault('missing', field, 'Field required', input)
const noText = (field: string, input: unknown) => fault('string_type', field, 'Input should be a valid string', input)
const atLeast = (field: string, count: number, input: unknown) => {
  const characters = `${count} character${count === 1 ? '' : 's'}`
  return fault('string_too_short', field, `String should have at least ${characters}`, input, { min_length: count })
}
const atMost = (field: string, count: number, input: unknown) =>
  fault('string_too_long', field, `String should have at most ${count} characters`, input, { max_length: count })
const noBody = fault('missing', undefined, 'Field required', null)
const noUnicode = 'Input should be a valid string, unable to parse raw data as a unicode string'
const noInteger = 'Input should be a valid integer'
const noParse = 'unable to parse string as an integer'
const [bob, password] = ['bob@example.com', goodPassword]
const good = JSON.stringify({ email: bob, password })

const form = 'application/x-www-form-urlencoded'
const change = { method: 'PATCH', path: '/me', headers: { cookie } }
const byService = { headers: { 'x-service-secret': serviceSecret } }
const linking = { email: bob, provider: 'github', provider_account_id: '1', email_verified: 'maybe' }

const rows: [what: string, sent: Sent, ...detail: object[]][] = [
  ['no body', {}, noBody],
  ['null', { raw: 'null' }, noBody],
  ['missing', { body: { name: 'Bob' } }, ...['email', 'password'].map(field => missing(field, { name: 'Bob' }))],
  ['beside a secret', { body: { password, a: { token: 'geheim' } } }, missing('email', { a: {} })],
  ['an array', { body: [1, { password, a: 1 }] }, noObject([1, { a: 1 }])],
  ['a number', { body: 7 }, noObject(7)],
  ['JSON in a text', { raw: JSON.stringify(good) }, noObject(null)],
  ['a form', { raw: `password=${password}`, type: form }, noObject(null)],
  ['JSON that is called text', { raw: good, type: 'text/plain' }, noObject(null)],
  ['JSON without a type', { raw: good, type: '' }, noObject(null)],
  ['a type that is none', { raw: good, type: 'nonsense' }, noObject(null)],
  ['another JSON type', { raw: '"abc"', type: 'application/problem+json; charset=utf-8' }, noObject('abc')],
  [
    'a field of another type',
    { body: { email: 7, password: { password }, name: ['x'] } },
    ...[noText('email', 7), noText('password', null), noText('name', ['x'])],
  ],
  ['null for a text', { body: { email: null, password } }, noText('email', null)],
  [
    'lengths in code points',
    { body: { email: bob, password: '🔑'.repeat(7), name: '' } },
    ...[atLeast('password', 8, null), atLeast('name', 1, '')],
  ],
  [
    'too long',
    { body: { email: bob, password: '🔑'.repeat(129), name: 'n'.repeat(101) } },
    ...[atMost('password', 128, null), atMost('name', 100, 'n'.repeat(101))],
  ],
  [
    'a common password',
    { body: { email: bob, password: 'Password1' } },
    badValue('password', 'the password is one of the most common ones', null),
  ],
  [
    'half a surrogate pair, and a control character',
    { body: { email: bob, password: 'abcdefgh\ud800', name: 'a\0b' } },
    fault('string_unicode', 'password', noUnicode, null),
    badValue('name', 'control characters are not allowed', 'a\0b'),
  ],
  ...Object.entries({
    ada: 'An email address must have an @-sign.',
    '@example.com': 'There must be something before the @-sign.',
    'ada@': 'There must be something after the @-sign.',
    'ada@example': 'The part after the @-sign is not valid. It should have a period.',
    'Ada <ada@example.com>': "The email address contains invalid characters before the @-sign: SPACE, '<'.",
    'ädä@example.com': 'The email address contains invalid characters before the @-sign: U+00E4.',
    'ada@[127.0.0.1]': "The part after the @-sign contains invalid characters: '[', ']'.",
    '.ada@example.com': 'An email address cannot start with a period.',
    'a..b@example.com': 'An email address cannot have two periods in a row.',
    [`${'a'.repeat(65)}@example.com`]: 'The email address is too long before the @-sign (1 character too many).',
    'ada@10.0.0.1': 'The part after the @-sign is not valid. It is not within a valid top-level domain.',
    'ada@host.test':
      'The part after the @-sign is a special-use or reserved name that cannot be used with email: host.test.',
  }).map(([text, reason]): [string, Sent, object] => {
    return [`the address ${text}`, { body: { email: text, password } }, invalidEmail(reason, text)]
  }),
  [
    'no integer in the path',
    { ...byService, method: 'GET', path: '/users/abc' },
    { ...fault('int_parsing', 'user_id', `${noInteger}, ${noParse}`, 'abc'), loc: ['path', 'user_id'] },
  ],
  [
    'an image that is not https',
    { ...change, body: { image: 'http://a.de/b.png' } },
    badValue('image', 'the address has to begin with https://', 'http://a.de/b.png'),
  ],
  [
    'a new address without the password',
    { ...change, body: { email: 'new@example.com' } },
    missing('current_password', { email: 'new@example.com' }),
  ],
  [
    'the other name of a field',
    { path: '/password/reset', body: { token: 'x', password: 'short' } },
    { type: 'string_too_short', loc: ['body', 'password'], input: null },
  ],
  ['neither name', { path: '/password/reset', body: {} }, missing('token', {}), missing('new_password', {})],
  ...(
    [
      ['x', 'int_parsing', `${noInteger}, ${noParse}`],
      [7.5, 'int_from_float', `${noInteger}, got a number with a fractional part`],
      [-1, 'greater_than_equal', 'Input should be greater than or equal to 0'],
      [{}, 'int_type', noInteger],
    ] as const
  ).map(([value, type, msg]): [string, Sent, ...object[]] => [
    `${JSON.stringify(value)} for an integer`,
    { ...byService, path: '/oauth/callback', body: { ...linking, expires_at: value } },
    { type: 'bool_parsing', loc: ['body', 'email_verified'], input: 'maybe' },
    { type, loc: ['body', 'expires_at'], msg, input: value },
  ]),
]

t.test('422 names each fault, its place and its value', async t => {
  for (const [what, request, ...detail] of rows) {
    const { method = 'POST', path = '/register', body, raw, type = 'application/json', headers } = request
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const typed = type === '' || sent === undefined ? {} : { 'content-type': type }
    const answer = await ask(method, path, { body: sent, headers: { ...typed, ...headers } })
    t.match(answer, { status: 422, body: { detail } }, what)
    const errors = answer.body['detail'] as object[]
    t.equal(errors.length, detail.length, answer.text)
    for (const error of errors) {
      t.match(Object.keys(error).join(), /^type,loc,msg,input(,ctx)?$/, 'the members stand in order')
    }
    t.notMatch(answer.text, goodPassword)
    t.notMatch(answer.text, 'geheim')
  }
})

t.test('422 quotes nothing of an invalid JSON body', async t => {
  for (const body of ['{"password":"geheim"', 'geheim', '{"a":NaN}', '   ']) {
    const sent = await ask('POST', '/register', { body, headers: { 'content-type': 'application/json' } })
    const { status, body: answer, text } = sent
    t.equal(status, 422)
    t.match(answer, { detail: [{ type: 'json_invalid', msg: 'JSON decode error', input: {}, ctx: { error: String } }] })
    const [error] = answer['detail'] as { loc: [string, number] }[]
    t.ok(error !== undefined && error.loc[0] === 'body' && error.loc[1] >= 0 && error.loc[1] <= body.length)
    t.notMatch(text, 'geheim')
  }
})

t.test('deep nesting, odd member names, big bodies, bad UTF-8 and codings are handled', async t => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  t.equal((await sent(deep)).status, 422)
  const odd = await sent('{"__proto__":{"email":"a@example.com"},"constructor":1}')
  t.match(odd, { status: 422, body: { detail: [{ loc: ['body', 'email'] }, { loc: ['body', 'password'] }] } })
  const big = await sent(JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(64 * 1024) }))
  t.match(big, { status: 413, body: { detail: 'Request Entity Too Large' } })
  const noText = await sent(Buffer.from([0x22, 0xff, 0x22]))
  t.match(noText, { status: 400, body: { detail: 'There was an error parsing the body' } })
  const coded = await sent('{}', { 'content-encoding': 'gzip' })
  t.match(coded, { status: 415, body: { detail: 'Unsupported Media Type' } })
})

const json = { 'content-type': 'application/json' }
const sent = (body: string | Buffer, more = {}) => ask('POST', '/login', { body, headers: { ...json, ...more } })

t.test('404, 405, 307 and 401 have the useful headers', async t => {
  t.match(await ask('GET', '/nothing'), { status: 404, body: { detail: 'Not Found' } })
  t.match(await ask('POST', '/device/nothing', { body: {} }), { status: 404 })
  for (const [method, path, allow] of [
    ['GET', '/login', 'POST'],
    ['OPTIONS', '/login', 'POST'],
    ['PUT', '/me', 'GET, PATCH, DELETE'],
    ['QUERY', '/me', 'GET, PATCH, DELETE'],
    ['DELETE', '/users/1', 'GET'],
    ['HEAD', '/me', 'GET, PATCH, DELETE'],
  ] as const) {
    const body = method === 'HEAD' ? {} : { detail: 'Method Not Allowed' }
    t.match(await ask(method, path), { status: 405, headers: { allow, 'cache-control': 'no-store' }, body })
  }
  const redirected = await ask('POST', '/login/?a=b/', { body: {} })
  t.match(redirected, { status: 307, headers: { location: '/v1/auth/login?a=b/' } }, 'a slash at the end')
  t.match(await ask('PUT', '/me/'), { status: 307, headers: { location: '/v1/auth/me' } })
  const headers = { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' }
  t.match(await ask('GET', '/me'), { status: 401, headers, body: { detail: 'Not authenticated' } })
})

t.test('checks are in the order syntax, credential, cross-site, fields', async t => {
  const change = (body: string, more = {}) => ask('PATCH', '/me', { body, headers: { ...json, ...more } })
  t.match(await change('{'), { status: 422 })
  t.match(await change('{"name":7}'), { status: 401 })
  const foreign = await change('{"name":7}', { cookie, 'sec-fetch-site': 'cross-site' })
  t.match(foreign, { status: 403, body: { detail: 'Cross-site request refused' } })
  t.match(await change('{"name":7}', { cookie }), { status: 422 })
})

t.test('writes with a cookie from pages of other sites are rejected', async t => {
  const write = async (headers: Record<string, string>, expected: number) => {
    const { status } = await ask('PATCH', '/me', { body: {}, headers: { cookie, ...headers } })
    t.equal(status, expected, JSON.stringify(headers))
  }
  await write({}, 200)
  for (const site of ['same-origin', 'none']) await write({ 'sec-fetch-site': site }, 200)
  await write({ 'sec-fetch-site': 'same-site' }, 403)
  await write({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403)
  await write({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }, 200)
  for (const origin of ['https://evil.example', 'null']) await write({ origin }, 403)
  await write({ origin: publicUrl }, 200)
  const read = await ask('GET', '/me', { headers: { cookie, 'sec-fetch-site': 'cross-site' } })
  t.equal(read.status, 200, 'reading is not writing')
})

t.test('pages of listed origins may read responses and send preflights', async t => {
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PATCH' }
  const allowed = { origin: 'https://app.example', credentials: 'true', methods: 'GET, PATCH, DELETE' }
  const headers = Object.entries(allowed).map(([name, value]) => [`access-control-allow-${name}`, value])
  const answer = await ask('OPTIONS', '/me', { headers: preflight })
  t.match(answer, { status: 204, headers: { ...Object.fromEntries(headers), vary: 'Origin' } })
  const foreign = await ask('OPTIONS', '/me', { headers: { ...preflight, origin: 'https://evil.example' } })
  t.match(foreign, { status: 400, body: { detail: 'Disallowed CORS origin' } })
  t.notOk(foreign.headers['access-control-allow-origin'])
  const read = await ask('GET', '/me', { headers: { cookie, origin: 'https://evil.example' } })
  t.notOk(read.headers['access-control-allow-origin'])
})
