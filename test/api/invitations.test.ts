/** Who may sign up: invitations by the admin API, by link and by mail, on the operations and on the page. */

import t from 'tap'
import { sweepStatements } from '../../auth/accounts/sweep.ts'
import { goodPassword, openVariant, publicUrl, serviceSecret } from '../support/accounts.ts'
import { startAdmin } from '../support/admin.ts'
import { openPages } from '../support/pages.ts'

const admin = await startAdmin(t, { signUp: 'invited' })
const { people, store } = admin
const { clock, hashings, mails, tokenIn, accounts } = people
const pool = store.postgres
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const dayMs = 24 * 3_600_000

interface Invited {
  id: number
  link: string
}

const problem = (status: number, title: string, more: object = {}) => ({
  status,
  body: { type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`, title, status, ...more },
})
const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? ''
/** The token of the link. */
async function invite(email: string, more: object = {}): Promise<string> {
  // The limits have tests of their own.
  await pool.query('DELETE FROM rate_limits')
  const { status, body } = await admin.ask('POST', '/invitations', { email, mail: false, ...more })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return tokenOf((body as Invited).link)
}
const register = (email: string, token?: string, ask = people.ask) =>
  ask('POST', '/register', { body: { email, password: goodPassword, ...(token === undefined ? {} : { token }) } })
const accountOf = async (email: string) => {
  const { body } = await admin.ask('GET', `/accounts?search=${encodeURIComponent(email)}`)
  return (body as { accounts: Record<string, unknown>[] }).accounts[0]
}
const open = async () => (await admin.ask('GET', '/invitations')).body as { invitations: Invited[]; total: number }
const count = async (table: string, where: string) =>
  Number((await pool.query(`SELECT count(*) FROM ${table} WHERE ${where}`)).rows[0]?.count)

/** The same accounts under other settings. */
const [everybody, off] = [
  await openVariant(t, store, { settings: { signUp: 'open' } }),
  await openVariant(t, store, { settings: { signUp: 'off' } }),
]
const known = await everybody.person('known@example.com')

const byInvitation = { status: 403, body: { detail: 'registration by invitation only' } }
const badToken = { status: 400, body: { detail: 'Invalid or expired token' } }

t.test('without an invitation nobody registers, whatever the address', async t => {
  await invite('invited@example.com')
  const before = hashings()
  const answers = []
  for (const email of ['known@example.com', 'unknown@example.com', 'invited@example.com']) {
    const answer = await register(email)
    t.match(answer, byInvitation, email)
    answers.push(answer.text)
  }
  t.equal(new Set(answers).size, 1)
  t.equal(hashings(), before)
  t.match(
    await people.ask('POST', '/register', { body: { email: 'x@example.com', password: goodPassword, token: null } }),
    byInvitation,
  )
  const closed = { status: 403, body: { detail: 'registration is closed' } }
  const token = await invite('closed@example.com')
  for (const email of ['known@example.com', 'unknown@example.com'])
    t.match(await register(email, undefined, off.ask), closed)
  t.match(await register('closed@example.com', token, off.ask), closed, 'also with an invitation of before')
  t.match(await register('closed@example.com', token), { status: 201 })
})

t.test('a link makes one account, for the invited address alone', async t => {
  const token = await invite('Ada@EXAMPLE.com', { viewer: true })
  t.match(token, /^[\w-]{43}$/)
  const before = hashings()
  for (const [email, sent] of [
    ['eve@example.com', token],
    ['ada@example.com', `${token}x`],
    ['ada@example.com', ''],
    ['ada@example.com', 'x'.repeat(200)],
  ] as const) {
    t.match(await register(email, sent), badToken, `${email} ${sent}`)
  }
  t.equal(hashings(), before, 'a hash is made for a good token only')
  const made = await register('ADA@example.com', token)
  t.match(made, { status: 201, body: { email: 'ADA@example.com', email_verified: null } })
  t.match(await accountOf('ada@example.com'), { role: 'user', viewer: true, email_verified: null })
  t.match(await tokenIn(/Confirm/, 'ADA@example.com'), /^[\w-]{43}$/, 'who hands a link over has not seen the address')
  t.match(await register('ada@example.com', token), badToken, 'once')
  t.equal(await count('invitations', "email_key = 'ada@example.com'"), 0)
  const { rows } = await pool.query(
    "SELECT details FROM audit WHERE action = 'account.register' ORDER BY id DESC LIMIT 1",
  )
  t.match(rows, [{ details: { role: 'user', viewer: true, invitation: Number } }])
})

t.test('a mail has a link of its own, which verifies the address', async t => {
  const link = await invite('grace@example.com', { mail: true, role: 'administrator' })
  const token = await tokenIn(/invitation/, 'grace@example.com')
  t.not(token, link)
  t.match(mails.at(-1), { to: 'grace@example.com', subject: 'An invitation' })
  t.ok(mails.at(-1)?.text.includes(`${publicUrl}/sign-up?token=${token}`))
  const sent = mails.length
  t.match(await register('grace@example.com', token), { status: 201, body: { email_verified: time } })
  t.match(await accountOf('grace@example.com'), { role: 'administrator', viewer: false, email_verified: time })
  t.match(await register('grace@example.com', link), badToken, 'the other one is over, too')
  t.equal(await count('mail_outbox', "email = 'grace@example.com'"), 0)
  t.equal(mails.length, sent, 'nothing is left to confirm')
})

t.test('of many at once one account is made', async t => {
  const token = await invite('many@example.com')
  const answers = await Promise.all(Array.from({ length: 4 }, () => register('many@example.com', token)))
  const statuses = answers.map(({ status }) => status).sort()
  t.equal(statuses[0], 201)
  t.ok(
    statuses.slice(1).every(status => status === 400 || status === 409),
    String(statuses),
  )
})

t.test('an invitation ends: revoked, replaced, after seven days', async t => {
  const revoked = await invite('revoked@example.com')
  const { invitations } = await open()
  const [{ id } = { id: 0 }] = invitations
  t.match(await admin.ask('DELETE', `/invitations/${id}`), { status: 204 })
  t.match(await admin.ask('DELETE', `/invitations/${id}`), problem(404, 'invitation unknown'))
  t.match(await register('revoked@example.com', revoked), badToken)
  const first = await invite('replaced@example.com', { mail: true })
  const mailed = await tokenIn(/invitation/, 'replaced@example.com')
  const { total } = await open()
  const second = await invite('REPLACED@example.com')
  t.equal((await open()).total, total, 'in place of the one before')
  for (const token of [first, mailed]) t.match(await register('replaced@example.com', token), badToken)
  t.match(await register('replaced@example.com', second), { status: 201 })
  const late = await invite('late@example.com')
  const later = await invite('later@example.com')
  clock.ms += 7 * dayMs - 1000
  t.match(await register('late@example.com', late), { status: 201 })
  clock.ms += 1000
  t.match(await register('later@example.com', later), badToken)
  t.equal(
    (await open()).invitations.some(({ id }) => id === 0),
    false,
  )
  t.strictSame(await open(), { invitations: [], total: 0, page: 1, next: null })
  t.ok((await count('invitations', 'true')) > 0)
  for (const text of sweepStatements) await pool.query(text, [new Date(clock.ms)])
  t.equal(await count('invitations', 'true'), 0)
})

t.test('a mail that is sent late has no link to an invitation that is gone', async t => {
  await pool.query(
    "INSERT INTO mail_outbox (kind, email, created_at, due_at) VALUES ('invitation', 'gone@example.com', now(), $1)",
    [new Date(clock.ms)],
  )
  accounts.mailDue()
  await invite('after@example.com', { mail: true })
  await tokenIn(/invitation/, 'after@example.com')
  t.equal(
    mails.some(({ to }) => to === 'gone@example.com'),
    false,
  )
  t.equal(await count('mail_outbox', "email = 'gone@example.com'"), 0)
})

t.test('what is wrong with an invitation is told', async t => {
  const told = async (body: object, ...errors: object[]) =>
    t.match(
      await admin.ask('POST', '/invitations', body),
      problem(422, 'invalid body', { errors }),
      JSON.stringify(body),
    )
  await told({}, { path: 'email' })
  await told({ email: 'ada' }, { path: 'email' })
  await told({ email: 'a@example.com', role: 'operator' }, { path: 'role' })
  await told({ email: 'a@example.com', viewer: 1 }, { path: 'viewer' })
  await told({ email: 'a@example.com', name: 'A' }, { path: '', message: /name/ })
  t.match(
    await admin.ask('POST', '/invitations', { email: 'KNOWN@example.com' }),
    problem(409, 'email taken', { errors: [{ path: 'email', message: 'belongs to an account' }] }),
  )
  for (const none of ['0', '999999', '2147483648', 'x', '-1']) {
    t.match(await admin.ask('DELETE', `/invitations/${none}`), problem(404, 'invitation unknown'), none)
  }
  t.match(await admin.ask('GET', '/invitations?page=0'), problem(400, 'invalid query'))
  t.match(await admin.ask('GET', '/invitations?search=a'), problem(400, 'invalid query'))
  t.match(await admin.ask('PATCH', '/invitations'), { status: 405, headers: { allow: 'GET, HEAD, POST' } })
  const { cookie } = await people.cookieOf(known)
  const url = '/api/admin/invitations'
  for (const [method, headers, status] of [
    ['GET', {}, 401],
    ['POST', {}, 401],
    ['GET', { cookie }, 403],
    ['POST', { cookie }, 403],
  ] as const) {
    t.equal((await admin.app.inject({ method, url, headers })).statusCode, status, `${method} ${status}`)
  }
})

t.test('invitations are listed page by page, bounded, and in the audit', async t => {
  await pool.query('DELETE FROM invitations')
  await pool.query('TRUNCATE audit')
  await invite('last@example.com', { viewer: true })
  const { invitations } = await open()
  t.match(invitations, [
    { id: Number, email: 'last@example.com', role: 'user', viewer: true, invited_by: 'local admin token' },
  ])
  t.match(invitations, [{ created_at: time, expires_at: new Date(clock.ms + 7 * dayMs).toISOString() }])
  t.notMatch(JSON.stringify(invitations), /link|token=/)
  await pool.query(
    `INSERT INTO invitations (email, role, is_viewer, invited_by, link_digest, created_at, expires_at)
     SELECT 'many' || n || '@example.com', 'user', false, 'test', sha256(n::text::bytea), $1::timestamptz - interval '1 hour', $1::timestamptz + interval '1 hour'
     FROM generate_series(1, 999) AS n`,
    [new Date(clock.ms)],
  )
  const page = async (number: number) => {
    const { body } = await admin.ask('GET', `/invitations?page=${number}`)
    const { invitations, ...rest } = body as { invitations: { email: string }[] }
    return { count: invitations.length, first: invitations[0]?.email, ...rest }
  }
  t.strictSame(await page(1), { count: 100, first: 'last@example.com', total: 1000, page: 1, next: 2 })
  t.match(await page(10), { count: 100, next: null })
  t.match(await page(11), { count: 0, total: 1000, next: null })
  await pool.query('DELETE FROM rate_limits')
  const more = { email: 'more@example.com', mail: false }
  t.match(await admin.ask('POST', '/invitations', more), problem(409, 'too many invitations'))
  t.match(
    await admin.ask('POST', '/invitations', { ...more, email: 'many1@example.com' }),
    { status: 201 },
    'another one of the same',
  )
  await admin.ask('DELETE', `/invitations/${invitations[0]?.id}`)
  t.match(await admin.ask('POST', '/invitations', more), { status: 201 })
  const { rows } = await pool.query('SELECT actor, action, subject, details FROM audit ORDER BY id')
  const actor = 'local admin token'
  const subject = `invitation ${invitations[0]?.id}`
  t.match(rows, [
    { actor, action: 'invitation.add', subject, details: { email: 'last@example.com', role: 'user', viewer: true } },
    { actor, action: 'invitation.add', subject: /^invitation \d+$/ },
    { actor, action: 'invitation.revoke', subject, details: { email: 'last@example.com' } },
    { actor, action: 'invitation.add' },
  ])
  await pool.query('DELETE FROM invitations')
})

t.test('no more invitations are open when they are made at the same moment', async t => {
  await pool.query('DELETE FROM rate_limits')
  await pool.query(
    `INSERT INTO invitations (email, role, is_viewer, invited_by, link_digest, created_at, expires_at)
     SELECT 'many' || n || '@example.com', 'user', false, 'test', sha256(n::text::bytea), $1::timestamptz, $1::timestamptz + interval '1 hour'
     FROM generate_series(1, 998) AS n`,
    [new Date(clock.ms)],
  )
  const asked = Array.from({ length: 16 }, (_, at) => {
    return admin.ask('POST', '/invitations', { email: `burst${at}@example.com`, mail: false })
  })
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  t.strictSame(statuses.sort(), [...Array(2).fill(201), ...Array(14).fill(409)])
  t.equal(await count('invitations', 'true'), 1000)
  await pool.query('DELETE FROM invitations')
})

t.test('an administrator invites so many in an hour, and an address so often', async t => {
  await pool.query('DELETE FROM rate_limits')
  const statuses = []
  for (let at = 0; at < 6; at++) {
    const { status } = await admin.ask('POST', '/invitations', { email: 'often@example.com', mail: false })
    statuses.push(status)
  }
  t.strictSame(statuses, [201, 201, 201, 201, 201, 429])
  await pool.query("UPDATE rate_limits SET count = 100 WHERE kind = 'invitations'")
  const refused = await admin.ask('POST', '/invitations', { email: 'one-more@example.com', mail: false })
  t.match(refused, { ...problem(429, 'too many requests'), headers: { 'retry-after': /^\d+$/ } })
  const administrator = await everybody.person('other-administrator@example.com')
  await admin.ask('PATCH', `/accounts/${administrator}`, { role: 'administrator' })
  const { cookie } = await people.cookieOf(administrator)
  const payload = { email: 'one-more@example.com', mail: false }
  const headers = { cookie, 'content-type': 'application/json' }
  const byOther = await admin.app.inject({ method: 'POST', url: '/api/admin/invitations', headers, payload })
  t.match([byOther.statusCode, byOther.json()], [201, { invited_by: `account ${administrator}` }])
})

t.test('the first sign-in by a provider counts as signing up', async t => {
  const callback = (ask: typeof people.ask, body: object) =>
    ask('POST', '/oauth/callback', {
      body: { provider: 'github', ...body },
      headers: { 'x-service-secret': serviceSecret },
    })
  const octo = { email: 'octo@example.com', provider_id: '1', email_verified: true }
  t.match(await callback(people.ask, octo), byInvitation)
  await invite('octo@example.com', { viewer: true })
  t.match(
    await callback(people.ask, { ...octo, email_verified: false }),
    byInvitation,
    'nobody has seen that it is theirs',
  )
  const made = await callback(people.ask, octo)
  t.match(made, { status: 200, body: { email: 'octo@example.com', email_verified: time } })
  t.match(await accountOf('octo@example.com'), { role: 'user', viewer: true })
  t.equal(await count('invitations', "email_key = 'octo@example.com'"), 0)
  const closed = { status: 403, body: { detail: 'registration is closed' } }
  const other = { email: 'hexa@example.com', provider_id: '2', email_verified: true }
  t.match(await callback(off.ask, other), closed)
  for (const ask of [people.ask, off.ask])
    t.match(await callback(ask, octo), { status: 200, body: { id: made.body['id'] } })
  await invite('hexa@example.com', { role: 'administrator' })
  t.match(await callback(everybody.ask, other), { status: 200 }, 'also where everybody may')
  t.match(await accountOf('hexa@example.com'), { role: 'administrator' })
  t.match(await callback(everybody.ask, { email: 'penta@example.com', provider_id: '3' }), {
    status: 200,
    body: { email_verified: null },
  })
  const racers = Array.from({ length: 6 }, (_, at) =>
    callback(people.ask, { email: 'race@example.com', provider_id: `r${at % 2}`, email_verified: true }),
  )
  t.ok((await Promise.all(racers)).every(({ status }) => status === 403))
})

t.test('where everybody may sign up, an invitation gives what it says', async t => {
  t.match(await register('self@example.com', undefined, everybody.ask), { status: 201 })
  const token = await invite('asked@example.com', { viewer: true })
  t.match(await register('asked@example.com', `${token}x`, everybody.ask), badToken)
  t.match(await register('asked@example.com', token, everybody.ask), { status: 201 })
  t.match(await accountOf('asked@example.com'), { viewer: true })
})

t.test('where nobody may sign up, nobody is invited', async t => {
  const closed = await startAdmin(t, { signUp: 'off', databases: admin.databases })
  await pool.query("UPDATE accounts SET role = 'user' WHERE role = 'operator'")
  t.match(
    await closed.ask('POST', '/invitations', { email: 'a@example.com' }),
    problem(409, 'sign-up off', { detail: /SIGN_UP=off/ }),
  )
  const { visit, submit, setup } = await openPages(t, closed.people)
  t.match(await visit('/sign-up?token=x'), { status: 403, text: /Nobody can sign up here/ })
  t.match(await submit('/sign-up', { email: 'a@example.com', password: goodPassword }), { status: 403 })
  t.notMatch((await visit('/sign-in')).text, /sign-up/)
  const operator = { token: (await setup.token()) ?? '', email: 'first@example.com', password: goodPassword }
  t.match(await submit('/setup', operator), { status: 303 }, 'but the operator comes by the setup link')
})

t.test('the page takes the link of an invitation', async t => {
  const { visit, submit } = await openPages(t, people)
  t.match(await visit('/sign-up'), { status: 403, text: /Only who is invited can sign up here/ })
  t.match(await submit('/sign-up', { email: 'page@example.com', password: goodPassword }), { status: 403 })
  t.notMatch((await visit('/sign-in')).text, /sign-up/)
  const token = await invite('page@example.com')
  for (const bad of [`${token}x`, '', 'x'.repeat(500)]) {
    t.match(await visit(`/sign-up?token=${bad}`), { status: 400, text: /This link is not valid/ }, bad)
  }
  const page = await visit(`/sign-up?token=${token}`)
  t.equal(page.status, 200)
  const fields = Object.fromEntries(
    page.elements.filter(({ tag }) => tag === 'input').map(({ attributes }) => [attributes['name'], attributes]),
  )
  t.match(fields, { email: { value: 'page@example.com', readonly: '' }, token: { value: token, type: 'hidden' } })
  const form = { email: 'page@example.com', token }
  t.match(await submit('/sign-up', { ...form, password: 'short' }), {
    status: 422,
    errors: ['Please use at least 8 characters.'],
  })
  t.match(await submit('/sign-up', { ...form, email: 'eve@example.com', password: goodPassword }), { status: 400 })
  t.equal((await visit(`/sign-up?token=${token}`)).status, 200, 'it is good until it is used')
  const signedUp = await submit('/sign-up', { ...form, password: goodPassword, name: 'P' })
  t.match(signedUp, { status: 303, location: 'account?done=signed-up' })
  t.match(await visit(`/sign-up?token=${token}`), { status: 400 })
  t.match(await visit('/sign-up', { cookie: signedUp.cookie }), { status: 303, location: 'account' })
  t.notMatch(JSON.stringify(await pool.query('SELECT * FROM audit')), token)
})
