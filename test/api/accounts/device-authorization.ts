/** Device authorization: every state with every operation, the limits, the stored rows, and concurrent requests. */

import t from 'tap'
import { sweepStatements } from '../../../auth/accounts/accounts.ts'
import { grantsMax } from '../../../auth/grants/grant.ts'
import { digestOf, isKeyText } from '../../../auth/keys/key-text.ts'
import { digestOfKey } from '../../../auth/rate-limits.ts'
import { type AccountsUnderTest, publicUrl, startAccounts } from '../../support/accounts.ts'
import { waitFor } from '../../support/wait-for.ts'

const service = await startAccounts(t)
const { ask, person, clock, store, mails, warnings } = service
const pool = store.postgres
const id = await person('ada@example.com')
const stranger = await person('stranger@example.com')
const { start, signIn, poll, decide, newAddress } = createDevices(service)
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const minuteMs = 60_000

/** The number of keys that the account may still add. */
const freeKeys = () =>
  service.accounts.memory.change(id, () => pool.query('DELETE FROM api_keys WHERE account_id = $1', [id]))
t.beforeEach(freeKeys)
/** Adds keys without a device request. */
const fillKeys = (count: number) =>
  service.accounts.memory.change(id, () =>
    pool.query(
      `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at)
       SELECT $1, 'n', sha256(n::text::bytea), 'p', '{}', false, $3 FROM generate_series(1, $2::int) AS n`,
      [id, count, new Date(clock.ms)],
    ),
  )
const forgetWrongCodes = () => pool.query("DELETE FROM rate_limits WHERE kind LIKE '%user code%'")
t.beforeEach(forgetWrongCodes)

async function sweep(): Promise<void> {
  for (const text of sweepStatements) await pool.query(text, [new Date(clock.ms)])
}

t.test('a device gets a key with read access, by the code that it shows', async t => {
  const headers = await signIn(id)
  const answer = await ask('POST', '/device/start', { body: { client_name: 'Porch <b>' }, address: newAddress() })
  t.match(answer, { status: 200, headers: { 'cache-control': 'no-store' } })
  const { device_code: code, user_code: userCode, ...rest } = answer.body
  t.match(code, /^[\w-]{43}$/)
  t.match(userCode, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
  const verification_uri = `${publicUrl}/device`
  const uris = { verification_uri, verification_uri_complete: `${verification_uri}?user_code=${userCode}` }
  t.strictSame(rest, { ...uris, expires_in: 600, interval: 5 })
  t.strictSame((await poll(code)).body, { status: 'pending', api_key: null, interval: 5 })
  const address = newAddress()
  const found = await ask('GET', `/device/info?user_code=${String(userCode).toLowerCase()}`, { headers, address })
  t.match(found, { status: 200, body: { created_at: time, expires_at: time } })
  t.match(found.body, { user_code: userCode, client_name: 'Porch <b>', status: 'pending' })
  const approved = await ask('POST', '/device/approve', { body: { user_code: userCode }, headers, address })
  t.match(approved, { status: 200, body: { status: 'approved', client_name: 'Porch <b>', key_prefix: String } })
  t.strictSame(Object.keys(approved.body), ['status', 'client_name', 'key_prefix'])
  clock.ms += 5000
  const { status, body } = await poll(code)
  t.match({ status, body }, { status: 200, body: { status: 'approved', interval: 5 } })
  const key = String(body['api_key'])
  t.ok(isKeyText(key) && key.startsWith(String(approved.body['key_prefix'])))
  const { rows } = await pool.query('SELECT * FROM api_keys WHERE digest = $1', [digestOf(key)])
  t.match(rows, [{ account_id: id, name: 'Porch <b>', create_devices: false, expires_at: null }])
  t.strictSame(rows[0].scopes, ['read'])
  const isNotice = ({ to, subject }: { to: string; subject: string }) => to === 'ada@example.com' && /key/.test(subject)
  await waitFor('the owner gets a mail', () => mails.some(isNotice))
  t.strictSame((await poll(code)).body, { status: 'denied', api_key: null, interval: 5 }, 'the key comes once')
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': key } }), { status: 200, body: { id } })
  const { rows: audit } = await pool.query("SELECT * FROM audit WHERE action LIKE 'device-grant.%' ORDER BY id")
  const actions = audit.map(({ actor, action, subject }) => [actor, action, subject])
  const [, , grant] = actions[0] ?? []
  t.strictSame(actions, [
    [`account ${id}`, 'device-grant.approve', grant],
    [grant, 'device-grant.consume', `api key ${rows[0].id}`],
  ])
})

type Way = (device: DeviceUnderTest, headers: Record<string, string>) => Promise<unknown>
const approve = (device: DeviceUnderTest, headers: Record<string, string>) => decide('approve', device, headers)
const deny = (device: DeviceUnderTest, headers: Record<string, string>) => decide('deny', device, headers)
const fetchKey: Way = ({ deviceCode }) => poll(deviceCode)
const revoke: Way = () => pool.query('UPDATE api_keys SET revoked_at = $1', [new Date(clock.ms)])
async function wait() {
  clock.ms += 10 * minuteMs
}
async function remove() {
  clock.ms += 70 * minuteMs
  await sweep()
}

const taken = [409, { detail: 'Device request is approved or denied already' }] as const
const over = [410, { detail: 'Device request has expired' }] as const
const unknown = [404, { detail: 'Device request not found' }] as const
const foreign = [403, { detail: 'Device request belongs to another session' }] as const
const denied = [200, { status: 'denied' }] as const
type Expected = readonly [status: number, body: object]

const answers = (status: string) => [200, { status, api_key: null }] as const
const shown = (status: string) => [200, { status }] as const
const fresh = [200, { status: 'approved', api_key: /^barograph_key_/ }] as const
type Answers = [poll: Expected, info: Expected, approve: Expected, deny: Expected]
const wasApproved: Answers = [answers('denied'), shown('approved'), taken, taken]
const wasDenied: Answers = [answers('denied'), shown('denied'), taken, denied]
const hasExpired: Answers = [answers('expired'), over, over, over]

/** The operations that lead to a state, and the responses to poll, info, approve and deny there. */
const table: Record<string, [way: Way[], answers: Answers]> = {
  pending: [[], [answers('pending'), shown('pending'), shown('approved'), denied]],
  approved: [[approve], [fresh, shown('approved'), taken, taken]],
  consumed: [[approve, fetchKey], wasApproved],
  'approved, then revoked': [[approve, revoke], wasApproved],
  denied: [[deny], wasDenied],
  expired: [[wait], hasExpired],
  'approved, then expired': [[approve, wait], hasExpired],
  'consumed, then over': [[approve, fetchKey, wait], wasApproved],
  'denied, then over': [[deny, wait], wasDenied],
  'of another session': [
    [async device => decide('info', device, await signIn(id))],
    [answers('pending'), foreign, foreign, foreign],
  ],
  removed: [[remove], [unknown, unknown, unknown, unknown]],
}

for (const [state, [way, expected]] of Object.entries(table)) {
  t.test(`a request that is ${state}`, async t => {
    for (const [at, operation] of (['poll', 'info', 'approve', 'deny'] as const).entries()) {
      const device = await start()
      const headers = await signIn(id)
      for (const step of way) await step(device, headers)
      const answer = operation === 'poll' ? await poll(device.deviceCode) : await decide(operation, device, headers)
      const [status, body] = expected[at] ?? []
      t.match(answer, { status, body }, operation)
    }
  })
}

t.test('a device that polls too early has to slow down', async t => {
  const { deviceCode } = await start()
  const at = clock.ms
  const pollAt = async (seconds: number) => {
    clock.ms = at + seconds * 1000
    const { status, headers, body } = await poll(deviceCode)
    return status === 429 ? `wait ${headers['retry-after']}` : `${body['status']} ${body['interval']}`
  }
  t.equal(await pollAt(0), 'pending 5', 'the first one is free')
  t.equal(await pollAt(5), 'pending 5')
  t.equal(await pollAt(9.999), 'wait 6', 'an early one adds 5 s, and takes nothing of the wait')
  t.equal(await pollAt(14), 'wait 6')
  t.equal(await pollAt(20), 'pending 15')
  for (const seconds of [21, 22, 23]) await pollAt(seconds)
  t.equal(await pollAt(24), 'wait 26', '30 s are the most')
  t.equal(await pollAt(25), 'wait 25')
  t.equal(await pollAt(50), 'pending 30')
  t.equal(await pollAt(-3600), 'pending 30', 'a clock that was set back delays no poll')
  clock.ms = at
})

t.test('a poll of a completed request is answered at once', async t => {
  const headers = await signIn(id)
  const [consumed, no, late] = [await start(), await start(), await start()]
  await approve(consumed, headers)
  for (const { deviceCode } of [consumed, no, late]) await poll(deviceCode)
  await deny(no, headers)
  const polled = async ({ deviceCode }: DeviceUnderTest, status: string) =>
    t.match(await poll(deviceCode), { status: 200, body: { status, interval: 5 } })
  for (const device of [consumed, no, consumed, no]) await polled(device, 'denied')
  clock.ms += 10 * minuteMs
  for (let again = 0; again < 3; again++) await polled(late, 'expired')
  const approved = await start()
  await poll(approved.deviceCode)
  await decide('approve', approved, headers)
  t.match(await poll(approved.deviceCode), { status: 429 }, 'an approved one waits like a pending one')
  clock.ms += 10_000
  t.match(await poll(approved.deviceCode), { status: 200, body: { status: 'approved', api_key: String } })
})

t.test('an approval may name the key, which is Agent by default', async t => {
  const device = await start({ name: 'Agent 7' })
  t.match(await decide('approve', device, await signIn(id), { name: 'Kitchen' }), { status: 200 })
  const { rows } = await pool.query('SELECT name FROM api_keys WHERE account_id = $1', [id])
  t.strictSame(rows, [{ name: 'Kitchen' }])
  for (const body of [{}, { client_name: '' }, { client_name: '  ' }]) {
    const { body: started } = await ask('POST', '/device/start', { body, address: newAddress() })
    const userCode = String(started['user_code'])
    t.match(await decide('info', { userCode, deviceCode: '' }, await signIn(id)), { body: { client_name: 'Agent' } })
  }
  const address = newAddress()
  t.match(await ask('POST', '/device/start', { address }), { status: 422, body: { detail: [{ loc: ['body'] }] } })
  t.match(await ask('POST', '/device/start', { body: { client_name: 'x'.repeat(65) }, address }), { status: 422 })
})

t.test('a request belongs to the session that has looked it up first, or to its user', async t => {
  const byAuthTime = async (sub = id) => {
    const seconds = Math.floor(clock.ms / 1000)
    const claims = { sub: String(sub), iat: seconds, exp: seconds + 3600, auth_time: seconds }
    return { cookie: `${service.codec.cookieName}=${await service.codec.encode(claims)}` }
  }
  const device = await start()
  for (let twice = 0; twice < 2; twice++) t.match(await decide('info', device, await byAuthTime()), { status: 200 })
  for (const headers of [await signIn(stranger), await byAuthTime(stranger), await signIn(id)]) {
    t.match(await approve(device, headers), { status: 403 })
  }
  t.match(await approve(device, await byAuthTime()), { status: 200 })
})

const wrong = { userCode: 'BBBB-BBBB', deviceCode: '' }

t.test('after ten wrong codes of an account no code is checked', async t => {
  const device = await start()
  const headers = await signIn(id)
  for (let at = 0; at < 15; at++) t.match(await decide('info', device, headers), { status: 200 }, 'right ones are free')
  for (let at = 0; at < 10; at++) {
    const operation = (['info', 'approve', 'deny'] as const)[at % 3] ?? 'info'
    t.match(await decide(operation, at % 2 === 0 ? wrong : { ...wrong, userCode: 'x' }, headers), { status: 404 })
  }
  for (const operation of ['info', 'approve', 'deny'] as const) {
    const refused = await decide(operation, device, headers)
    t.match(refused, { status: 429, headers: { 'retry-after': '300' }, body: { detail: 'Too many requests' } })
  }
  t.match(await decide('info', await start(), await signIn(id)), { status: 429 }, 'nor with another session')
  t.match(await decide('info', await start(), await signIn(stranger)), { status: 200 }, 'others are not held up')
  clock.ms += 5 * minuteMs
  t.match(await decide('info', device, headers), { status: 200 })
  const answers = await Promise.all(Array.from({ length: 16 }, () => decide('info', wrong, headers)))
  const statuses = answers.map(({ status }) => status).sort()
  t.strictSame(statuses, [...Array(10).fill(404), ...Array(6).fill(429)], 'also at the same time')
})

t.test('wrong codes from a shared network do not block its other users', async t => {
  const address = newAddress()
  const [byStranger, headers] = [await signIn(stranger), await signIn(id)]
  for (let at = 0; at < 10; at++) t.match(await decide('info', wrong, byStranger, {}, address), { status: 404 })
  t.match(await decide('info', wrong, byStranger, {}, address), { status: 429 })
  t.match(await decide('approve', await start(), headers, {}, address), { status: 200 })
  const limit = { kind: 'user code by network', countMax: 100, windowMs: 5 * minuteMs }
  await service.accounts.limits.take(limit, address)
  await pool.query("UPDATE rate_limits SET count = 100 WHERE kind = 'user code by network'")
  t.match(await decide('approve', await start(), headers, {}, address), { status: 200 }, 'nor do a hundred')
  t.match(await decide('info', wrong, headers, {}, address), { status: 404 }, 'a wrong one is looked at once')
  const device = await start()
  t.match(await decide('info', device, headers, {}, address), { status: 429 })
  t.match(await decide('info', device, headers), { status: 200 }, 'but from elsewhere')
})

t.test('many wrong codes of all accounts together are logged once', async t => {
  const logged = () => warnings.filter(text => /wrong user codes/.test(text)).length
  await pool.query(
    "INSERT INTO rate_limits VALUES ('user code', $1, 1000, $2) ON CONFLICT (kind, key) DO UPDATE SET count = 1000",
    [digestOfKey(''), new Date(clock.ms + 5 * minuteMs)],
  )
  t.equal(logged(), 0)
  for (let at = 0; at < 3; at++) await decide('info', wrong, await signIn(id))
  t.equal(logged(), 1)
})

t.test('a network starts ten requests a minute, and has twenty pending ones', async t => {
  const address = newAddress()
  const startOnce = () => ask('POST', '/device/start', { body: {}, address })
  const codes: string[] = []
  for (let minute = 0; minute < 2; minute++) {
    for (let at = 0; at < 10; at++) codes.push(String((await startOnce()).body['user_code']))
    t.match(await startOnce(), { status: 429, headers: { 'retry-after': '60' } })
    clock.ms += minuteMs
  }
  t.match(await startOnce(), { status: 429, headers: { 'retry-after': '480' } }, 'until the first one expires')
  await deny({ userCode: codes[0] ?? '', deviceCode: '' }, await signIn(id))
  t.match(await startOnce(), { status: 200 }, 'one that is decided waits no more')
  t.match(await startOnce(), { status: 429 })
  t.match(await ask('POST', '/device/start', { body: {}, address: newAddress() }), { status: 200 }, 'another network')
})

t.test('concurrent starts do not exceed the pending limit of a network', async t => {
  const address = newAddress()
  const startMany = (count: number) =>
    Promise.all(Array.from({ length: count }, () => ask('POST', '/device/start', { body: {}, address })))
  for (const count of [10, 8]) {
    for (const { status } of await startMany(count)) t.equal(status, 200)
    clock.ms += minuteMs
  }
  const statuses = (await startMany(10)).map(({ status }) => status).sort()
  t.strictSame(statuses, [200, 200, ...Array(8).fill(429)])
})

t.test('above the total limit, devices have to retry later', async t => {
  await pool.query(
    `INSERT INTO device_grants (device_digest, user_digest, client_name, address, network, created_at,
       expires_at, interval_seconds)
     SELECT sha256(n::text::bytea), sha256(n::text::bytea), 'one of many', 'x', 'x', $2, $3, 5
     FROM generate_series(1, $1::integer) AS n`,
    [grantsMax, new Date(clock.ms), new Date(clock.ms + 10 * minuteMs)],
  )
  const startOnce = () => ask('POST', '/device/start', { body: {}, address: newAddress() })
  t.match(await startOnce(), { status: 503, headers: { 'retry-after': '60' } })
  await pool.query("DELETE FROM device_grants WHERE client_name = 'one of many'")
  t.match(await startOnce(), { status: 200 })
})

t.test('a request of a deleted account is removed', async t => {
  const leaver = await person('leaver@example.com')
  const leaving = await signIn(leaver)
  const left = await start()
  await decide('approve', left, leaving)
  t.equal((await ask('DELETE', '/me', { headers: leaving })).status, 204)
  t.match(await poll(left.deviceCode), { status: 404 })
  t.match(await decide('approve', await start(), leaving), { status: 401 })
})

t.test('a key counts from its approval, and can be listed and revoked before it is fetched', async t => {
  const headers = await signIn(id)
  const device = await start()
  const { body: approved } = await approve(device, headers)
  const list = async () => (await ask('GET', '/api-keys', { headers })).body as unknown as Record<string, unknown>[]
  t.match(await list(), [{ prefix: approved['key_prefix'], last_used_at: null, revoked_at: null }])
  await fillKeys(49)
  const beyond = await start()
  t.match(await approve(beyond, headers), { status: 409, body: { detail: 'Too many API keys' } })
  t.match(await poll(beyond.deviceCode), { status: 200, body: { status: 'pending' } }, 'it was not approved')
  const { body: fetched } = await poll(device.deviceCode)
  t.match(fetched, { status: 'approved', api_key: String }, 'with fifty keys it is one of them')
  t.equal((await list()).length, 50)
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': String(fetched['api_key']) } }), { status: 200 })
  await freeKeys()
  const revoked = await start()
  await decide('approve', revoked, headers)
  const [key] = await list()
  t.match(await ask('DELETE', `/api-keys/${key?.['id']}`, { headers }), { status: 200 })
  t.match(await poll(revoked.deviceCode), { status: 200, body: { status: 'denied', api_key: null } })
})

t.test('the sweep deletes unfetched keys and completed requests', async t => {
  await pool.query('DELETE FROM device_grants')
  const headers = await signIn(id)
  const [late, fetched] = [await start({ name: 'late' }), await start({ name: 'fetched' })]
  await decide('approve', late, headers)
  await decide('approve', fetched, headers)
  await poll(fetched.deviceCode)
  clock.ms += 10 * minuteMs
  const live = await start({ name: 'live' })
  await decide('approve', live, headers)
  await sweep()
  const stored = async () => {
    const { rows } = await pool.query(
      `SELECT client_name, revoked_at IS NOT NULL AS revoked
       FROM device_grants LEFT JOIN api_keys ON api_keys.id = key_id ORDER BY device_grants.id`,
    )
    return rows.map(({ client_name: name, revoked }) => `${name} ${revoked}`)
  }
  t.strictSame(await stored(), ['late true', 'fetched false', 'live false'])
  t.match(await poll(late.deviceCode), { status: 200, body: { status: 'expired' } })
  clock.ms += 60 * minuteMs
  await sweep()
  t.strictSame(await stored(), ['live true'])
  clock.ms -= 60 * minuteMs
})

const parallel = 8
const times = <Value>(work: () => Promise<Value>) => Promise.all(Array.from({ length: parallel }, work))
const countKeys = async () => (await pool.query('SELECT FROM api_keys WHERE account_id = $1', [id])).rowCount ?? 0

t.test('one of many polls after an approval gets the key', async t => {
  for (let round = 0; round < 4; round++) {
    const device = await start()
    const headers = await signIn(id)
    if (round % 2 === 0) await poll(device.deviceCode)
    await approve(device, headers)
    clock.ms += 5000
    const answers = await times(() => poll(device.deviceCode))
    const keys = answers.map(({ body }) => body['api_key']).filter(key => typeof key === 'string')
    t.equal(keys.length, 1)
    t.ok(isKeyText(String(keys[0])))
    // The others come too early, or too late.
    t.ok(answers.every(({ status, body }) => status === 429 || body['status'] !== 'pending'))
    t.match(await poll(device.deviceCode), { status: 200, body: { status: 'denied', api_key: null } })
  }
})

t.test('one of concurrent approvals and denials counts', async t => {
  for (let round = 0; round < 3; round++) {
    const device = await start()
    const headers = await signIn(id)
    const before = await countKeys()
    const [approvals, denials] = await Promise.all([
      times(() => approve(device, headers)),
      times(() => deny(device, headers)),
    ])
    const approved = approvals.filter(({ status }) => status === 200).length
    t.ok(approved <= 1)
    t.equal(await countKeys(), before + approved)
    const denied = denials.map(({ status }) => status)
    if (approved === 1) t.strictSame(denied, Array(parallel).fill(409))
    else t.strictSame([approved, ...denied], [0, ...Array(parallel).fill(200)])
    t.match(await poll(device.deviceCode), { body: { status: approved === 1 ? 'approved' : 'denied' } })
  }
})

t.test('one of many concurrent look-ups gets the request', async t => {
  const device = await start()
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO accounts (email, created_at, updated_at)
     SELECT 'viewer' || n || '@example.com', now(), now() FROM generate_series(1, $1::int) AS n RETURNING id`,
    [parallel],
  )
  const answers = await Promise.all(rows.map(async ({ id }) => decide('info', device, await signIn(id))))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(parallel - 1).fill(403)])
})

t.test('a key revoked during its poll is invalid', async t => {
  for (let round = 0; round < 6; round++) {
    const device = await start()
    const headers = await signIn(id)
    await approve(device, headers)
    const { rows } = await pool.query('SELECT id FROM api_keys WHERE account_id = $1 AND revoked_at IS NULL', [id])
    const revoke = () => service.ask('DELETE', `/api-keys/${rows[0].id}`, { headers })
    const [polled, revoked] = await Promise.all([poll(device.deviceCode), revoke()])
    t.equal(revoked.status, 200)
    const key = polled.body['api_key']
    if (key === null) t.equal(polled.body['status'], 'denied')
    else {
      t.match(await service.ask('GET', '/me', { headers: { 'x-api-key': String(key) } }), { status: 401 })
    }
    clock.ms += 5000
    t.match(await poll(device.deviceCode), { status: 200, body: { status: 'denied', api_key: null } })
  }
})

interface DeviceUnderTest {
  deviceCode: string
  userCode: string
}

type Headers = Record<string, string>

function createDevices({ ask, cookieOf }: AccountsUnderTest) {
  let addresses = 0
  /** A different address for each request avoids the limits by network. */
  const newAddress = () => {
    addresses += 1
    return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`
  }

  async function start({ name = 'Agent' } = {}): Promise<DeviceUnderTest> {
    const body = { client_name: name }
    const started = await ask('POST', '/device/start', { body, address: newAddress() })
    if (started.status !== 200) throw new Error(started.text)
    return { deviceCode: String(started.body['device_code']), userCode: String(started.body['user_code']) }
  }

  const poll = (deviceCode: unknown) =>
    ask('POST', '/device/poll', { body: { device_code: deviceCode }, address: newAddress() })

  function decide(
    operation: 'info' | 'approve' | 'deny',
    { userCode }: DeviceUnderTest,
    headers: Headers,
    more = {},
    address = newAddress(),
  ) {
    if (operation === 'info') {
      return ask('GET', `/device/info?user_code=${encodeURIComponent(userCode.toWellFormed())}`, { headers, address })
    }
    return ask('POST', `/device/${operation}`, { body: { user_code: userCode, ...more }, headers, address })
  }

  /** A separate session for each call. */
  const signIn = async (id: number): Promise<Headers> => ({ cookie: (await cookieOf(id)).cookie })

  return { start, poll, decide, signIn, newAddress }
}
