/** The Auth.js host: requests of its client, with the accounts and sessions of the service. */

import t from 'tap'
import { hostErrors } from '../../../api/sign-in/auth-host/auth-js.ts'
import { goodPassword, publicUrl, sessionSecret, startAccounts } from '../../support/accounts.ts'
import { authJs } from '../../support/auth-js.ts'
import { openPages, sameOrigin, type Visited, type VisitOptions } from '../../support/pages.ts'

const under = await startAccounts(t)
const { ask, person, cookieOf, clock, sessions, store, codec } = under
const { visit } = await openPages(t, under)
const email = 'ada@example.com'
const id = await person(email)
const formType = { 'content-type': 'application/x-www-form-urlencoded' }
const comesIn = async (cookie: string) => (await ask('GET', '/me', { headers: { cookie } })).status === 200
const json = ({ text }: Visited) => JSON.parse(text) as Record<string, unknown>
const sessionCount = async () => Number((await store.postgres.query('SELECT count(*) FROM sessions')).rows[0]?.count)

/** Fetches a CSRF token first, like the client. */
async function post(
  action: string,
  fields: Record<string, string> = {},
  options: VisitOptions = {},
  send = visit,
): Promise<Visited> {
  const csrf = await send('/auth/csrf')
  const { csrfToken } = json(csrf)
  const cookie = [csrf.cookie, ...(options.cookie === undefined ? [] : [options.cookie])].join('; ')
  const body = new URLSearchParams({ csrfToken: String(csrfToken), ...fields }).toString()
  const headers = { ...formType, ...sameOrigin, ...options.headers }
  return await send(`/auth/${action}`, { method: 'POST', body, ...options, headers, cookie })
}

const signIn = (fields: Record<string, string> = {}, options: VisitOptions = {}) =>
  post('callback/credentials', { email, password: goodPassword, ...fields }, options)
const decode = (cookie: string) =>
  authJs.decode({ token: cookie.slice(cookie.indexOf('=') + 1), secret: sessionSecret, salt: codec.cookieName })
const sessionIn = ({ cookie }: Visited) => cookie.split('; ').find(part => part.startsWith(codec.cookieName)) ?? ''

t.test('a sign-in creates a session of the service', async t => {
  const before = await sessionCount()
  const answer = await signIn({ callbackUrl: `${publicUrl}/account` })
  t.match(answer, { status: 302, location: '/account', headers: { 'cache-control': 'no-store' } })
  const cookie = sessionIn(answer)
  t.equal(await sessionCount(), before + 1)
  t.ok(await comesIn(cookie))
  const { rows } = await store.postgres.query('SELECT sid FROM sessions ORDER BY created_at DESC LIMIT 1')
  const times = { auth_time: Number, exp: Number, iat: Number }
  t.match(await decode(cookie), { sub: String(id), email, sid: rows[0]?.sid, ...times, jti: String })
  t.match(
    String(answer.headers['set-cookie']),
    /__Secure-authjs\.session-token=[^;]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Lax/,
  )
  const again = sessionIn(await signIn())
  t.not(again, cookie)
  t.equal(await sessionCount(), before + 2, 'each sign-in is a new one')
})

t.test('a session is read and renewed, and ends when it is revoked or signed out', async t => {
  const { cookie, sid } = await cookieOf(id)
  const read = await visit('/auth/session', { cookie })
  t.match(json(read), { user: { id: String(id), email }, expires: /^\d{4}-.*Z$/ })
  t.ok(await comesIn(sessionIn(read)), 'the renewed cookie')
  t.match((await ask('GET', '/session/info', { headers: { cookie } })).body, { user: json(read)['user'] as object })
  await sessions.revoke(await under.account(id), sid)
  const signedOut = await cookieOf(id)
  const out = await post('signout', {}, { cookie: signedOut.cookie })
  t.strictSame([out.status, sessionIn(out)], [302, ''])
  for (const old of [cookie, sessionIn(read), signedOut.cookie]) {
    const over = await visit('/auth/session', { cookie: old })
    t.strictSame([over.text, sessionIn(over)], ['null', ''])
    t.match(String(over.headers['set-cookie']), /session-token=; Max-Age=0/, 'the browser forgets it')
    t.notOk(await comesIn(old))
  }
  t.equal((await visit('/auth/session')).text, 'null')
})

t.test('renewals do not exceed the lifetime of a session', async t => {
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

t.test('cookies made elsewhere, without a session of the service, are accepted as well', async t => {
  // Auth.js stamps its tokens by the clock of the machine, which may be far ahead of this one.
  clock.ms = Date.now()
  const claims = { sub: String(id), name: 'Ada', email, auth_time: Math.floor(clock.ms / 1000) }
  const token = await authJs.encode({ secret: sessionSecret, salt: codec.cookieName, token: claims })
  const read = await visit('/auth/session', { cookie: `${codec.cookieName}=${token}` })
  t.match(json(read), { user: { id: String(id) } })
  t.match(await decode(sessionIn(read)), { auth_time: Number, sid: undefined })
})

t.test('wrong passwords lead to the page for signing in, and count', async t => {
  const before = await sessionCount()
  const wrong = await signIn({ password: 'wrong' })
  t.match(wrong, { status: 302, location: '/sign-in?error=CredentialsSignin&code=credentials-wrong' })
  t.match(await signIn({ email: 'x' }), { location: '/sign-in?error=CredentialsSignin&code=credentials' })
  const asked = await signIn({ password: 'wrong' }, { headers: { 'x-auth-return-redirect': '1' } })
  t.match(json(asked), { url: `${publicUrl}/sign-in?error=CredentialsSignin&code=credentials-wrong` })
  const address = '203.0.113.5'
  const guess = () => signIn({ email: 'slow@example.com', password: 'x' }, { address })
  for (let at = 0; at < 6; at++) await guess()
  const slow = await guess()
  t.match(slow.location, /code=too-many-requests$/)
  t.match((await visit(String(slow.location))).errors, ['Too many attempts.'])
  await under.set(await person('inactive@example.com'), { is_active: false })
  t.match(await signIn({ email: 'inactive@example.com' }), { location: /code=account-inactive$/ })
  t.equal(await sessionCount(), before)
})

t.test('a form without its CSRF token, or of another site, changes nothing', async t => {
  const before = await sessionCount()
  const body = new URLSearchParams({ email, password: goodPassword }).toString()
  const headers = { ...formType, ...sameOrigin }
  const plain = await visit('/auth/callback/credentials', { method: 'POST', body, headers })
  t.match(plain, { status: 302, location: /^\/sign-in\?error=MissingCSRF$/ })
  t.match(await signIn({ csrfToken: 'x' }), { location: /MissingCSRF/ })
  const foreign = { headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' } }
  t.match(await signIn({}, foreign), { status: 403 })
  const { cookie } = await cookieOf(id)
  t.match(await post('signout', {}, { cookie, ...foreign }), { status: 403 })
  t.ok(await comesIn(cookie))
  t.equal(await sessionCount(), before + 1)
})

t.test('a sign-in redirects to this service alone', async t => {
  const foreign = ['https://evil.example/', '//evil.example', `${publicUrl}.evil.example/`, '/\\evil.example']
  for (const callbackUrl of [...foreign, 'javascript:alert(1)']) {
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

t.test('the host has no other operations of Auth.js', async t => {
  for (const path of ['', '/webauthn-options/x', '/callback/github', '/verify-request']) {
    t.match(await visit(`/auth${path}`), { status: 404 }, path)
  }
  t.match(await visit('/auth/signin/credentials'), { status: 405 })
  t.match(await visit('/auth/session', { method: 'DELETE' }), { status: 405 })
  t.match(await visit('/auth/csrf', { method: 'POST', headers: sameOrigin }), { status: 405 })
  const { credentials } = json(await visit('/auth/providers')) as Record<string, Record<string, unknown>>
  t.match(credentials, { id: 'credentials', callbackUrl: `${publicUrl}/auth/callback/credentials` })
})

t.test('sessions survive responses of 503 while the database is unavailable', async t => {
  const away = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' })
  }
  const sessionsAway = { ...sessions, start: away, fromClaims: away, fromCookie: away }
  const other = await openPages(t, { ...under, service: { ...under.service, sessions: sessionsAway } })
  const { cookie } = await cookieOf(id)
  const read = await other.visit('/auth/session', { cookie })
  t.match(read, { status: 503, headers: { 'retry-after': '5', 'set-cookie': undefined } })
  const signedIn = await post('callback/credentials', { email, password: goodPassword }, {}, other.visit)
  t.match(signedIn, { status: 503, headers: { 'set-cookie': undefined } })
  const page = await other.submit('/sign-in', { email, password: goodPassword })
  t.match(page, { status: 503, headers: { 'retry-after': '5', 'content-type': /html/ }, text: /busy/ })
  t.strictSame(other.faults, [])
})
