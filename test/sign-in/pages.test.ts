/** The pages: forms that work without script, on the same accounts, sessions and limits as the operations. */

import fc from 'fast-check'
import t from 'tap'
import { copyScript } from '../../sign-in/pages/html/copy-script.ts'
import { goodPassword, publicUrl, startAccounts } from '../support/accounts.ts'
import { type HtmlElement, readHtml } from '../support/html-document.ts'
import { openPages, sameOrigin, type Visited } from '../support/pages.ts'

const under = await startAccounts(t, { settings: { mailRequestsPerHour: 1000 } })
const { ask, person, cookieOf, tokenIn, store, mails, clock } = under
const { setup, faults, visit, submit } = await openPages(t, under)
const email = 'ada@example.com'
const id = await person(email)

const withTag = (elements: readonly HtmlElement[], tag: string) => elements.filter(element => element.tag === tag)
const heading = ({ elements }: Visited) => withTag(elements, 'h1')[0]?.text
const notices = ({ elements }: Visited) =>
  elements.filter(({ attributes }) => attributes['role'] === 'status').map(({ text }) => text)
const values = ({ elements }: Visited) =>
  Object.fromEntries(withTag(elements, 'input').map(({ attributes }) => [attributes['name'], attributes['value']]))
const gives = async (path: string, form: Record<string, string>, wanted: object, cookie?: string) =>
  t.match(await submit(path, form, cookie === undefined ? {} : { cookie }), wanted, JSON.stringify(form))
const comesIn = async (cookie: string) => (await ask('GET', '/me', { headers: { cookie } })).status === 200
const count = async (table: string, where = 'true') =>
  Number((await store.postgres.query(`SELECT count(*) FROM ${table} WHERE ${where}`)).rows[0]?.count)

const paths =
  '/sign-in /sign-up /setup /setup?token=x /verify /verify?token=x /verify?done=sent /verify?done=verified /reset /reset?token=x /reset?done=sent /account /device'

t.test('every page has its heading, a label for each field, and nothing that is loaded or runs', async t => {
  const { cookie } = await cookieOf(id)
  for (const path of [...paths.split(' '), `/setup?token=${await setup.token()}`]) {
    const answer = await visit(path, path === '/account' || path === '/device' ? { cookie } : {})
    t.match(
      answer.headers,
      {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy':
          /^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
        'cache-control': 'no-store',
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
      },
      path,
    )
    const { elements } = answer
    t.strictSame([withTag(elements, 'h1').length, withTag(elements, 'main').length], [1, 1], path)
    const isLoading = ({ tag, attributes }: HtmlElement) =>
      ['script', 'link', 'img', 'iframe', 'base'].includes(tag) ||
      Object.keys(attributes).some(name => /^(style|src|on.*)$/.test(name))
    t.notOk(elements.some(isLoading), path)
    const ids = elements.flatMap(({ attributes }) => attributes['id'] ?? [])
    t.equal(new Set(ids).size, ids.length, `${path}: every id once`)
    const labelled = new Set(
      withTag(elements, 'label').flatMap(({ attributes, elements: inside }) => [
        attributes['for'],
        ...inside.map(({ attributes: own }) => own['name']),
      ]),
    )
    const isBare = ({ attributes: { type, hidden, id: own, name } }: HtmlElement) =>
      type !== 'hidden' && hidden === undefined && !labelled.has(own) && !labelled.has(name)
    t.strictSame(withTag(elements, 'input').filter(isBare), [], `${path}: each field has a label`)
    for (const { attributes } of withTag(elements, 'form')) {
      t.equal(attributes['method'], 'post')
      t.match(attributes['action'], /^[a-z-]+$/, 'beside this page')
    }
  }
})

t.test('who is not signed in comes back after signing in', async t => {
  for (const page of ['account', 'device']) {
    t.match(await visit(`/${page}`), { status: 303, location: `sign-in?callbackUrl=${page}` })
    const posted = await submit(`/${page}`, { form: 'profile', name: 'X' })
    t.match(posted, { status: 303, location: `sign-in?callbackUrl=${page}` })
    t.match(values(await visit(`/sign-in?callbackUrl=${page}`)), { callbackUrl: page })
    const signedIn = await submit('/sign-in', { email, password: goodPassword, callbackUrl: page })
    t.match(signedIn, { status: 303, location: `/${page}` })
  }
  t.match(await submit('/sign-in', { email, password: goodPassword, callbackUrl: 'https://evil.example/' }), {
    location: 'account',
  })
  const { cookie } = await cookieOf(id)
  t.match(await visit('/sign-in?callbackUrl=device', { cookie }), { status: 303, location: '/device' })
  t.match(await visit('/sign-in?callbackUrl=//evil.example', { cookie }), { status: 303, location: 'account' })
})

t.test('addresses with a slash at the end lead to those without', async t => {
  t.match(await visit('/sign-in/?callbackUrl=device'), { status: 308, location: '../sign-in?callbackUrl=device' })
  t.match(await submit('/sign-in/', {}), { status: 308, location: '../sign-in' })
})

t.test('signing in, out and in again', async t => {
  const before = await count('sessions')
  const wrong = await submit('/sign-in', { email, password: 'wrong password' })
  t.match(wrong, { status: 401, cookie: '', errors: ['The e-mail address or the password is wrong.'] })
  t.match(values(wrong), { email, password: undefined }, 'the address need not be typed again')
  t.match(await submit('/sign-in', { email: 'x', password: '' }), {
    status: 422,
    errors: ['An email address must have an @-sign.', 'Please fill in this field.'],
  })
  t.equal(await count('sessions'), before)
  const { cookie, status, headers } = await submit('/sign-in', { email, password: goodPassword })
  t.match(
    [status, String(headers['set-cookie'])],
    [303, /^__Secure-authjs\.session-token=.*; Path=\/; Expires=.*; HttpOnly; SameSite=Lax; Secure$/],
  )
  t.ok(await comesIn(cookie))
  t.match(await visit('/sign-out', { cookie }), { status: 303, location: 'account' })
  t.ok(await comesIn(cookie), 'opening the address ends nothing')
  const out = await submit('/sign-out', {}, { cookie })
  t.match(out, { status: 303, location: 'sign-in?done=signed-out', cookie: '' })
  t.match(
    String(out.headers['set-cookie']),
    /authjs\.session-token=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax; Secure,.*\.0=; /,
  )
  t.notOk(await comesIn(cookie))
  t.match(notices(await visit('/sign-in?done=signed-out')), ['You are signed out.'])
})

t.test('too many wrong passwords are told, with the time to wait', async t => {
  const address = '203.0.113.9'
  for (let at = 0; at < 6; at++) await submit('/sign-in', { email: 'slow@example.com', password: 'x' }, { address })
  const answer = await submit('/sign-in', { email: 'slow@example.com', password: 'x' }, { address })
  t.match(answer, {
    status: 429,
    headers: { 'retry-after': /^\d+$/ },
    errors: [/^Too many attempts\. Please try again in \d+ seconds?\.$/],
  })
})

t.test('a form that another site sends changes nothing', async t => {
  const { cookie } = await cookieOf(id)
  const token = (await setup.token()) ?? ''
  const forms: Record<string, Record<string, string>> = {
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
  for (const [path, form] of Object.entries(forms)) {
    for (const headers of [
      { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
      // Without Sec-Fetch-Site, as over plain HTTP.
      { origin: 'https://evil.example', 'sec-fetch-site': undefined as unknown as string },
    ]) {
      const sent = Object.fromEntries(
        Object.entries({ ...sameOrigin, ...headers }).filter(([, value]) => value !== undefined),
      )
      const answer = await visit(path, {
        method: 'POST',
        cookie,
        body: new URLSearchParams(form).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...sent },
      })
      t.match(answer, { status: 403, cookie: '' }, `${path} ${JSON.stringify(headers)}`)
    }
  }
  t.strictSame(await counts(), before)
  t.ok(await comesIn(cookie))
  const answer = await submit(
    '/account',
    { form: 'profile', name: 'Ada' },
    { cookie, headers: { origin: 'https://app.example', 'sec-fetch-site': 'cross-site' } },
  )
  t.match(answer, { status: 303 }, 'a listed origin may')
})

t.test('signing up, and confirming the address', async t => {
  const answer = await submit('/sign-up', { name: 'Bo', email: 'bo@example.com', password: goodPassword })
  t.match(answer, { status: 303, location: 'account?done=signed-up' })
  const { cookie } = answer
  const page = await visit('/account?done=signed-up', { cookie })
  t.match([notices(page), page.text], [[/^Your account is created\./], /Your address is not confirmed yet/])
  const token = await tokenIn(/Confirm/, 'bo@example.com')
  const verified = () => count('accounts', "email = 'bo@example.com' AND email_verified_at IS NOT NULL")
  for (const method of ['GET', 'HEAD', 'GET'])
    t.match(await visit(`/verify?token=${token}`, { method }), { status: 200 })
  t.equal(await verified(), 0, 'opening the link changes nothing')
  const form = values(await visit(`/verify?token=${token}`))
  t.match(form, { form: 'confirm', token })
  t.match(await submit('/verify', { form: 'confirm', token }), { status: 303, location: 'verify?done=verified' })
  t.equal(await verified(), 1)
  t.match(await submit('/verify', { form: 'confirm', token }), { status: 400, errors: [/not valid any more/] })
  t.notMatch((await visit('/account', { cookie })).text, /not confirmed yet/)
  t.match(await submit('/sign-up', { email: 'BO@example.com', password: goodPassword }), {
    status: 409,
    cookie: '',
    errors: ['This e-mail address belongs to an account already.'],
  })
  t.match(await submit('/sign-up', { email: 'bo2@example.com', password: 'password1' }), {
    status: 422,
    errors: ['The password is one of the most common ones.'],
  })
  t.match(await submit('/sign-up', { email: 'bo2@example.com', password: 'short' }), {
    status: 422,
    errors: ['Please use at least 8 characters.'],
  })
})

t.test('the mail with the link is sent again, for known and unknown addresses alike', async t => {
  await person('late@example.com', { isUnverified: true })
  clock.ms += 61_000
  const sent = mails.length
  for (const address of ['late@example.com', 'nobody@example.com']) {
    t.match(await submit('/verify', { form: 'ask', email: address }), { status: 303, location: 'verify?done=sent' })
    t.match(await submit('/reset', { form: 'ask', email: address }), { status: 303, location: 'reset?done=sent' })
  }
  await tokenIn(/new password/, 'late@example.com')
  t.ok(mails.length > sent)
  t.notOk(mails.some(({ to }) => to === 'nobody@example.com'))
})

t.test('without a mail server the pages say where the mail is', async t => {
  const { service } = under
  const settings = { ...service.settings, sendsMail: false }
  const without = await openPages(t, { ...under, service: { ...service, settings } })
  const { cookie } = await cookieOf(await person('folder@example.com', { isUnverified: true }))
  for (const path of ['/verify?done=sent', '/reset?done=sent', '/account', '/account?done=email']) {
    t.match((await without.visit(path, { cookie })).text, /SMTP_URL.*folder mail of its data directory/, path)
    t.notMatch((await visit(path, { cookie })).text, /SMTP_URL/, path)
  }
})

t.test('the page of an account says who can read', async t => {
  const { service } = under
  const { cookie } = await cookieOf(await person('reader@example.com'))
  const viewer = await person('viewer@example.com')
  await store.postgres.query('UPDATE accounts SET is_viewer = true WHERE id = $1', [viewer])
  const viewing = await cookieOf(viewer)
  t.match((await visit('/account', { cookie })).text, /Everybody who reaches this address can read all devices/)
  t.match((await visit('/account', viewing)).text, /Everybody who reaches this address can read all devices/)
  const settings = { ...service.settings, reads: 'private' as const }
  const closed = await openPages(t, { ...under, service: { ...service, settings } })
  t.match((await closed.visit('/account', { cookie })).text, /You can read the devices that you own/)
  t.match((await closed.visit('/account', viewing)).text, /You can read all devices/)
  const { cookie: unverified } = await cookieOf(await person('unread@example.com', { isUnverified: true }))
  t.match((await closed.visit('/account', { cookie: unverified })).text, /once your address is confirmed/)
})

t.test('a new password by mail ends the sessions and signs nobody in', async t => {
  const address = 'forgetful@example.com'
  const owner = await person(address)
  const { cookie } = await cookieOf(owner)
  await submit('/reset', { form: 'ask', email: address })
  const token = await tokenIn(/new password/, address)
  t.match(values(await visit(`/reset?token=${token}`)), { token, form: 'set' })
  const short = await submit('/reset', { form: 'set', token, new_password: 'short' })
  t.match([short.status, short.errors, values(short)['token']], [422, ['Please use at least 8 characters.'], token])
  t.ok(await comesIn(cookie))
  const next = 'another horse battery'
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => submit('/reset', { form: 'set', token, new_password: next })),
  )
  t.strictSame(answers.map(({ status }) => status).sort(), [303, ...Array(3).fill(400)])
  t.strictSame(new Set(answers.map(({ cookie }) => cookie)), new Set(['']))
  t.notOk(await comesIn(cookie))
  t.match(await submit('/sign-in', { email: address, password: goodPassword }), { status: 401 })
  t.match(await submit('/sign-in', { email: address, password: next }), { status: 303 })
  t.match(await submit('/reset', { form: 'set', token: '', new_password: next }), { status: 400 })
})

t.test('the account: units and the time zone', async t => {
  const { cookie } = await cookieOf(await person('units@example.com'))
  const chosen = { temperature_unit: '[degF]', pressure_unit: '', speed_unit: '[kn_i]', time_zone: 'Asia/Kathmandu' }
  t.match(await submit('/account', { form: 'preferences', ...chosen }, { cookie }), {
    status: 303,
    location: 'account?done=preferences',
  })
  const preferences = async () => (await ask('GET', '/me/preferences', { headers: { cookie } })).body
  const stored = { ...chosen, pressure_unit: null }
  t.strictSame(await preferences(), stored)
  const { elements } = await visit('/account', { cookie })
  const selected = elements.filter(({ tag, attributes }) => tag === 'option' && 'selected' in attributes)
  t.strictSame(
    selected.map(({ attributes }) => attributes['value']),
    ['[degF]', '', '[kn_i]', 'Asia/Kathmandu'],
  )
  t.match(await submit('/account', { form: 'preferences', ...chosen, pressure_unit: '<b>psi' }, { cookie }), {
    status: 422,
    errors: [/^Input should be 'hPa'/],
  })
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
  t.match(await submit('/account', { form: 'profile', name: 'x'.repeat(101) }, { cookie }), {
    status: 422,
    errors: ['Please use at most 100 characters.'],
  })

  const change = { form: 'email', email: 'changed@example.com' }
  t.match(await submit('/account', { ...change, current_password: 'wrong' }, { cookie }), {
    status: 400,
    errors: ['The current password is wrong.'],
  })
  t.match(await submit('/account', { ...change, email, current_password: goodPassword }, { cookie }), {
    status: 409,
    errors: [/belongs to an account/],
  })
  await gives('/account', { ...change, current_password: goodPassword }, { location: 'account?done=email' }, cookie)
  const token = await tokenIn(/Confirm/, 'changed@example.com')
  await submit('/verify', { form: 'confirm', token })
  t.match(await ask('GET', '/me', { headers: { cookie } }), { body: { email: 'changed@example.com' } })

  const next = 'another horse battery'
  const fields = { form: 'password', current_password: goodPassword, new_password: next }
  t.match(await submit('/account', { ...fields, current_password: '' }, { cookie }), {
    status: 422,
    errors: ['Please fill in this field.'],
  })
  const changed = await submit('/account', fields, { cookie })
  t.match(changed, { status: 303, location: 'account?done=password' })
  t.strictSame([await comesIn(cookie), await comesIn(changed.cookie)], [false, true])
  t.match(await submit('/account', { form: 'no such form' }, { cookie: changed.cookie }), { status: 200 })
  t.match(await submit('/account', { form: 'constructor' }, { cookie: changed.cookie }), { status: 200 })
})

t.test('an account is deleted by its owner, in a fresh session', async t => {
  const address = 'leaving@example.com'
  const owner = await person(address)
  const { cookie } = await cookieOf(owner)
  t.match(await submit('/account', { form: 'delete' }, { cookie }), { status: 422, errors: ['Please tick this.'] })
  clock.ms += 3_700_000
  await gives('/account', { form: 'delete', sure: 'yes' }, { status: 403, errors: [/sign out and in again/] }, cookie)
  const fresh = await cookieOf(owner)
  t.match(await submit('/account', { form: 'delete', sure: 'yes' }, { cookie: fresh.cookie }), {
    status: 303,
    location: 'sign-in?done=deleted',
  })
  t.equal(await count('accounts', `email = '${address}'`), 0)
  t.notOk(await comesIn(cookie))
})

t.test('an API key is made, used, listed and revoked', async t => {
  const owner = await person('keys@example.com')
  const { cookie } = await cookieOf(owner)
  const other = await cookieOf(id)
  t.match(await submit('/account', { form: 'create-key', name: '' }, { cookie }), {
    status: 422,
    errors: ['Please fill in this field.'],
  })
  const bad = await submit('/account', { form: 'create-key', name: 'x', expires_in_days: '400' }, { cookie })
  t.match(bad, { status: 422, errors: [/whole number/] })
  const made = await submit(
    '/account',
    { form: 'create-key', name: 'My <b>key</b>', 'scope-read': 'yes', 'scope-admin': 'yes', expires_in_days: '30' },
    { cookie },
  )
  t.equal(made.status, 200)
  const key = made.elements.find(({ attributes }) => attributes['id'] === 'new-key')?.text ?? ''
  t.match(key, /^barograph_key_/)
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': key } }), { status: 200 })
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
  t.match(await submit('/account', revoke, { cookie: other.cookie }), { status: 404 })
  t.match(await submit('/account', { ...revoke, key_id: '9'.repeat(30) }, { cookie }), { status: 404 })
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': key } }), { status: 200 })
  t.match(await submit('/account', revoke, { cookie }), { status: 303, location: 'account?done=revoked' })
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': key } }), { status: 401 })
  t.match((await visit('/account', { cookie })).text, /revoked <time/)
})

t.test('an API key that is limited to tags is made on the page, which says so', async t => {
  const owner = await person('tagged-keys@example.com')
  const { cookie } = await cookieOf(owner)
  const form = { form: 'create-key', name: 'berlin', 'scope-read': 'yes' }
  const wrong = await submit('/account', { ...form, tags: 'site:berlin, bonn' }, { cookie })
  t.match(wrong, { status: 422, errors: ['Must be a key, a colon and a value.'] })
  const beyond = await submit('/account', { ...form, 'scope-stations': 'yes', tags: 'site:berlin' }, { cookie })
  t.match(beyond, { status: 403, errors: ['A key with tags may only read and send readings.'] })
  t.match(await submit('/account', { ...form, tags: ' site:berlin; room:<b> ' }, { cookie }), { status: 200 })
  const { rows } = await store.postgres.query('SELECT tags FROM api_keys WHERE account_id = $1', [owner])
  t.strictSame(rows, [{ tags: ['room:<b>', 'site:berlin'] }])
  t.match((await visit('/account', { cookie })).text, /of devices with room:&lt;b&gt;, site:berlin/)
})

t.test('of keys that are over, the newest are listed, and all are counted', async t => {
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

t.test('of many who follow the setup link, one becomes the operator', async t => {
  const token = (await setup.token()) ?? ''
  t.match(values(await visit(`/setup?token=${token}`)), { token })
  const address = '203.0.113.77'
  for (let at = 0; at < 100; at++) await visit('/setup?token=x', { address })
  t.match(await visit(`/setup?token=${token}`, { address }), { status: 429, headers: { 'retry-after': /^\d+$/ } })
  const guess = { token, email: 'guess@example.com', password: goodPassword }
  t.match(await submit('/setup', guess, { address }), { status: 429, cookie: '' })
  for (const wrong of ['', 'x', `${token}x`, token.slice(1)]) {
    t.match(await visit(`/setup?token=${wrong}`), { status: 404 })
    t.match(await submit('/setup', { token: wrong, email: 'wrong@example.com', password: goodPassword }), {
      status: 404,
      cookie: '',
    })
  }
  t.match(await submit('/setup', { token, email: 'x', password: goodPassword }), { status: 422 })
  await gives('/setup', { token, email, password: goodPassword }, { status: 409, errors: [/belongs to an account/] })
  const answers = await Promise.all(
    Array.from({ length: 4 }, (_, at) =>
      submit('/setup', { token, email: `operator${at}@example.com`, password: goodPassword }),
    ),
  )
  t.strictSame(answers.map(({ status }) => status).sort(), [303, ...Array(3).fill(404)])
  t.equal(await count('accounts', "role = 'operator'"), 1)
  t.equal(await count('accounts', "email LIKE 'operator%'"), 1)
  const { cookie = '' } = answers.find(({ status }) => status === 303) ?? {}
  t.match((await visit('/account', { cookie })).text, /, operator</)
  t.equal(await setup.token(), undefined, 'there is no link any more')
  t.match(await visit(`/setup?token=${token}`), { status: 404 })
  t.match(await submit('/account', { form: 'delete', sure: 'yes' }, { cookie }), { status: 409 })
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

t.test('a device is approved by who has typed its code and seen what it is', async t => {
  const start = async (name: string, address = '198.51.100.7') =>
    (await ask('POST', '/device/start', { body: { client_name: name }, address })).body
  const poll = async (device: Record<string, unknown>) =>
    (await ask('POST', '/device/poll', { body: { device_code: device['device_code'] } })).body
  const { cookie } = await cookieOf(id)
  const device = await start('<i>Weather</i> display')
  const page = await visit(`/device?user_code=${device['user_code']}`, { cookie })
  t.notOk(page.text.includes(String(device['user_code'])), 'the code is not filled in')
  t.match(await submit('/device', { form: 'look-up', user_code: '' }, { cookie }), { status: 422 })
  t.match(await submit('/device', { form: 'look-up', user_code: 'BBBB-BBBB' }, { cookie }), { status: 404 })
  const typed = String(device['user_code']).toLowerCase().replace('-', ' ')
  const shown = await submit('/device', { form: 'look-up', user_code: typed }, { cookie })
  t.match(shown, { status: 200, text: /&lt;i&gt;Weather&lt;\/i&gt; display/ })
  t.match(shown.text, /198\.51\.100\.7/)
  t.match(shown.text, /less than a minute/)
  t.match(shown.text, /Deny it/)
  const decision = { ...(values(shown) as Record<string, string>), decision: 'approve' }
  t.match(await poll(device), { status: 'pending' })
  // Neither another page nor another session can send this form.
  t.match(await submit('/device', { ...decision, token: 'x' }, { cookie }), { status: 200, errors: [] })
  const other = await cookieOf(id)
  t.equal(heading(await submit('/device', decision, { cookie: other.cookie })), 'Connect a device')
  t.match(await submit('/device', { form: 'look-up', user_code: typed }, { cookie: other.cookie }), { status: 403 })
  clock.ms += 6000
  t.match(await poll(device), { status: 'pending' })
  t.equal(heading(await submit('/device', decision, { cookie })), 'Approved')
  t.match(await submit('/device', decision, { cookie }), { status: 409 })
  clock.ms += 6000
  const { status, api_key: key } = await poll(device)
  t.equal(status, 'approved')
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': String(key) } }), { status: 200 })
  t.match((await visit('/account', { cookie })).text, /&lt;i&gt;Weather&lt;\/i&gt; display/)

  const second = await start('Agent', '198.51.100.8')
  const asked = await submit('/device', { form: 'look-up', user_code: String(second['user_code']) }, { cookie })
  t.equal(
    heading(await submit('/device', { ...(values(asked) as Record<string, string>), decision: 'deny' }, { cookie })),
    'Denied',
  )
  t.match(await poll(second), { status: 'denied' })
})

t.test('what is no form of ours is refused, and what is too large is not read', async t => {
  const { cookie } = await cookieOf(id)
  for (const path of ['/sign-in', '/account']) {
    const post = (body: string | Buffer, contentType = 'application/x-www-form-urlencoded') =>
      visit(path, { method: 'POST', cookie, body, headers: { ...sameOrigin, 'content-type': contentType } })
    t.match(await post('{"email":1}', 'application/json'), { status: 400 })
    t.match(await post('email=%ff'), { status: 400 })
    t.match(await post('email=a&email=b'), { status: 400 })
    t.match(await post(`email=${'x'.repeat(70_000)}`), { status: 413 })
    t.match(
      await visit(path, { method: 'POST', cookie, body: 'x', headers: { ...sameOrigin, 'content-encoding': 'gzip' } }),
      { status: 415 },
    )
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
const page = fc.constantFrom('/sign-in', '/sign-up', '/setup', '/verify', '/reset', '/account', '/device', '/sign-out')
const known = new Set(
  (
    'html head meta title style body header p svg path nav a main h1 h2 h3 form input button label div ' +
    'section ul li span code time details summary fieldset legend strong select option dl dt dd'
  ).split(' '),
)

t.test('whatever is sent to a page, it is answered, and never as markup', async () => {
  const { cookie } = await cookieOf(id)
  await fc.assert(
    fc.asyncProperty(
      page,
      fc.dictionary(names, odd, { noNullPrototype: true }),
      formNames,
      fc.boolean(),
      async (path, fields, form, isPost) => {
        // The one session must not be ended on the way.
        if (path === '/sign-out') return
        const query = new URLSearchParams(fields).toString()
        const address = '192.0.2.77'
        const answer = isPost
          ? await submit(path, { form, ...fields }, { cookie, address })
          : await visit(`${path}?${query}`, { cookie, address })
        t.ok(answer.status < 500, `${path} ${answer.status}`)
        // A key may come of it, which has the one script of the pages.
        const elements = readHtml(answer.text.replace(`<script>${copyScript}</script>`, ''))
        t.ok(
          elements.every(({ tag }) => known.has(tag)),
          answer.text,
        )
        if (answer.location !== undefined) {
          t.equal(new URL(answer.location, `${publicUrl}/x`).origin, publicUrl)
        }
      },
    ),
    { numRuns: 100 },
  )
  t.strictSame(faults, [])
})
