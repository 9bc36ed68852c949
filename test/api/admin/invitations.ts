/** Registration: invitations by the admin API, by link and by mail, in the operations and on the page. */

import t from 'tap'
import { sweepStatements } from '../../../auth/accounts/accounts.ts'
import { goodPassword, openVariant, publicUrl, serviceSecret } from '../../support/accounts.ts'
import { at, invalidBody, isoTime, problem, startAdmin } from '../../support/admin.ts'
import { openPages } from '../../support/pages.ts'

const admin = await startAdmin(t, { signUp: 'invited' })
const { people, store } = admin
const { clock, hashings, mails, tokenIn, accounts } = people
const pool = store.postgres
const dayMs = 24 * 3_600_000

interface Invited {
  id: number
  link: string
}

const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? ''
/** Adds an invitation, and returns the token of its link. */
async function invite(email: string, more: object = {}): Promise<string> {
  // Separate tests cover the limits.
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

/** Both share the accounts, with other settings. */
const everybody = await openVariant(t, store, { settings: { signUp: 'open' } })
const off = await openVariant(t, store, { settings: { signUp: 'off' } })
const known = await everybody.person('known@example.com')

const byInvitation = { status: 403, body: { detail: 'registration by invitation only' } }
const closed = { status: 403, body: { detail: 'registration is closed' } }
const badToken = { status: 400, body: { detail: 'Invalid or expired token' } }

t.test('without an invitation no address can register', async t => {
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
  const body = { email: 'x@example.com', password: goodPassword, token: null }
  t.match(await people.ask('POST', '/register', { body }), byInvitation)
  const token = await invite('closed@example.com')
  for (const email of ['known@example.com', 'unknown@example.com'])
    t.match(await register(email, undefined, off.ask), closed)
  t.match(await register('closed@example.com', token, off.ask), closed, 'also with an earlier invitation')
  t.match(await register('closed@example.com', token), { status: 201 })
})

t.test('a link creates one account, for the invited address alone', async t => {
  const token = await invite('Ada@EXAMPLE.com', { viewer: true })
  t.match(token, /^[\w-]{43}$/)
  const before = hashings()
  t.match(await register('eve@example.com', token), badToken)
  for (const sent of [`${token}x`, '', 'x'.repeat(200)])
    t.match(await register('ada@example.com', sent), badToken, sent)
  t.equal(hashings(), before, 'a hash is made for a good token only')
  const made = await register('ADA@example.com', token)
  t.match(made, { status: 201, body: { email: 'ADA@example.com', email_verified: null } })
  t.match(await accountOf('ada@example.com'), { role: 'user', viewer: true, email_verified: null })
  t.match(await tokenIn(/Confirm/, 'ADA@example.com'), /^[\w-]{43}$/, 'who hands a link over has not seen the address')
  t.match(await register('ada@example.com', token), badToken, 'it is good once')
  t.equal(await count('invitations', "email_key = 'ada@example.com'"), 0)
  const newest = "SELECT details FROM audit WHERE action = 'account.register' ORDER BY id DESC LIMIT 1"
  t.match((await pool.query(newest)).rows, [{ details: { role: 'user', viewer: true, invitation: Number } }])
})

t.test('a mail has a separate link, which verifies the address', async t => {
  const link = await invite('grace@example.com', { mail: true, role: 'administrator' })
  const token = await tokenIn(/invitation/, 'grace@example.com')
  t.not(token, link)
  t.match(mails.at(-1), { to: 'grace@example.com', subject: 'An invitation' })
  t.ok(mails.at(-1)?.text.includes(`${publicUrl}/sign-up?token=${token}`))
  const sent = mails.length
  t.match(await register('grace@example.com', token), { status: 201, body: { email_verified: isoTime } })
  t.match(await accountOf('grace@example.com'), { role: 'administrator', viewer: false, email_verified: isoTime })
  t.match(await register('grace@example.com', link), badToken, 'the other one is over, too')
  t.equal(await count('mail_outbox', "email = 'grace@example.com'"), 0)
  t.equal(mails.length, sent, 'nothing is left to confirm')
})

t.test('one of many concurrent registrations creates the account', async t => {
  const token = await invite('many@example.com')
  const answers = await Promise.all(Array.from({ length: 4 }, () => register('many@example.com', token)))
  const [made, ...refused] = answers.map(({ status }) => status).sort()
  t.equal(made, 201)
  t.strictSame(
    refused.filter(status => status !== 400 && status !== 409),
    [],
  )
})

t.test('an invitation ends when it is revoked or replaced, and after seven days', async t => {
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
  t.strictSame(await open(), { invitations: [], total: 0, page: 1, next: null })
  t.ok((await count('invitations', 'true')) > 0)
  for (const text of sweepStatements) await pool.query(text, [new Date(clock.ms)])
  t.equal(await count('invitations', 'true'), 0)
})

t.test('a mail sent late has no link to a deleted invitation', async t => {
  await pool.query(
    "INSERT INTO mail_outbox (kind, email, created_at, due_at) VALUES ('invitation', 'gone@example.com', now(), $1)",
    [new Date(clock.ms)],
  )
  accounts.mailDue()
  await invite('after@example.com', { mail: true })
  await tokenIn(/invitation/, 'after@example.com')
  t.notOk(mails.some(({ to }) => to === 'gone@example.com'))
  t.equal(await count('mail_outbox', "email = 'gone@example.com'"), 0)
})

t.test('each fault of an invitation is reported by its field', async t => {
  const email = 'a@example.com'
  const taken = problem(409, 'email taken', at('email', 'belongs to an account'))
  await admin.answers(
    t,
    ['POST', '/invitations', {}, invalidBody('email')],
    ['POST', '/invitations', { email: 'ada' }, invalidBody('email')],
    ['POST', '/invitations', { email, role: 'operator' }, invalidBody('role')],
    ['POST', '/invitations', { email, viewer: 1 }, invalidBody('viewer')],
    ['POST', '/invitations', { email, name: 'A' }, invalidBody('', /name/)],
    ['POST', '/invitations', { email: 'KNOWN@example.com' }, taken],
    ['GET', '/invitations?page=0', undefined, problem(400, 'invalid query')],
    ['GET', '/invitations?search=a', undefined, problem(400, 'invalid query')],
    ['PATCH', '/invitations', undefined, { status: 405, headers: { allow: 'GET, HEAD, POST' } }],
  )
  for (const none of ['0', '999999', '2147483648', 'x', '-1']) {
    await admin.answers(t, ['DELETE', `/invitations/${none}`, undefined, problem(404, 'invitation unknown')])
  }
  const url = '/api/admin/invitations'
  for (const method of ['GET', 'POST'] as const) {
    t.equal((await admin.app.inject({ method, url })).statusCode, 401, method)
    const headers = { cookie: (await people.cookieOf(known)).cookie }
    t.equal((await admin.app.inject({ method, url, headers })).statusCode, 403, method)
  }
})

/** Inserts open invitations into the table. */
async function addMany(many: number): Promise<void> {
  await pool.query('DELETE FROM invitations')
  await pool.query('DELETE FROM rate_limits')
  await pool.query(
    `INSERT INTO invitations (email, role, is_viewer, invited_by, link_digest, created_at, expires_at)
     SELECT 'many' || n || '@example.com', 'user', false, 'test', sha256(n::text::bytea),
       $1::timestamptz - interval '1 hour', $1::timestamptz + interval '1 hour' FROM generate_series(1, $2::int) AS n`,
    [new Date(clock.ms), many],
  )
}

t.test('invitations are paged, limited, and in the audit', async t => {
  await addMany(999)
  await pool.query('TRUNCATE audit')
  await invite('last@example.com', { viewer: true })
  const [last, ...others] = (await open()).invitations
  t.match(last, { id: Number, email: 'last@example.com', role: 'user', viewer: true, invited_by: 'local admin token' })
  t.match(last, { created_at: isoTime, expires_at: new Date(clock.ms + 7 * dayMs).toISOString() })
  t.notMatch(JSON.stringify([last, ...others]), /link|token=/)
  await pool.query('DELETE FROM rate_limits')
  const more = { email: 'more@example.com', mail: false }
  await admin.answers(
    t,
    ['GET', '/invitations', undefined, { body: { invitations: { length: 100 }, total: 1000, page: 1, next: 2 } }],
    ['GET', '/invitations?page=10', undefined, { body: { invitations: { length: 100 }, next: null } }],
    ['POST', '/invitations', more, problem(409, 'too many invitations')],
    ['POST', '/invitations', { ...more, email: 'many1@example.com' }, { status: 201 }],
    ['DELETE', `/invitations/${last?.id}`, undefined, { status: 204 }],
    ['POST', '/invitations', more, { status: 201 }],
  )
  const { rows } = await pool.query('SELECT action, details FROM audit WHERE subject = $1 ORDER BY id', [
    `invitation ${last?.id}`,
  ])
  t.match(rows, [
    { action: 'invitation.add', details: { email: 'last@example.com', role: 'user', viewer: true } },
    { action: 'invitation.revoke', details: { email: 'last@example.com' } },
  ])
})

t.test('concurrent additions do not exceed the limit of open invitations', async t => {
  await addMany(998)
  const asked = Array.from({ length: 16 }, (_, at) => {
    return admin.ask('POST', '/invitations', { email: `burst${at}@example.com`, mail: false })
  })
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  t.strictSame(statuses.sort(), [...Array(2).fill(201), ...Array(14).fill(409)])
  t.equal(await count('invitations', 'true'), 1000)
  await pool.query('DELETE FROM invitations')
})

t.test('invitations are limited by hour for an administrator, and for an address', async t => {
  await pool.query('DELETE FROM rate_limits')
  const statuses: number[] = []
  const often = { email: 'often@example.com', mail: false }
  for (let at = 0; at < 6; at++) statuses.push((await admin.ask('POST', '/invitations', often)).status)
  t.strictSame(statuses, [201, 201, 201, 201, 201, 429])
  await pool.query("UPDATE rate_limits SET count = 100 WHERE kind = 'invitations'")
  const payload = { email: 'one-more@example.com', mail: false }
  const refused = await admin.ask('POST', '/invitations', payload)
  t.match(refused, { ...problem(429, 'too many requests'), headers: { 'retry-after': /^\d+$/ } })
  const administrator = await everybody.person('other-administrator@example.com')
  await admin.ask('PATCH', `/accounts/${administrator}`, { role: 'administrator' })
  const { cookie } = await people.cookieOf(administrator)
  const headers = { cookie, 'content-type': 'application/json' }
  const byOther = await admin.app.inject({ method: 'POST', url: '/api/admin/invitations', headers, payload })
  t.match([byOther.statusCode, byOther.json()], [201, { invited_by: `account ${administrator}` }])
})

t.test('the first sign-in by a provider counts as registration', async t => {
  const headers = { 'x-service-secret': serviceSecret }
  const callback = (ask: typeof people.ask, body: object) =>
    ask('POST', '/oauth/callback', { body: { provider: 'github', ...body }, headers })
  const octo = { email: 'octo@example.com', provider_id: '1', email_verified: true }
  t.match(await callback(people.ask, octo), byInvitation)
  await invite('octo@example.com', { viewer: true })
  t.match(await callback(people.ask, { ...octo, email_verified: false }), byInvitation, 'the address is not verified')
  const made = await callback(people.ask, octo)
  t.match(made, { status: 200, body: { email: 'octo@example.com', email_verified: isoTime } })
  t.match(await accountOf('octo@example.com'), { role: 'user', viewer: true })
  t.equal(await count('invitations', "email_key = 'octo@example.com'"), 0)
  const other = { email: 'hexa@example.com', provider_id: '2', email_verified: true }
  t.match(await callback(off.ask, other), closed)
  for (const ask of [people.ask, off.ask])
    t.match(await callback(ask, octo), { status: 200, body: { id: made.body['id'] } })
  await invite('hexa@example.com', { role: 'administrator' })
  t.match(await callback(everybody.ask, other), { status: 200 }, 'also where everybody may')
  t.match(await accountOf('hexa@example.com'), { role: 'administrator' })
  const unverified = await callback(everybody.ask, { email: 'penta@example.com', provider_id: '3' })
  t.match(unverified, { status: 200, body: { email_verified: null } })
  const racers = Array.from({ length: 6 }, (_, at) =>
    callback(people.ask, { email: 'race@example.com', provider_id: `r${at % 2}`, email_verified: true }),
  )
  t.ok((await Promise.all(racers)).every(({ status }) => status === 403))
})

t.test('with open registration, an invitation still grants its role', async t => {
  t.match(await register('self@example.com', undefined, everybody.ask), { status: 201 })
  const token = await invite('asked@example.com', { viewer: true })
  t.match(await register('asked@example.com', `${token}x`, everybody.ask), badToken)
  t.match(await register('asked@example.com', token, everybody.ask), { status: 201 })
  t.match(await accountOf('asked@example.com'), { viewer: true })
})

t.test('without registration, there are no invitations', async t => {
  const off = await startAdmin(t, { signUp: 'off', databases: admin.databases })
  await pool.query("UPDATE accounts SET role = 'user' WHERE role = 'operator'")
  const refused = problem(409, 'sign-up off', { detail: /SIGN_UP=off/ })
  t.match(await off.ask('POST', '/invitations', { email: 'a@example.com' }), refused)
  const { visit, submit, setup } = await openPages(t, off.people)
  t.match(await visit('/sign-up?token=x'), { status: 403, text: /Sign-up is off/ })
  t.match(await submit('/sign-up', { email: 'a@example.com', password: goodPassword }), { status: 403 })
  t.notMatch((await visit('/sign-in')).text, /sign-up/)
  const operator = { token: (await setup.token()) ?? '', email: 'first@example.com', password: goodPassword }
  t.match(await submit('/setup', operator), { status: 303 }, 'but the operator comes by the setup link')
})

t.test('the page accepts the link of an invitation', async t => {
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
  const short = { status: 422, errors: ['Please use at least 8 characters.'] }
  t.match(await submit('/sign-up', { ...form, password: 'short' }), short)
  t.match(await submit('/sign-up', { ...form, email: 'eve@example.com', password: goodPassword }), { status: 400 })
  t.equal((await visit(`/sign-up?token=${token}`)).status, 200, 'it is good until it is used')
  const signedUp = await submit('/sign-up', { ...form, password: goodPassword, name: 'P' })
  t.match(signedUp, { status: 303, location: 'account?done=signed-up' })
  t.match(await visit(`/sign-up?token=${token}`), { status: 400 })
  t.match(await visit('/sign-up', { cookie: signedUp.cookie }), { status: 303, location: 'account' })
  t.notMatch(JSON.stringify(await pool.query('SELECT * FROM audit')), token)
})
