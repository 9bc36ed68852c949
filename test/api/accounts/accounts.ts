/** Accounts from registration to deletion, with their preferences and saved views. */

import t from 'tap'
import { noPreferences } from '../../../auth/accounts/preference-values.ts'
import { TooBusy } from '../../../auth/too-busy.ts'
import { viewsPerAccountMax } from '../../../auth/views/view.ts'
import { viewAddressIn } from '../../../auth/views/view-address.ts'
import { routeOf } from '../../../web/client/routes.ts'
import { goodPassword, serviceSecret, startAccounts } from '../../support/accounts.ts'
import { waitFor } from '../../support/wait-for.ts'

const service = await startAccounts(t)
const { ask, person, cookieOf, tokenIn, store, clock, hashings, mails } = service
const pool = store.postgres
const { cookie: chooser } = await cookieOf(await person('chooser@example.com'))
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const newPassword = 'another fine phrase'
const asService = { 'x-service-secret': serviceSecret }
const minuteMs = 60_000

const post = (path: string, body: unknown, headers = {}) => ask('POST', path, { body, headers })
const login = (email: string, password = goodPassword, address?: string) =>
  ask('POST', '/login', { body: { email, password }, ...(address === undefined ? {} : { address }) })
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const statusesOf = async (answers: Promise<{ status: number }>[]) => await Promise.all(answers.map(statusOf))
const me = (cookie: string) => ask('GET', '/me', { headers: { cookie } })
const bearerOf = async (email: string) => {
  const { body } = await post('/token', { email, password: goodPassword })
  return { authorization: `Bearer ${body['access_token']}` }
}
const verify = (body: object) => post('/verification/verify', body)
const callback = (body: object, headers: object = asService) =>
  post('/oauth/callback', { provider: 'github', ...body }, headers)
const mailsTo = (email: string) => mails.filter(({ to }) => to === email)
const outboxIsEmpty = () =>
  waitFor('the outbox is empty', async () => (await pool.query('SELECT FROM mail_outbox')).rows.length === 0)

t.test('a person registers, verifies the address, and logs in', async t => {
  const given = { email: ' Ada@EXAMPLE.com ', password: goodPassword, name: 'Ada', role: 'operator' }
  const registered = await post('/register', given)
  const shown = { email: 'Ada@example.com', name: 'Ada', image: null, email_verified: null, is_active: true }
  t.match(registered, { status: 201, body: { id: Number, ...shown } })
  t.match(registered.body, { created_at: time, updated_at: time })
  t.notMatch(registered.text, goodPassword)
  t.match(await login('ada@example.com'), { status: 200, body: { id: registered.body['id'] } }, 'before it is verified')
  const token = await tokenIn(/Confirm/, 'Ada@example.com')
  t.match(await verify({ token: `${token}x` }), { status: 400, body: { detail: 'Invalid or expired token' } })
  t.equal(await statusOf(verify({ token, email: 'eve@example.com' })), 400)
  t.match(await verify({ token, email: 'ada@example.com' }), { status: 200, body: { message: 'Email verified' } })
  t.equal(await statusOf(verify({ token })), 400, 'a token is good once')
  t.match(await login('ADA@example.com'), { status: 200, body: { email_verified: time } })
  const { rows } = await pool.query("SELECT role FROM accounts WHERE email = 'Ada@example.com'")
  t.strictSame(rows, [{ role: 'user' }], 'the role cannot be chosen')
})

t.test('an address belongs to one account', async t => {
  const register = (email: string) => post('/register', { email, password: goodPassword })
  t.match(await register('ADA@example.com'), { status: 409, body: { detail: 'Email already registered' } })
  const statuses = await statusesOf(Array.from({ length: 4 }, () => register('many@example.com')))
  t.strictSame(statuses.sort(), [201, 409, 409, 409])
})

t.test('known and unknown users have the same cost and the same response', async t => {
  await person('known@example.com')
  const work = async (email: string) => {
    const before = hashings()
    const { status, text, headers } = await login(email, 'wrong one', '10.1.0.1')
    return { status, text, length: headers['content-length'], hashings: hashings() - before }
  }
  const known = await work('known@example.com')
  t.strictSame(await work('nobody@example.com'), known)
  t.match(known, { status: 401, text: '{"detail":"Invalid email or password"}', hashings: 1 })
  t.equal(await statusOf(callback({ email: 'linked@example.com', provider_id: 'l1', email_verified: true })), 200)
  t.strictSame(await work('linked@example.com'), known, 'an account without a password')
})

t.test('concurrent log-ins do not wait for each other, in any order of counting', async t => {
  const { failures } = service.accounts
  const network = '10.1.0.9'
  const first = await failures.take('first@example.com', network)
  // The second attempt has read the clock before the first one, and is counted after it.
  clock.ms -= 3
  const second = await failures.take('second@example.com', network)
  clock.ms += 3
  t.strictSame([first.waitSeconds, second.waitSeconds], [undefined, undefined])
  for (const who of ['first', 'second']) await failures.forgive(`${who}@example.com`, network)
})

t.test('an inactive account cannot log in, and its sessions end', async t => {
  const id = await person('gone@example.com')
  const { cookie } = await cookieOf(id)
  t.equal(await statusOf(me(cookie)), 200)
  await service.set(id, { is_active: false })
  t.match(await login('gone@example.com'), { status: 403, body: { detail: 'Account is inactive' } })
  t.equal(await statusOf(post('/token', { email: 'gone@example.com', password: goodPassword })), 403)
  t.equal(await statusOf(me(cookie)), 401)
  t.equal(await statusOf(login('gone@example.com', 'wrong one', '10.1.0.2')), 401)
})

t.test('wrong passwords delay only the network that sends them', async t => {
  await person('target@example.com')
  const wrong = () => login('target@example.com', 'wrong one', '10.2.0.1')
  const right = (address: string) => statusOf(login('target@example.com', goodPassword, address))
  for (let at = 0; at < 6; at++) t.equal(await statusOf(wrong()), at < 5 ? 401 : 429)
  const waits: unknown[] = []
  for (let at = 0; at < 8; at++) {
    const { headers } = await wrong()
    waits.push(headers['retry-after'])
    clock.ms += Number(headers['retry-after']) * 1000
    t.equal(await statusOf(wrong()), 401)
  }
  t.strictSame(waits, ['1', '2', '4', '8', '16', '32', '60', '60'])
  t.equal(await right('10.2.0.1'), 429, 'also with the right one')
  t.equal(await right('10.2.0.9'), 200, 'the owner comes in from elsewhere')
  t.equal(await statusOf(login('target@example.com', 'wrong one', '10.2.0.9')), 401, 'the first failure there')
  t.equal(await right('10.2.0.9'), 429, 'slowed after that')
  clock.ms += minuteMs
  t.equal(await right('10.2.0.1'), 200)
  for (let at = 0; at < 6; at++)
    t.equal(await statusOf(login('no-such@example.com', 'x', '10.2.0.3')), at < 5 ? 401 : 429)
})

t.test('five of many concurrent guesses are checked', async t => {
  await person('burst@example.com')
  const before = hashings()
  const guess = (at: number) => {
    const body = { email: 'burst@example.com', password: `guess ${at}` }
    return ask('POST', at % 2 ? '/login' : '/token', { body, address: '10.2.2.1' })
  }
  const statuses = await statusesOf(Array.from({ length: 80 }, (_, at) => guess(at)))
  t.equal(hashings() - before, 5)
  t.equal(statuses.filter(status => status === 401).length, 5)
  // Responses with 503 found the queue full.
  t.ok(statuses.every(status => [401, 429, 503].includes(status)))
})

t.test('five of many concurrent current passwords are checked, also for a new address', async t => {
  const id = await person('current@example.com')
  const { cookie } = await cookieOf(id)
  const before = hashings()
  const wrong = { current_password: 'wrong one' }
  const answers = Array.from({ length: 16 }, (_, at) =>
    at % 2
      ? post('/password/change', { ...wrong, new_password: newPassword }, { cookie })
      : ask('PATCH', '/me', { body: { ...wrong, email: 'next@example.com' }, headers: { cookie } }),
  )
  const statuses = await statusesOf(answers)
  t.strictSame(statuses.sort(), [...Array(5).fill(400), ...Array(11).fill(429)])
  t.equal(hashings() - before, 5)
})

t.test('only checked attempts count, until the right password resets the count', async t => {
  const email = 'not-looked-at@example.com'
  await person(email)
  const from = async (password: string, status: number) =>
    t.equal(await statusOf(login(email, password, '10.2.5.1')), status)
  const { passwords } = service.accounts
  const { attempt } = passwords
  const isFull = () => Promise.reject(new TooBusy('full', 1))
  passwords.attempt = (asker, check) => attempt(asker, () => check(isFull))
  for (let at = 0; at < 6; at++) await from(goodPassword, 503)
  passwords.attempt = attempt
  for (let at = 0; at < 4; at++) await from('wrong one', 401)
  await from(goodPassword, 200)
  for (let at = 0; at < 5; at++) await from('wrong one', 401)
  await from('wrong one', 429)
})

t.test('attempts on many accounts from one network are delayed', async t => {
  await person('crowd@example.com')
  for (let at = 0; at < 100; at++)
    await pool.query(`INSERT INTO login_failures VALUES (sha256($1::text::bytea), '10.3.0.1', 1, $2)`, [
      `one ${at}`,
      new Date(clock.ms),
    ])
  t.equal(await statusOf(login('crowd@example.com', goodPassword, '10.3.0.1')), 429)
  t.equal(await statusOf(login('crowd@example.com', goodPassword, '10.3.0.2')), 200)
  clock.ms += minuteMs
  t.equal(await statusOf(login('crowd@example.com', goodPassword, '10.3.0.1')), 200)
})

t.test('a mail reports a sign-in after ten wrong passwords, once a day for each network', async t => {
  const email = 'guessed-at@example.com'
  await person(email)
  const fail = (times: number) =>
    pool.query(`INSERT INTO login_failures VALUES (sha256($1::text::bytea), '10.8.0.' || $2::text, $2::int, $3)`, [
      email,
      times,
      new Date(clock.ms),
    ])
  await fail(9)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.9')), 200)
  // A mail for nine failures would be queued by now, and be sent first.
  await fail(1)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.1')), 200)
  const reports = () => mailsTo(email).filter(({ subject }) => /many wrong/.test(subject)).length
  await waitFor('the mail is sent', () => reports() === 1)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.1')), 200)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.2')), 200)
  await waitFor('the mail about the other network is sent', () => reports() === 2)
  await outboxIsEmpty()
  t.equal(reports(), 2)
})

t.test('a token resets a password once and ends every session', async t => {
  const email = 'forgot@example.com'
  const id = await person(email)
  const { cookie } = await cookieOf(id)
  const bearer = await bearerOf(email)
  t.match(await post('/password/reset-request', { email }), { status: 200 })
  const token = await tokenIn(/Set a new password/, email)
  const reset = () => post('/password/reset', { token, new_password: newPassword })
  const statuses = await statusesOf(Array.from({ length: 16 }, reset))
  t.strictSame(statuses.sort(), [200, ...Array(15).fill(400)])
  for (const headers of [{ cookie }, bearer]) t.equal(await statusOf(ask('GET', '/me', { headers })), 401)
  t.equal(await statusOf(login(email)), 401)
  t.equal(await statusOf(login(email, newPassword)), 200)
  await waitFor('the mail is sent', () => mailsTo(email).some(({ subject }) => /was changed/.test(subject)))
})

t.test('a reset token is valid for an hour, and only the newest one', async t => {
  const email = 'late@example.com'
  await person(email)
  const request = async () => {
    const before = mails.length
    t.equal(await statusOf(ask('POST', '/password/reset-request', { body: { email }, address: '10.4.0.1' })), 200)
    await waitFor('the mail is sent', () => mails.length > before)
    return await tokenIn(/Set a new password/, email)
  }
  const reset = (token: string) => statusOf(post('/password/reset', { token, password: newPassword }))
  const first = await request()
  clock.ms += minuteMs
  const second = await request()
  t.not(first, second)
  t.equal(await reset(first), 400)
  clock.ms += 60 * minuteMs
  t.equal(await reset(second), 400)
  const third = await request()
  clock.ms += 60 * minuteMs - 1
  t.equal(await reset(third), 200)
})

t.test('requests for mail have one response, send few mails, and are counted', async t => {
  const email = 'quiet@example.com'
  await person(email, { isUnverified: true })
  await tokenIn(/Confirm/, email)
  clock.ms += 60 * minuteMs
  const request = (path: string, email: string) => ask('POST', path, { body: { email }, address: '10.5.0.1' })
  const known = await request('/password/reset-request', email)
  t.equal(known.status, 200)
  t.strictSame((await request('/password/reset-request', 'nobody@example.com')).text, known.text)
  await waitFor('the mail is sent', () => mailsTo(email).length === 2)
  t.strictSame((await request('/password/reset-request', email)).text, known.text)
  await outboxIsEmpty()
  t.equal(mailsTo(email).length, 2, 'one mail a minute is sent')
  for (let at = 3; at < 10; at++) await request('/password/reset-request', 'nobody@example.com')
  const refused = await request('/password/reset-request', 'other@example.com')
  t.match(refused, { status: 429, headers: { 'retry-after': /^\d+$/ } })
  t.equal(await statusOf(request('/verification/request', email)), 200, 'each is counted by itself')
  await waitFor('the mail is sent', () => mailsTo(email).length === 3)
  t.strictSame(mailsTo('nobody@example.com'), [])
})

t.test('a caller with the old password changes it and stays signed in', async t => {
  const email = 'change@example.com'
  const id = await person(email)
  const { cookie } = await cookieOf(id)
  const { cookie: other } = await cookieOf(id)
  const change = (body: object, headers: object) => post('/password/change', body, headers)
  const body = { current_password: goodPassword, new_password: newPassword }
  t.equal(await statusOf(change(body, {})), 401)
  const wrong = await change({ ...body, current_password: 'wrong one' }, { cookie })
  t.match(wrong, { status: 400, body: { detail: 'Current password is wrong' } })
  const changed = await change(body, { cookie })
  t.equal(changed.status, 200)
  const [fresh = ''] = changed.headers['set-cookie'] as string[]
  t.match(fresh, /^__Secure-authjs\.session-token=[\w.-]+; Path=\/; Expires=.*; HttpOnly; SameSite=Lax; Secure$/)
  t.strictSame(await statusesOf([cookie, other, fresh.split(';')[0] ?? ''].map(me)), [401, 401, 200])
  t.equal(await statusOf(login(email, newPassword)), 200)
  const linked = await callback({ email: 'no-password@example.com', provider_id: 'np', email_verified: true })
  const session = await cookieOf(Number(linked.body['id']))
  t.equal(await statusOf(change(body, { cookie: session.cookie })), 400, 'an account without a password')
})

t.test('the profile is read and changed', async t => {
  const id = await person('me@example.com')
  const { cookie } = await cookieOf(id)
  const profile = await me(cookie)
  t.match(profile, { status: 200, body: { id, email: 'me@example.com', name: null, email_verified: time } })
  t.notOk('tenant_slug' in profile.body)
  const patch = (body: object) => ask('PATCH', '/me', { body, headers: { cookie } })
  const changes = { name: 'Me', image: 'https://example.com/me.png' }
  const changed = await patch({ ...changes, is_active: false, id: 7 })
  t.match(changed, { status: 200, body: { id, ...changes, is_active: true } })
  t.match(await patch({}), { status: 200, body: { name: 'Me' } })
  t.match(await patch({ image: null }), { status: 200, body: { name: 'Me', image: null } })
  t.match((await me(cookie)).body, { name: 'Me', image: null })
})

t.test('a new address is effective when it is confirmed', async t => {
  const id = await person('old@example.com')
  await person('taken@example.com')
  const { cookie } = await cookieOf(id)
  const patch = (email: string, current_password: string) =>
    ask('PATCH', '/me', { body: { email, current_password }, headers: { cookie }, address: '10.7.0.1' })
  t.equal(await statusOf(patch('new@example.com', 'wrong one')), 400)
  t.match(await patch('TAKEN@example.com', goodPassword), { status: 409, body: { detail: 'Email already registered' } })
  t.match(await patch('new@example.com', goodPassword), { status: 200, body: { email: 'old@example.com' } })
  const token = await tokenIn(/Confirm/, 'new@example.com')
  const isReport = ({ subject }: { subject: string }) => /new e-mail/.test(subject)
  await waitFor('the old address gets a mail', () => mailsTo('old@example.com').some(isReport))
  t.equal(await statusOf(login('new@example.com')), 401)
  t.equal(await statusOf(verify({ token })), 200)
  t.match(await me(cookie), { body: { email: 'new@example.com', email_verified: time } })
  t.equal(await statusOf(login('old@example.com')), 401)
  t.equal(await statusOf(login('new@example.com')), 200)
})

t.test('a new password cancels a pending change of the address', async t => {
  const id = await person('victim@example.com')
  const { cookie } = await cookieOf(id)
  const email = 'thief@example.com'
  const asked = { body: { email, current_password: goodPassword }, headers: { cookie } }
  t.equal(await statusOf(ask('PATCH', '/me', asked)), 200)
  const token = await tokenIn(/Confirm/, email)
  t.equal(await statusOf(post('/password/reset-request', { email: 'victim@example.com' })), 200)
  const reset = await tokenIn(/Set a new password/, 'victim@example.com')
  t.equal(await statusOf(post('/password/reset', { token: reset, password: newPassword })), 200)
  t.equal(await statusOf(verify({ token })), 400)
  t.equal(await statusOf(login('victim@example.com', newPassword)), 200)
})

t.test('an account is deleted permanently, by a recent session', async t => {
  const id = await person('leaving@example.com')
  const { cookie } = await cookieOf(id)
  const remove = (headers: Record<string, string>) => ask('DELETE', '/me', { headers })
  clock.ms += 60 * minuteMs + 1
  t.match(await remove({ cookie }), { status: 403, body: { detail: 'Please sign in again' } })
  const fresh = await cookieOf(id)
  t.match(await remove({ cookie: fresh.cookie }), { status: 204, text: '' })
  t.strictSame(await statusesOf([cookie, fresh.cookie].map(me)), [401, 401])
  t.equal(await statusOf(login('leaving@example.com')), 401)
  const { rows } = await pool.query('SELECT 1 FROM sessions WHERE account_id = $1', [id])
  t.equal(rows.length, 0)
  const operator = await person('operator@example.com')
  await service.set(operator, { role: 'operator' })
  t.equal(await statusOf(remove({ cookie: (await cookieOf(operator)).cookie })), 409)
})

t.test('look-ups: the front end finds all users, a user only themselves', async t => {
  const id = await person('seen@example.com')
  const other = await person('unseen@example.com')
  const { cookie } = await cookieOf(id)
  const get = (path: string, headers: Record<string, string>) => ask('GET', path, { headers })
  t.match(await get(`/users/${id}`, { cookie }), { status: 200, body: { id } })
  t.match(await get('/users/by-email/SEEN%40example.com', { cookie }), { status: 200, body: { id } })
  const foreign = await get(`/users/${other}`, { cookie })
  t.equal(foreign.status, 403)
  for (const name of ['999999', '99999999999999999999', '-1', 'by-email/unseen@example.com', 'by-email/x']) {
    const answer = await get(`/users/${name}`, { cookie })
    t.strictSame([answer.status, answer.text], [foreign.status, foreign.text], name)
  }
  t.match(await get(`/users/${other}`, asService), { status: 200, body: { id: other } })
  t.match(await get('/users/by-email/unseen@example.com', asService), { status: 200, body: { id: other } })
  t.match(await get('/users/999999', asService), { status: 404, body: { detail: 'User not found' } })
  t.equal(await statusOf(get('/users/99999999999999999999', asService)), 404)
  t.equal(await statusOf(get('/users/by-email/a%00b', asService)), 422)
})

t.test('a provider signs people in by identity, never by address alone', async t => {
  const email = 'octo@example.com'
  t.equal(await statusOf(callback({ email, provider_id: '1' }, {})), 401)
  t.match(await callback({ email, provider: 'evil', provider_id: '1' }), { status: 403 })
  const identity = { email, provider_account_id: '1', name: 'Octo', email_verified: true }
  const first = await callback({ ...identity, access_token: 'geheim' })
  t.match(first, { status: 200, body: { email, name: 'Octo', email_verified: time } })
  const moved = await callback({ email: 'moved@example.com', provider_id: '1' })
  t.match(moved, { status: 200, body: { id: first.body['id'], email } })
  await person('half@example.com', { isUnverified: true })
  const half = { email: 'half@example.com', provider_id: '2', email_verified: true }
  t.equal(await statusOf(callback(half)), 409, 'the address of the account is not verified')
  const verified = await person('full@example.com')
  const full = { email: 'full@example.com', provider_id: '3' }
  for (const body of [{ ...full, email_verified: false }, full]) t.equal(await statusOf(callback(body)), 409)
  t.match(await callback({ ...full, email_verified: true }), { status: 200, body: { id: verified } })
  const race = async (email: (at: number) => string, provider_id: string) => {
    const racers = Array.from({ length: 8 }, (_, at) => callback({ email: email(at), provider_id }))
    const answers = await Promise.all(racers)
    t.strictSame([...new Set(answers.map(({ status }) => status))], [200])
    t.equal(new Set(answers.map(({ body }) => body['id'])).size, 1, 'all of them are one person')
    const { rowCount } = await pool.query('SELECT FROM accounts WHERE email LIKE $1', [email(0).replace('0', '%')])
    t.equal(rowCount, 1)
  }
  await race(() => 'race@example.com', '9')
  await race(at => `race-${at}@example.com`, '10')
  const { rows: tables } = await pool.query('SELECT row_to_json(accounts) AS row FROM accounts')
  t.notMatch(JSON.stringify(tables), 'geheim')
})

t.test('every change has an audit entry, without secrets', async t => {
  const { rows } = await pool.query('SELECT actor, action, subject, details FROM audit ORDER BY id')
  const actions = new Set(rows.map(({ action }) => action))
  const ofAccounts = ['register', 'login', 'link', 'change', 'delete'].map(action => `account.${action}`)
  const others = ['email.verify', 'email.change-request', 'password.change', 'password.reset']
  for (const action of [...ofAccounts, ...others]) t.ok(actions.has(action), action)
  t.notMatch(JSON.stringify(rows), new RegExp(`${goodPassword}|${newPassword}|@example`))
})

const shown = async (cookie = chooser) => (await ask('GET', '/me/preferences', { headers: { cookie } })).body
const choose = (body: unknown) => ask('PATCH', '/me/preferences', { body, headers: { cookie: chooser } })

t.test('preferences are empty at first, and each stays until it is removed', async t => {
  const other = await cookieOf(await person('no-chooser@example.com'))
  t.strictSame(await shown(), noPreferences)
  const fahrenheit = { ...noPreferences, temperature_unit: '[degF]' }
  t.match(await choose({ temperature_unit: '[degF]', colour: 'red' }), { status: 200, body: fahrenheit })
  t.notOk('colour' in (await shown()), 'what is not known is ignored')
  const all = {
    language: 'de',
    temperature_unit: 'Cel',
    pressure_unit: "[in_i'Hg]",
    speed_unit: '[kn_i]',
    time_zone: 'Asia/Kolkata',
  }
  t.strictSame((await choose(all)).body, all)
  const unset = { pressure_unit: null, time_zone: null }
  t.strictSame((await choose(unset)).body, { ...all, ...unset })
  t.strictSame((await choose({})).status, 200)
  t.match(await shown(), { temperature_unit: 'Cel', speed_unit: '[kn_i]' })
  t.strictSame(await shown(other.cookie), noPreferences, 'they are one person’s alone')
  t.notOk('preferences' in (await me(chooser)).body)
  const { rows } = await store.postgres.query(
    "SELECT details FROM audit WHERE action = 'account.change' ORDER BY id DESC LIMIT 1",
  )
  t.strictSame(rows, [{ details: { fields: ['pressure_unit', 'time_zone'] } }])
})

t.test('invalid preferences are rejected like invalid fields', async t => {
  const refused = async (body: object, detail: object[]) =>
    t.match(await choose(body), { status: 422, body: { detail } }, JSON.stringify(body))
  const literal = (field: string, expected: string) => {
    return { type: 'literal_error', loc: ['body', field], msg: `Input should be ${expected}`, ctx: { expected } }
  }
  const pressure = literal('pressure_unit', `'hPa', "[in_i'Hg]" or 'mm[Hg]'`)
  const temperature = { ...literal('temperature_unit', "'Cel' or '[degF]'"), input: 7 }
  await refused({ pressure_unit: 'psi', temperature_unit: 7 }, [temperature, pressure])
  const zone = { type: 'value_error', msg: 'Value error, the time zone is not known', ctx: { error: {} } }
  await refused({ time_zone: 'Europe/Atlantis' }, [zone])
})

async function openAccount(email: string) {
  const id = await person(email)
  const { cookie } = await cookieOf(id)
  const call = (method: string, at = '', body?: unknown) =>
    ask(method, `/me/views${at}`, { headers: { cookie }, ...(body === undefined ? {} : { body }) })
  return { id, call, list: async () => (await call('GET')).body as unknown as { id: number; name: string }[] }
}

t.test('the address of a view is that of a page of the app', async t => {
  const canonical = (text: string) => viewAddressIn(text)?.text
  t.equal(canonical('/'), '/')
  t.equal(canonical('/?tag=site:north&q=cold store'), '/?tag=site:north&q=cold%20store')
  t.equal(canonical('/device/caf\u00e9?range=7d'), '/device/caf%C3%A9?range=7d')
  t.match(viewAddressIn('/device/a%2Fb'), { page: 'device', name: 'a/b' })
  for (const text of ['/compare?a=x&b=y', '/charts?line=temperature:x', '/station/DEL-01', '/alerts', '/admin/audit'])
    t.strictSame([canonical(text), routeOf(text.split('?')[0] ?? '') !== undefined], [text, true], text)
  const others = ['', 'device/a', 'https://evil.example/', '//evil.example/', '/\\evil.example/', '/.//evil.example']
  const custom = ['/device/', '/device/a/b', '/device/%ff', '/account', '/api/fleet', '/sign-out', '/compare#x']
  const long = [`/?q=${'x'.repeat(1000)}`, `/?q=${'\u00e9'.repeat(300)}`, `/?${'a&'.repeat(51)}`]
  for (const text of [...others, ...custom, ...long]) t.equal(canonical(text), undefined, text)
})

t.test('views are saved, renamed, made the start page and removed, each with an audit entry', async t => {
  const { id, call, list } = await openAccount('ada@views.example')
  t.strictSame(await list(), [])
  const saved = await call('POST', '', { name: 'North', address: '/?tag=site:north', is_start: true })
  t.match(saved, { status: 201, body: { name: 'North', address: '/?tag=site:north', is_start: true } })
  t.equal((await service.accounts.find(id))?.startAddress, '/?tag=site:north')
  const other = await call('POST', '', { name: 'cellar', address: '/device/cellar?range=7d' })
  t.match(other, { status: 201, body: { is_start: false } })
  t.match(await list(), { length: 2, 0: { name: 'cellar' }, 1: { name: 'North' } }, 'by name')
  const cellar = { name: 'Cellar', is_start: true }
  const changed = await call('PATCH', `/${other.body['id']}`, cellar)
  t.match(changed, { status: 200, body: { ...cellar, address: '/device/cellar?range=7d' } })
  t.match(await list(), { 0: cellar, 1: { name: 'North', is_start: false } }, 'one is, at most')
  t.equal((await service.accounts.find(id))?.startAddress, '/device/cellar?range=7d')
  t.match(await call('POST', '', { name: 'North', address: '/' }), { status: 409 })
  t.match(await call('PATCH', `/${saved.body['id']}`, { name: 'Cellar' }), { status: 409 })
  t.match(await call('DELETE', `/${other.body['id']}`), { status: 204 })
  t.match(await call('DELETE', `/${other.body['id']}`), { status: 404 })
  t.equal((await service.accounts.find(id))?.startAddress, null, 'with the view the start page is gone')
  const { rows } = await pool.query(
    `SELECT action || ' ' || (details ->> 'name') AS text FROM audit
     WHERE action LIKE 'view.%' AND subject = $1 ORDER BY id`,
    [`account ${id}`],
  )
  const texts = rows.map(({ text }) => text)
  t.strictSame(texts, ['view.add North', 'view.add cellar', 'view.change Cellar', 'view.remove Cellar'])
})

t.test('a dashboard is saved with its panels, which its owner changes, within bounds', async t => {
  const { id, call, list } = await openAccount('dora@views.example')
  const value = { kind: 'value', title: 'Porch', width: 1, devices: ['porch'], metrics: ['temperature'] }
  const saved = await call('POST', '', {
    name: 'Home',
    panels: [value, { kind: 'map', tags: ['site:*'] }],
    is_start: true,
  })
  const address = `/dashboard/${saved.body['id']}`
  const usual = { title: '', width: 2, devices: [], metrics: [], range: '24h', search: '' }
  const [first, second] = [
    { ...usual, ...value, tags: [] },
    { ...usual, kind: 'map', tags: ['site:*'] },
  ]
  t.match(saved, { status: 201, body: { address, is_start: true } })
  t.strictSame(saved.body['panels'], [first, second])
  t.equal((await service.accounts.find(id))?.startAddress, address)
  const panels = [second, first]
  t.strictSame((await call('PATCH', `/${saved.body['id']}`, { panels })).body['panels'], panels, 'in their new order')
  t.match(await call('PATCH', `/${saved.body['id']}`, { name: 'House' }), { body: { name: 'House', address, panels } })
  const page = await call('POST', '', { name: 'Porch', address: '/device/porch' })
  t.match(await list(), { 0: { panels }, 1: { panels: null } }, 'a view of a page has none')
  const made = await call('PATCH', `/${page.body['id']}`, { panels: [first] })
  t.match(made, { status: 200, body: { address: `/dashboard/${page.body['id']}`, panels: [first] } })

  const many = (count: number) => Array.from({ length: count }, (_, place) => `porch ${place}`)
  for (const [panel, reason] of [
    [[], 'Too small: expected array to have >=1 items'],
    [Array(13).fill(first), 'Too big: expected array to have <=12 items'],
    [[{ ...first, kind: 'pie' }], '0 kind Invalid option'],
    [[first, { ...first, title: 'x'.repeat(81) }], '1 title must have at most 80 characters'],
    [[{ ...first, metrics: [] }], '0 needs a device and a metric for value'],
    [[{ ...first, devices: many(9) }], '0 devices Too big'],
    [[{ ...first, devices: many(3), metrics: ['a', 'b', 'c'] }], '0 has more than 8 pairs'],
    [[{ ...second, tags: ['site'] }], '0 tags 0 must be a key'],
    [Array(12).fill({ ...first, devices: many(8).map(name => name.repeat(20)) }), 'are too long together'],
  ] as const) {
    const { status, body } = await call('POST', '', { name: 'a', panels: panel })
    t.match([status, JSON.stringify(body)], [422, new RegExp(`Value error, ${reason}`)], reason)
  }
})

t.test("an invalid view is rejected, another owner's is unknown, and an account has a limit", async t => {
  const { call, list } = await openAccount('carol@views.example')
  const eve = await openAccount('eve@views.example')
  const { body: hers } = await eve.call('POST', '', { name: 'Roof', address: '/device/roof' })
  t.match(await call('PATCH', `/${hers['id']}`, { name: 'Mine', is_start: true }), { status: 404 })
  t.match(await call('DELETE', `/${hers['id']}`), { status: 404 })
  t.match(await eve.list(), { length: 1, 0: { name: 'Roof', is_start: false } })
  const named = [' ', 'x'.repeat(101), 'a\u0000'].map(name => ({ name, address: '/' }))
  for (const body of [{}, { name: 'a' }, ...named, ...['//evil.example', 7].map(address => ({ name: 'a', address }))])
    t.match(await call('POST', '', body), { status: 422 }, JSON.stringify(body))
  for (let at = 0; at < viewsPerAccountMax; at++)
    t.equal((await call('POST', '', { name: `view ${at}`, address: '/' })).status, 201)
  t.match(await call('POST', '', { name: 'one more', address: '/' }), { status: 409 })
  t.equal((await list()).length, viewsPerAccountMax)
})
