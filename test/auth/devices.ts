/** The registry on a real PostgreSQL: its guarantees on credentials, changes and restarts. */

import t, { type Test } from 'tap'
import { DeviceChange, NewDevice } from '../../auth/devices/device.ts'
import { saveLastSeen, saveNextUsed } from '../../auth/devices/device-sql.ts'
import { type Devices, type DevicesOptions, openDevices } from '../../auth/devices/devices.ts'
import { breakingPool } from '../support/breaking-pool.ts'
import { addDeviceTo, valueIn } from '../support/changed.ts'
import { closing, nowhere, silentLog, startDatabases } from '../support/databases.ts'
import { waitFor } from '../support/wait-for.ts'

const hourMs = 3_600_000

const { store } = await startDatabases(t, nowhere)
const pool = store.postgres
let nowMs = Date.parse('2026-05-01T00:00:00.129Z')

async function open(t: Test, options: Partial<DevicesOptions> = {}): Promise<Devices> {
  return closing(t, await openDevices({ pool, now: () => nowMs, log: silentLog, graceMs: hourMs, ...options }))
}

async function openEmpty(t: Test, options: Partial<DevicesOptions> = {}): Promise<Devices> {
  await pool.query('TRUNCATE devices, annotations, metric_series, audit')
  return await open(t, options)
}

const addTo = (devices: Devices, ...made: object[]) =>
  devices.add(
    made.map(fields => NewDevice.parse(fields)),
    'test',
  )
const change = (devices: Devices, name: string, fields: DeviceChange) => devices.change(name, fields, 'test')
const numberOf = (devices: Devices, name: string) => devices.get(name)?.number ?? 0
const removeFrom = (devices: Devices, name: string) => devices.remove(numberOf(devices, name), 'test')

const addOne = (devices: Devices, name: string) => addDeviceTo(devices, name)

async function rotate(devices: Devices, name: string, endsOld = false): Promise<string> {
  return valueIn(await devices.rotate(name, endsOld, 'test')).password
}

async function addAccount(email: string, role = 'user'): Promise<number> {
  const text = 'INSERT INTO accounts (email, role, created_at, updated_at) VALUES ($1, $2, now(), now()) RETURNING id'
  const { rows } = await pool.query<{ id: number }>(text, [email, role])
  return rows[0]?.id ?? 0
}

async function audit(): Promise<string[]> {
  const { rows } = await pool.query('SELECT actor, action, subject, details FROM audit ORDER BY id')
  return rows.map(row => `${row.actor} ${row.action} ${row.subject} ${JSON.stringify(row.details)}`)
}

t.test('a device authenticates only with its password, in any letter case', async t => {
  const devices = await openEmpty(t)
  const password = await addOne(devices, 'kitchen')
  t.match(password, /^[0-9a-f]{64}$/)
  for (const text of [password, password.toUpperCase()]) {
    t.equal(devices.authenticate('kitchen', text), devices.get('kitchen'))
  }
  for (const text of [`${password} `, '']) t.equal(devices.authenticate('kitchen', text), undefined)
  for (const name of ['Kitchen', 'nobody']) t.equal(devices.authenticate(name, password), undefined)
  t.match(devices.get('kitchen'), { name: 'kitchen', symbol: /^kitchen-\d+$/, log_switch: true, battery: false })
  const { rows } = await pool.query('SELECT * FROM devices')
  t.notMatch(JSON.stringify(rows), password, 'the password is stored nowhere')
})

t.test('a restart keeps everything', async t => {
  const first = await openEmpty(t)
  const password = await addOne(first, 'kitchen')
  const place = { location_short: 'R', altitude_m: 12.5, latitude: 52.52, longitude: 13.405 }
  const owner = await addAccount('owner@example.com')
  const tags = ['site:berlin', 'room:Server room']
  const about = { expected_interval_seconds: 60, quality_limits: { pressure: { min: 700, spike: null } } }
  valueIn(await addTo(first, { name: 'roof', ...place, ...about, owner, tags }))
  const rotated = await rotate(first, 'kitchen')
  first.seen(first.get('kitchen') ?? { number: 0 }, nowMs + 5)
  const before = await first.list('', 1)
  await first.close()
  const second = await open(t)
  t.strictSame(await second.list('', 1), before)
  t.equal(before.devices[0]?.last_seen, new Date(nowMs + 5).toISOString())
  t.ok(second.authenticate('kitchen', password))
  t.ok(second.authenticate('kitchen', rotated))
})

t.test('tags are set, replaced and removed with their device, each in the audit', async t => {
  const devices = await openEmpty(t)
  await addOne(devices, 'kitchen')
  t.strictSame(devices.get('kitchen')?.tags, [])
  const tags = ['room:kitchen', 'site:berlin']
  const given = DeviceChange.parse({ tags: tags.toReversed() })
  t.strictSame(valueIn(await change(devices, 'kitchen', given)).tags, tags)
  t.strictSame(devices.tagged(['site:berlin']).all, [devices.get('kitchen')])
  const { rows: audit } = await pool.query("SELECT details FROM audit WHERE action = 'device.change' ORDER BY id DESC")
  t.strictSame(audit[0], { details: { tags } })
  valueIn(await change(devices, 'kitchen', { log_switch: false }))
  t.strictSame(devices.get('kitchen')?.tags, tags, 'another change leaves them')
  valueIn(await removeFrom(devices, 'kitchen'))
  t.strictSame(devices.tagged(['site:berlin']).all, [])
  const { rows } = await pool.query("SELECT tags FROM devices WHERE name = 'kitchen' AND removed_at IS NOT NULL")
  t.strictSame(rows.at(-1), { tags: [] })
  await addOne(devices, 'kitchen')
  t.strictSame(devices.get('kitchen')?.tags, [], 'a new device of the same name has none')
})

t.test('both passwords are valid after a rotation until the grace time ends', async t => {
  const devices = await openEmpty(t)
  const old = await addOne(devices, 'kitchen')
  const { password, old_password_until } = valueIn(await devices.rotate('kitchen', false, 'test'))
  t.equal(old_password_until, new Date(nowMs + hourMs).toISOString())
  t.match(await devices.details('kitchen'), { credential: 'rotating', old_password_until })
  t.ok(devices.authenticate('kitchen', old))
  t.ok(devices.authenticate('kitchen', password))
  nowMs += hourMs - 1
  t.ok(devices.authenticate('kitchen', old))
  nowMs += 1
  t.equal(devices.authenticate('kitchen', old), undefined)
  t.ok(devices.authenticate('kitchen', password))
  t.match(await devices.details('kitchen'), { credential: 'current', old_password_until: null })
  const ended = valueIn(await devices.rotate('kitchen', true, 'test'))
  t.equal(ended.old_password_until, null)
  t.equal(devices.authenticate('kitchen', password), undefined, 'where it is asked for, the old one ends at once')
  t.ok(devices.authenticate('kitchen', ended.password))
})

t.test('a second rotation keeps the password that the device uses', async t => {
  const devices = await openEmpty(t)
  const first = await addOne(devices, 'kitchen')
  const second = await rotate(devices, 'kitchen')
  const third = await rotate(devices, 'kitchen')
  t.ok(devices.authenticate('kitchen', first), 'the second never reached the device')
  t.equal(devices.authenticate('kitchen', second), undefined)
  t.ok(devices.authenticate('kitchen', third), 'the third did')
  const fourth = await rotate(devices, 'kitchen')
  t.equal(devices.authenticate('kitchen', first), undefined)
  t.ok(devices.authenticate('kitchen', third))
  t.ok(devices.authenticate('kitchen', fourth))
  nowMs += 2 * hourMs
  const fifth = await rotate(devices, 'kitchen')
  t.equal(devices.authenticate('kitchen', third), undefined, 'a password whose grace has ended does not come back')
  t.ok(devices.authenticate('kitchen', fourth))
  t.ok(devices.authenticate('kitchen', fifth))
})

t.test('the current one of two passwords is known after a restart, and to another process', async t => {
  const before = await openEmpty(t)
  const other = await open(t)
  await addOne(before, 'kitchen')
  const first = await addOne(before, 'roof')
  const second = await rotate(before, 'kitchen')
  const unused = await rotate(before, 'roof')
  t.ok(before.authenticate('kitchen', second))
  await waitFor('it is saved', async () => (await pool.query('SELECT FROM devices WHERE next_used')).rowCount === 1)
  const third = await rotate(await open(t), 'kitchen')
  t.equal((await pool.query('SELECT FROM devices WHERE next_used')).rowCount, 0, 'the new one is not used yet')
  const after = await open(t)
  t.ok(after.authenticate('kitchen', second), 'the one in use stays')
  t.ok(after.authenticate('kitchen', third))
  await rotate(after, 'roof')
  t.ok(after.authenticate('roof', first), 'the newer one was not used, so the older one stays')
  t.equal(after.authenticate('roof', unused), undefined)
  t.equal(other.size(), 0, 'a registry from before has none of it')
})

t.test('a rotation based on an old record restores no revoked password', async t => {
  const devices = await openEmpty(t)
  const revoked = await addOne(devices, 'kitchen')
  const behind = await open(t)
  const second = await rotate(devices, 'kitchen', true)
  t.ok(behind.authenticate('kitchen', revoked), 'it was not notified of the revocation')
  const third = await rotate(behind, 'kitchen')
  for (const registry of [behind, await open(t)]) {
    t.equal(registry.authenticate('kitchen', revoked), undefined)
    t.ok(registry.authenticate('kitchen', second))
    t.ok(registry.authenticate('kitchen', third))
  }
})

t.test('the change numbers of two processes become visible in order', async t => {
  const held = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const gated = Object.assign(Object.create(pool), {
    query: pool.query.bind(pool),
    async connect() {
      const client = await pool.connect()
      const query = async (statement: { text: string }, values?: unknown[]) => {
        if (statement.text === 'COMMIT') {
          isHeld.resolve()
          await held.promise
        }
        return await client.query(statement, values)
      }
      return Object.assign(Object.create(client), { query })
    },
  })
  const other = await openEmpty(t)
  const slow = await open(t, { pool: gated })
  const { rows: before } = await pool.query('SELECT last_value::int AS seq FROM auth_seq')
  const first = addOne(slow, 'first')
  await isHeld.promise
  let isDone = false
  const second = addOne(other, 'second').then(() => {
    isDone = true
  })
  const waits = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
  await waitFor('it waits', async () => isDone || (await pool.query(waits)).rowCount === 1)
  t.strictSame(await other.namesSince(before[0].seq, 10), [], 'nothing above what is not visible yet')
  const late = await open(t)
  const known = await late.sequence()
  held.resolve()
  await Promise.all([first, second])
  const names = await late.namesSince(known, 10)
  t.match(names, { length: 2, 0: { name: 'first' }, 1: { name: 'second' } }, 'who has opened meanwhile misses none')
})

t.test('a removed device is gone before the call returns, even if its name is reused', async t => {
  const devices = await openEmpty(t)
  const password = await addOne(devices, 'kitchen')
  const { number = 0, symbol } = devices.get('kitchen') ?? {}
  valueIn(await devices.remove(number, 'test'))
  t.equal(devices.authenticate('kitchen', password), undefined)
  t.equal(devices.get('kitchen'), undefined)
  t.strictSame(devices.active(), [])
  const unknown = { ok: false, code: 'DEVICE_UNKNOWN' }
  t.match(await devices.remove(number, 'test'), unknown)
  t.match(await devices.rotate('kitchen', false, 'test'), unknown)
  t.match(await change(devices, 'kitchen', { battery: true }), unknown)
  await addOne(devices, 'kitchen')
  t.not(devices.get('kitchen')?.symbol, symbol)
  const fresh = devices.get('kitchen')?.symbol
  const namesakes = valueIn(await devices.removeNamed('kitchen', async (_, found) => found, 'test'))
  t.match(namesakes, [{ number, symbol }, { symbol: fresh }])
  t.equal(devices.get('kitchen'), undefined)
  await addOne(devices, 'kitchen')
  const reopened = await open(t)
  t.equal(reopened.authenticate('kitchen', password), undefined)
  t.equal(reopened.size(), 1)
})

t.test('an addition of many is all or nothing', async t => {
  const devices = await openEmpty(t, { devicesMax: 1_001 })
  // The name is taken in PostgreSQL, but not in memory.
  await addOne(await open(t), 'kitchen')
  const add = (names: string[]) => addTo(devices, ...names.map(name => ({ name })))
  t.strictSame(await add(['a', 'kitchen', 'b']), { ok: false, code: 'NAME_TAKEN', names: ['kitchen'] })
  t.strictSame(await add(['a', 'b', 'a']), { ok: false, code: 'NAME_TWICE', names: ['a'] })
  t.strictSame([devices.size(), devices.get('kitchen')?.name], [1, 'kitchen'], 'the taken name is known from then on')
  const names = Array.from({ length: 1_000 }, (_, at) => `sensor ${at}`)
  t.strictSame(await add([...names, 'more']), { ok: false, code: 'REGISTRY_FULL' })
  const issued = valueIn(await add(names))
  const added = issued.map(({ device }) => device)
  t.strictSame(added, names)
  t.ok(issued.every(({ device, password }) => devices.authenticate(device, password)?.name === device))
  t.equal(new Set(issued.map(({ password }) => password)).size, names.length)
  const { rows } = await pool.query('SELECT count(*)::int AS count, count(DISTINCT auth_seq)::int AS seqs FROM devices')
  t.strictSame(rows, [{ count: 1_001, seqs: 1_001 }])
})

t.test('a change is visible at once in records already held', async t => {
  const devices = await openEmpty(t)
  const password = await addOne(devices, 'kitchen')
  await addOne(devices, 'roof')
  const record = devices.get('kitchen')
  const version = devices.version()
  const changed = valueIn(await change(devices, 'kitchen', { log_switch: false, location_short: 'K' }))
  t.match(changed, { name: 'kitchen', log_switch: false, location_short: 'K' })
  t.equal(record?.log_switch, false)
  t.ok(devices.version() > version)
  t.strictSame(devices.active(), [devices.get('roof')])
  const symbol = record?.symbol
  valueIn(await change(devices, 'kitchen', { name: 'attic' }))
  t.equal(devices.get('kitchen'), undefined)
  t.equal(devices.authenticate('attic', password)?.symbol, symbol, 'a new name keeps the password and the readings')
  t.match(await change(devices, 'attic', { name: 'roof' }), { ok: false, code: 'NAME_TAKEN', names: ['roof'] })
  await addOne(devices, 'kitchen')
  const { devices: listed } = await devices.list('', 1)
  t.match(listed, [{ name: 'attic' }, { name: 'kitchen' }, { name: 'roof' }])
})

t.test('every change has an audit entry and increases the sequence', async t => {
  const devices = await openEmpty(t)
  const seen: number[] = []
  async function after<Value>(step: Promise<Value>): Promise<Value> {
    const value = await step
    const { rows } = await pool.query('SELECT auth_seq::int AS seq FROM devices')
    seen.push(rows[0].seq)
    return value
  }
  const password = await after(addOne(devices, 'kitchen'))
  await after(change(devices, 'kitchen', { altitude_m: 3 }))
  const rotated = await after(rotate(devices, 'kitchen'))
  await after(removeFrom(devices, 'kitchen'))
  const rising = [...new Set(seen)].sort((a, b) => a - b)
  t.strictSame([seen, seen.length], [rising, 4])
  const trail = await audit()
  t.strictSame(trail, [
    'test device.add kitchen {}',
    'test device.change kitchen {"altitude_m":3}',
    'test device.rotate kitchen {"old_password_ended":false}',
    'test device.remove kitchen {}',
  ])
  t.notMatch(trail.join(), password)
  t.notMatch(trail.join(), rotated)
})

t.test(
  'without its database the registry rejects changes, authenticates devices, and reloads unknown outcomes',
  async t => {
    const admin = await openEmpty(t)
    const password = await addOne(admin, 'kitchen')
    await addOne(admin, 'roof')
    // The connection breaks after the server has completed the change, so the caller does not know the outcome.
    let breaks: 'before' | 'after' | undefined
    const devices = await open(t, { pool: breakingPool(() => breaks, pool) })
    breaks = 'after'
    const unknown = { ok: false, code: 'OUTCOME_UNKNOWN' }
    t.strictSame(await addTo(devices, { name: 'attic' }), unknown)
    t.strictSame(await removeFrom(devices, 'roof'), unknown)
    t.ok(devices.get('attic'), 'a change begins when the outcome of the last one is known')
    t.ok(devices.authenticate('kitchen', password), 'who was known comes in')
    await waitFor('the removal is known', () => devices.get('roof') === undefined)
    breaks = 'before'
    const add = () => addTo(devices, { name: 'cellar' })
    t.strictSame(await add(), { ok: false, code: 'DATABASE_AWAY' })
    breaks = undefined
    t.ok((await add()).ok, 'it was not made the first time')
  },
)

t.test('metrics that a list has registered are reported, also when the COMMIT has no response', async t => {
  const reported: string[] = []
  const metricsAdded: DevicesOptions['metricsAdded'] = metrics => void reported.push(...metrics.map(({ name }) => name))
  let breaks: 'after' | undefined
  const devices = await openEmpty(t, { pool: breakingPool(() => breaks, pool), metricsAdded })
  const add = (name: string, ...metrics: string[]) => addTo(devices, { name, metrics })
  t.ok((await add('bed', 'soil_moisture', 'temperature')).ok)
  t.strictSame(reported.splice(0), ['soil_moisture'])
  breaks = 'after'
  t.match(await add('lawn', 'leaf_wetness'), { code: 'OUTCOME_UNKNOWN' })
  t.strictSame(reported, [])
  t.equal(await devices.reconcile(), true)
  t.strictSame(devices.get('lawn')?.metrics, ['leaf_wetness'])
  t.ok(reported.includes('leaf_wetness'))
  breaks = undefined
  t.match(await add('pot', 'leaf_wetness', 'sap_flow'), { code: 'METRICS_UNKNOWN', names: ['sap_flow'] })
})

t.test('two processes that save the same devices in different orders do not wait for each other', async t => {
  const devices = await openEmpty(t)
  valueIn(await addTo(devices, ...Array.from({ length: 300 }, (_, at) => ({ name: `d${at}` }))))
  const numbers = devices.all().map(({ number }) => number)
  const [up, down] = [numbers.toSorted((a, b) => a - b), numbers.toSorted((a, b) => b - a)]
  const digests = numbers.map(() => Buffer.alloc(32))
  for (let round = 0; round < 8; round++) {
    const times = numbers.map(() => nowMs + round)
    const saved = await Promise.allSettled([
      saveLastSeen(pool, up, times),
      saveLastSeen(pool, down, times),
      saveNextUsed(pool, up, digests),
      saveNextUsed(pool, down, digests),
    ])
    const [failed] = saved.filter(({ status }) => status === 'rejected')
    if (failed !== undefined) throw new Error(`in round ${round}: ${String((failed as PromiseRejectedResult).reason)}`)
  }
  const { rows } = await pool.query('SELECT DISTINCT last_seen FROM devices')
  t.strictSame(rows, [{ last_seen: new Date(nowMs + 7) }])
})

t.test('the last-seen time of a device is the later one of two processes', async t => {
  const devices = await openEmpty(t)
  await addOne(devices, 'kitchen')
  const other = await open(t)
  const seenAt = async (registry: Devices) => [
    (await registry.details('kitchen'))?.last_seen,
    (await registry.list('', 1)).devices[0]?.last_seen,
  ]
  const twice = (timeMs: number) => Array(2).fill(new Date(timeMs).toISOString())
  devices.seen({ number: numberOf(devices, 'kitchen') }, nowMs + 10)
  await devices.close()
  t.strictSame(await seenAt(other), twice(nowMs + 10))
  other.seen({ number: numberOf(other, 'kitchen') }, nowMs + 20)
  t.strictSame(await seenAt(other), twice(nowMs + 20))
  await rotate(other, 'kitchen')
  t.strictSame(await seenAt(other), twice(nowMs + 20), 'also after a change of what is not saved')
})

t.test('received readings count as seen at all nodes, by a save of the accepting one', async t => {
  const devices = await openEmpty(t, { isReceived: true })
  await addOne(devices, 'kitchen')
  await addOne(devices, 'cellar')
  const other = await open(t, { isReceived: true })
  const [kitchen, cellar] = [numberOf(devices, 'kitchen'), numberOf(devices, 'cellar')]
  const lastSeen = async (registry: Devices) => (await registry.details('kitchen'))?.last_seen
  const receive = (registry: Devices, receiptMs: number, ...numbers: number[]) => {
    let at = -1
    registry.received({
      place: { receiptMs },
      next: () => ++at < numbers.length,
      get series() {
        return numbers[at] as number
      },
    })
  }
  for (const number of [kitchen, cellar]) devices.seen({ number }, nowMs + 10)
  t.equal(await lastSeen(devices), null, 'not received yet')
  for (const registry of [devices, other]) receive(registry, nowMs + 7, 0, kitchen)
  receive(other, nowMs + 5, kitchen)
  const text = new Date(nowMs + 7).toISOString()
  t.strictSame(await Promise.all([devices, other].map(lastSeen)), [text, text])
  await devices.close()
  const { rows } = await pool.query('SELECT name, last_seen FROM devices WHERE removed_at IS NULL ORDER BY name')
  t.strictSame(rows, [
    { name: 'cellar', last_seen: null },
    { name: 'kitchen', last_seen: new Date(nowMs + 7) },
  ])
})

t.test('a search finds names and places in any letter case, page by page', async t => {
  const devices = await openEmpty(t)
  const many = Array.from({ length: 230 }, (_, at) => ({ name: `sensor.${1000 + at}` }))
  const other = { name: 'x', location_short: 'Straße', location_desc: 'behind the (old) Wall' }
  valueIn(await addTo(devices, ...many, other))
  const found = async (search: string, page = 1) => {
    const { devices: list, total, next } = await devices.list(search, page)
    return [list.length, total, next]
  }
  for (const [search, page, ...expected] of [
    ['', 1, 100, 231, 2],
    ['', 3, 31, 231, null],
    ['', 4, 0, 231, null],
    ['SENSOR.', 1, 100, 230, 2],
    ['sensor.122', 1, 10, 10, null],
    ['(OLD) w', 1, 1, 1, null],
    ['STRAße', 1, 1, 1, null],
    ['.*', 1, 0, 0, null],
  ] as const) {
    t.strictSame(await found(search, page), expected, search)
  }
})

t.test('a page in another order is that of all devices sorted at once', async t => {
  const devices = await openEmpty(t)
  const name = (at: number) => `sensor ${String(at).padStart(4, '0')}`
  const made = Array.from({ length: 2_345 }, (_, at) => ({ name: name(at), location_short: `Room ${(at * 7) % 40}` }))
  valueIn(await addTo(devices, ...made))
  const placed = (sign: number) =>
    made.toSorted((a, b) => sign * (a.location_short < b.location_short ? -1 : +(a.location_short > b.location_short)))
  for (const isDescending of [false, true]) {
    const sorted = placed(isDescending ? -1 : 1)
    for (const page of [1, 12, 24]) {
      const { devices: listed } = await devices.list('', page, { by: 'place', isDescending })
      t.strictSame(
        listed.map(device => device.name),
        sorted.slice((page - 1) * 100, page * 100).map(device => device.name),
      )
    }
  }
  const lastOf = async (by: 'name' | ((device: { name: string }) => number)) =>
    (await devices.list('', 1, { by, isDescending: true })).devices.slice(0, 2).map(device => device.name)
  t.strictSame(await lastOf('name'), [name(2_344), name(2_343)])
  t.strictSame(await lastOf(device => (device.name === name(5) ? 1 : 0)), [name(5), name(0)])
})

t.test('the devices of a removed account go to the operator', async t => {
  const devices = await openEmpty(t)
  const [leaving, staying] = [await addAccount('leaving@example.com'), await addAccount('staying@example.com')]
  const made = ['kitchen', 'roof', 'gone'].map(name => ({ name, owner: leaving }))
  valueIn(await addTo(devices, ...made, { name: 'porch', owner: staying }))
  valueIn(await removeFrom(devices, 'gone'))
  const remove = (account: number) =>
    devices.withHandOver(async (transaction, handOver) => {
      await handOver(account, 'test')
      await transaction.query('DELETE FROM accounts WHERE id = $1', [account])
    })
  const failing = devices.withHandOver(async (_transaction, handOver) => {
    await handOver(leaving, 'test')
    throw new Error('no')
  })
  await t.rejects(failing, { message: 'no' })
  t.equal(devices.get('kitchen')?.owner, leaving, 'a transaction that fails hands nothing over')
  await remove(leaving)
  const owners = (of: Devices) => ['kitchen', 'roof', 'porch'].map(name => of.get(name)?.owner)
  t.strictSame(owners(devices), [null, null, staying], 'without an operator, to no account')
  const operator = await addAccount('operator@example.com', 'operator')
  await pool.query('TRUNCATE audit')
  await remove(staying)
  t.strictSame(owners(devices), [null, null, operator])
  t.strictSame(await audit(), [`test device.change porch {"owner":${operator}}`])
  t.strictSame(owners(await open(t)), [null, null, operator], 'also after a restart')
})

t.test('an unconfirmed hand-over is read before the next change', async t => {
  let when: 'before' | 'after' | undefined
  const devices = await openEmpty(t, { pool: breakingPool(() => when, pool) })
  const operator = await pool.query<{ id: number }>("SELECT id FROM accounts WHERE role = 'operator'")
  const owner = await addAccount('doubt@example.com')
  valueIn(await addTo(devices, { name: 'kitchen', owner }))
  const fails = (work: Parameters<typeof devices.withHandOver>[0], message: string) =>
    t.rejects(devices.withHandOver(work), { message })
  when = 'after'
  await fails((_transaction, handOver) => handOver(owner, 'test'), 'PostgreSQL did not confirm a transaction')
  when = 'before'
  await fails(async () => undefined, 'a change of a device is not confirmed')
  when = undefined
  t.equal(await devices.reconcile(), true)
  t.equal(devices.get('kitchen')?.owner, operator.rows[0]?.id)
})
