/** Who comes in by a session cookie or a token: cookies made by Auth.js itself, and those that only look like it. */

import { EncryptJWT, SignJWT } from 'jose'
import t from 'tap'
import { readSessionCookie, writeSessionCookie } from '../../../auth/sessions/cookie-chunks.ts'
import { goodPassword, openVariant, serviceSecret, sessionSecret, startAccounts } from '../../support/accounts.ts'
import { authJs } from '../../support/auth-js.ts'

const service = await startAccounts(t)
const { ask, person, cookieOf, clock, store, warnings } = service
const name = '__Secure-authjs.session-token'
const id = await person('ada@example.com')
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
  for (const headers of [{}, { cookie: `${name}=x` }, { authorization: 'Basic x' }]) {
    t.equal((await ask('POST', '/logout', { headers })).status, 200)
  }
  t.equal(
    (await ask('POST', '/logout', { body: 'junk{', headers: { 'content-type': 'application/json' } })).status,
    200,
  )
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

t.test('exactly one credential', async t => {
  const { cookie } = await cookieOf(id)
  const { body } = await ask('POST', '/token', { body: { email: 'ada@example.com', password: goodPassword } })
  const authorization = `Bearer ${body['access_token']}`
  t.strictSame([await statusWith({ cookie }), await statusWith({ authorization })], [200, 200])
  for (const headers of [
    { cookie, authorization },
    { cookie, authorization: 'Bearer x' },
    { cookie, authorization: 'Basic x' },
    { cookie, 'x-api-key': 'x' },
    { authorization, 'x-api-key': 'x' },
    { cookie, 'x-service-secret': serviceSecret },
    { cookie: `${cookie}; ${cookie}` },
    { 'x-api-key': 'x' },
  ] as Record<string, string>[]) {
    t.equal(await statusWith(headers), 401, Object.keys(headers).join())
  }
  t.equal(await statusWith({ 'x-service-secret': serviceSecret }), 401, 'the front end is nobody')
  const login = { email: 'ada@example.com', password: goodPassword }
  t.equal(
    (await ask('POST', '/login', { body: login, headers: { cookie, authorization } })).status,
    200,
    'public ones ignore them',
  )
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
