/** Accounts from registration to deletion, with what each has: preferences and saved views. */

import fc from 'fast-check'
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

t.test('somebody registers, verifies the address, and logs in', async t => {
  const registered = await post('/register', {
    email: ' Ada@EXAMPLE.com ',
    password: goodPassword,
    name: 'Ada',
    role: 'operator',
  })
  t.match(registered, {
    status: 201,
    body: { id: Number, email: 'Ada@example.com', name: 'Ada', image: null, email_verified: null, is_active: true },
  })
  t.match(registered.body, { created_at: time, updated_at: time })
  t.notMatch(registered.text, goodPassword)
  t.match(await login('ada@example.com'), { status: 200, body: { id: registered.body['id'] } }, 'before it is verified')
  const token = await tokenIn(/Confirm/, 'Ada@example.com')
  t.match(await post('/verification/verify', { token: `${token}x` }), {
    status: 400,
    body: { detail: 'Invalid or expired token' },
  })
  t.equal(await statusOf(post('/verification/verify', { token, email: 'eve@example.com' })), 400)
  t.match(await post('/verification/verify', { token, email: 'ada@example.com' }), {
    status: 200,
    body: { message: 'Email verified' },
  })
  t.equal(await statusOf(post('/verification/verify', { token })), 400, 'a token is good once')
  t.match(await login('ADA@example.com'), { status: 200, body: { email_verified: time } })
  const { rows } = await pool.query("SELECT role FROM accounts WHERE email = 'Ada@example.com'")
  t.strictSame(rows, [{ role: 'user' }], 'nobody chooses their role')
})

t.test('an address belongs to one account', async t => {
  t.match(await post('/register', { email: 'ADA@example.com', password: goodPassword }), {
    status: 409,
    body: { detail: 'Email already registered' },
  })
  const email = 'many@example.com'
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => post('/register', { email, password: goodPassword })),
  )
  t.strictSame(answers.map(({ status }) => status).sort(), [201, 409, 409, 409])
})

t.test('a known and an unknown user cost the same and get the same answer', async t => {
  await person('known@example.com')
  const work = async (email: string) => {
    const before = hashings()
    const { status, text, headers } = await ask('POST', '/login', {
      body: { email, password: 'wrong one' },
      address: '10.1.0.1',
    })
    return { status, text, length: headers['content-length'], hashings: hashings() - before }
  }
  const known = await work('known@example.com')
  t.strictSame(await work('nobody@example.com'), known)
  t.match(known, { status: 401, text: '{"detail":"Invalid email or password"}', hashings: 1 })
  const linked = await post(
    '/oauth/callback',
    {
      email: 'linked@example.com',
      provider: 'github',
      provider_id: 'l1',
      email_verified: true,
    },
    asService,
  )
  t.equal(linked.status, 200)
  t.strictSame(await work('linked@example.com'), known, 'an account without a password')
})

t.test('of people who log in at once none waits for another, whichever attempt is counted first', async t => {
  const { failures } = service.accounts
  const network = '10.1.0.9'
  const first = await failures.take('first@example.com', network)
  // This one looked at the clock before the other, and is counted after it.
  clock.ms -= 3
  const second = await failures.take('second@example.com', network)
  clock.ms += 3
  t.strictSame([first.waitSeconds, second.waitSeconds], [undefined, undefined])
  for (const who of ['first', 'second']) await failures.forgive(`${who}@example.com`, network)
})

t.test('of attempts on an account that are counted at once those that are free are taken', async t => {
  const { failures } = service.accounts
  // Else one connection takes them all, one after another, before there is a second one.
  await Promise.all(Array.from({ length: 40 }, () => pool.query('SELECT pg_sleep(0.1)')))
  for (let round = 0; round < 2; round++) {
    const take = () => failures.take(`at-once-${round}@example.com`, `10.1.1.${round}`)
    const attempts = await Promise.all(Array.from({ length: 40 }, take))
    t.equal(attempts.filter(({ waitSeconds }) => waitSeconds === undefined).length, 5)
  }
})

t.test('an inactive account does not log in, and its sessions end', async t => {
  const id = await person('gone@example.com')
  const { cookie } = await cookieOf(id)
  t.equal(await statusOf(ask('GET', '/me', { headers: { cookie } })), 200)
  await service.set(id, { is_active: false })
  t.match(await login('gone@example.com'), { status: 403, body: { detail: 'Account is inactive' } })
  t.equal(await statusOf(post('/token', { email: 'gone@example.com', password: goodPassword })), 403)
  t.equal(await statusOf(ask('GET', '/me', { headers: { cookie } })), 401)
  t.equal(await statusOf(login('gone@example.com', 'wrong one', '10.1.0.2')), 401, 'only the right password tells')
})

t.test('wrong passwords are slowed down, for the network that sends them alone', async t => {
  await person('target@example.com')
  const wrong = () => login('target@example.com', 'wrong one', '10.2.0.1')
  const statuses = []
  for (let at = 0; at < 6; at++) statuses.push(await statusOf(wrong()))
  t.strictSame(statuses, [401, 401, 401, 401, 401, 429])
  const waits: unknown[] = []
  for (let at = 0; at < 8; at++) {
    const { headers } = await wrong()
    waits.push(headers['retry-after'])
    clock.ms += Number(headers['retry-after']) * 1000
    t.equal(await statusOf(wrong()), 401)
  }
  t.strictSame(waits, ['1', '2', '4', '8', '16', '32', '60', '60'])
  t.equal(await statusOf(login('target@example.com', goodPassword, '10.2.0.1')), 429, 'also with the right one')
  t.equal(
    await statusOf(login('target@example.com', goodPassword, '10.2.0.9')),
    200,
    'the owner comes in from elsewhere',
  )
  t.equal(await statusOf(login('target@example.com', 'wrong one', '10.2.0.9')), 401, 'the first failure there')
  t.equal(await statusOf(login('target@example.com', goodPassword, '10.2.0.9')), 429, 'slowed after that')
  clock.ms += minuteMs
  t.equal(await statusOf(login('target@example.com', goodPassword, '10.2.0.1')), 200)
  for (let at = 0; at < 6; at++)
    t.equal(await statusOf(login('no-such@example.com', 'x', '10.2.0.3')), at < 5 ? 401 : 429)
})

t.test('of many guesses at once five are looked at', async t => {
  await person('burst@example.com')
  const before = hashings()
  const guess = (at: number) => {
    const body = { email: 'burst@example.com', password: `guess ${at}` }
    return ask('POST', at % 2 ? '/login' : '/token', { body, address: '10.2.2.1' })
  }
  const statuses = await Promise.all(Array.from({ length: 80 }, (_, at) => statusOf(guess(at))))
  t.equal(hashings() - before, 5)
  t.equal(statuses.filter(status => status === 401).length, 5)
  // 503: those for which there is no place in the queue.
  t.ok(statuses.every(status => [401, 429, 503].includes(status)))
})

t.test('the owner comes in while four networks guess, and does not pay for being quick', async t => {
  const email = 'besieged@example.com'
  await person(email)
  const before = hashings()
  const guesses = Array.from({ length: 60 }, (_, at) => statusOf(login(email, `guess ${at}`, `10.2.3.${at % 4}`)))
  const owner = await Promise.all(
    Array.from({ length: 6 }, (_, at) => statusOf(login(email, goodPassword, `10.2.4.${at}`))),
  )
  t.strictSame(owner, Array(6).fill(200))
  await Promise.all(guesses)
  t.ok(hashings() - before <= 6 + 5 + 4, 'five, and the first one of each network')
  const quick = await Promise.all(Array.from({ length: 16 }, () => statusOf(login(email, goodPassword, '10.2.4.1'))))
  t.strictSame(quick, Array(16).fill(200), 'right ones at once are no guesses')
})

t.test('of many current passwords at once five are looked at, also for a new address', async t => {
  const id = await person('current@example.com')
  const { cookie } = await cookieOf(id)
  const before = hashings()
  const wrong = { current_password: 'wrong one' }
  const answers = Array.from({ length: 16 }, (_, at) =>
    at % 2
      ? post('/password/change', { ...wrong, new_password: newPassword }, { cookie })
      : ask('PATCH', '/me', { body: { ...wrong, email: 'next@example.com' }, headers: { cookie } }),
  )
  const statuses = (await Promise.all(answers)).map(({ status }) => status)
  t.strictSame(statuses.sort(), [...Array(5).fill(400), ...Array(11).fill(429)])
  t.equal(hashings() - before, 5)
})

t.test('an attempt that was not looked at does not count', async t => {
  const email = 'not-looked-at@example.com'
  await person(email)
  const { passwords } = service.accounts
  const { attempt } = passwords
  passwords.attempt = (asker, check) =>
    attempt(asker, () =>
      check(async () => {
        throw new TooBusy('full', 1)
      }),
    )
  for (let at = 0; at < 6; at++) t.equal(await statusOf(login(email, goodPassword, '10.2.5.1')), 503)
  passwords.attempt = attempt
  t.equal(await statusOf(login(email, 'wrong one', '10.2.5.1')), 401)
  t.equal(await statusOf(login(email, goodPassword, '10.2.5.1')), 200)
})

t.test('the right password forgives the wrong ones of its network', async t => {
  const email = 'forgiven@example.com'
  await person(email)
  const from = (password: string) => statusOf(login(email, password, '10.2.1.1'))
  for (let at = 0; at < 4; at++) t.equal(await from('wrong one'), 401)
  t.equal(await from(goodPassword), 200)
  for (let at = 0; at < 5; at++) t.equal(await from('wrong one'), 401)
  t.equal(await from('wrong one'), 429)
})

t.test('tries of many accounts from one network are slowed down', async t => {
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

t.test('the owner is told of a sign-in after ten wrong passwords, once a day for each network', async t => {
  const email = 'guessed-at@example.com'
  await person(email)
  const fail = (times: number) =>
    pool.query('INSERT INTO login_failures VALUES (sha256($1::text::bytea), $2, $3, $4)', [
      email,
      `10.8.0.${times}`,
      times,
      new Date(clock.ms),
    ])
  await fail(9)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.9')), 200)
  // Its mail would be queued by now, and goes out before that of the other network.
  await fail(1)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.1')), 200)
  const told = () => mails.filter(({ to, subject }) => to === email && /many wrong/.test(subject)).length
  await waitFor('its owner is told', () => told() === 1)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.1')), 200)
  t.equal(await statusOf(login(email, goodPassword, '10.9.0.2')), 200)
  await waitFor('its owner is told of the other network', () => told() === 2)
  await waitFor('the outbox is empty', async () => (await pool.query('SELECT FROM mail_outbox')).rows.length === 0)
  t.equal(told(), 2)
})

t.test('a password is reset once by its token, and every session ends', async t => {
  const email = 'forgot@example.com'
  const id = await person(email)
  const { cookie } = await cookieOf(id)
  const { body: bearer } = await post('/token', { email, password: goodPassword })
  const authorization = `Bearer ${bearer['access_token']}`
  t.match(await post('/password/reset-request', { email }), { status: 200 })
  const token = await tokenIn(/Set a new password/, email)
  const reset = () => post('/password/reset', { token, new_password: newPassword })
  const answers = await Promise.all(Array.from({ length: 16 }, reset))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 15 }, () => 400)])
  t.equal(await statusOf(ask('GET', '/me', { headers: { cookie } })), 401)
  t.equal(await statusOf(ask('GET', '/me', { headers: { authorization } })), 401)
  t.equal(await statusOf(login(email)), 401)
  t.equal(await statusOf(login(email, newPassword)), 200)
  await tokenIn(/was changed/, email).catch(() => undefined)
  t.ok(
    mails.some(({ to, subject }) => to === email && /was changed/.test(subject)),
    'its owner is told',
  )
})

t.test('a reset token lives an hour, and only the newest one', async t => {
  const email = 'late@example.com'
  await person(email)
  const request = async () => {
    const before = mails.length
    t.equal(await statusOf(ask('POST', '/password/reset-request', { body: { email }, address: '10.4.0.1' })), 200)
    await waitFor('the mail is sent', () => mails.length > before)
    return await tokenIn(/Set a new password/, email)
  }
  const first = await request()
  clock.ms += minuteMs
  const second = await request()
  t.not(first, second)
  t.equal(await statusOf(post('/password/reset', { token: first, password: newPassword })), 400)
  clock.ms += 60 * minuteMs
  t.equal(await statusOf(post('/password/reset', { token: second, password: newPassword })), 400)
  const third = await request()
  clock.ms += 60 * minuteMs - 1
  t.equal(await statusOf(post('/password/reset', { token: third, password: newPassword })), 200)
})

t.test('requests for mail tell nothing, send little, and are counted', async t => {
  const email = 'quiet@example.com'
  await person(email, { isUnverified: true })
  await tokenIn(/Confirm/, email)
  clock.ms += 60 * minuteMs
  const request = (path: string, email: string, address: string) => ask('POST', path, { body: { email }, address })
  const known = await request('/password/reset-request', email, '10.5.0.1')
  const unknown = await request('/password/reset-request', 'nobody@example.com', '10.5.0.1')
  t.equal(known.status, 200)
  t.strictSame(unknown.text, known.text)
  await waitFor('the mail is sent', () => mails.filter(({ to }) => to === email).length === 2)
  t.strictSame((await request('/password/reset-request', email, '10.5.0.1')).text, known.text)
  // A row goes after its mail.
  await waitFor('the outbox is empty', async () => {
    const { rows } = await pool.query('SELECT FROM mail_outbox')
    return rows.length === 0
  })
  t.equal(mails.filter(({ to }) => to === email).length, 2, 'one a minute is sent, and nobody is told')
  for (let at = 3; at < 10; at++) await request('/password/reset-request', 'nobody@example.com', '10.5.0.1')
  const { status, headers } = await request('/password/reset-request', 'other@example.com', '10.5.0.1')
  t.equal(status, 429)
  t.match(headers['retry-after'], /^\d+$/)
  t.equal(await statusOf(request('/verification/request', email, '10.5.0.1')), 200, 'each is counted by itself')
  await waitFor('the mail is sent', () => mails.filter(({ to }) => to === email).length === 3)
  t.notOk(mails.some(({ to }) => to === 'nobody@example.com'))
})

t.test('a password is changed with the old one; the caller stays signed in', async t => {
  const email = 'change@example.com'
  const id = await person(email)
  const { cookie } = await cookieOf(id)
  const { cookie: other } = await cookieOf(id)
  const change = (body: object, headers: object) => post('/password/change', body, headers)
  const body = { current_password: goodPassword, new_password: newPassword }
  t.equal(await statusOf(change(body, {})), 401)
  t.match(await change({ ...body, current_password: 'wrong one' }, { cookie }), {
    status: 400,
    body: { detail: 'Current password is wrong' },
  })
  const changed = await change(body, { cookie })
  t.equal(changed.status, 200)
  const [fresh = ''] = changed.headers['set-cookie'] as string[]
  t.match(fresh, /^__Secure-authjs\.session-token=[\w.-]+; Path=\/; Expires=.*; HttpOnly; SameSite=Lax; Secure$/)
  t.equal(await statusOf(ask('GET', '/me', { headers: { cookie } })), 401)
  t.equal(await statusOf(ask('GET', '/me', { headers: { cookie: other } })), 401)
  t.equal(await statusOf(ask('GET', '/me', { headers: { cookie: fresh.split(';')[0] ?? '' } })), 200)
  t.equal(await statusOf(login(email, newPassword)), 200)
  const linked = await post(
    '/oauth/callback',
    {
      email: 'no-password@example.com',
      provider: 'github',
      provider_id: 'np',
      email_verified: true,
    },
    asService,
  )
  const session = await cookieOf(Number(linked.body['id']))
  t.equal(await statusOf(change(body, { cookie: session.cookie })), 400, 'an account without a password')
})

t.test('the profile is read and changed', async t => {
  const id = await person('me@example.com')
  const { cookie } = await cookieOf(id)
  const me = await ask('GET', '/me', { headers: { cookie } })
  t.match(me, { status: 200, body: { id, email: 'me@example.com', name: null, email_verified: time } })
  t.notOk('tenant_slug' in me.body)
  const patch = (body: object) => ask('PATCH', '/me', { body, headers: { cookie } })
  t.match(await patch({ name: 'Me', image: 'https://example.com/me.png', is_active: false, id: 7 }), {
    status: 200,
    body: { id, name: 'Me', image: 'https://example.com/me.png', is_active: true },
  })
  t.match(await patch({}), { status: 200, body: { name: 'Me' } })
  t.match(await patch({ image: null }), { status: 200, body: { name: 'Me', image: null } })
  t.match((await ask('GET', '/me', { headers: { cookie } })).body, { name: 'Me', image: null })
})

t.test('a new address counts when it is confirmed', async t => {
  const id = await person('old@example.com')
  await person('taken@example.com')
  const { cookie } = await cookieOf(id)
  const patch = (email: string, current_password: string) =>
    ask('PATCH', '/me', { body: { email, current_password }, headers: { cookie }, address: '10.7.0.1' })
  t.equal(await statusOf(patch('new@example.com', 'wrong one')), 400)
  t.match(await patch('TAKEN@example.com', goodPassword), { status: 409, body: { detail: 'Email already registered' } })
  t.match(await patch('new@example.com', goodPassword), { status: 200, body: { email: 'old@example.com' } })
  const token = await tokenIn(/Confirm/, 'new@example.com')
  await waitFor('the old address is told', () =>
    mails.some(({ to, subject }) => to === 'old@example.com' && /new e-mail/.test(subject)),
  )
  t.equal(await statusOf(login('new@example.com')), 401)
  t.equal(await statusOf(post('/verification/verify', { token })), 200)
  t.match(await ask('GET', '/me', { headers: { cookie } }), {
    body: { email: 'new@example.com', email_verified: time },
  })
  t.equal(await statusOf(login('old@example.com')), 401)
  t.equal(await statusOf(login('new@example.com')), 200)
})

t.test('a new password ends a change of the address that is under way', async t => {
  const id = await person('victim@example.com')
  const { cookie } = await cookieOf(id)
  const email = 'thief@example.com'
  const asked = { body: { email, current_password: goodPassword }, headers: { cookie } }
  t.equal(await statusOf(ask('PATCH', '/me', asked)), 200)
  const token = await tokenIn(/Confirm/, email)
  t.equal(await statusOf(post('/password/reset-request', { email: 'victim@example.com' })), 200)
  const reset = await tokenIn(/Set a new password/, 'victim@example.com')
  t.equal(await statusOf(post('/password/reset', { token: reset, password: newPassword })), 200)
  t.equal(await statusOf(post('/verification/verify', { token })), 400)
  t.equal(await statusOf(login('victim@example.com', newPassword)), 200)
})

t.test('an account is deleted for good, by a young session', async t => {
  const id = await person('leaving@example.com')
  const { cookie } = await cookieOf(id)
  const { body } = await post('/token', { email: 'leaving@example.com', password: goodPassword })
  const authorization = `Bearer ${body['access_token']}`
  const remove = (headers: Record<string, string>) => ask('DELETE', '/me', { headers })
  t.equal(await statusOf(remove({ authorization })), 403)
  clock.ms += 60 * minuteMs + 1
  t.match(await remove({ cookie }), { status: 403, body: { detail: 'Please sign in again' } })
  const fresh = await cookieOf(id)
  t.match(await remove({ cookie: fresh.cookie }), { status: 204, text: '' })
  for (const headers of [{ cookie }, { cookie: fresh.cookie }])
    t.equal(await statusOf(ask('GET', '/me', { headers })), 401)
  t.equal(await statusOf(login('leaving@example.com')), 401)
  const { rows } = await pool.query('SELECT 1 FROM sessions WHERE account_id = $1', [id])
  t.equal(rows.length, 0)
  const operator = await person('operator@example.com')
  await service.set(operator, { role: 'operator' })
  t.equal(await statusOf(remove({ cookie: (await cookieOf(operator)).cookie })), 409)
})

t.test('look-ups: anybody for the front end, oneself for the others, and nothing to be learned', async t => {
  const id = await person('seen@example.com')
  const other = await person('unseen@example.com')
  const { cookie } = await cookieOf(id)
  const get = (path: string, headers: Record<string, string>) => ask('GET', path, { headers })
  t.equal(await statusOf(get(`/users/${id}`, {})), 401)
  t.match(await get(`/users/${id}`, { cookie }), { status: 200, body: { id } })
  t.match(await get('/users/by-email/SEEN%40example.com', { cookie }), { status: 200, body: { id } })
  const foreign = await get(`/users/${other}`, { cookie })
  t.equal(foreign.status, 403)
  for (const path of [
    '/users/999999',
    '/users/99999999999999999999',
    '/users/-1',
    '/users/by-email/unseen@example.com',
    '/users/by-email/x',
  ]) {
    const answer = await get(path, { cookie })
    t.strictSame([answer.status, answer.text], [foreign.status, foreign.text], path)
  }
  t.match(await get(`/users/${other}`, asService), { status: 200, body: { id: other } })
  t.match(await get('/users/by-email/unseen@example.com', asService), { status: 200, body: { id: other } })
  t.match(await get('/users/999999', asService), { status: 404, body: { detail: 'User not found' } })
  t.equal(await statusOf(get('/users/99999999999999999999', asService)), 404)
  t.equal(await statusOf(get('/users/by-email/a%00b', asService)), 422)
  t.equal(await statusOf(get('/users/1', { 'x-service-secret': 'wrong' })), 401)
})

t.test('a provider signs people in by identity, never by address alone', async t => {
  const callback = (body: object, headers: object = asService) =>
    post('/oauth/callback', { provider: 'github', ...body }, headers)
  const email = 'octo@example.com'
  t.equal(await statusOf(callback({ email, provider_id: '1' }, {})), 401)
  t.match(await callback({ email, provider: 'evil', provider_id: '1' }), { status: 403 })
  const first = await callback({
    email,
    provider_account_id: '1',
    name: 'Octo',
    email_verified: true,
    access_token: 'geheim',
  })
  t.match(first, { status: 200, body: { email, name: 'Octo', email_verified: time } })
  t.match(await callback({ email: 'moved@example.com', provider_id: '1' }), {
    status: 200,
    body: { id: first.body['id'], email },
  })
  const unverified = await person('half@example.com', { isUnverified: true })
  const refusal = { status: 409 }
  t.match(
    await callback({ email: 'half@example.com', provider_id: '2', email_verified: true }),
    refusal,
    'ours is not verified',
  )
  const verified = await person('full@example.com')
  t.match(await callback({ email: 'full@example.com', provider_id: '3', email_verified: false }), refusal)
  t.match(await callback({ email: 'full@example.com', provider_id: '3' }), refusal)
  t.match(await callback({ email: 'full@example.com', provider_id: '3', email_verified: true }), {
    status: 200,
    body: { id: verified },
  })
  t.not(verified, unverified)
  const race = async (email: (at: number) => string, provider_id: string) => {
    const racers = Array.from({ length: 8 }, (_, at) => callback({ email: email(at), provider_id }))
    const answers = await Promise.all(racers)
    t.strictSame([...new Set(answers.map(({ status }) => status))], [200])
    t.equal(new Set(answers.map(({ body }) => body['id'])).size, 1, 'all of them are one person')
    const { rows } = await pool.query('SELECT count(*)::int AS count FROM accounts WHERE email LIKE $1', [
      email(0).replace('0', '%'),
    ])
    t.strictSame(rows, [{ count: 1 }])
  }
  await race(() => 'race@example.com', '9')
  await race(at => `race-${at}@example.com`, '10')
  const { rows: tables } = await pool.query('SELECT row_to_json(accounts) AS row FROM accounts')
  t.notMatch(JSON.stringify(tables), 'geheim')
})

t.test('every change leaves a row in the audit, without secrets', async t => {
  const { rows } = await pool.query('SELECT actor, action, subject, details FROM audit ORDER BY id')
  const actions = new Set(rows.map(({ action }) => action))
  for (const action of [
    'account.register',
    'account.login',
    'account.link',
    'account.change',
    'account.delete',
    'email.verify',
    'email.change-request',
    'password.change',
    'password.reset',
  ]) {
    t.ok(actions.has(action), action)
  }
  t.notMatch(JSON.stringify(rows), new RegExp(`${goodPassword}|${newPassword}|@example`))
})

const shown = async (cookie = chooser) => (await ask('GET', '/me/preferences', { headers: { cookie } })).body
const choose = (body: unknown) => ask('PATCH', '/me/preferences', { body, headers: { cookie: chooser } })

t.test('nothing is chosen at first, and each choice stays until it is taken away', async t => {
  t.strictSame(await shown(), noPreferences)
  const fahrenheit = { ...noPreferences, temperature_unit: '[degF]' }
  t.match(await choose({ temperature_unit: '[degF]', colour: 'red' }), { status: 200, body: fahrenheit })
  t.notOk('colour' in (await shown()), 'what is not known is ignored')
  const all = { temperature_unit: 'Cel', pressure_unit: "[in_i'Hg]", speed_unit: '[kn_i]', time_zone: 'Asia/Kolkata' }
  t.strictSame((await choose(all)).body, all)
  t.strictSame((await choose({ pressure_unit: null, time_zone: null })).body, {
    ...all,
    pressure_unit: null,
    time_zone: null,
  })
  t.strictSame((await choose({})).status, 200)
  t.match(await shown(), { temperature_unit: 'Cel', speed_unit: '[kn_i]' })
  const { rows } = await store.postgres.query(
    "SELECT details FROM audit WHERE action = 'account.change' ORDER BY id DESC LIMIT 1",
  )
  t.strictSame(rows, [{ details: { fields: ['pressure_unit', 'time_zone'] } }])
})

t.test('they are one person’s alone, and no part of the profile', async t => {
  const other = await cookieOf(await person('no-chooser@example.com'))
  await choose({ temperature_unit: '[degF]' })
  t.strictSame(await shown(other.cookie), noPreferences)
  t.notOk('preferences' in (await ask('GET', '/me', { headers: { cookie: chooser } })).body)
})

t.test('what is wrong is said as everywhere', async t => {
  const expected = `'hPa', "[in_i'Hg]" or 'mm[Hg]'`
  t.match(await choose({ pressure_unit: 'psi', temperature_unit: 7 }), {
    status: 422,
    body: {
      detail: [
        {
          type: 'literal_error',
          loc: ['body', 'temperature_unit'],
          msg: "Input should be 'Cel' or '[degF]'",
          input: 7,
        },
        {
          type: 'literal_error',
          loc: ['body', 'pressure_unit'],
          msg: `Input should be ${expected}`,
          ctx: { expected },
        },
      ],
    },
  })
  t.match(await choose({ time_zone: 'Europe/Atlantis' }), {
    status: 422,
    body: { detail: [{ type: 'value_error', msg: 'Value error, the time zone is not known', ctx: { error: {} } }] },
  })
  t.match(await choose({ time_zone: 'E'.repeat(65) }), { status: 422, body: { detail: [{ type: 'string_too_long' }] } })
  t.match(await choose([]), { status: 422, body: { detail: [{ type: 'model_attributes_type' }] } })
})

async function somebody(email: string) {
  const id = await person(email)
  const { cookie } = await cookieOf(id)
  const call = (method: string, at = '', body?: unknown) =>
    ask(method, `/me/views${at}`, { headers: { cookie }, ...(body === undefined ? {} : { body }) })
  return { id, call, list: async () => (await call('GET')).body as unknown as { id: number; name: string }[] }
}

t.test('an address is one of a page of the app', async t => {
  const canonical = (text: string) => viewAddressIn(text)?.text
  t.equal(canonical('/'), '/')
  t.equal(canonical('/?tag=site:north&q=cold store'), '/?tag=site:north&q=cold%20store')
  t.equal(canonical('/device/caf\u00e9?range=7d'), '/device/caf%C3%A9?range=7d')
  t.match(viewAddressIn('/device/a%2Fb'), { page: 'device', name: 'a/b' })
  for (const text of ['/compare?a=x&b=y', '/charts?line=temperature:x', '/station/DEL-01', '/alerts', '/admin/audit'])
    t.equal(canonical(text), text, text)
  const others = ['', 'device/a', 'https://evil.example/', '//evil.example/', '/\\evil.example/', '/.//evil.example']
  const further = ['/device/', '/device/a/b', '/device/%ff', '/account', '/api/fleet', '/sign-out', '/compare#x']
  const long = [`/?q=${'x'.repeat(1000)}`, `/?q=${'\u00e9'.repeat(300)}`, `/?${'a&'.repeat(51)}`]
  for (const text of [...others, ...further, ...long]) t.equal(canonical(text), undefined, text)
})

t.test('whatever is sent, an address leads to a page that the app has', async () => {
  const pieces = fc.constantFrom('/', '\\', 'device', 'admin', '.', '..', '%2e', '%2F', '?', '#', '@', ':', 'a', '\t')
  const texts = fc.array(pieces, { maxLength: 12 }).map(parts => `/${parts.join('')}`)
  fc.assert(
    fc.property(texts, text => {
      const address = viewAddressIn(text)?.text
      if (address === undefined) return true
      const { origin, pathname, search } = new URL(address, 'http://here.example')
      const isStable = viewAddressIn(address)?.text === address
      const isPage = routeOf(pathname) !== undefined
      return origin === 'http://here.example' && pathname + search === address && isStable && isPage
    }),
    { numRuns: 1000 },
  )
})

t.test('views are saved, renamed, made the start page and removed, each with a row in the audit', async t => {
  const { id, call, list } = await somebody('ada@views.example')
  t.strictSame(await list(), [])
  const saved = await call('POST', '', { name: 'North', address: '/?tag=site:north', is_start: true })
  t.match(saved, { status: 201, body: { name: 'North', address: '/?tag=site:north', is_start: true } })
  t.equal((await service.accounts.find(id))?.startAddress, '/?tag=site:north')
  const other = await call('POST', '', { name: 'cellar', address: '/device/cellar?range=7d' })
  t.match(other, { status: 201, body: { is_start: false } })
  t.strictSame(
    (await list()).map(({ name }) => name),
    ['cellar', 'North'],
    'by name',
  )
  t.match(await call('PATCH', `/${other.body['id']}`, { is_start: true, name: 'Cellar' }), {
    status: 200,
    body: { name: 'Cellar', is_start: true, address: '/device/cellar?range=7d' },
  })
  t.match(
    await list(),
    [
      { name: 'Cellar', is_start: true },
      { name: 'North', is_start: false },
    ],
    'one is, at most',
  )
  t.equal((await service.accounts.find(id))?.startAddress, '/device/cellar?range=7d')
  t.match(await call('POST', '', { name: 'North', address: '/' }), { status: 409 })
  t.match(await call('PATCH', `/${saved.body['id']}`, { name: 'Cellar' }), { status: 409 })
  t.match(await call('DELETE', `/${other.body['id']}`), { status: 204 })
  t.match(await call('DELETE', `/${other.body['id']}`), { status: 404 })
  t.equal((await service.accounts.find(id))?.startAddress, null, 'with the view the start page is gone')
  const { rows } = await store.postgres.query(
    "SELECT action, details ->> 'name' AS name FROM audit WHERE action LIKE 'view.%' AND subject = $1 ORDER BY id",
    [`account ${id}`],
  )
  t.strictSame(rows, [
    { action: 'view.add', name: 'North' },
    { action: 'view.add', name: 'cellar' },
    { action: 'view.change', name: 'Cellar' },
    { action: 'view.remove', name: 'Cellar' },
  ])
})

t.test('those of another account are unknown', async t => {
  const bob = await somebody('bob@views.example')
  const eve = await somebody('eve@views.example')
  const { body } = await bob.call('POST', '', { name: 'Roof', address: '/device/roof' })
  const id = body['id']
  t.match(await eve.call('PATCH', `/${id}`, { name: 'Mine', is_start: true }), { status: 404 })
  t.match(await eve.call('DELETE', `/${id}`), { status: 404 })
  t.strictSame(await eve.list(), [])
  t.match(await bob.list(), [{ name: 'Roof', is_start: false }])
})

t.test('what is wrong is refused, and an account has so many views', async t => {
  const { call, list } = await somebody('carol@views.example')
  const wrong = [
    {},
    { name: ' ', address: '/' },
    { name: 'x'.repeat(101), address: '/' },
    { name: 'a\u0000', address: '/' },
  ]
  for (const body of [...wrong, { name: 'a', address: '//evil.example' }, { name: 'a', address: 7 }])
    t.match(await call('POST', '', body), { status: 422 }, JSON.stringify(body))
  for (let at = 0; at < viewsPerAccountMax; at++)
    t.equal((await call('POST', '', { name: `view ${at}`, address: '/' })).status, 201)
  t.match(await call('POST', '', { name: 'one more', address: '/' }), { status: 409 })
  t.equal((await list()).length, viewsPerAccountMax)
})
