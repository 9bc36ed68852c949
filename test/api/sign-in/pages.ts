/** The pages: forms that work without script, on the same accounts, sessions and limits as the operations. */

import fc from 'fast-check'
import t from 'tap'
import { copyScript } from '../../../api/sign-in/pages/html/layout.ts'
import { goodPassword, publicUrl, startAccounts } from '../../support/accounts.ts'
import { type HtmlElement, readHtml } from '../../support/html-document.ts'
import { openPages, sameOrigin, type Visited, type VisitOptions } from '../../support/pages.ts'
import { runs } from '../../support/runs.ts'

const under = await startAccounts(t, { settings: { mailRequestsPerHour: 1000 } })
const { ask, person, cookieOf, tokenIn, store, clock } = under
const { setup, faults, visit, submit } = await openPages(t, under)
const email = 'ada@example.com'
const id = await person(email)

const withTag = (elements: readonly HtmlElement[], tag: string) => elements.filter(element => element.tag === tag)
const heading = ({ elements }: Visited) => withTag(elements, 'h1')[0]?.text
const notices = ({ elements }: Visited) =>
  elements.filter(({ attributes }) => attributes['role'] === 'status').map(({ text }) => text)
const values = ({ elements }: Visited) =>
  Object.fromEntries(withTag(elements, 'input').map(({ attributes }) => [attributes['name'], attributes['value']]))
type Form = Record<string, string>
const gives = async (path: string, form: Form, wanted: object, cookie?: string) =>
  t.match(await submit(path, form, cookie === undefined ? {} : { cookie }), wanted, JSON.stringify(form))
/** Expects the status of a rejection, and its sentences. */
const refuses = (path: string, form: Form, status: number, error: string | RegExp, cookie?: string) =>
  gives(path, form, { status, errors: [error] }, cookie)
const leads = (path: string, form: Form, location: string, cookie?: string) =>
  gives(path, form, { status: 303, location }, cookie)
const comesIn = async (cookie: string) => (await ask('GET', '/me', { headers: { cookie } })).status === 200
const count = async (table: string, where = 'true') =>
  Number((await store.postgres.query(`SELECT count(*) FROM ${table} WHERE ${where}`)).rows[0]?.count)

const paths =
  '/sign-in /sign-up /setup /setup?token=x /verify /verify?token=x /verify?done=sent /verify?done=verified ' +
  '/reset /reset?token=x /reset?done=sent /account /device'

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
}

t.test('every page has its heading, a label for each field, and no loaded or running parts', async t => {
  const { cookie } = await cookieOf(id)
  for (const path of [...paths.split(' '), `/setup?token=${await setup.token()}`]) {
    const answer = await visit(path, path === '/account' || path === '/device' ? { cookie } : {})
    t.match(answer.headers, headers, path)
    const { elements } = answer
    t.strictSame([withTag(elements, 'h1').length, withTag(elements, 'main').length], [1, 1], path)
    const isLoading = ({ tag, attributes }: HtmlElement) =>
      ['script', 'link', 'img', 'iframe', 'base'].includes(tag) ||
      Object.keys(attributes).some(name => /^(style|src|on.*)$/.test(name))
    t.notOk(elements.some(isLoading), path)
    const ids = elements.flatMap(({ attributes }) => attributes['id'] ?? [])
    t.equal(new Set(ids).size, ids.length, `${path}: every id once`)
    const namesOf = ({ attributes, elements: inside }: HtmlElement) => [
      attributes['for'],
      ...inside.map(({ attributes: own }) => own['name']),
    ]
    const labelled = new Set(withTag(elements, 'label').flatMap(namesOf))
    const isBare = ({ attributes: { type, hidden, id: own, name } }: HtmlElement) =>
      type !== 'hidden' && hidden === undefined && !labelled.has(own) && !labelled.has(name)
    t.strictSame(withTag(elements, 'input').filter(isBare), [], `${path}: each field has a label`)
    for (const { attributes } of withTag(elements, 'form')) {
      t.equal(attributes['method'], 'post')
      t.match(attributes['action'], /^[a-z-]+$/, 'beside this page')
    }
  }
})

t.test('a page is in the language of the account, else of the browser', async t => {
  const german = { headers: { 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' } }
  const languageOf = async (path: string, options: VisitOptions) => {
    const visited = await visit(path, options)
    t.equal(visited.headers['vary'], 'accept-language')
    return [/<html lang="(\w+)">/.exec(visited.text)?.[1], heading(visited)]
  }
  t.strictSame(await languageOf('/sign-in', german), ['de', 'Anmelden'])
  t.strictSame(await languageOf('/sign-in', { headers: { 'accept-language': 'fr, en;q=0.5' } }), ['en', 'Sign in'])
  t.strictSame(await languageOf('/sign-in', {}), ['en', 'Sign in'])
  await gives('/sign-in', { email: '' }, { errors: ['Please fill in this field.', 'Please fill in this field.'] })
  t.match(await submit('/sign-in', { email: '' }, german), { errors: [/^Bitte füllen Sie/, /^Bitte füllen Sie/] })
  const { cookie } = await cookieOf(id)
  for (const [language, title] of [
    ['de', 'Ihr Konto'],
    ['en', 'Your account'],
  ] as const) {
    await leads('/account', { form: 'preferences', language }, 'account?done=preferences', cookie)
    t.strictSame(await languageOf('/account', { cookie, ...german }), [language, title])
  }
  await leads('/account', { form: 'preferences' }, 'account?done=preferences', cookie)
})

t.test('an anonymous visitor returns to the page after signing in', async t => {
  for (const page of ['account', 'device']) {
    t.match(await visit(`/${page}`), { status: 303, location: `sign-in?callbackUrl=${page}` })
    await leads(`/${page}`, { form: 'profile', name: 'X' }, `sign-in?callbackUrl=${page}`)
    t.match(values(await visit(`/sign-in?callbackUrl=${page}`)), { callbackUrl: page })
    await leads('/sign-in', { email, password: goodPassword, callbackUrl: page }, `/${page}`)
  }
  await leads('/sign-in', { email, password: goodPassword, callbackUrl: 'https://evil.example/' }, 'account')
  const { cookie } = await cookieOf(id)
  t.match(await visit('/sign-in?callbackUrl=device', { cookie }), { status: 303, location: '/device' })
  t.match(await visit('/sign-in?callbackUrl=//evil.example', { cookie }), { status: 303, location: 'account' })
  // An address with a slash at its end redirects to the one without.
  t.match(await visit('/sign-in/?callbackUrl=device'), { status: 308, location: '../sign-in?callbackUrl=device' })
  t.match(await submit('/sign-in/', {}), { status: 308, location: '../sign-in' })
})

t.test('signing in, out and in again', async t => {
  const before = await count('sessions')
  const wrong = await submit('/sign-in', { email, password: 'wrong password' })
  t.match(wrong, { status: 401, cookie: '', errors: ['The e-mail address or the password is wrong.'] })
  t.match(values(wrong), { email, password: undefined }, 'the address need not be typed again')
  const errors = ['An email address must have an @-sign.', 'Please fill in this field.']
  await gives('/sign-in', { email: 'x', password: '' }, { status: 422, errors })
  t.equal(await count('sessions'), before)
  const { cookie, status, headers } = await submit('/sign-in', { email, password: goodPassword })
  t.equal(status, 303)
  const set = /^__Secure-authjs\.session-token=.*; Path=\/; Expires=.*; HttpOnly; SameSite=Lax; Secure$/
  t.match(String(headers['set-cookie']), set)
  t.ok(await comesIn(cookie))
  t.match(await visit('/sign-out', { cookie }), { status: 303, location: 'account' })
  t.ok(await comesIn(cookie), 'opening the address ends nothing')
  const out = await submit('/sign-out', {}, { cookie })
  t.match(out, { status: 303, location: 'sign-in?done=signed-out', cookie: '' })
  const ended = /authjs\.session-token=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure,.*\.0=; /
  t.match(String(out.headers['set-cookie']), ended)
  t.notOk(await comesIn(cookie))
  t.match(notices(await visit('/sign-in?done=signed-out')), ['You are signed out.'])
})

t.test('after too many wrong passwords the page shows the time to wait', async t => {
  const guess = () => submit('/sign-in', { email: 'slow@example.com', password: 'x' }, { address: '203.0.113.9' })
  for (let at = 0; at < 6; at++) await guess()
  const errors = [/^Too many attempts\. Please try again in \d+ seconds?\.$/]
  t.match(await guess(), { status: 429, headers: { 'retry-after': /^\d+$/ }, errors })
})

t.test('a form sent by another site changes nothing', async t => {
  const { cookie } = await cookieOf(id)
  const token = (await setup.token()) ?? ''
  const forms: Record<string, Form> = {
    '/sign-in': { email, password: goodPassword },
    '/sign-up': { email: 'foreign@example.com', password: goodPassword },
    '/sign-out': {},
    '/setup': { token, email: 'foreign@example.com', password: goodPassword },
    '/verify': { form: 'ask', email },
    '/reset': { form: 'ask', email },
    '/account': { form: 'profile', name: 'Eve' },
    '/device': { form: 'look-up', user_code: 'BCDF-GHJK' },
  }
  const tables = ['accounts', 'sessions WHERE revoked_at IS NULL', 'mail_outbox', 'rate_limits']
  const counts = () => Promise.all(tables.map(table => count(...(table.split(' WHERE ') as [string, string?]))))
  const before = await counts()
  const { 'sec-fetch-site': _, ...others } = sameOrigin
  const origin = 'https://evil.example'
  for (const [path, form] of Object.entries(forms)) {
    const body = new URLSearchParams(form).toString()
    // A browser sends no Sec-Fetch-Site over plain HTTP.
    for (const foreign of [
      { ...others, origin },
      { ...others, origin, 'sec-fetch-site': 'cross-site' },
    ]) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded', ...foreign }
      const answer = await visit(path, { method: 'POST', cookie, body, headers })
      t.match(answer, { status: 403, cookie: '' }, `${path} ${JSON.stringify(headers)}`)
    }
  }
  t.strictSame(await counts(), before)
  t.ok(await comesIn(cookie))
  const listed = { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' }
  const answer = await submit('/account', { form: 'profile', name: 'Ada' }, { cookie, headers: listed })
  t.match(answer, { status: 303 }, 'a listed origin may')
})

t.test('signing up, and confirming the address', async t => {
  const answer = await submit('/sign-up', { name: 'Bo', email: 'bo@example.com', password: goodPassword })
  t.match(answer, { status: 303, location: 'account?done=signed-up' })
  const { cookie } = answer
  const page = await visit('/account?done=signed-up', { cookie })
  t.match([notices(page), page.text], [[/^Your account is created\./], /Your address is not confirmed yet/])
  await leads('/verify', { form: 'ask', email: 'nobody@example.com' }, 'verify?done=sent')
  const token = await tokenIn(/Confirm/, 'bo@example.com')
  const verified = () => count('accounts', "email = 'bo@example.com' AND email_verified_at IS NOT NULL")
  for (const method of ['GET', 'HEAD', 'GET'])
    t.match(await visit(`/verify?token=${token}`, { method }), { status: 200 })
  t.equal(await verified(), 0, 'opening the link changes nothing')
  const form = values(await visit(`/verify?token=${token}`))
  t.match(form, { form: 'confirm', token })
  await leads('/verify', { form: 'confirm', token }, 'verify?done=verified')
  t.equal(await verified(), 1)
  await refuses('/verify', { form: 'confirm', token }, 400, /not valid any more/)
  t.notMatch((await visit('/account', { cookie })).text, /not confirmed yet/)
  const again = { email: 'BO@example.com', password: goodPassword }
  await refuses('/sign-up', again, 409, 'This e-mail address belongs to an account already.')
})

t.test('without a mail server the pages name the place of the mail', async t => {
  const { service } = under
  const settings = { ...service.settings, sendsMail: false }
  const without = await openPages(t, { ...under, service: { ...service, settings } })
  const { cookie } = await cookieOf(await person('folder@example.com', { isUnverified: true }))
  for (const path of ['/verify?done=sent', '/reset?done=sent', '/account', '/account?done=email']) {
    t.match((await without.visit(path, { cookie })).text, /SMTP_URL.*folder mail of its data directory/, path)
    t.notMatch((await visit(path, { cookie })).text, /SMTP_URL/, path)
  }
})

t.test('the page of an account names the readers', async t => {
  const { service } = under
  const { cookie } = await cookieOf(await person('reader@example.com'))
  const viewer = await person('viewer@example.com')
  await store.postgres.query('UPDATE accounts SET is_viewer = true WHERE id = $1', [viewer])
  const viewing = await cookieOf(viewer)
  for (const who of [{ cookie }, viewing]) {
    t.match((await visit('/account', who)).text, /Everybody who reaches this address can read all devices/)
  }
  const settings = { ...service.settings, reads: 'private' as const }
  const closed = await openPages(t, { ...under, service: { ...service, settings } })
  t.match((await closed.visit('/account', { cookie })).text, /You can read the devices that you own/)
  t.match((await closed.visit('/account', viewing)).text, /You can read all devices/)
  const { cookie: unverified } = await cookieOf(await person('unread@example.com', { isUnverified: true }))
  t.match((await closed.visit('/account', { cookie: unverified })).text, /once your address is confirmed/)
})

t.test('a new password by mail does not sign in', async t => {
  const address = 'forgetful@example.com'
  await person(address)
  await leads('/reset', { form: 'ask', email: address }, 'reset?done=sent')
  const token = await tokenIn(/new password/, address)
  t.match(values(await visit(`/reset?token=${token}`)), { token, form: 'set' })
  const short = await submit('/reset', { form: 'set', token, new_password: 'short' })
  t.match([short.status, short.errors, values(short)['token']], [422, ['Please use at least 8 characters.'], token])
  await gives('/reset', { form: 'set', token, new_password: 'another horse battery' }, { status: 303, cookie: '' })
  await gives('/reset', { form: 'set', token, new_password: 'another horse battery' }, { status: 400 })
})

t.test('the account: units and the time zone', async t => {
  const { cookie } = await cookieOf(await person('units@example.com'))
  const chosen = {
    ...{ language: 'de', temperature_unit: '[degF]', pressure_unit: '', speed_unit: '[kn_i]' },
    time_zone: 'Asia/Kathmandu',
  }
  await leads('/account', { form: 'preferences', ...chosen }, 'account?done=preferences', cookie)
  const preferences = async () => (await ask('GET', '/me/preferences', { headers: { cookie } })).body
  const stored = { ...chosen, pressure_unit: null }
  t.strictSame(await preferences(), stored)
  const { elements } = await visit('/account', { cookie })
  const selected = elements.filter(({ tag, attributes }) => tag === 'option' && 'selected' in attributes)
  const shown = selected.map(({ attributes }) => attributes['value'])
  t.strictSame(shown, ['de', '[degF]', '', '[kn_i]', 'Asia/Kathmandu'])
  const wrong = { form: 'preferences', ...chosen, pressure_unit: '<b>psi' }
  await refuses('/account', wrong, 422, /^Input should be 'hPa'/, cookie)
  t.strictSame(await preferences(), stored)
  await submit('/account', { form: 'preferences' }, { cookie })
  t.strictSame(new Set(Object.values(await preferences())), new Set([null]))
})

t.test('the account: profile, address, password', async t => {
  const address = 'change@example.com'
  const owner = await person(address)
  const { cookie } = await cookieOf(owner)
  const name = '<script>alert(1)</script>"\'& Ä'
  await gives('/account', { form: 'profile', name }, { status: 303, location: 'account?done=profile' }, cookie)
  const page = await visit('/account', { cookie })
  t.equal(values(page)['name'], name)
  t.notOk(page.text.includes('<script>'))
  await submit('/account', { form: 'profile', name: '' }, { cookie })
  t.match(await ask('GET', '/me', { headers: { cookie } }), { body: { name: null } })
  const long = { form: 'profile', name: 'x'.repeat(101) }
  await refuses('/account', long, 422, 'Please use at most 100 characters.', cookie)

  const change = { form: 'email', email: 'changed@example.com', current_password: goodPassword }
  await refuses('/account', { ...change, current_password: 'wrong' }, 400, 'The current password is wrong.', cookie)
  await leads('/account', change, 'account?done=email', cookie)
  const token = await tokenIn(/Confirm/, 'changed@example.com')
  await submit('/verify', { form: 'confirm', token })
  t.match(await ask('GET', '/me', { headers: { cookie } }), { body: { email: 'changed@example.com' } })

  const next = 'another horse battery'
  const fields = { form: 'password', current_password: goodPassword, new_password: next }
  await refuses('/account', { ...fields, current_password: '' }, 422, 'Please fill in this field.', cookie)
  const changed = await submit('/account', fields, { cookie })
  t.match(changed, { status: 303, location: 'account?done=password' })
  t.strictSame([await comesIn(cookie), await comesIn(changed.cookie)], [false, true])
  for (const form of ['no such form', 'constructor']) await gives('/account', { form }, { status: 200 }, changed.cookie)
})

t.test('the owner deletes an account, in a recent session', async t => {
  const address = 'leaving@example.com'
  const owner = await person(address)
  const { cookie } = await cookieOf(owner)
  const sure = { form: 'delete', sure: 'yes' }
  await refuses('/account', { form: 'delete' }, 422, 'Please tick this.', cookie)
  clock.ms += 3_700_000
  await refuses('/account', sure, 403, /sign out and in again/, cookie)
  await leads('/account', sure, 'sign-in?done=deleted', (await cookieOf(owner)).cookie)
  t.equal(await count('accounts', `email = '${address}'`), 0)
  t.notOk(await comesIn(cookie))
})

t.test('an API key is created, used, listed and revoked', async t => {
  const owner = await person('keys@example.com')
  const { cookie } = await cookieOf(owner)
  const other = await cookieOf(id)
  const create = { form: 'create-key', name: 'My <b>key</b>', expires_in_days: '30' }
  await refuses('/account', { ...create, name: '' }, 422, 'Please fill in this field.', cookie)
  await refuses('/account', { ...create, expires_in_days: '400' }, 422, /whole number/, cookie)
  const made = await submit('/account', { ...create, 'scope-read': 'yes', 'scope-admin': 'yes' }, { cookie })
  t.equal(made.status, 200)
  const key = made.elements.find(({ attributes }) => attributes['id'] === 'new-key')?.text ?? ''
  t.match(key, /^barograph_key_/)
  const comesInByKey = async () => (await ask('GET', '/me', { headers: { 'x-api-key': key } })).status === 200
  t.ok(await comesInByKey())
  const { rows } = await store.postgres.query('SELECT id, scopes FROM api_keys WHERE account_id = $1', [owner])
  t.match(rows, [{ scopes: ['read'] }], 'no scope beyond the role')
  const page = await visit('/account', { cookie })
  t.match(page.text, /My &lt;b&gt;key&lt;\/b&gt;/)
  t.match(page.text, /last used/)
  t.match(page.text, /created <time datetime="\S+Z" title="[^"]+ UTC">\d+ \w+ \d{4}, \d\d:\d\d<\/time>/)
  t.match(page.text, /Times: UTC\./)
  await submit('/account', { form: 'preferences', time_zone: 'Asia/Kolkata' }, { cookie })
  const inKolkata = await visit('/account', { cookie })
  t.match(inKolkata.text, /created <time datetime="\S+Z" title="[^"]+ GMT\+5:30">/, 'in the zone of the account')
  t.match(inKolkata.text, /Times: Asia\/Kolkata\./)
  t.notOk(page.text.includes(key))
  const revoke = { form: 'revoke-key', key_id: String(rows[0]?.id) }
  await gives('/account', revoke, { status: 404 }, other.cookie)
  await gives('/account', { ...revoke, key_id: '9'.repeat(30) }, { status: 404 }, cookie)
  t.ok(await comesInByKey())
  await leads('/account', revoke, 'account?done=revoked', cookie)
  t.notOk(await comesInByKey())
  t.match((await visit('/account', { cookie })).text, /revoked <time/)
})

t.test('an API key limited to tags is created on the page, which shows the limit', async t => {
  const owner = await person('tagged-keys@example.com')
  const { cookie } = await cookieOf(owner)
  const form = { form: 'create-key', name: 'berlin', 'scope-read': 'yes' }
  const wrong = { ...form, tags: 'site:berlin, bonn' }
  await refuses('/account', wrong, 422, 'Must be a key, a colon and a value.', cookie)
  const beyond = { ...form, 'scope-stations': 'yes', tags: 'site:berlin' }
  await refuses('/account', beyond, 403, 'A key with tags may only read and send readings.', cookie)
  await gives('/account', { ...form, tags: ' site:berlin; room:<b> ' }, { status: 200 }, cookie)
  const { rows } = await store.postgres.query('SELECT tags FROM api_keys WHERE account_id = $1', [owner])
  t.strictSame(rows, [{ tags: ['room:<b>', 'site:berlin'] }])
  t.match((await visit('/account', { cookie })).text, /of devices with room:&lt;b&gt;, site:berlin/)
})

t.test('expired keys are counted, and the newest ones listed', async t => {
  const owner = await person('many-keys@example.com')
  const { cookie } = await cookieOf(owner)
  await store.postgres.query(
    `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at, revoked_at)
     SELECT $1, 'key ' || n, sha256(('many' || n)::bytea), 'barograph_key_x', '{read}', false, now(), now()
     FROM generate_series(1, 25) AS n`,
    [owner],
  )
  const { text, elements } = await visit('/account', { cookie })
  t.equal(elements.filter(({ attributes }) => attributes['class'] === 'off').length, 20)
  t.match(text, /5 more have expired or are revoked\./)
})

t.test('one of many users of the setup link becomes the operator', async t => {
  const token = (await setup.token()) ?? ''
  t.match(values(await visit(`/setup?token=${token}`)), { token })
  const address = '203.0.113.77'
  for (let at = 0; at < 100; at++) await visit('/setup?token=x', { address })
  t.match(await visit(`/setup?token=${token}`, { address }), { status: 429, headers: { 'retry-after': /^\d+$/ } })
  const guess = { token, email: 'guess@example.com', password: goodPassword }
  t.match(await submit('/setup', guess, { address }), { status: 429, cookie: '' })
  for (const wrong of ['', 'x', `${token}x`, token.slice(1)]) {
    t.match(await visit(`/setup?token=${wrong}`), { status: 404 })
    await gives('/setup', { ...guess, token: wrong }, { status: 404, cookie: '' })
  }
  await gives('/setup', { ...guess, email: 'x' }, { status: 422 })
  await refuses('/setup', { ...guess, email }, 409, /belongs to an account/)
  const follow = (_: unknown, at: number) => submit('/setup', { ...guess, email: `operator${at}@example.com` })
  const answers = await Promise.all(Array.from({ length: 4 }, follow))
  t.strictSame(answers.map(({ status }) => status).sort(), [303, ...Array(3).fill(404)])
  t.equal(await count('accounts', "role = 'operator'"), 1)
  t.equal(await count('accounts', "email LIKE 'operator%'"), 1)
  const { cookie = '' } = answers.find(({ status }) => status === 303) ?? {}
  t.match((await visit('/account', { cookie })).text, /, operator</)
  t.equal(await setup.token(), undefined, 'there is no link any more')
  t.match(await visit(`/setup?token=${token}`), { status: 404 })
  await gives('/account', { form: 'delete', sure: 'yes' }, { status: 409 }, cookie)
})

t.test('a session in use is renewed', async t => {
  const { cookie } = await cookieOf(id)
  const start = clock.ms
  t.equal((await visit('/account', { cookie })).cookie, '', 'a fresh one is not')
  clock.ms = start + 25 * 24 * 3_600_000
  const renewed = (await visit('/account', { cookie })).cookie
  t.match(renewed, /session-token=/)
  clock.ms = start + 50 * 24 * 3_600_000
  t.strictSame([await comesIn(cookie), await comesIn(renewed)], [false, true])
  clock.ms = start
})

t.test('a device is approved after its code is typed and its name is shown', async t => {
  const start = async (name: string, address = '198.51.100.7') =>
    (await ask('POST', '/device/start', { body: { client_name: name }, address })).body
  const poll = async (device: Record<string, unknown>) =>
    (await ask('POST', '/device/poll', { body: { device_code: device['device_code'] } })).body
  const { cookie } = await cookieOf(id)
  const device = await start('<i>Weather</i> display')
  const page = await visit(`/device?user_code=${device['user_code']}`, { cookie })
  t.notOk(page.text.includes(String(device['user_code'])), 'the code is not filled in')
  const lookUp = (user_code: unknown, by = cookie) =>
    submit('/device', { form: 'look-up', user_code: String(user_code) }, { cookie: by })
  t.match(await lookUp(''), { status: 422 })
  t.match(await lookUp('BBBB-BBBB'), { status: 404 })
  const typed = String(device['user_code']).toLowerCase().replace('-', ' ')
  const shown = await lookUp(typed)
  t.match(shown, { status: 200, text: /&lt;i&gt;Weather&lt;\/i&gt; display/ })
  for (const words of [/198\.51\.100\.7/, /less than a minute/, /Deny it/]) t.match(shown.text, words)
  const decision = { ...(values(shown) as Form), decision: 'approve' }
  t.match(await poll(device), { status: 'pending' })
  // Neither another page nor another session can send this form.
  await gives('/device', { ...decision, token: 'x' }, { status: 200, errors: [] }, cookie)
  const other = await cookieOf(id)
  t.equal(heading(await submit('/device', decision, { cookie: other.cookie })), 'Connect a device')
  t.match(await lookUp(typed, other.cookie), { status: 403 })
  clock.ms += 6000
  t.match(await poll(device), { status: 'pending' })
  t.equal(heading(await submit('/device', decision, { cookie })), 'Approved')
  await gives('/device', decision, { status: 409 }, cookie)
  clock.ms += 6000
  const { status, api_key: key } = await poll(device)
  t.equal(status, 'approved')
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': String(key) } }), { status: 200 })
  t.match((await visit('/account', { cookie })).text, /&lt;i&gt;Weather&lt;\/i&gt; display/)

  const second = await start('Agent', '198.51.100.8')
  const asked = values(await lookUp(second['user_code'])) as Form
  t.equal(heading(await submit('/device', { ...asked, decision: 'deny' }, { cookie })), 'Denied')
  t.match(await poll(second), { status: 'denied' })
})

t.test('bodies that are not a form or too large are rejected', async t => {
  const { cookie } = await cookieOf(id)
  for (const path of ['/sign-in', '/account']) {
    const type = 'application/x-www-form-urlencoded'
    const post = (body: string, more: object) =>
      visit(path, { method: 'POST', cookie, body, headers: { ...sameOrigin, ...more } })
    t.match(await post('{"email":1}', { 'content-type': 'application/json' }), { status: 400 })
    t.match(await post('email=%ff', { 'content-type': type }), { status: 400 })
    t.match(await post(`email=${'x'.repeat(70_000)}`, { 'content-type': type }), { status: 413 })
    t.match(await post('x', { 'content-encoding': 'gzip' }), { status: 415 })
    t.match(await visit(path, { method: 'DELETE', cookie }), { status: 405, headers: { allow: 'GET, HEAD, POST' } })
  }
  t.match(await visit('/sign-out', { method: 'PUT', headers: sameOrigin }), { status: 405 })
})

const odd = fc.oneof(
  fc.string({ unit: 'binary' }).map(text => text.toWellFormed()),
  fc.constantFrom('<b>', '"><script>x</script>', 'constructor', '__proto__', '\0'),
)
const names = fc.constantFrom(
  ...(
    'form email password name token new_password current_password callbackUrl user_code decision key_id ' +
    'scope-read expires_in_days done error code temperature_unit time_zone'
  ).split(' '),
)
const formNames = fc.constantFrom(
  ...'profile preferences email password create-key revoke-key delete ask set confirm look-up decide x'.split(' '),
)
// `/sign-out` would end the one session.
const page = fc.constantFrom('/sign-in', '/sign-up', '/setup', '/verify', '/reset', '/account', '/device')
const known = new Set(
  (
    'html head meta title style body header p svg path nav a main h1 h2 h3 form input button label div ' +
    'section ul li span code time details summary fieldset legend strong select option dl dt dd'
  ).split(' '),
)

t.test('any request to a page has a response without injected markup', async () => {
  const { cookie } = await cookieOf(id)
  const fields = fc.dictionary(names, odd, { noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(page, fields, formNames, fc.boolean(), async (path, fields, form, isPost) => {
      const query = new URLSearchParams(fields).toString()
      const address = '192.0.2.77'
      const answer = isPost
        ? await submit(path, { form, ...fields }, { cookie, address })
        : await visit(`${path}?${query}`, { cookie, address })
      t.ok(answer.status < 500, `${path} ${answer.status}`)
      // The page of a new key has the one script of the pages.
      const elements = readHtml(answer.text.replace(`<script>${copyScript}</script>`, ''))
      const unknown = elements.filter(({ tag }) => !known.has(tag))
      t.strictSame(unknown, [], answer.text)
      if (answer.location !== undefined) t.equal(new URL(answer.location, `${publicUrl}/x`).origin, publicUrl)
    }),
    runs(100, 1000),
  )
  t.strictSame(faults, [])
})
