/** Device authorization by many at the same time: one key, one decision, one session. */

import t from 'tap'
import { isKeyText } from '../../../../auth/keys/key-text.ts'
import { startAccounts } from '../../../support/accounts.ts'
import { createDevices } from '../../../support/device-authorization.ts'

const service = await startAccounts(t)
const { person, store, clock } = service
const pool = store.postgres
const id = await person('ada@example.com')
const { start, signIn, poll, decide } = createDevices(service)
const parallel = 16
const times = <Value>(work: () => Promise<Value>) => Promise.all(Array.from({ length: parallel }, work))
const countKeys = async () => (await pool.query('SELECT FROM api_keys WHERE account_id = $1', [id])).rowCount ?? 0

t.afterEach(() =>
  service.accounts.memory.change(id, () => pool.query('DELETE FROM api_keys WHERE account_id = $1', [id])),
)

t.test('of 16 polls after an approval one gets the key', async t => {
  for (let round = 0; round < 20; round++) {
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

t.test('also when no poll is too early', async t => {
  for (let round = 0; round < 10; round++) {
    const device = await start()
    await decide('approve', device, await signIn(id))
    await pool.query('UPDATE device_grants SET interval_seconds = 0 WHERE status = $1', ['approved'])
    const answers = await times(() => poll(device.deviceCode))
    t.ok(answers.every(({ status }) => status === 200))
    const statuses = answers.map(({ body }) => body['status']).sort()
    t.strictSame(statuses, ['approved', ...Array(parallel - 1).fill('denied')])
  }
})

t.test('of 16 approvals one counts, and makes one key', async t => {
  for (let round = 0; round < 10; round++) {
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
  for (let round = 0; round < 10; round++) {
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

t.test('of 16 denials all succeed', async t => {
  for (let round = 0; round < 10; round++) {
    const device = await start()
    const headers = await signIn(id)
    const answers = await times(() => decide('deny', device, headers))
    t.strictSame(
      answers.map(({ status }) => status),
      Array(parallel).fill(200),
    )
  }
  const { rowCount } = await pool.query("SELECT FROM audit WHERE action = 'device-grant.deny'")
  t.equal(rowCount, (await pool.query("SELECT FROM device_grants WHERE status = 'denied'")).rowCount, 'each once')
})

t.test('of 16 people who look it up at the same time one has it', async t => {
  const device = await start()
  const { rows } = await pool.query<{ id: number }>(
    `INSERT INTO accounts (email, created_at, updated_at)
     SELECT 'viewer' || n || '@example.com', now(), now() FROM generate_series(1, $1::int) AS n RETURNING id`,
    [parallel],
  )
  const answers = await Promise.all(rows.map(async ({ id }) => decide('info', device, await signIn(id))))
  t.strictSame(answers.map(({ status }) => status).sort(), [200, ...Array(parallel - 1).fill(403)])
})

t.test('a poll at the moment of an approval loses no key', async t => {
  for (let round = 0; round < 20; round++) {
    const device = await start()
    const headers = await signIn(id)
    const [first] = await Promise.all([poll(device.deviceCode), decide('approve', device, headers)])
    clock.ms += 5000
    const second = await poll(device.deviceCode)
    const keys = [first, second].map(({ body }) => body['api_key']).filter(key => typeof key === 'string')
    t.equal(keys.length, 1)
  }
})

t.test('a key that is revoked at the moment of its poll opens nothing', async t => {
  let told = 0
  for (let round = 0; round < 20; round++) {
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
      told++
      t.match(await service.ask('GET', '/me', { headers: { 'x-api-key': String(key) } }), { status: 401 })
    }
    clock.ms += 5000
    t.match(await poll(device.deviceCode), { status: 200, body: { status: 'denied', api_key: null } })
  }
  t.comment(`${told} of 20 were told before their revocation`)
})

t.test('a key that is fetched at its last moment is either fetched or over', async t => {
  const device = await start()
  await decide('approve', device, await signIn(id))
  const { rows } = await pool.query('SELECT max(expires_at) AS at FROM device_grants')
  const expiresMs = rows[0].at.getTime()
  clock.ms = expiresMs - 1
  t.match(await poll(device.deviceCode), { body: { status: 'approved' } })
  const late = await start()
  await decide('approve', late, await signIn(id))
  clock.ms += 600_000
  t.match(await poll(late.deviceCode), { body: { status: 'expired', api_key: null } })
})
