/** The link to a drive: the round trip to a provider, its permissions, and the popup's message to its opener. */

import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { runInNewContext } from 'node:vm'
import { parse } from 'parse5'
import t from 'tap'
import { goodPassword, openVariant, publicUrl, startAccounts } from '../../support/accounts.ts'
import { startProvider } from '../../support/oauth-provider.ts'

const provider = await startProvider(t)
const openerOrigin = 'https://app.example'
const clientSecret = 'the-secret-of-the-client'
const drive = {
  clientId: 'the client',
  clientSecret,
  scope: 'files.read files.write',
  openerOrigin,
  authorizationUrl: 'https://provider.example/consent?access_type=offline&state=ours',
  tokenUrl: `${provider.url}/token`,
}
const service = await startAccounts(t, { drive })
const { ask, person, cookieOf, clock, store, warnings } = service
const id = await person('ada@example.com')
const cookieName = '__Host-barograph-google-drive'
const refreshToken = 'refresh-</script>-token'
const json =
  (body: unknown, status = 200) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
const good = json({ access_token: 'an access token', refresh_token: refreshToken, expires_in: 3600 })
t.beforeEach(() => provider.answerWith(good))

/** Begins a round without a limit on their number. */
async function begin(session?: string) {
  const own = session ?? (await cookieOf(id)).cookie
  await store.postgres.query("DELETE FROM rate_limits WHERE kind = 'drive start'")
  const { status, headers, text } = await ask('GET', '/google-drive/start', { headers: { cookie: own } })
  if (status !== 302) throw new Error(text)
  const location = new URL(String(headers['location']))
  const [cookie = ''] = [headers['set-cookie']].flat().map(line => String(line).split(';')[0])
  return { session: own, cookie, state: location.searchParams.get('state') ?? '', location }
}

async function comeBack(query: Record<string, string>, cookie: string, more: Record<string, string> = {}) {
  const address = `/google-drive/callback?${new URLSearchParams(query)}`
  const answer = await ask('GET', address, { headers: { cookie, ...more } })
  return { ...answer, posted: answer.text.includes('<script') ? postedBy(answer.text) : undefined }
}

/** The message that the page's script sends to its opener, and the origin that may read it. */
function postedBy(page: string): { message: unknown; origin: string } {
  const errors: unknown[] = []
  parse(page, { onParseError: error => errors.push(error) })
  if (errors.length > 0) throw new Error('the page is not well-formed')
  const [, script = ''] = /<script nonce="[^"]+">([\s\S]*?)<\/script>/.exec(page) ?? []
  const posted: { message: unknown; origin: string }[] = []
  const opener = { postMessage: (message: unknown, origin: string) => posted.push({ message, origin }) }
  runInNewContext(script, { window: { opener, close: () => undefined } })
  const [only] = posted
  if (only === undefined || posted.length > 1) throw new Error('the page posts one message')
  return { message: JSON.parse(JSON.stringify(only.message)), origin: only.origin }
}

const failed = (error: string) => {
  return { status: 400, posted: { message: { type: 'google-drive-auth', error }, origin: openerOrigin } }
}
const refused = failed('invalid_state')

t.test('the popup goes to the provider and back, and posts the refresh token', async t => {
  const { session, cookie, state, location } = await begin()
  t.equal(`${location.origin}${location.pathname}`, 'https://provider.example/consent')
  const { code_challenge: challenge, state: _, ...parameters } = Object.fromEntries(location.searchParams)
  const redirect_uri = `${publicUrl}/v1/auth/google-drive/callback`
  const client = { client_id: 'the client', redirect_uri }
  const asking = { access_type: 'offline', response_type: 'code', code_challenge_method: 'S256' }
  t.strictSame(parameters, { ...client, ...asking, scope: 'files.read files.write' })
  const asked = provider.forms.length
  const { status, headers, text, posted } = await comeBack({ state, code: 'the-code' }, `${session}; ${cookie}`)
  t.equal(status, 200)
  t.strictSame(posted, { message: { type: 'google-drive-auth', refresh_token: refreshToken }, origin: openerOrigin })
  t.equal(provider.forms.length, asked + 1)
  const { code_verifier: verifier = '', ...form } = provider.forms.at(-1) ?? {}
  const grant = { grant_type: 'authorization_code', code: 'the-code' }
  t.strictSame(form, { ...client, ...grant, client_secret: clientSecret })
  t.match(verifier, /^[\w-]{43}$/)
  t.equal(createHash('sha256').update(verifier).digest('base64url'), challenge)
  const [, nonce] = /<script nonce="([^"]+)">/.exec(text) ?? []
  t.match(headers, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `default-src 'none'; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    'cross-origin-opener-policy': 'unsafe-none',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'set-cookie': [`${cookieName}=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure`],
  })
  const { rows } = await store.postgres.query("SELECT actor, subject, details FROM audit WHERE action = 'drive.link'")
  t.strictSame(rows, [{ actor: `account ${id}`, subject: `account ${id}`, details: { drive: 'google-drive' } }])
})

t.test('each round has a separate cookie for this host', async t => {
  const { cookie } = await cookieOf(id)
  const { headers } = await ask('GET', '/google-drive/start', { headers: { cookie } })
  const attributes = '; Path=/; Max-Age=600; HttpOnly; SameSite=Lax'
  t.match(headers['set-cookie'], new RegExp(`^__Host-barograph-google-drive=[\\w-]{43}${attributes}; Secure$`))
  const one = await begin()
  const other = await begin()
  t.not(one.state, other.state)
  t.not(one.location.searchParams.get('code_challenge'), other.location.searchParams.get('code_challenge'))
  // A browser rejects a cookie with the prefix without HTTPS.
  const plain = await openVariant(t, store, { drive, isSecure: false })
  const { cookie: session } = await plain.cookieOf(id)
  const insecure = await plain.ask('GET', '/google-drive/start', { headers: { cookie: session } })
  t.match(insecure.headers['set-cookie'], new RegExp(`^barograph-google-drive=[\\w-]{43}${attributes}$`))
})

t.test('the drive needs its settings and a session', async t => {
  const bare = await openVariant(t, store)
  t.match(await bare.ask('GET', '/google-drive/start'), { status: 401 })
  const { cookie } = await bare.cookieOf(id)
  const unconfigured = { status: 503, body: { detail: 'The drive is not configured: DRIVE_CLIENT_ID is not set' } }
  t.match(await bare.ask('GET', '/google-drive/start', { headers: { cookie } }), unconfigured)
  t.match(await bare.ask('GET', '/google-drive/callback?state=x'), unconfigured)
  t.match(await bare.ask('GET', '/other-drive/start'), { status: 404 })
})

t.test('a state is valid for its browser, its session and its account', async t => {
  const asked = provider.forms.length
  const round = await begin()
  const { session, cookie, state } = round
  const other = await begin()
  const stranger = (await cookieOf(await person('eve@example.com'))).cookie
  const again = (await cookieOf(id)).cookie
  const { body } = await ask('POST', '/token', { body: { email: 'ada@example.com', password: goodPassword } })
  const own = `${session}; ${cookie}`
  const rows: [what: string, query: Record<string, string>, cookie: string, headers?: Record<string, string>][] = [
    ['no state', { code: 'c' }, own],
    ['an empty one', { code: 'c', state: '' }, own],
    ['not one of ours', { code: 'c', state: 'a.b.c.d.e' }, own],
    ['changed', { code: 'c', state: `${state.slice(0, -3)}AAA` }, own],
    ['endless', { code: 'c', state: `${state}${'A'.repeat(3000)}` }, own],
    ['no cookie', { code: 'c', state }, session],
    ['an empty cookie', { code: 'c', state }, `${session}; ${cookieName}=`],
    ['the cookie of another round', { code: 'c', state }, `${session}; ${other.cookie}`],
    ['the state of another round', { code: 'c', state: other.state }, own],
    ['two cookies', { code: 'c', state }, `${session}; ${cookie}; ${cookie}`],
    ['no session', { code: 'c', state }, cookie],
    ['another account', { code: 'c', state }, `${stranger}; ${cookie}`],
    ['another session of the same account', { code: 'c', state }, `${again}; ${cookie}`],
    ['a token', { code: 'c', state }, cookie, { authorization: `Bearer ${body['access_token']}` }],
    ['an error of the provider with a bad state', { error: 'access_denied', state: 'x' }, own],
  ]
  for (const [what, query, cookies, headers] of rows) t.match(await comeBack(query, cookies, headers), refused, what)
  t.equal(provider.forms.length, asked, 'the provider is not asked for them')
  t.match(await comeBack({ code: 'c', state }, own), { status: 200 }, 'and it is still good')
  t.match(await comeBack({ code: 'c', state }, own), refused, 'once')
  const late = await begin()
  clock.ms += 600_000
  t.match(await comeBack({ code: 'c', state: late.state }, `${late.session}; ${late.cookie}`), refused, 'over')
  const left = await begin()
  await ask('POST', '/logout', { headers: { cookie: left.session } })
  t.match(await comeBack({ code: 'c', state: left.state }, `${left.session}; ${left.cookie}`), refused, 'signed out')
  t.equal(provider.forms.length, asked + 1)
})

t.test('a session of a front end without a name is accepted', async t => {
  const seconds = Math.floor(clock.ms / 1000)
  const sessionOf = async (sub: number) => {
    const claims = { sub: String(sub), iat: seconds, exp: seconds + 3600, auth_time: seconds }
    return `${service.codec.cookieName}=${await service.codec.encode(claims)}`
  }
  const { session, cookie, state } = await begin(await sessionOf(id))
  const stranger = await sessionOf(await person('mallory@example.com'))
  t.match(await comeBack({ code: 'c', state }, `${stranger}; ${cookie}`), refused, 'its account decides')
  t.match(await comeBack({ code: 'c', state }, `${session}; ${cookie}`), { status: 200 })
})

t.test('one of 16 concurrent callbacks gets the token', async t => {
  const asked = provider.forms.length
  const { session, cookie, state } = await begin()
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => comeBack({ code: 'c', state }, `${session}; ${cookie}`)),
  )
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(15).fill(400)])
  t.equal(provider.forms.length, asked + 1)
})

t.test('messages of the provider are escaped', async t => {
  const asked = provider.forms.length
  const { session, cookie, state } = await begin()
  const error = '</script><script>alert(1)</script><!--\u2028'
  const { status, posted, text } = await comeBack({ error, state }, `${session}; ${cookie}`)
  t.strictSame({ status, posted }, failed(error))
  t.notMatch(text, '<script>alert')
  t.match(await comeBack({ code: 'c', state }, `${session}; ${cookie}`), refused, 'the state is used')
  const without = await begin()
  const answer = await comeBack({ state: without.state }, `${without.session}; ${without.cookie}`)
  t.match(answer, { status: 400, posted: { message: { error: 'invalid_request' } } })
  t.equal(provider.forms.length, asked)
})

t.test('a failed provider ends only the round', async t => {
  const big = 'x'.repeat(70_000)
  const rows: [what: string, answer: (response: ServerResponse) => void, error: string][] = [
    ['refuses', json({ error: 'invalid_grant', error_description: clientSecret }, 400), 'exchange_failed'],
    ['fails', json({ refresh_token: refreshToken }, 500), 'exchange_failed'],
    ['redirects', answer => void answer.writeHead(307, { location: `${provider.url}/else` }).end(), 'exchange_failed'],
    ['says too much', json({ refresh_token: refreshToken, big }), 'exchange_failed'],
    ['says nothing', response => void response.end(), 'exchange_failed'],
    ['says null', json(null), 'no_refresh_token'],
    ['says no JSON', response => void response.end(`<p>${refreshToken}`), 'exchange_failed'],
    ['gives no refresh token', json({ access_token: 'a' }), 'no_refresh_token'],
    ['gives an empty one', json({ refresh_token: '' }), 'no_refresh_token'],
    ['gives a number', json({ refresh_token: 7 }), 'no_refresh_token'],
    ['gives an endless one', json({ refresh_token: big.slice(0, 5000) }), 'exchange_failed'],
    ['breaks off', response => void response.destroy(), 'exchange_failed'],
    ['never answers', () => undefined, 'exchange_failed'],
  ]
  for (const [what, answer, error] of rows) {
    provider.answerWith(answer)
    const asked = provider.forms.length
    const { session, cookie, state } = await begin()
    const { status, posted, text } = await comeBack({ code: 'a-code', state }, `${session}; ${cookie}`)
    t.strictSame({ status, posted }, failed(error), what)
    t.equal(provider.forms.length, asked + 1, what)
    t.notMatch(text, refreshToken)
  }
  const { rows: audit } = await store.postgres.query('SELECT a::text AS row FROM audit AS a')
  const written = [...warnings, ...audit.map(({ row }) => row)].join('\n')
  t.match(written, /drive\.link-failed/)
  const verifiers = provider.forms.map(form => form['code_verifier'] ?? '')
  for (const secret of [clientSecret, refreshToken, 'a-code', ...verifiers]) t.notOk(written.includes(secret))
})

t.test('an account begins at most thirty rounds in ten minutes', async t => {
  const { cookie } = await cookieOf(await person('busy@example.com'))
  const start = () => ask('GET', '/google-drive/start', { headers: { cookie } })
  for (let at = 0; at < 30; at++) t.equal((await start()).status, 302)
  t.match(await start(), { status: 429, headers: { 'retry-after': String } })
  clock.ms += 600_000
  t.equal((await start()).status, 302)
})
