/** Device authorization: every state with every operation, the limits, what is stored, and many at the same time. */

import t from 'tap'
import { sweepStatements } from '../../../auth/accounts/sweep.ts'
import { grantsMax } from '../../../auth/grants/grant-limits.ts'
import { digestOf, isKeyText } from '../../../auth/keys/key-text.ts'
import { digestOfKey } from '../../../auth/rate-limits.ts'
import { publicUrl, startAccounts } from '../../support/accounts.ts'
import { createDevices, type DeviceUnderTest } from '../../support/device-authorization.ts'
import { waitFor } from '../../support/wait-for.ts'

const service = await startAccounts(t)
const { ask, person, clock, store, mails, warnings } = service
const pool = store.postgres
const id = await person('ada@example.com')
const stranger = await person('stranger@example.com')
const { start, signIn, poll, decide, newAddress } = createDevices(service)
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const minuteMs = 60_000

/** The account has room for 50 keys. */
const freeKeys = () =>
  service.accounts.memory.change(id, () => pool.query('DELETE FROM api_keys WHERE account_id = $1', [id]))
t.beforeEach(freeKeys)
/** Others than those of devices. */
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

t.test('a device gets a key that may read, by the code that it shows', async t => {
  const headers = await signIn(id)
  const answer = await ask('POST', '/device/start', { body: { client_name: 'Porch <b>' }, address: newAddress() })
  t.match(answer, { status: 200, headers: { 'cache-control': 'no-store' } })
  const { device_code: code, user_code: userCode, ...rest } = answer.body
  t.match(code, /^[\w-]{43}$/)
  t.match(userCode, /^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/)
  const verification_uri = `${publicUrl}/device`
  t.strictSame(rest, {
    verification_uri,
    verification_uri_complete: `${verification_uri}?user_code=${userCode}`,
    expires_in: 600,
    interval: 5,
  })
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
  await waitFor('the owner is told', () =>
    mails.some(mail => mail.to === 'ada@example.com' && /key/.test(mail.subject)),
  )
  t.strictSame((await poll(code)).body, { status: 'denied', api_key: null, interval: 5 }, 'it is told once')
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': key } }), { status: 200, body: { id } })
  const { rows: audit } = await pool.query("SELECT * FROM audit WHERE action LIKE 'device-grant.%' ORDER BY id")
  const actions = audit.map(({ actor, action, subject }) => [actor, action, subject])
  const [, , grant] = actions[0] ?? []
  t.strictSame(actions, [
    [`account ${id}`, 'device-grant.approve', grant],
    [grant, 'device-grant.consume', `api key ${rows[0].id}`],
  ])
})

t.test('nothing that is stored opens anything', async t => {
  const device = await start({ name: 'Secretive' })
  const headers = await signIn(id)
  await decide('approve', device, headers)
  const stored = async () => {
    const { rows } = await pool.query("SELECT g::text AS row FROM device_grants AS g WHERE client_name = 'Secretive'")
    const { rows: audit } = await pool.query('SELECT a::text AS row FROM audit AS a')
    return [...rows, ...audit].map(({ row }) => row).join('\n')
  }
  const before = await stored()
  const readDigests = async () =>
    (await pool.query('SELECT digest FROM api_keys WHERE account_id = $1', [id])).rows.map(({ digest }) => digest)
  const digestsBefore = await readDigests()
  const { body } = await poll(device.deviceCode)
  const key = String(body['api_key'])
  t.ok(isKeyText(key))
  t.strictSame([digestsBefore.length, await readDigests()], [1, [digestOf(key)]])
  t.notSame(digestsBefore, [digestOf(key)], 'before it was fetched, it did not exist')
  const hex = (text: string) => Buffer.from(text).toString('hex')
  for (const text of [before, await stored()]) {
    t.match(text, 'Secretive')
    const { deviceCode, userCode } = device
    for (const secret of [key, deviceCode, userCode, userCode.replace('-', '')]) {
      t.notOk(text.includes(secret) || text.includes(hex(secret)))
    }
  }
  t.notMatch(JSON.stringify(mails), key)
})

/** How each state comes about. */
const states: Record<string, (device: DeviceUnderTest, headers: Record<string, string>) => Promise<unknown>> = {
  pending: async () => undefined,
  approved: (device, headers) => decide('approve', device, headers),
  async consumed(device, headers) {
    await decide('approve', device, headers)
    await poll(device.deviceCode)
  },
  async 'approved, then revoked'(device, headers) {
    await decide('approve', device, headers)
    await pool.query('UPDATE api_keys SET revoked_at = $1', [new Date(clock.ms)])
  },
  denied: (device, headers) => decide('deny', device, headers),
  async expired() {
    clock.ms += 10 * minuteMs
  },
  async 'approved, then expired'(device, headers) {
    await decide('approve', device, headers)
    clock.ms += 10 * minuteMs
  },
  async 'consumed, then over'(device, headers) {
    await decide('approve', device, headers)
    await poll(device.deviceCode)
    clock.ms += 10 * minuteMs
  },
  async 'denied, then over'(device, headers) {
    await decide('deny', device, headers)
    clock.ms += 10 * minuteMs
  },
  async 'of another session'(device) {
    await decide('info', device, await signIn(id))
  },
  async removed() {
    clock.ms += 70 * minuteMs
    await sweep()
  },
}

const taken = [409, { detail: 'Device request is approved or denied already' }] as const
const over = [410, { detail: 'Device request has expired' }] as const
const unknown = [404, { detail: 'Device request not found' }] as const
const foreign = [403, { detail: 'Device request belongs to another session' }] as const
const denied = [200, { status: 'denied' }] as const
type Expected = readonly [status: number, body: object]

/** Of each state: what poll, info, approve and deny answer. */
const table: Record<string, [poll: Expected, info: Expected, approve: Expected, deny: Expected]> = {
  pending: [
    [200, { status: 'pending', api_key: null }],
    [200, { status: 'pending' }],
    [200, { status: 'approved' }],
    denied,
  ],
  approved: [[200, { status: 'approved', api_key: /^barograph_key_/ }], [200, { status: 'approved' }], taken, taken],
  consumed: [[200, { status: 'denied', api_key: null }], [200, { status: 'approved' }], taken, taken],
  'approved, then revoked': [[200, { status: 'denied', api_key: null }], [200, { status: 'approved' }], taken, taken],
  denied: [[200, { status: 'denied', api_key: null }], [200, { status: 'denied' }], taken, denied],
  expired: [[200, { status: 'expired', api_key: null }], over, over, over],
  'approved, then expired': [[200, { status: 'expired', api_key: null }], over, over, over],
  'consumed, then over': [[200, { status: 'denied', api_key: null }], [200, { status: 'approved' }], taken, taken],
  'denied, then over': [[200, { status: 'denied', api_key: null }], [200, { status: 'denied' }], taken, denied],
  'of another session': [[200, { status: 'pending', api_key: null }], foreign, foreign, foreign],
  removed: [unknown, unknown, unknown, unknown],
}

t.strictSame(Object.keys(table), Object.keys(states))
for (const [state, expected] of Object.entries(table)) {
  t.test(`a request that is ${state}`, async t => {
    for (const [at, operation] of (['poll', 'info', 'approve', 'deny'] as const).entries()) {
      const device = await start()
      const headers = await signIn(id)
      await states[state]?.(device, headers)
      const { status, body } =
        operation === 'poll' ? await poll(device.deviceCode) : await decide(operation, device, headers)
      const [expectedStatus, expectedBody] = expected[at] ?? []
      t.match({ status, body }, { status: expectedStatus, body: expectedBody }, operation)
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
  t.equal(await pollAt(-3600), 'pending 30', 'a clock that was set back holds nobody up')
  clock.ms = at
})

t.test('what is over is told without a wait', async t => {
  const headers = await signIn(id)
  const [consumed, no, late] = [await start(), await start(), await start()]
  await decide('approve', consumed, headers)
  await poll(consumed.deviceCode)
  await poll(no.deviceCode)
  await decide('deny', no, headers)
  await poll(late.deviceCode)
  for (let again = 0; again < 3; again++) {
    t.match(await poll(consumed.deviceCode), { status: 200, body: { status: 'denied', interval: 5 } })
    t.match(await poll(no.deviceCode), { status: 200, body: { status: 'denied', interval: 5 } })
  }
  clock.ms += 10 * minuteMs
  for (let again = 0; again < 3; again++) {
    t.match(await poll(late.deviceCode), { status: 200, body: { status: 'expired', interval: 5 } })
  }
  const approved = await start()
  await poll(approved.deviceCode)
  await decide('approve', approved, headers)
  t.match(await poll(approved.deviceCode), { status: 429 }, 'an approved one waits like a pending one')
  clock.ms += 10_000
  t.match(await poll(approved.deviceCode), { status: 200, body: { status: 'approved', api_key: String } })
})

t.test('who approves names the key, and need not look first', async t => {
  const device = await start({ name: 'Agent 7' })
  t.match(await decide('approve', device, await signIn(id), { name: 'Kitchen' }), { status: 200 })
  const { rows } = await pool.query('SELECT name FROM api_keys WHERE account_id = $1', [id])
  t.strictSame(rows, [{ name: 'Kitchen' }])
})

t.test('a device without a name is called Agent', async t => {
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
  t.match(await decide('info', device, await byAuthTime()), { status: 200 })
  t.match(await decide('info', device, await byAuthTime()), { status: 200 }, 'a token without a session')
  const other = await person('other@example.com')
  t.match(await decide('approve', device, await signIn(other)), { status: 403 })
  t.match(await decide('approve', device, await byAuthTime(other)), { status: 403 })
  t.match(await decide('approve', device, await signIn(id)), { status: 403 })
  t.match(await decide('approve', device, await byAuthTime()), { status: 200 })
})

t.test('pages of other sites neither look up nor decide', async t => {
  const device = await start()
  const headers = { ...(await signIn(id)), 'sec-fetch-site': 'cross-site' }
  for (const operation of ['info', 'approve', 'deny'] as const) {
    t.match(await decide(operation, device, headers), { status: 403, body: { detail: 'Cross-site request refused' } })
  }
  t.match(await decide('info', device, await signIn(id)), { status: 200 }, 'it is bound to nobody')
})

const wrong = { userCode: 'BBBB-BBBB', deviceCode: '' }

t.test('wrong codes: ten by an account, then none is looked at', async t => {
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

t.test('wrong codes of strangers behind the same network do not keep out who has sent none', async t => {
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

t.test('many wrong codes of all together are told in the log, once', async t => {
  const told = () => warnings.filter(text => /wrong user codes/.test(text)).length
  await pool.query(
    "INSERT INTO rate_limits VALUES ('user code', $1, 1000, $2) ON CONFLICT (kind, key) DO UPDATE SET count = 1000",
    [digestOfKey(''), new Date(clock.ms + 5 * minuteMs)],
  )
  t.equal(told(), 0)
  for (let at = 0; at < 3; at++) await decide('info', wrong, await signIn(id))
  t.equal(told(), 1)
})

t.test('a network starts ten a minute, and has twenty that wait', async t => {
  const address = newAddress()
  const startOnce = () => ask('POST', '/device/start', { body: {}, address })
  const devices: DeviceUnderTest[] = []
  for (let minute = 0; minute < 2; minute++) {
    for (let at = 0; at < 10; at++) {
      const { status, body } = await startOnce()
      t.equal(status, 200)
      devices.push({ deviceCode: String(body['device_code']), userCode: String(body['user_code']) })
    }
    t.match(await startOnce(), { status: 429, headers: { 'retry-after': '60' } })
    clock.ms += minuteMs
  }
  t.match(await startOnce(), { status: 429, headers: { 'retry-after': '480' } }, 'until the first one expires')
  const [first] = devices
  if (first !== undefined) await decide('deny', first, await signIn(id))
  t.match(await startOnce(), { status: 200 }, 'one that is decided waits no more')
  t.match(await startOnce(), { status: 429 })
  t.match(await ask('POST', '/device/start', { body: {}, address: newAddress() }), { status: 200 }, 'another network')
})

t.test('no more of a network wait when they start at the same moment', async t => {
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

t.test('beyond the limit of all together, devices come again later', async t => {
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

t.test('an account with too many keys, and one that is not there any more', async t => {
  const headers = await signIn(id)
  await fillKeys(50)
  const device = await start()
  t.match(await decide('approve', device, headers), { status: 409, body: { detail: 'Too many API keys' } })
  t.match(await poll(device.deviceCode), { status: 200, body: { status: 'pending' } }, 'it was not approved')
  await freeKeys()
  t.match(await decide('approve', device, headers), { status: 200 })
  const leaver = await person('leaver@example.com')
  const leaving = await signIn(leaver)
  const left = await start()
  await decide('approve', left, leaving)
  t.equal((await ask('DELETE', '/me', { headers: leaving })).status, 204)
  t.match(await poll(left.deviceCode), { status: 404 })
  t.match(await decide('approve', await start(), leaving), { status: 401 })
})

t.test('a key counts from its approval on, is listed and revoked before anybody has it', async t => {
  const headers = await signIn(id)
  const device = await start()
  const { body: approved } = await decide('approve', device, headers)
  const list = async () => (await ask('GET', '/api-keys', { headers })).body as unknown as Record<string, unknown>[]
  t.match(await list(), [{ prefix: approved['key_prefix'], last_used_at: null, revoked_at: null }])
  await fillKeys(49)
  t.match(await decide('approve', await start(), headers), { status: 409 })
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

t.test('the sweep ends the keys that nobody has fetched, and removes what is over', async t => {
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
  const rows = async () =>
    (
      await pool.query(
        `SELECT client_name, revoked_at IS NOT NULL AS revoked
         FROM device_grants LEFT JOIN api_keys ON api_keys.id = key_id ORDER BY device_grants.id`,
      )
    ).rows
  t.strictSame(await rows(), [
    { client_name: 'late', revoked: true },
    { client_name: 'fetched', revoked: false },
    { client_name: 'live', revoked: false },
  ])
  t.match(await poll(late.deviceCode), { status: 200, body: { status: 'expired' } })
  clock.ms += 60 * minuteMs
  await sweep()
  t.strictSame(await rows(), [{ client_name: 'live', revoked: true }])
  clock.ms -= 60 * minuteMs
})

const parallel = 8
const times = <Value>(work: () => Promise<Value>) => Promise.all(Array.from({ length: parallel }, work))
const countKeys = async () => (await pool.query('SELECT FROM api_keys WHERE account_id = $1', [id])).rowCount ?? 0

t.test('of many polls after an approval one gets the key', async t => {
  for (let round = 0; round < 6; round++) {
    const device = await start()
    const headers = await signIn(id)
    if (round % 2 === 0) await poll(device.deviceCode)
    await decide('approve', device, headers)
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

t.test('of many approvals one counts, and makes one key', async t => {
  for (let round = 0; round < 3; round++) {
    const device = await start()
    const headers = await signIn(id)
    const before = await countKeys()
    const answers = await times(() => decide('approve', device, headers))
    t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(parallel - 1).fill(409)])
    t.equal(await countKeys(), before + 1)
    t.match(await poll(device.deviceCode), { body: { status: 'approved', api_key: String } })
  }
})

t.test('of approvals and denials at the same time one counts', async t => {
  for (let round = 0; round < 3; round++) {
    const device = await start()
    const headers = await signIn(id)
    const before = await countKeys()
    const [approvals, denials] = await Promise.all([
      times(() => decide('approve', device, headers)),
      times(() => decide('deny', device, headers)),
    ])
    const approved = approvals.filter(({ status }) => status === 200).length
    t.equal(await countKeys(), before + approved)
    const denied = denials.map(({ status }) => status)
    if (approved === 1) t.strictSame(denied, Array(parallel).fill(409))
    else t.strictSame([approved, ...denied], [0, ...Array(parallel).fill(200)])
    t.match(await poll(device.deviceCode), { body: { status: approved === 1 ? 'approved' : 'denied' } })
  }
})

t.test('of many people who look it up at the same time one has it', async t => {
  const device = await start()
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO accounts (email, created_at, updated_at)
     SELECT 'viewer' || n || '@example.com', now(), now() FROM generate_series(1, $1::int) AS n RETURNING id`,
    [parallel],
  )
  const answers = await Promise.all(rows.map(async ({ id }) => decide('info', device, await signIn(id))))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(parallel - 1).fill(403)])
})

t.test('a key that is revoked at the moment of its poll opens nothing', async t => {
  for (let round = 0; round < 6; round++) {
    const device = await start()
    const headers = await signIn(id)
    await decide('approve', device, headers)
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
