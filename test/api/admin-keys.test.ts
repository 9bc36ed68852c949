/** The API keys of all people by the admin API: pages, revocation, and keys as a way in. */

import t from 'tap'
import type { AddedKey, AdminKeyPage } from '../../api/admin/key-answers.ts'
import { startAdmin } from '../support/admin.ts'

const { ask, app, people, store } = await startAdmin(t)
const { accounts, keys, person, clock } = people
const pool = store.postgres
const dayMs = 24 * 3_600_000

async function keyOf(id: number, more: { scopes?: ('read' | 'admin')[]; expiresInDays?: number } = {}) {
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const { scopes = ['read'], expiresInDays } = more
  const created = await keys.create(account, { name: 'a script', scopes, createDevices: false, expiresInDays })
  if (!created.ok) throw new Error(created.code)
  return created.value
}
const setRole = (id: number, role: string) =>
  accounts.memory.change(id, () => pool.query('UPDATE accounts SET role = $2 WHERE id = $1', [id, role]))
const list = async (query = '') => (await ask('GET', `/keys${query}`)).body as AdminKeyPage

const ada = await person('ada@example.com')
const bob = await person('bob@example.com')
const first = await keyOf(ada)
const second = await keyOf(bob, { expiresInDays: 1 })

t.test('all keys, the newest first, or those of one account', async t => {
  const shown = { name: 'a script', scopes: ['read'], create_devices: false, last_used_at: null, revoked_at: null }
  const of = (key: typeof first, account: number, email: string) => ({
    ...shown,
    id: key.id,
    account,
    email,
    prefix: key.prefix,
    state: 'active',
  })
  const [adas, bobs] = [of(first, ada, 'ada@example.com'), of(second, bob, 'bob@example.com')]
  t.match(await list(), { keys: [bobs, adas], total: 2, page: 1, next: null })
  t.match(await list(`?account=${ada}`), { keys: [adas], total: 1 })
  t.match(await list('?account=BOB@example.com'), { keys: [bobs], total: 1 })
  t.notMatch(JSON.stringify(await list()), first.text)
  await keys.find(first.text)
  t.match(await list(`?account=${ada}`), { keys: [{ last_used_at: new Date(clock.ms).toISOString() }] })
})

t.test('what is no account and no page is told', async t => {
  for (const account of ['nobody@example.com', '999999', '0', '9999999999', 'x', '']) {
    const { status, body } = await ask('GET', `/keys?account=${account}`)
    t.match({ status, body }, { status: account === '' ? 400 : 404, body: { errors: [{ path: 'account' }] } }, account)
  }
  for (const query of ['page=0', 'page=x', 'page=1&page=2', 'more=1', `account=${'a'.repeat(255)}`]) {
    t.match(await ask('GET', `/keys?${query}`), { status: 400 }, query)
  }
  t.match(await list('?page=7'), { keys: [], total: 2, page: 7, next: null })
})

t.test('a key is revoked whosever it is, and the audit says by whom', async t => {
  t.ok(await keys.find(second.text))
  t.match(await ask('DELETE', `/keys/${second.id}`), { status: 204 })
  t.equal(await keys.find(second.text), undefined)
  t.match(await ask('DELETE', `/keys/${second.id}`), { status: 204 }, 'a second time too')
  for (const id of [999_999, 0, 'x', '99999999999', '2147483648']) {
    t.match(await ask('DELETE', `/keys/${id}`), { status: 404, body: { title: 'key unknown' } })
  }
  const { rows } = await pool.query("SELECT actor, subject, details FROM audit WHERE action = 'key.revoke'")
  t.strictSame(rows, [{ actor: 'local admin token', subject: `account ${bob}`, details: { key: second.id } }])
  t.match(await list(`?account=${bob}`), { keys: [{ state: 'revoked' }] })
  const third = await keyOf(bob, { expiresInDays: 1 })
  clock.ms += dayMs
  t.match(await list(`?account=${bob}`), { keys: [{ id: third.id, state: 'expired' }, { state: 'revoked' }] })
})

t.test('a hundred keys to a page', async t => {
  const id = await person('many@example.com')
  await pool.query(
    `INSERT INTO api_keys (account_id, name, digest, prefix, scopes, create_devices, created_at)
     SELECT $1, 'n', sha256(n::text::bytea), 'p', '{}', false, now() FROM generate_series(1, 201) AS n`,
    [id],
  )
  const pages = [await list(`?account=${id}`), await list(`?account=${id}&page=2`), await list(`?account=${id}&page=3`)]
  t.strictSame(
    pages.map(({ keys, next, total }) => [keys.length, next, total]),
    [
      [100, 2, 201],
      [100, 3, 201],
      [1, null, 201],
    ],
  )
  t.equal(new Set(pages.flatMap(({ keys }) => keys.map(({ id }) => id))).size, 201)
})

t.test('a key with the scope admin comes in while its owner is an administrator', async t => {
  const id = await person('admin@example.com')
  await setRole(id, 'administrator')
  const admin = await keyOf(id, { scopes: ['read', 'admin'] })
  const reader = await keyOf(id)
  const victim = await keyOf(ada)
  const statusOf = async (text: string) => {
    const headers = { authorization: `Bearer ${text}` }
    return (await app.inject({ url: '/api/admin/keys', headers })).statusCode
  }
  t.equal(await statusOf(reader.text), 403)
  t.equal(await statusOf(admin.text), 200)
  const headers = { 'x-api-key': admin.text }
  const revoked = await app.inject({ method: 'DELETE', url: `/api/admin/keys/${victim.id}`, headers })
  t.equal(revoked.statusCode, 204)
  const { rows } = await pool.query("SELECT actor FROM audit WHERE action = 'key.revoke' ORDER BY id DESC LIMIT 1")
  t.strictSame(rows, [{ actor: `key ${admin.id} of account ${id}` }])
  await setRole(id, 'user')
  t.equal(await statusOf(admin.text), 403, 'at once')
  await setRole(id, 'administrator')
  t.equal(await statusOf(admin.text), 200)
  t.match(await ask('DELETE', `/keys/${admin.id}`), { status: 204 })
  t.equal(await statusOf(admin.text), 401)
})

t.test('the admin token makes keys, under the rules of those that their owners make', async t => {
  const id = await person('maker@example.com')
  const setVerified = (time: string) =>
    accounts.memory.change(id, () => pool.query(`UPDATE accounts SET email_verified_at = ${time} WHERE id = $1`, [id]))
  await setVerified('NULL')
  const wanted = { account: 'MAKER@example.com', name: 'gateway', scopes: ['ingest', 'read'], expires_in_days: 90 }
  t.match(await ask('POST', '/keys', wanted), { status: 409, body: { title: 'owner unverified', detail: /verify/ } })
  t.match(await ask('POST', '/keys', { account: id, name: 'x', create_devices: true }), { status: 409 })
  await setVerified('now()')
  const { status, body } = await ask('POST', '/keys', wanted)
  t.equal(status, 201)
  const added = body as AddedKey
  const expires_at = new Date(clock.ms + 90 * dayMs).toISOString()
  t.match(added, { account: id, email: 'maker@example.com', name: 'gateway', scopes: ['read', 'ingest'], expires_at })
  t.equal((await keys.find(added.key))?.keyId, added.id)
  const { rows } = await pool.query(
    "SELECT actor, subject, details FROM audit WHERE action = 'key.create' ORDER BY id DESC LIMIT 1",
  )
  const details = { key: added.id, prefix: added.prefix, scopes: ['read', 'ingest'] }
  t.strictSame(rows, [{ actor: 'local admin token', subject: `account ${id}`, details }])
  t.match(await ask('POST', '/keys', { account: id, name: 'plain' }), {
    status: 201,
    body: { scopes: ['read'], expires_at: null },
  })
  t.match(await ask('POST', '/keys', { ...wanted, scopes: ['admin'] }), {
    status: 409,
    body: { title: 'scope not allowed' },
  })
  await accounts.memory.change(id, () => pool.query('UPDATE accounts SET is_active = false WHERE id = $1', [id]))
  t.match(await ask('POST', '/keys', wanted), { status: 409, body: { title: 'account inactive' } })
})

t.test('no session and no key makes a key for somebody', async t => {
  const id = await person('chief@example.com')
  await setRole(id, 'administrator')
  const headers = { 'x-api-key': (await keyOf(id, { scopes: ['read', 'admin'] })).text }
  const payload = { account: id, name: 'more' }
  const { statusCode } = await app.inject({ method: 'POST', url: '/api/admin/keys', headers, payload })
  t.equal(statusCode, 403)
})

t.test('what is no new key is refused with the reason', async t => {
  const id = await person('strict@example.com')
  const right = { account: id, name: 'x' }
  const wrong = [
    {},
    { account: id },
    { name: 'x' },
    { ...right, name: '' },
    { ...right, name: 'a'.repeat(101) },
    { ...right, name: 'a\u0000' },
    { ...right, scopes: ['all'] },
    { ...right, scopes: Array(9).fill('read') },
    { ...right, more: 1 },
    { ...right, account: 0 },
    { ...right, expires_in_days: 0 },
    { ...right, expires_in_days: 366 },
    { ...right, create_devices: 'yes' },
    { ...right, account: 'x'.repeat(300) },
  ]
  for (const body of wrong)
    t.match(await ask('POST', '/keys', body), { status: 422 }, JSON.stringify(body).slice(0, 80))
  for (const account of ['nobody@example.com', 999_999]) {
    t.match(await ask('POST', '/keys', { ...right, account }), { status: 422, body: { errors: [{ path: 'account' }] } })
  }
})
