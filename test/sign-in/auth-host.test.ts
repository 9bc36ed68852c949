/** The Auth.js host: its own client's requests against our accounts and sessions. */

import fc from 'fast-check'
import t from 'tap'
import { hostErrors } from '../../sign-in/auth-host/host-errors.ts'
import { goodPassword, publicUrl, sessionSecret, startAccounts } from '../support/accounts.ts'
import { authJs } from '../support/auth-js.ts'
import { openPages, sameOrigin, type Visited, type VisitOptions } from '../support/pages.ts'

const under = await startAccounts(t)
const { ask, person, cookieOf, clock, sessions, accounts, store, codec } = under
const { visit, faults } = await openPages(t, under)
const email = 'ada@example.com'
const id = await person(email)
const formType = { 'content-type': 'application/x-www-form-urlencoded' }
const comesIn = async (cookie: string) => (await ask('GET', '/me', { headers: { cookie } })).status === 200
const json = ({ text }: Visited) => JSON.parse(text) as Record<string, unknown>
const sessionCount = async () => Number((await store.postgres.query('SELECT count(*) FROM sessions')).rows[0]?.count)

/** Fetches a CSRF token first, as the client does. */
async function post(action: string, fields: Record<string, string> = {}, options: VisitOptions = {}): Promise<Visited> {
  const csrf = await visit('/auth/csrf')
  const { csrfToken } = json(csrf)
  const cookie = [csrf.cookie, ...(options.cookie === undefined ? [] : [options.cookie])].join('; ')
  const body = new URLSearchParams({ csrfToken: String(csrfToken), ...fields }).toString()
  const headers = { ...formType, ...sameOrigin, ...options.headers }
  return await visit(`/auth/${action}`, { method: 'POST', body, ...options, headers, cookie })
}

const signIn = (fields: Record<string, string> = {}, options: VisitOptions = {}) =>
  post('callback/credentials', { email, password: goodPassword, ...fields }, options)
const sessionIn = ({ cookie }: Visited) => cookie.split('; ').find(part => part.startsWith(codec.cookieName)) ?? ''

t.test('a sign-in makes a session of ours', async t => {
  const before = await sessionCount()
  const answer = await signIn({ callbackUrl: `${publicUrl}/account` })
  t.match(answer, { status: 302, location: '/account', headers: { 'cache-control': 'no-store' } })
  const cookie = sessionIn(answer)
  t.equal(await sessionCount(), before + 1)
  t.ok(await comesIn(cookie))
  const claims = await authJs.decode({
    token: cookie.slice(cookie.indexOf('=') + 1),
    secret: sessionSecret,
    salt: codec.cookieName,
  })
  const { rows } = await store.postgres.query('SELECT sid FROM sessions ORDER BY created_at DESC LIMIT 1')
  t.match(claims, {
    sub: String(id),
    email,
    sid: rows[0]?.sid,
    auth_time: Number,
    exp: Number,
    iat: Number,
    jti: String,
  })
  t.match(
    String(answer.headers['set-cookie']),
    /__Secure-authjs\.session-token=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax/,
  )
  const again = sessionIn(await signIn())
  t.not(again, cookie)
  t.equal(await sessionCount(), before + 2, 'each sign-in is a new one')
})

t.test('a session is read and renewed, and is over once it is revoked', async t => {
  const { cookie, sid } = await cookieOf(id)
  const read = await visit('/auth/session', { cookie })
  t.match(json(read), { user: { id: String(id), email }, expires: /^\d{4}-.*Z$/ })
  t.ok(await comesIn(sessionIn(read)), 'the renewed cookie')
  t.match((await ask('GET', '/session/info', { headers: { cookie } })).body, { user: json(read)['user'] as object })
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no account')
  await sessions.revoke(account, sid)
  for (const old of [cookie, sessionIn(read)]) {
    const over = await visit('/auth/session', { cookie: old })
    t.strictSame([over.text, sessionIn(over)], ['null', ''])
    t.match(String(over.headers['set-cookie']), /session-token=; Max-Age=0/, 'the browser forgets it')
    t.notOk(await comesIn(old))
  }
  t.equal((await visit('/auth/session')).text, 'null')
})

t.test('no renewal goes beyond the lifetime of a session', async t => {
  const start = clock.ms
  const dayMs = 24 * 3_600_000
  let { cookie } = await cookieOf(id)
  for (const days of [25, 50, 75, 89]) {
    clock.ms = start + days * dayMs
    const read = await visit('/auth/session', { cookie })
    t.match(json(read), { user: { id: String(id) } }, `after ${days} days`)
    t.ok(Date.parse(String(json(read)['expires'])) <= start + 90 * dayMs)
    cookie = sessionIn(read)
  }
  clock.ms = start + 90 * dayMs + 60_000
  t.equal((await visit('/auth/session', { cookie })).text, 'null')
  clock.ms = start
})

t.test('cookies made elsewhere, without a session of ours, are read as well', async t => {
  const token = await authJs.encode({
    secret: sessionSecret,
    salt: codec.cookieName,
    token: { sub: String(id), name: 'Ada', email, auth_time: Math.floor(clock.ms / 1000) },
  })
  const read = await visit('/auth/session', { cookie: `${codec.cookieName}=${token}` })
  t.match(json(read), { user: { id: String(id) } })
  const renewed = sessionIn(read)
  const claims = await authJs.decode({
    token: renewed.slice(renewed.indexOf('=') + 1),
    secret: sessionSecret,
    salt: codec.cookieName,
  })
  t.match(claims, { auth_time: Number, sid: undefined })
})

t.test('a sign-out ends the session for good', async t => {
  const { cookie } = await cookieOf(id)
  const out = await post('signout', {}, { cookie })
  t.match(out, { status: 302 })
  t.equal(sessionIn(out), '')
  t.notOk(await comesIn(cookie))
})

t.test('wrong passwords lead to the page for signing in, and count', async t => {
  const before = await sessionCount()
  t.match(await signIn({ password: 'wrong' }), {
    status: 302,
    location: '/sign-in?error=CredentialsSignin&code=credentials-wrong',
  })
  t.match(await signIn({ email: 'x' }), { location: '/sign-in?error=CredentialsSignin&code=credentials' })
  const asked = await signIn({ password: 'wrong' }, { headers: { 'x-auth-return-redirect': '1' } })
  t.match(json(asked), { url: `${publicUrl}/sign-in?error=CredentialsSignin&code=credentials-wrong` })
  const address = '203.0.113.5'
  for (let at = 0; at < 6; at++) await signIn({ email: 'slow@example.com', password: 'x' }, { address })
  const slow = await signIn({ email: 'slow@example.com', password: 'x' }, { address })
  t.match(slow.location, /code=too-many-requests$/)
  t.match((await visit(String(slow.location))).errors, ['Too many attempts.'])
  const inactive = await person('inactive@example.com')
  await accounts.memory.change(inactive, async () => {
    await store.postgres.query('UPDATE accounts SET is_active = false WHERE id = $1', [inactive])
  })
  t.match(await signIn({ email: 'inactive@example.com' }), { location: /code=account-inactive$/ })
  t.equal(await sessionCount(), before)
})

t.test('a form without its CSRF token, or of another site, changes nothing', async t => {
  const before = await sessionCount()
  const body = new URLSearchParams({ email, password: goodPassword }).toString()
  const plain = await visit('/auth/callback/credentials', {
    method: 'POST',
    body,
    headers: { ...formType, ...sameOrigin },
  })
  t.match(plain, { status: 302, location: /^\/sign-in\?error=MissingCSRF$/ })
  t.match(await signIn({ csrfToken: 'x' }), { location: /MissingCSRF/ })
  const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } }
  t.match(await signIn({}, foreign), { status: 403 })
  const { cookie } = await cookieOf(id)
  t.match(await post('signout', {}, { cookie, ...foreign }), { status: 403 })
  t.ok(await comesIn(cookie))
  t.equal(await sessionCount(), before + 1)
})

t.test('it leads to this service alone', async t => {
  for (const callbackUrl of [
    'https://evil.example/',
    '//evil.example',
    `${publicUrl}.evil.example/`,
    'javascript:alert(1)',
    '/\\evil.example',
  ]) {
    t.match(await signIn({ callbackUrl }), { status: 302, location: '/' }, callbackUrl)
    const page = await visit(`/auth/signin?callbackUrl=${encodeURIComponent(callbackUrl)}`)
    t.match(page, { status: 302, location: /^\/sign-in\?/ })
    t.notMatch(page.location, /evil/)
  }
  t.match(await signIn({ callbackUrl: '/device' }), { location: '/device' })
  t.match(await visit('/auth/signin?callbackUrl=%2Fdevice'), { location: /^\/sign-in\?callbackUrl=.*device$/ })
  t.match(await visit('/auth/signout'), { status: 302, location: '/account' })
})

t.test('each error of the library has a sentence', async t => {
  const sentences = new Set<string>()
  for (const error of hostErrors) {
    const { status, location } = await visit(`/auth/error?error=${error}`)
    t.strictSame([status, location], [302, `/sign-in?error=${error}`])
    sentences.add((await visit(String(location))).errors.join())
  }
  t.equal(sentences.size, hostErrors.length)
  for (const query of ['', '?error', '?error=', '?error=%3Cb%3E', '?error=a&error=b', '?error=toString']) {
    const { location } = await visit(`/auth/error${query}`)
    t.equal(location, '/sign-in?error=Default', query)
    t.strictSame((await visit(String(location))).errors, ['Signing in was not possible.'])
  }
})

t.test('cookies beside the session do not disturb it', async t => {
  const { cookie } = await cookieOf(id)
  for (const more of [
    `${codec.cookieName}X=junk`,
    `${codec.cookieName}.x=junk`,
    '__Secure-authjs.callback-url=junk',
    'x=%',
    '=',
  ]) {
    t.match(json(await visit('/auth/session', { cookie: `${cookie}; ${more}` })), { user: { id: String(id) } }, more)
  }
})

t.test('what the host does not do is not there', async t => {
  for (const path of [
    '/auth',
    '/auth/webauthn-options/x',
    '/auth/callback/github',
    '/auth/signin/credentials',
    '/auth/verify-request',
  ]) {
    t.match(await visit(path), { status: path === '/auth/signin/credentials' ? 405 : 404 }, path)
  }
  t.match(await visit('/auth/session', { method: 'DELETE' }), { status: 405 })
  t.match(await visit('/auth/csrf', { method: 'POST', headers: sameOrigin }), { status: 405 })
  const { credentials } = json(await visit('/auth/providers')) as Record<string, Record<string, unknown>>
  t.match(credentials, { id: 'credentials', callbackUrl: `${publicUrl}/auth/callback/credentials` })
})

t.test('while the database is away, nobody is told that a password is wrong, or is signed out', async t => {
  const away = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' })
  }
  const sessionsAway = { ...sessions, start: away, fromClaims: away, fromCookie: away }
  const other = await openPages(t, { ...under, service: { ...under.service, sessions: sessionsAway } })
  const { cookie } = await cookieOf(id)
  const read = await other.visit('/auth/session', { cookie })
  t.match(read, { status: 503, headers: { 'retry-after': '5', 'set-cookie': undefined } })
  const csrf = await other.visit('/auth/csrf')
  const body = new URLSearchParams({
    email,
    password: goodPassword,
    csrfToken: String(json(csrf)['csrfToken']),
  }).toString()
  const headers = { ...formType, ...sameOrigin }
  const signedIn = await other.visit('/auth/callback/credentials', {
    method: 'POST',
    body,
    headers,
    cookie: csrf.cookie,
  })
  t.match(signedIn, { status: 503, headers: { 'set-cookie': undefined } })
  const page = await other.submit('/sign-in', { email, password: goodPassword })
  t.match(page, { status: 503, headers: { 'retry-after': '5', 'content-type': /html/ }, text: /busy/ })
  t.strictSame(other.faults, [])
})

t.test('whatever is sent to it, it is answered', async () => {
  const { cookie } = await cookieOf(id)
  const paths = fc.constantFrom(
    ...'csrf providers session signin signin/credentials callback/credentials signout error'.split(' '),
  )
  const name = fc.constantFrom(...'csrfToken email password callbackUrl error data redirect json __proto__'.split(' '))
  const value = fc.oneof(
    fc.string({ unit: 'binary' }).map(text => text.toWellFormed()),
    fc.jsonValue(),
    fc.webUrl(),
  )
  const type = fc.constantFrom('application/json', 'application/x-www-form-urlencoded', 'text/plain')
  const cookies = fc.oneof(
    fc.constant(cookie),
    fc.string({ unit: 'grapheme-ascii' }),
    fc.constant(`${codec.cookieName}=x`),
  )
  await fc.assert(
    fc.asyncProperty(
      paths,
      fc.dictionary(name, value),
      type,
      cookies,
      fc.boolean(),
      async (path, fields, contentType, sent, isPost) => {
        // An object may have a `toString` of its own, which is no function.
        const textOf = (field: unknown) => (typeof field === 'string' ? field : JSON.stringify(field))
        const texts = Object.entries(fields).map(([key, field]) => [key, textOf(field)] as [string, string])
        const query = new URLSearchParams(texts).toString()
        const body = contentType === 'application/json' ? JSON.stringify(fields) : query
        const headers = { ...sameOrigin, 'content-type': contentType }
        const answer = isPost
          ? await visit(`/auth/${path}`, { method: 'POST', body, headers, cookie: sent, address: '192.0.2.66' })
          : await visit(`/auth/${path}?${query}`, { cookie: sent })
        t.ok(answer.status < 500, `${path} ${answer.status} ${answer.text}`)
        if (answer.location !== undefined) t.equal(new URL(answer.location, publicUrl).origin, publicUrl)
      },
    ),
    { numRuns: 100 },
  )
  t.strictSame(faults, [])
})
