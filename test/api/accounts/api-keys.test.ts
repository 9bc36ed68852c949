/** API keys by their operations: every success and failure, each change of state, and who comes in by them. */

import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { administerAccount } from '../../../auth/accounts/administration.ts'
import type { Role } from '../../../auth/accounts/role.ts'
import { serviceSecret, startAccounts } from '../../support/accounts.ts'
import { waitFor } from '../../support/wait-for.ts'

const service = await startAccounts(t)
const { ask, person, cookieOf, store, clock, accounts, mails } = service
const pool = store.postgres
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const dayMs = 24 * 3_600_000
let people = 0

type Headers = Record<string, string>
const statusOf = async (answer: Promise<{ status: number }>) => (await answer).status
const list = async (headers: Headers) =>
  JSON.parse((await ask('GET', '/api-keys', { headers })).text) as Record<string, unknown>[]
const create = (headers: Headers, body: object = { name: 'a script' }) => ask('POST', '/api-keys', { body, headers })
const revoke = (headers: Headers, id: unknown) => ask('DELETE', `/api-keys/${id}`, { headers })
const me = (key: unknown) => ask('GET', '/me', { headers: { authorization: `Bearer ${key}` } })

async function signedIn(): Promise<{ id: number; headers: Headers }> {
  people += 1
  const id = await person(`person-${people}@example.com`)
  const { cookie } = await cookieOf(id)
  return { id, headers: { cookie } }
}

const byHand = { actor: 'local admin token', accountId: undefined, mayReplace: () => true }
const change = (id: number, column: string, value: unknown) =>
  accounts.memory.change(id, () => pool.query(`UPDATE accounts SET ${column} = $2 WHERE id = $1`, [id, value]))

t.test('a key is shown once, is good for both headers, and is gone when it is revoked', async t => {
  const { id, headers } = await signedIn()
  t.strictSame(await list(headers), [])
  const created = await create(headers)
  t.match(created, {
    status: 201,
    body: { name: 'a script', scopes: ['read'], create_devices: false, created_at: time, expires_at: null },
  })
  const fields = ['id', 'name', 'key', 'prefix', 'scopes', 'create_devices', 'created_at', 'expires_at']
  t.strictSame(new Set(Object.keys(created.body)), new Set(fields))
  const { key, id: keyId, prefix } = created.body as { key: string; id: number; prefix: string }
  t.ok(key.startsWith(prefix))
  t.match(await me(key), { status: 200, body: { id } })
  t.match(await ask('GET', '/me', { headers: { 'x-api-key': key } }), { status: 200, body: { id } })
  const listed = await list(headers)
  t.match(listed, [{ id: keyId, name: 'a script', prefix, scopes: ['read'], last_used_at: time, revoked_at: null }])
  t.notOk('key' in (listed[0] ?? {}))
  await waitFor('its owner is told', () => mails.some(({ subject }) => /API key/.test(subject)))
  t.notMatch(JSON.stringify(mails), key)
  const revoked = await revoke(headers, keyId)
  t.match(revoked, { status: 200, body: { id: keyId, revoked: true, revoked_at: time } })
  t.match(await me(key), { status: 401, body: { detail: 'Not authenticated' } })
  t.equal(await statusOf(ask('GET', '/me', { headers: { 'x-api-key': key } })), 401)
  clock.ms += 1000
  t.strictSame((await revoke(headers, keyId)).body, revoked.body, 'a second time too')
  t.match(await list(headers), [{ id: keyId, revoked_at: revoked.body['revoked_at'] }])
})

t.test('a key has what was asked for', async t => {
  const { headers } = await signedIn()
  const body = { name: 'all', scopes: ['stations', 'read', 'ingest', 'read'], create_devices: true, expires_in_days: 7 }
  const created = await create(headers, body)
  const expiresAt = new Date(clock.ms + 7 * dayMs).toISOString()
  t.match(created, {
    status: 201,
    body: { name: 'all', scopes: ['read', 'ingest', 'stations'], create_devices: true, expires_at: expiresAt },
  })
  t.match(await list(headers), [
    { scopes: ['read', 'ingest', 'stations'], create_devices: true, expires_at: expiresAt },
  ])
  t.match(await create(headers, { name: 'none', scopes: [] }), { status: 201, body: { scopes: [] } })
  t.match(await create(headers, { name: 'x', expires_in_days: null }), { status: 201, body: { expires_at: null } })
})

t.test('a key expires', async t => {
  const { headers } = await signedIn()
  const { key } = (await create(headers, { name: 'a day', expires_in_days: 1 })).body
  clock.ms += dayMs - 1
  t.equal(await statusOf(me(key)), 200)
  clock.ms += 1
  t.equal(await statusOf(me(key)), 401)
  clock.ms -= dayMs
})

t.test('keys of others are as unknown as those that never were', async t => {
  const mine = await signedIn()
  const other = await signedIn()
  const { id, key } = (await create(mine.headers)).body
  const unknown = { status: 404, body: { detail: 'API key not found' } }
  for (const keyId of [id, 999_999, 0, -1, '99999999999999999999']) t.match(await revoke(other.headers, keyId), unknown)
  t.equal(await statusOf(me(key)), 200)
  t.strictSame(await list(other.headers), [])
  t.match(await revoke(other.headers, 'x'), { status: 422, body: { detail: [{ type: 'int_parsing' }] } })
})

t.test('only the session of a browser manages keys', async t => {
  const { id, headers } = await signedIn()
  const { key, id: keyId } = (await create(headers)).body
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const bearer = await service.sessions.issueBearer(account, {
    address: '127.0.0.1',
    network: '127.0.0.1',
    userAgent: undefined,
  })
  const others: [number, Headers][] = [
    [403, { authorization: `Bearer ${key}` }],
    [403, { 'x-api-key': String(key) }],
    [403, { authorization: `Bearer ${bearer}` }],
    [403, { 'x-service-secret': serviceSecret }],
    [401, {}],
    [401, { ...headers, 'x-api-key': String(key) }],
    [401, { authorization: `Bearer ${key}`, 'x-api-key': String(key) }],
  ]
  for (const [status, other] of others) {
    t.equal(await statusOf(ask('GET', '/api-keys', { headers: other })), status)
    t.equal(await statusOf(create(other)), status)
    t.equal(await statusOf(revoke(other, keyId)), status)
  }
  const evil = { ...headers, 'sec-fetch-site': 'cross-site' }
  t.match(await create(evil), { status: 403, body: { detail: 'Cross-site request refused' } })
  t.equal(await statusOf(revoke(evil, keyId)), 403)
  t.equal((await list(headers)).length, 1)
  t.equal(await statusOf(me(key)), 200)
})

t.test('50 keys, also when many are asked for at once', async t => {
  const { headers } = await signedIn()
  const first = (await create(headers)).body
  for (let at = 1; at < 42; at++) await create(headers)
  const answers = await Promise.all(Array.from({ length: 16 }, () => create(headers)))
  const statuses = answers.map(({ status }) => status).sort()
  t.strictSame(statuses, [...Array.from({ length: 8 }, () => 201), ...Array.from({ length: 8 }, () => 409)])
  t.match(await create(headers), { status: 409, body: { detail: 'Too many API keys' } })
  t.equal(await statusOf(revoke(headers, first['id'])), 200)
  t.equal(await statusOf(create(headers, { name: 'in its place', expires_in_days: 1 })), 201)
  t.equal(await statusOf(create(headers)), 409)
  clock.ms += dayMs
  t.equal(await statusOf(create(headers)), 201, 'one that is expired does not count')
})

t.test('200 creations a day', async t => {
  const { id, headers } = await signedIn()
  const key = String(id)
  for (let at = 0; at < 199; at++) {
    await accounts.limits.take({ kind: 'api-key', countMax: 200, windowMs: dayMs }, key)
  }
  t.equal(await statusOf(create(headers)), 201)
  t.match(await create(headers), { status: 429, headers: { 'retry-after': /^\d+$/ } })
})

t.test('16 revocations at once give one time, and one row of the audit', async t => {
  const { headers } = await signedIn()
  const { id, key } = (await create(headers)).body
  const answers = await Promise.all(Array.from({ length: 16 }, () => revoke(headers, id)))
  t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]))
  t.equal(new Set(answers.map(({ body }) => body['revoked_at'])).size, 1)
  t.equal(await statusOf(me(key)), 401)
  const { rows } = await pool.query("SELECT 1 FROM audit WHERE action = 'key.revoke' AND details->'key' = $1", [id])
  t.equal(rows.length, 1)
})

t.test('nobody comes in by a key once its revocation is answered', async t => {
  const { headers } = await signedIn()
  const { id, key } = (await create(headers)).body
  let isAnswered = false
  const late: number[] = []
  const use = async () => {
    while (!isAnswered) {
      await me(key)
      // What is in memory needs no turn of the event loop; the revocation does.
      await setImmediate()
    }
    for (let at = 0; at < 20; at++) late.push(await statusOf(me(key)))
  }
  const users = Array.from({ length: 4 }, use)
  await me(key)
  await revoke(headers, id)
  isAnswered = true
  await Promise.all(users)
  t.strictSame(new Set(late), new Set([401]))
})

t.test('a scope is within the role, and ends for good when the role does', async t => {
  const { id, headers } = await signedIn()
  const wanted = { name: 'admin', scopes: ['read', 'admin'] }
  t.match(await create(headers, wanted), { status: 403, body: { detail: 'Scope is beyond the role of the user' } })
  t.strictSame(await list(headers), [])
  const scopesNow = async (key: unknown) => {
    const found = await service.keys.find(String(key))
    return found?.scopes
  }
  const { key: own } = (await create(headers, { name: 'a sensor', scopes: ['stations', 'ingest'] })).body
  const give = async (role: Role) => t.match(await administerAccount(accounts, id, { role }, byHand), { ok: true })
  await change((await signedIn()).id, 'role', 'administrator')
  await give('administrator')
  const { body } = await create(headers, wanted)
  t.strictSame(body['scopes'], ['read', 'admin'])
  t.strictSame(await scopesNow(body['key']), ['read', 'admin'])
  await give('user')
  t.strictSame(await scopesNow(body['key']), ['read'], 'at once')
  await give('administrator')
  t.strictSame(await scopesNow(body['key']), ['read'], 'it does not come back')
  t.match(await list(headers), [{ scopes: ['read'] }, { scopes: ['ingest', 'stations'] }])
  t.strictSame(await scopesNow(own), ['ingest', 'stations'], 'what the role allows stays')
  const { key: next } = (await create(headers, wanted)).body
  await give('operator')
  t.strictSame(await scopesNow(next), ['read', 'admin'], 'an operator is one, too')
})

t.test('a key that sends readings needs a verified address', async t => {
  const email = 'unverified@example.com'
  const { cookie } = await cookieOf(await person(email, { isUnverified: true }))
  const wanted = [
    { scopes: ['ingest'] },
    { create_devices: true },
    { scopes: ['read', 'ingest'], create_devices: true },
  ]
  for (const more of wanted) {
    t.match(await create({ cookie }, { name: 'k', ...more }), {
      status: 403,
      body: { detail: 'Keys that send readings need a verified email address' },
    })
  }
  t.strictSame(await list({ cookie }), [])
  t.equal(await statusOf(create({ cookie }, { name: 'k', scopes: ['read', 'stations'] })), 201)
  const token = await service.tokenIn(/Confirm/, email)
  t.equal(await statusOf(ask('POST', '/verification/verify', { body: { token } })), 200)
  for (const more of wanted) t.equal(await statusOf(create({ cookie }, { name: 'k', ...more })), 201)
})

t.test('an account that is inactive or deleted has no key', async t => {
  const { id, headers } = await signedIn()
  const { key } = (await create(headers)).body
  t.equal(await statusOf(me(key)), 200)
  await change(id, 'is_active', false)
  t.equal(await statusOf(me(key)), 401)
  await change(id, 'is_active', true)
  t.equal(await statusOf(me(key)), 200)
  t.equal(await statusOf(ask('DELETE', '/me', { headers })), 204)
  t.equal(await statusOf(me(key)), 401)
  const { rows } = await pool.query('SELECT 1 FROM api_keys WHERE account_id = $1', [id])
  t.strictSame(rows, [])
})

t.test('keys survive a new password', async t => {
  const { id, headers } = await signedIn()
  const { key } = (await create(headers)).body
  const body = { current_password: 'correct horse battery', new_password: 'another fine phrase' }
  t.equal(await statusOf(ask('POST', '/password/change', { body, headers })), 200)
  t.match(await me(key), { status: 200, body: { id } })
})

const literal = "'read', 'ingest', 'stations', 'alerts' or 'admin'"
const rows: [what: string, body: object, detail: object[]][] = [
  ['no name', {}, [{ type: 'missing', loc: ['body', 'name'], input: {} }]],
  [
    'a name that is too short',
    { name: '' },
    [{ type: 'string_too_short', loc: ['body', 'name'], ctx: { min_length: 1 } }],
  ],
  [
    'a name that is too long',
    { name: 'n'.repeat(101) },
    [{ type: 'string_too_long', loc: ['body', 'name'], ctx: { max_length: 100 } }],
  ],
  [
    'no days',
    { name: 'a', expires_in_days: 0 },
    [{ type: 'greater_than_equal', loc: ['body', 'expires_in_days'], ctx: { ge: 1 } }],
  ],
  [
    'too many days',
    { name: 'a', expires_in_days: 366 },
    [{ type: 'less_than_equal', loc: ['body', 'expires_in_days'], ctx: { le: 365 } }],
  ],
  [
    'no list',
    { name: 'a', scopes: 'read' },
    [{ type: 'list_type', loc: ['body', 'scopes'], msg: 'Input should be a valid list', input: 'read' }],
  ],
  ['null for the list', { name: 'a', scopes: null }, [{ type: 'list_type', loc: ['body', 'scopes'], input: null }]],
  [
    'scopes that there are not',
    { name: 'a', scopes: ['read', 'write', 7] },
    [
      {
        type: 'literal_error',
        loc: ['body', 'scopes', 1],
        msg: `Input should be ${literal}`,
        input: 'write',
        ctx: { expected: literal },
      },
      { type: 'literal_error', loc: ['body', 'scopes', 2], input: 7 },
    ],
  ],
  [
    'a long list',
    { name: 'a', scopes: Array.from({ length: 21 }, () => 'x') },
    [{ type: 'too_long', loc: ['body', 'scopes'], ctx: { field_type: 'List', max_length: 20, actual_length: 21 } }],
  ],
  ['no boolean', { name: 'a', create_devices: 'perhaps' }, [{ type: 'bool_parsing', loc: ['body', 'create_devices'] }]],
]

t.test('what is not taken is told', async t => {
  const { headers } = await signedIn()
  for (const [what, body, detail] of rows) {
    const answer = await create(headers, body)
    t.match(answer, { status: 422, body: { detail } }, what)
    t.equal((answer.body['detail'] as unknown[]).length, detail.length, what)
  }
})
