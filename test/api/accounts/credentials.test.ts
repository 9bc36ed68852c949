/** Who comes in by which credential, operation by operation, and what is said of requests that are not taken. */

import { EncryptJWT, SignJWT } from 'jose'
import t from 'tap'
import { readSessionCookie, writeSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import { TooBusy } from '../../../auth/too-busy.ts'
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
const { ask, person, cookieOf, clock, store, warnings, accounts } = service
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
/** Back to now, but behind the change of the password in this file: tokens from before it are refused. */
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

t.test('a cookie of Auth.js comes in', async t => {
  t.equal(await withCookie(await session(claims())), 200)
  const { sid } = await cookieOf(id)
  t.equal(await withCookie(await session({ ...claims(), sid })), 200)
  t.equal(await withCookie(await session({ sub: String(id) })), 200, 'also one that no reset can end')
  t.equal(warnings.filter(text => /sid nor auth_time/.test(text)).length, 1)
  t.equal(await withCookie(await session({ sub: String(id) })), 200)
  t.equal(warnings.filter(text => /sid nor auth_time/.test(text)).length, 1, 'that is told once')
})

t.test('its own cookies are what Auth.js would read', async t => {
  const { cookie, sid } = await cookieOf(id)
  const token = cookie.slice(cookie.indexOf('=') + 1)
  t.match(await authJs.decode({ token, secret: sessionSecret, salt: name }), {
    sub: String(id),
    sid,
    email: 'ada@example.com',
  })
})

t.test('cookies that only look like it do not come in', async t => {
  const { sid } = await cookieOf(id)
  const refused = async (what: string, token: string) => t.equal(await withCookie(token), 401, what)
  await refused('another salt', await session(claims(), { salt: 'authjs.session-token' }))
  await refused('another secret', await session(claims(), { secret: `${sessionSecret}x` }))
  await refused('over', await session(claims(), { maxAge: -60 }))
  for (const sub of [undefined, '', 'abc', '1e3', '-1', '0', '99999999999', '2147483648', ` ${id}`]) {
    await refused(`sub ${sub}`, await session({ ...claims(), sub }))
  }
  await refused('nobody', await session({ ...claims(), sub: '2147483647' }))
  await refused('an unknown session', await session({ ...claims(), sid: `${sid}x` }))
  await refused('a session that is no text', await session({ ...claims(), sid: 7 }))
  const other = await person('other@example.com')
  const asOther = { ...claims(), sub: String(other), iat: seconds(), exp: seconds() + 60 }
  t.equal((await service.sessions.fromClaims(asOther))?.account.id, other)
  await refused("somebody else's session", await session({ ...claims(), sub: String(other), sid }))
  await refused('an odd auth_time', await session({ ...claims(), auth_time: '7' }))
  await refused('not a token', 'abc')
  await refused('nothing', '')
  const key = await keyOf(sessionSecret)
  const header = { alg: 'dir', enc: 'A256CBC-HS512', kid: key.kid }
  const make = (payload: object, more = {}) =>
    new EncryptJWT(payload as never).setProtectedHeader({ ...header, ...more }).encrypt(key.bytes)
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
  await refused('another kid', await make(whole, { kid: `${key.kid}x` }))
  const gcm = new EncryptJWT(whole as never).setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: key.kid })
  await refused('another algorithm', await gcm.encrypt(key.bytes.slice(0, 32)))
  const signed = new SignJWT(whole as never).setProtectedHeader({ alg: 'HS256' })
  await refused('a signed one', await signed.sign(new TextEncoder().encode(sessionSecret)))
  await refused('one without a signature', `${part({ alg: 'none' })}.${part(whole)}.`)
})

t.test('a cookie ends with its session, with the password, and in time', async t => {
  const { cookie, sid } = await cookieOf(id)
  const byTime = `${name}=${await session(claims())}`
  t.strictSame([await statusWith({ cookie }), await statusWith({ cookie: byTime })], [200, 200])
  t.match(await ask('POST', '/logout', { headers: { cookie, 'sec-fetch-site': 'cross-site' } }), { status: 200 })
  t.equal(await statusWith({ cookie }), 200, 'another site ends nothing')
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
  // Auth.js reads the machine's clock, which goes on while this file starts.
  clock.ms = Math.max(clock.ms, Date.now()) + 30 * 24 * 3_600_000 + 20_000
  t.equal(await withCookie(fresh), 401, 'also one that was decoded before')
  const old = await cookieOf(id)
  clock.ms += 90 * 24 * 3_600_000
  const renewed = { ...claims(), sid: old.sid, iat: seconds(), exp: seconds() + 600 }
  const key = await keyOf(sessionSecret)
  const header = { alg: 'dir', enc: 'A256CBC-HS512', kid: key.kid }
  t.equal(await withCookie(await new EncryptJWT(renewed as never).setProtectedHeader(header).encrypt(key.bytes)), 401)
  setClock()
})

t.test('logging out is always possible', async t => {
  const junk = { body: 'junk{', headers: { 'content-type': 'application/json' } }
  for (const options of [{ headers: { authorization: 'Basic x' } }, junk]) {
    t.equal((await ask('POST', '/logout', options)).status, 200)
  }
})

t.test('a long token comes in pieces, without a gap and not too many', async t => {
  const token = await session({ ...claims(), picture: `https://example.com/${'p'.repeat(5000)}` })
  t.ok(token.length > 3936)
  const cookies = writeSessionCookie(name, token, { isSecure: true, expiresMs: clock.ms })
  const sent = cookies.map(cookie => cookie.split(';')[0] ?? '').filter(cookie => !cookie.endsWith('='))
  t.equal(await statusWith({ cookie: sent.toReversed().join('; ') }), 200)
  t.equal(await statusWith({ cookie: sent.slice(1).join('; ') }), 401)
  t.equal(
    await statusWith({ cookie: [...sent, `${name}X=1`, 'theme=dark'].join('; ') }),
    200,
    'others are no business of ours',
  )
  const read = (header: string) => readSessionCookie(header, 's')
  t.strictSame(read('s.0=a; s.1=b; s.2=c; s.3=d'), { kind: 'token', token: 'abcd' })
  t.strictSame(read('s.0=a; s.1=b; s.2=c; s.3=d; s.4=e'), { kind: 'bad' })
  t.strictSame(read('s.0=a; s.2=c'), { kind: 'token', token: 'a' })
  t.strictSame(read('s.1=a'), { kind: 'none' })
  t.strictSame(read('s=a; s=b'), { kind: 'bad' })
  t.strictSame(read(`s=${'a'.repeat(12_001)}`), { kind: 'bad' })
  t.strictSame(read('; =; s; x=s=1'), { kind: 'none' })
})

t.test('a token for API clients reads, and does nothing else', async t => {
  const fetched = await ask('POST', '/token', { body: { email: 'ada@example.com', password: goodPassword } })
  t.match(fetched, { status: 200, body: { token_type: 'bearer', expires_in: 1800 } })
  const token = String(fetched.body['access_token'])
  const authorization = `Bearer ${token}`
  t.equal(await statusWith({ authorization }), 200)
  t.match(await ask('GET', '/session/info', { headers: { authorization } }), {
    status: 200,
    body: { user: { id: String(id) } },
  })
  for (const [method, path] of [
    ['PATCH', '/me'],
    ['DELETE', '/me'],
    ['POST', '/password/change'],
  ] as const) {
    t.match(await ask(method, path, { body: {}, headers: { authorization } }), {
      status: 403,
      body: { detail: 'forbidden' },
    })
  }
  t.equal(await withCookie(token), 401, 'it is no cookie')
  const [head, body, signature] = token.split('.')
  t.equal(await statusWith({ authorization: `Bearer ${head}.${body}.${signature?.slice(0, -2)}AA` }), 401)
  const forged = new SignJWT({ sid: 'x' }).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' }).setSubject(String(id))
  t.equal(
    await statusWith({ authorization: `Bearer ${await forged.sign(new TextEncoder().encode(sessionSecret))}` }),
    401,
  )
  t.equal((await ask('POST', '/logout', { headers: { authorization } })).status, 200)
  t.equal(await statusWith({ authorization }), 401)
  const second = await ask('POST', '/token', { body: { email: 'ada@example.com', password: goodPassword } })
  clock.ms += 1800_000
  t.equal(await statusWith({ authorization: `Bearer ${second.body['access_token']}` }), 401)
  setClock()
})

t.test('the session is told as Auth.js tells it', async t => {
  const { cookie } = await cookieOf(id)
  const { status, body } = await ask('GET', '/session/info', { headers: { cookie } })
  t.equal(status, 200)
  t.strictSame(body, {
    user: { id: String(id), name: null, email: 'ada@example.com', image: null },
    expires: new Date(Math.floor(clock.ms / 1000) * 1000 + 30 * 24 * 3_600_000).toISOString(),
  })
})

t.test('a cookie is renewed once a day, to a later time, whatever step the clock makes meanwhile', async t => {
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

t.test('old secrets are read, the first one writes', async t => {
  const rotated = await openVariant(t, store, { secrets: ['n'.repeat(64), sessionSecret] })
  t.equal(await withCookie(await session(claims()), rotated), 200)
  t.equal(await withCookie(await session(claims(), { secret: 'n'.repeat(64) }), rotated), 200)
  t.equal(await withCookie(await session(claims(), { secret: 'o'.repeat(64) }), rotated), 401)
  const { cookie } = await rotated.cookieOf(id)
  t.equal(await statusWith({ cookie }), 401, 'who has the old one alone cannot read it')
})

t.test('the form is a setting', async t => {
  const v4 = await openVariant(t, store, { format: 'jwe-v4', secrets: ['n'.repeat(64), sessionSecret] })
  t.equal(v4.codec.cookieName, '__Secure-next-auth.session-token')
  for (const secret of ['n'.repeat(64), sessionSecret]) t.equal(await withCookie(await madeByV4(secret), v4), 200)
  t.equal(await withCookie(await madeByV4('o'.repeat(64)), v4), 401)
  t.equal(await withCookie(await session(claims()), v4), 401)
  t.equal(await statusWith({ cookie: (await v4.cookieOf(id)).cookie }, '/me', v4), 200)
  const hs256 = await openVariant(t, store, { format: 'hs256' })
  const sign = (alg: string, secret = sessionSecret) =>
    new SignJWT({ ...claims(), iat: seconds(), exp: seconds() + 60 })
      .setProtectedHeader({ alg })
      .sign(new TextEncoder().encode(secret))
  t.equal(await withCookie(await sign('HS256'), hs256), 200)
  t.equal(await withCookie(await sign('HS512', sessionSecret.repeat(2)), hs256), 401)
  t.equal(
    await withCookie(`${part({ alg: 'none' })}.${part({ ...claims(), iat: seconds(), exp: seconds() + 60 })}.`, hs256),
    401,
  )
  const strict = await openVariant(t, store, { refuseUnrevocable: true })
  t.equal(await withCookie(await session({ sub: String(id) }), strict), 401)
  t.equal(await withCookie(await session(claims()), strict), 200)
})

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

/** As Auth.js derives it. */
async function keyOf(secret: string) {
  const { hkdfSync, createHash } = await import('node:crypto')
  const bytes = new Uint8Array(hkdfSync('sha256', secret, name, `Auth.js Generated Encryption Key (${name})`, 64))
  const k = Buffer.from(bytes).toString('base64url')
  const kid = createHash('sha512').update(`{"k":"${k}","kty":"oct"}`).digest('base64url')
  return { bytes, kid }
}

/** As NextAuth.js 4 makes it. */
async function madeByV4(secret: string): Promise<string> {
  const { hkdfSync } = await import('node:crypto')
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'NextAuth.js Generated Encryption Key', 32))
  return await new EncryptJWT(claims())
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .setIssuedAt(seconds())
    .setExpirationTime(seconds() + 600)
    .setJti('x')
    .encrypt(key)
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
  // Good for reads of the devices of its view.
  'a view link': { authorization: `Bearer ${linked['token']}` },
  // Good for the admin API alone.
  'the admin token': { authorization: `Bearer ${adminToken}` },
}
const wrong = {
  'a wrong cookie': 401,
  'a wrong bearer': 401,
  'a wrong key': 401,
  'a wrong service secret': 401,
  'a view link': 401,
  'the admin token': 401,
}
const open = (status: number) => Object.fromEntries(Object.keys(credentials).map(kind => [kind, status]))
const manage = (session: number) => ({ nothing: 401, session, bearer: 403, key: 403, service: 403, ...wrong })

/** 422 and 400 are answers to whom the operation serves. */
const table: [method: string, path: string, statuses: Record<string, number>][] = [
  ['POST', '/register', open(422)],
  ['POST', '/login', open(422)],
  [
    'POST',
    '/logout',
    { nothing: 200, service: 200, ...Object.fromEntries(Object.keys(wrong).map(kind => [kind, 200])) },
  ],
  ['POST', '/verification/request', open(422)],
  ['POST', '/verification/verify', open(422)],
  ['POST', '/password/reset-request', open(422)],
  ['POST', '/password/reset', open(422)],
  ['POST', '/tenant-exchange', open(422)],
  ['POST', '/token', open(422)],
  ['POST', '/oauth/callback', { nothing: 401, session: 401, bearer: 401, key: 401, service: 422, ...wrong }],
  ['POST', '/password/change', manage(422)],
  ['PATCH', '/me', manage(200)],
  ['GET', '/me', { nothing: 401, session: 200, bearer: 200, key: 200, service: 401, ...wrong }],
  ['PATCH', '/me/preferences', manage(200)],
  ['GET', '/me/preferences', { nothing: 401, session: 200, bearer: 200, key: 200, service: 401, ...wrong }],
  ['GET', '/me/views', manage(200)],
  ['POST', '/me/views', manage(422)],
  ['PATCH', '/me/views/999999', manage(404)],
  ['DELETE', '/me/views/999999', manage(404)],
  ['GET', '/shared-view', { ...open(401), 'a view link': 200 }],
  ['GET', '/me/view-links', manage(200)],
  ['POST', '/me/views/999999/links', manage(422)],
  ['DELETE', '/me/view-links/999999', manage(404)],
  ['GET', '/session/info', { nothing: 401, session: 200, bearer: 200, key: 401, service: 401, ...wrong }],
  ['GET', `/users/${grace}`, { nothing: 401, session: 200, bearer: 200, key: 200, service: 200, ...wrong }],
  ['GET', '/users/999999', { nothing: 401, session: 403, bearer: 403, key: 403, service: 404, ...wrong }],
  ['GET', `/users/by-email/${email}`, { nothing: 401, session: 200, bearer: 200, key: 200, service: 200, ...wrong }],
  ['GET', '/api-keys', manage(200)],
  ['POST', '/api-keys', manage(422)],
  ['DELETE', '/api-keys/999999', manage(404)],
  ['POST', '/device/start', open(200)],
  ['POST', '/device/poll', open(422)],
  ['GET', '/device/info', manage(422)],
  ['POST', '/device/approve', manage(422)],
  ['POST', '/device/deny', manage(422)],
  ['GET', '/google-drive/start', manage(503)],
  ['GET', '/google-drive/callback', open(503)],
  ['DELETE', '/me', { nothing: 401, bearer: 403, key: 403, service: 403, ...wrong }],
]

for (const [method, path, statuses] of table) {
  t.test(`${method} ${path}`, async t => {
    for (const [at, [kind, status]] of Object.entries(statuses).entries()) {
      const body = method === 'GET' ? {} : { body: {} }
      // Each from an address of its own, as some count requests by it.
      const options = { ...body, headers: credentials[kind] ?? {}, address: `10.1.0.${at}` }
      t.equal((await ask(method, path, options)).status, status, kind)
    }
  })
}

t.test('every operation has its row', async t => {
  for (const { method, path: url } of service.operations) {
    const pattern = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`)
    t.ok(
      table.some(([other, path]) => other === method && pattern.test(path)),
      `${method} ${url}`,
    )
  }
})

t.test('two credentials at once are nobody, where one is needed', async t => {
  const { key: _, ...others } = credentials
  const kinds = Object.entries({ ...others, key: { 'x-api-key': String(made['key']) } })
  // The others are served by the same hook.
  const some = table.filter(([, path]) => ['/me', '/oauth/callback', '/api-keys'].includes(path))
  for (const [method, path] of some) {
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

t.test('a service that is too busy, and one without its database, say when to come again', async t => {
  const { passwords, failures } = accounts
  const { attempt } = passwords
  const { take } = failures
  const login = () => ask('POST', '/login', { body: { email, password: goodPassword } })
  passwords.attempt = async () => {
    throw new TooBusy('full', 1)
  }
  t.match(await login(), { status: 503, headers: { 'retry-after': '1' }, body: { detail: 'Service Unavailable' } })
  passwords.attempt = attempt
  failures.take = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect', code: 'ECONNREFUSED' })
  }
  t.match(await login(), { status: 503, headers: { 'retry-after': '5' } })
  failures.take = take
  t.match(await login(), { status: 200 })
})

interface Row {
  what: string
  body?: unknown
  raw?: string
  type?: string
  path?: string
  headers?: Record<string, string>
  method?: string
  detail: unknown
}

const fault = (type: string, field: string | undefined, msg: string, input: unknown, ctx?: object) => {
  return { type, loc: ['body', ...(field === undefined ? [] : [field])], msg, input, ...(ctx && { ctx }) }
}
const invalidEmail = (reason: string, input: string) =>
  fault('value_error', 'email', `value is not a valid email address: ${reason}`, input, { reason })
const dictionary = 'Input should be a valid dictionary or object to extract fields from'
const noObject = (input: unknown) => [fault('model_attributes_type', undefined, dictionary, input)]
const missing = (field: string, input: unknown) => fault('missing', field, 'Field required', input)
const noText = (field: string, input: unknown) => fault('string_type', field, 'Input should be a valid string', input)
const atLeast = (field: string, count: number, input: unknown) => {
  const characters = `${count} character${count === 1 ? '' : 's'}`
  return fault('string_too_short', field, `String should have at least ${characters}`, input, { min_length: count })
}
const atMost = (field: string, count: number, input: unknown) =>
  fault('string_too_long', field, `String should have at most ${count} characters`, input, { max_length: count })
const noBody = [fault('missing', undefined, 'Field required', null)]
const noUnicode = 'Input should be a valid string, unable to parse raw data as a unicode string'
const noInteger = 'Input should be a valid integer'
const [bob, password] = ['bob@example.com', goodPassword]
const good = JSON.stringify({ email: bob, password })

const rows: Row[] = [
  { what: 'no body', detail: noBody },
  { what: 'null', raw: 'null', detail: noBody },
  { what: 'missing', body: { name: 'Bob' }, detail: ['email', 'password'].map(f => missing(f, { name: 'Bob' })) },
  { what: 'beside a secret', body: { password, a: { token: 'geheim' } }, detail: [missing('email', { a: {} })] },
  { what: 'an array', body: [1, { password, a: 1 }], detail: noObject([1, { a: 1 }]) },
  { what: 'a number', body: 7, detail: noObject(7) },
  { what: 'JSON in a text', raw: JSON.stringify(good), detail: noObject(null) },
  { what: 'a form', raw: `password=${password}`, type: 'application/x-www-form-urlencoded', detail: noObject(null) },
  { what: 'JSON that is called text', raw: good, type: 'text/plain', detail: noObject(null) },
  { what: 'JSON without a type', raw: good, type: '', detail: noObject(null) },
  { what: 'a type that is none', raw: good, type: 'nonsense', detail: noObject(null) },
  { what: 'another JSON type', raw: '"abc"', type: 'application/problem+json; charset=utf-8', detail: noObject('abc') },
  {
    what: 'a field of another type',
    body: { email: 7, password: { password }, name: ['x'] },
    detail: [noText('email', 7), noText('password', null), noText('name', ['x'])],
  },
  { what: 'null for a text', body: { email: null, password }, detail: [noText('email', null)] },
  {
    what: 'lengths in code points',
    body: { email: bob, password: '🔑'.repeat(7), name: '' },
    detail: [atLeast('password', 8, null), atLeast('name', 1, '')],
  },
  {
    what: 'too long',
    body: { email: bob, password: '🔑'.repeat(129), name: 'n'.repeat(101) },
    detail: [atMost('password', 128, null), atMost('name', 100, 'n'.repeat(101))],
  },
  {
    what: 'a common password',
    body: { email: bob, password: 'Password1' },
    detail: [
      fault('value_error', 'password', 'Value error, the password is one of the most common ones', null, { error: {} }),
    ],
  },
  {
    what: 'half a surrogate pair, and a control character',
    body: { email: bob, password: 'abcdefgh\ud800', name: 'a\0b' },
    detail: [
      fault('string_unicode', 'password', noUnicode, null),
      fault('value_error', 'name', 'Value error, control characters are not allowed', 'a\0b', { error: {} }),
    ],
  },
  ...(
    [
      ['ada', 'An email address must have an @-sign.'],
      ['@example.com', 'There must be something before the @-sign.'],
      ['ada@', 'There must be something after the @-sign.'],
      ['ada@example', 'The part after the @-sign is not valid. It should have a period.'],
      ['Ada <ada@example.com>', "The email address contains invalid characters before the @-sign: SPACE, '<'."],
      ['ädä@example.com', 'The email address contains invalid characters before the @-sign: U+00E4.'],
      ['ada@[127.0.0.1]', "The part after the @-sign contains invalid characters: '[', ']'."],
      ['.ada@example.com', 'An email address cannot start with a period.'],
      ['a..b@example.com', 'An email address cannot have two periods in a row.'],
      [`${'a'.repeat(65)}@example.com`, 'The email address is too long before the @-sign (1 character too many).'],
      ['ada@10.0.0.1', 'The part after the @-sign is not valid. It is not within a valid top-level domain.'],
      [
        'ada@host.test',
        'The part after the @-sign is a special-use or reserved name that cannot be used with email: host.test.',
      ],
    ] as const
  ).map(([text, reason]) => ({
    what: `the address ${text}`,
    body: { email: text, password },
    detail: [invalidEmail(reason, text)],
  })),
  {
    what: 'no integer in the path',
    method: 'GET',
    path: '/users/abc',
    headers: { 'x-service-secret': serviceSecret },
    detail: [
      {
        ...fault('int_parsing', 'user_id', `${noInteger}, unable to parse string as an integer`, 'abc'),
        loc: ['path', 'user_id'],
      },
    ],
  },
  {
    what: 'an image that is not https',
    method: 'PATCH',
    path: '/me',
    headers: { cookie },
    body: { image: 'http://a.de/b.png' },
    detail: [
      fault('value_error', 'image', 'Value error, the address has to begin with https://', 'http://a.de/b.png', {
        error: {},
      }),
    ],
  },
  {
    what: 'a new address without the password',
    method: 'PATCH',
    path: '/me',
    headers: { cookie },
    body: { email: 'new@example.com' },
    detail: [missing('current_password', { email: 'new@example.com' })],
  },
  {
    what: 'the other name of a field',
    path: '/password/reset',
    body: { token: 'x', password: 'short' },
    detail: [{ type: 'string_too_short', loc: ['body', 'password'], input: null }],
  },
  {
    what: 'neither name of a field',
    path: '/password/reset',
    body: {},
    detail: [missing('token', {}), missing('new_password', {})],
  },
  ...(
    [
      ['x', 'int_parsing', `${noInteger}, unable to parse string as an integer`],
      [7.5, 'int_from_float', `${noInteger}, got a number with a fractional part`],
      [-1, 'greater_than_equal', 'Input should be greater than or equal to 0'],
      [{}, 'int_type', noInteger],
    ] as const
  ).map(([value, type, msg]) => ({
    what: `${JSON.stringify(value)} for an integer`,
    path: '/oauth/callback',
    headers: { 'x-service-secret': serviceSecret },
    body: { email: bob, provider: 'github', provider_account_id: '1', email_verified: 'maybe', expires_at: value },
    detail: [
      { type: 'bool_parsing', loc: ['body', 'email_verified'], input: 'maybe' },
      { type, loc: ['body', 'expires_at'], msg, input: value },
    ],
  })),
]

t.test('422: what is wrong, where, and what was sent', async t => {
  for (const { what, method = 'POST', path = '/register', body, raw, type = 'application/json', ...row } of rows) {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
    const typed = type === '' || sent === undefined ? {} : { 'content-type': type }
    const answer = await ask(method, path, { body: sent, headers: { ...typed, ...row.headers } })
    t.match(answer, { status: 422, body: { detail: row.detail } }, what)
    const errors = answer.body['detail'] as object[]
    t.equal(errors.length, (row.detail as unknown[]).length, answer.text)
    for (const error of errors) {
      t.match(Object.keys(error).join(), /^type,loc,msg,input(,ctx)?$/, 'the members stand in order')
    }
    t.notMatch(answer.text, goodPassword)
    t.notMatch(answer.text, 'geheim')
  }
})

t.test('422: JSON that is none quotes nothing of it', async t => {
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

t.test('deep nesting, odd member names and big bodies do no harm', async t => {
  const json = { 'content-type': 'application/json' }
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
  t.match(await ask('POST', '/login', { body: deep, headers: json }), { status: 422 })
  const odd = '{"__proto__":{"email":"a@example.com"},"constructor":1}'
  t.match(await ask('POST', '/login', { body: odd, headers: json }), {
    status: 422,
    body: { detail: [{ loc: ['body', 'email'] }, { loc: ['body', 'password'] }] },
  })
  const big = JSON.stringify({ email: 'a@example.com', password: 'x'.repeat(64 * 1024) })
  t.match(await ask('POST', '/login', { body: big, headers: json }), {
    status: 413,
    body: { detail: 'Request Entity Too Large' },
  })
})

t.test('400 for bad UTF-8, 415 for a coding, never for a type', async t => {
  const json = { 'content-type': 'application/json' }
  t.match(await ask('POST', '/login', { body: Buffer.from([0x22, 0xff, 0x22]), headers: json }), {
    status: 400,
    body: { detail: 'There was an error parsing the body' },
  })
  t.match(await ask('POST', '/login', { body: '{}', headers: { ...json, 'content-encoding': 'gzip' } }), {
    status: 415,
    body: { detail: 'Unsupported Media Type' },
  })
})

t.test('paths and methods that are not there', async t => {
  t.match(await ask('GET', '/nothing'), { status: 404, body: { detail: 'Not Found' } })
  t.match(await ask('POST', '/device/nothing', { body: {} }), { status: 404 })
  const allowed = async (method: string, path: string, allow: string) =>
    t.match(await ask(method, path), {
      status: 405,
      headers: { allow, 'cache-control': 'no-store' },
      ...(method === 'HEAD' ? {} : { body: { detail: 'Method Not Allowed' } }),
    })
  await allowed('GET', '/login', 'POST')
  await allowed('OPTIONS', '/login', 'POST')
  await allowed('PUT', '/me', 'GET, PATCH, DELETE')
  await allowed('QUERY', '/me', 'GET, PATCH, DELETE')
  await allowed('DELETE', '/users/1', 'GET')
  await allowed('HEAD', '/me', 'GET, PATCH, DELETE')
})

t.test('a slash at the end is sent to the other form, with its query', async t => {
  t.match(await ask('POST', '/login/?a=b/', { body: {} }), {
    status: 307,
    headers: { location: '/v1/auth/login?a=b/' },
  })
  t.match(await ask('PUT', '/me/'), { status: 307, headers: { location: '/v1/auth/me' } })
})

t.test('401 says how to come in', async t => {
  t.match(await ask('GET', '/me'), {
    status: 401,
    headers: { 'www-authenticate': 'Bearer', 'cache-control': 'no-store' },
    body: { detail: 'Not authenticated' },
  })
})

t.test('the order of refusals: syntax, who, cross-site, fields', async t => {
  const json = { 'content-type': 'application/json' }
  t.match(await ask('PATCH', '/me', { body: '{', headers: json }), { status: 422 })
  t.match(await ask('PATCH', '/me', { body: '{"name":7}', headers: json }), { status: 401 })
  const foreign = { ...json, cookie, 'sec-fetch-site': 'cross-site' }
  t.match(await ask('PATCH', '/me', { body: '{"name":7}', headers: foreign }), {
    status: 403,
    body: { detail: 'Cross-site request refused' },
  })
  t.match(await ask('PATCH', '/me', { body: '{"name":7}', headers: { ...json, cookie } }), { status: 422 })
})

t.test('writes with a cookie from pages of other sites are refused', async t => {
  const write = async (headers: Record<string, string>, status: number) =>
    t.equal(
      (await ask('PATCH', '/me', { body: {}, headers: { cookie, ...headers } })).status,
      status,
      JSON.stringify(headers),
    )
  await write({}, 200)
  await write({ 'sec-fetch-site': 'same-origin' }, 200)
  await write({ 'sec-fetch-site': 'none' }, 200)
  await write({ 'sec-fetch-site': 'same-site' }, 403)
  await write({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 403)
  await write({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }, 200)
  await write({ origin: 'https://evil.example' }, 403)
  await write({ origin: 'null' }, 403)
  await write({ origin: publicUrl }, 200)
  const read = await ask('GET', '/me', { headers: { cookie, 'sec-fetch-site': 'cross-site' } })
  t.equal(read.status, 200, 'reading is not writing')
})

t.test('pages of listed origins may read answers and ask beforehand', async t => {
  const preflight = { origin: 'https://app.example', 'access-control-request-method': 'PATCH' }
  t.match(await ask('OPTIONS', '/me', { headers: preflight }), {
    status: 204,
    headers: {
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET, PATCH, DELETE',
      vary: 'Origin',
    },
  })
  const foreign = await ask('OPTIONS', '/me', { headers: { ...preflight, origin: 'https://evil.example' } })
  t.match(foreign, { status: 400, body: { detail: 'Disallowed CORS origin' } })
  t.notOk(foreign.headers['access-control-allow-origin'])
  const read = await ask('GET', '/me', { headers: { cookie, origin: 'https://evil.example' } })
  t.notOk(read.headers['access-control-allow-origin'])
})
