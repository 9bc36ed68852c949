/** API keys, stations and which devices a credential may write, on a real PostgreSQL: changes, owners, and what ends them. */

import { readFile } from 'node:fs/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { Account } from '../../auth/accounts/account.ts'
import { changeAccount } from '../../auth/accounts/account-parts.ts'
import { deleteAccount } from '../../auth/accounts/profile.ts'
import type { Role } from '../../auth/accounts/role.ts'
import { sweepStatements } from '../../auth/accounts/sweep.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { type Scope, scopes } from '../../auth/keys/key.ts'
import { insertKey } from '../../auth/keys/key-rows.ts'
import { createKeyText } from '../../auth/keys/key-text.ts'
import { openKeys } from '../../auth/keys/keys.ts'
import { composed } from '../../auth/plain-text.ts'
import { type KeyPrincipal, mayUse, type StationOperation } from '../../auth/stations/permissions.ts'
import {
  NewStationFields,
  parameters,
  type Station,
  StationChangeFields,
  seriesNumberMax,
} from '../../auth/stations/station.ts'
import type { StationChanged } from '../../auth/stations/station-changes.ts'
import { openStations } from '../../auth/stations/stations.ts'
import {
  type CredentialWriter,
  createWriters,
  type Writer,
  writeRefusalReason,
  writeRefusals,
} from '../../auth/writers.ts'
import type { Log } from '../../store/log.ts'
import { startAccounts } from '../support/accounts.ts'
import { recordingLog, silentLog } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { waitFor } from '../support/wait-for.ts'

const service = await startAccounts(t)
const { accounts, keys, stations, person, store, clock } = service
const pool = store.postgres
const devices = await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 3_600_000 })
t.teardown(() => devices.close())

async function account(email: string, role: Role = 'user'): Promise<number> {
  const id = await person(email)
  await service.set(id, { role })
  return id
}

const owner = await account('owner@writers.example')
const other = await account('other@example.com')
const administrator = await account('administrator@example.com', 'administrator')

function insert(
  accountId: number,
  { scopes = ['read'] as Scope[], expiresMs = null as number | null, tags = [] as string[] } = {},
) {
  const request = { accountId, name: 'a script', scopes, createDevices: false, tags, expiresMs, nowMs: clock.ms }
  return changeAccount(accounts, accountId, transaction => insertKey(transaction, request))
}

t.test('garbage and unknown keys cost PostgreSQL nothing, or little', async t => {
  const asked = countReads()
  for (const text of ['', 'x', 'barograph_key_', createKeyText().slice(1), `${createKeyText().slice(0, -1)}!`]) {
    t.equal(await keys.find(text), undefined)
  }
  t.equal(asked(), 0)
  const unknown = createKeyText()
  const found = await Promise.all(Array.from({ length: 16 }, () => keys.find(unknown)))
  t.strictSame(new Set(found), new Set([undefined]))
  t.equal(asked(), 1, 'at the same time it is asked once')
  await keys.find(unknown)
  t.equal(asked(), 1, 'and not again')
  clock.ms += 5_000
  await keys.find(unknown)
  t.equal(asked(), 2, 'for five seconds')
})

t.test('a known key is read once', async t => {
  const id = await person('read-once@example.com')
  const text = await made(id)
  const asked = countReads()
  const found = await Promise.all(Array.from({ length: 16 }, () => keys.find(text)))
  for (const principal of found) t.match(principal, { kind: 'key', account: { id }, scopes: ['read'] })
  await keys.find(text)
  t.equal(asked(), 2, 'the key, and its account')
})

t.test('when a key was last used is in the list at once, and in PostgreSQL in the end', async t => {
  const id = await person('user@example.com')
  const own = openKeys({ parts: accounts, flushMs: 1_000_000 })
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const first = await made(id)
  const second = await made(id)
  const stored = async () => {
    const { rows } = await pool.query('SELECT last_used_at FROM api_keys WHERE account_id = $1 ORDER BY id', [id])
    return rows.map(row => row.last_used_at?.getTime() ?? null)
  }
  clock.ms += 1000
  await own.find(first)
  const usedMs = clock.ms
  t.strictSame(
    (await own.list(account)).map(({ lastUsedMs }) => lastUsedMs),
    [null, usedMs],
  )
  t.strictSame(await stored(), [null, null])
  clock.ms += 1000
  await own.find(first)
  await own.find(second)
  await own.close()
  t.strictSame(await stored(), [usedMs + 1000, usedMs + 1000])
  const next = openKeys({ parts: accounts })
  t.teardown(() => next.close())
  await next.find(second)
  t.strictSame(
    (await next.list(account)).map(({ lastUsedMs }) => lastUsedMs),
    [usedMs + 1000, usedMs + 1000],
  )
})

t.test('when a key was last used is the later one of what two processes know', async t => {
  const id = await person('two-processes@example.com')
  const text = await made(id)
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  const [one, other] = [openKeys({ parts: accounts }), openKeys({ parts: accounts })]
  const lastUses = async () => [
    (await one.list(account))[0]?.lastUsedMs,
    (await one.page({ accountId: id, from: 0, rowsMax: 1 })).owned[0]?.lastUsedMs,
  ]
  clock.ms += 1000
  await one.find(text)
  clock.ms += 1000
  await other.find(text)
  await other.close()
  t.strictSame(await lastUses(), [clock.ms, clock.ms])
  clock.ms += 1000
  await one.find(text)
  t.strictSame(await lastUses(), [clock.ms, clock.ms])
  await one.close()
})

t.test('a key that is over stays in the list for 30 days', async t => {
  const id = await person('swept@example.com')
  const dayMs = 24 * 3_600_000
  await made(id, { expiresMs: clock.ms + dayMs })
  await made(id)
  const sweep = async () => {
    for (const text of sweepStatements) await pool.query(text, [new Date(clock.ms)])
    return (await pool.query('SELECT 1 FROM api_keys WHERE account_id = $1', [id])).rows.length
  }
  clock.ms += 31 * dayMs - 1
  t.equal(await sweep(), 2)
  clock.ms += 1
  t.equal(await sweep(), 1, 'one that does not expire stays')
})

t.test('a key that is revoked while its account is read is refused once the revocation is answered', async t => {
  const id = await person('revoked@example.com')
  const text = await made(id)
  await keys.find(text)
  // Its account is forgotten, and the next read of it is held.
  await changeAccount(accounts, id, async () => undefined)
  const query = pool.query.bind(pool)
  const held = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  t.teardown(() => Object.assign(pool, { query }))
  const holding = async (...given: Parameters<typeof query>) => {
    const answer = await query(...given)
    if (/FROM accounts WHERE id = \$1/.test(String(given[0]))) {
      begun.resolve()
      await held.promise
    }
    return answer
  }
  Object.assign(pool, { query: holding })
  const found = [keys.find(text), keys.find(text)]
  await begun.promise
  Object.assign(pool, { query })
  const account = { id } as Parameters<typeof keys.revoke>[0]
  const { rows } = await pool.query('SELECT id FROM api_keys WHERE account_id = $1', [id])
  t.match(await keys.revoke(account, rows[0].id), { ok: true })
  held.resolve()
  t.strictSame(await Promise.all(found), [undefined, undefined])
})

t.test('keys of those who are administrators no more lose the scope with the update', async t => {
  const text = await readFile(new URL('../../store/postgres/migrations/014-key-scopes.sql', import.meta.url), 'utf8')
  const id = await person('demoted@example.com')
  const set = (role: string) => pool.query('UPDATE accounts SET role = $2 WHERE id = $1', [id, role])
  await set('administrator')
  await made(id, { scopes: ['admin', 'read'] })
  const migrated = async () => {
    await pool.query(text)
    return (await pool.query('SELECT scopes FROM api_keys WHERE account_id = $1', [id])).rows
  }
  t.strictSame(await migrated(), [{ scopes: ['read', 'admin'] }])
  await set('user')
  t.strictSame(await migrated(), [{ scopes: ['read'] }])
})

t.test('a key from before addresses were asked for sends readings, and adds no devices', async t => {
  const id = await person('earlier@example.com')
  const request = { accountId: id, name: 'gateway', scopes: ['ingest' as const], createDevices: true, expiresMs: null }
  const inserted = await changeAccount(accounts, id, transaction =>
    insertKey(transaction, { ...request, nowMs: clock.ms }),
  )
  if (!inserted.ok) throw new Error(inserted.code)
  const setVerified = (at: Date | null) => service.set(id, { email_verified_at: at })
  const find = () => keys.find(inserted.value.text)
  t.match(await find(), { scopes: ['ingest'], createDevices: true })
  await setVerified(null)
  t.match(await find(), { scopes: ['ingest'], createDevices: false })
  await setVerified(new Date(clock.ms))
  t.match(await find(), { scopes: ['ingest'], createDevices: true })
})

t.test('a key that is limited to tags says so wherever it is shown, and may only read and send readings', async t => {
  const id = await person('limited@example.com')
  const tags = ['room:1', 'site:berlin']
  const text = await made(id, { scopes: ['read', 'ingest'], tags })
  t.strictSame((await keys.find(text))?.tags, tags)
  t.equal((await keys.find(await made(id)))?.tags, undefined)
  const account = await accounts.find(id)
  if (account === undefined) throw new Error('no such account')
  t.strictSame(
    (await keys.list(account)).map(key => key.tags),
    [[], tags],
  )
  const { owned } = await keys.page({ accountId: id, from: 0, rowsMax: 10 })
  t.strictSame(
    owned.map(key => key.tags),
    [[], tags],
  )
  const { rows } = await pool.query(
    "SELECT details FROM audit WHERE action = 'key.create' AND subject = $1 ORDER BY id",
    [`account ${id}`],
  )
  t.match(rows, [{ details: { tags } }, { details: { scopes: ['read'] } }])
  for (const scope of ['stations', 'admin'] as const) {
    await service.set(id, { role: 'administrator' })
    t.match(await insert(id, { scopes: ['read', scope], tags }), { ok: false, code: 'TAGS_NOT_ALLOWED' }, scope)
  }
})

t.test('a key that was not made leaves no notice', async t => {
  const id = await person('unmade@example.com')
  t.match(await insert(id, { scopes: ['admin'] }), { ok: false, code: 'SCOPE_NOT_ALLOWED' })
  const { rows } = await pool.query("SELECT 1 FROM mail_outbox WHERE account_id = $1 AND kind = 'key-created'", [id])
  t.strictSame(rows, [])
})

/** How many statements about keys have gone to PostgreSQL since; the mailer has its own. */
function countReads(): () => number {
  let count = 0
  const { query } = pool
  const counting = (...statement: Parameters<typeof query>) => {
    if (String(statement[0]).includes('api_keys')) count += 1
    return query.apply(pool, statement)
  }
  pool.query = counting as typeof query
  t.teardown(() => {
    pool.query = query
  })
  return () => count
}

async function made(id: number, more = {}): Promise<string> {
  const inserted = await insert(id, more)
  if (!inserted.ok) throw new Error(inserted.code)
  return inserted.value.text
}

function valueIn<Value>(changed: StationChanged<Value>): Value {
  if (!changed.ok) throw new Error(changed.code)
  return changed.value
}

async function addStation(sn: string, fields: object = {}, owner: number | null = null): Promise<Station> {
  return valueIn(await stations.add({ ...NewStationFields.parse({ sn, model: 'M1', ...fields }), owner }, 'test'))
}

async function auditOf(sn: string): Promise<string[]> {
  const { rows } = await pool.query('SELECT action, details FROM audit WHERE subject = $1 ORDER BY id', [
    `station ${sn}`,
  ])
  return rows.map(({ action, details }) => `${action} ${JSON.stringify(details)}`)
}

t.test('the number of a series is given once, also after its station was removed', async t => {
  const first = await addStation('S-1')
  t.strictSame([...first.series.keys()].sort(), [...parameters].sort())
  await stations.remove(first, 'test')
  const second = await addStation('S-1')
  t.not(second.id, first.id)
  const numbers = [...first.series.values(), ...second.series.values()]
  t.equal(new Set(numbers).size, 2 * parameters.length)
  t.ok(numbers.every(number => number >= 1 && number <= seriesNumberMax))
  const again = openStations({ pool, nowMs: () => clock.ms, log: silentLog })
  t.strictSame((await again.find('S-1'))?.series, second.series, 'the same after a restart')
  await again.close()
})

t.test('of many at once, one takes an sn', async t => {
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, () => stations.add({ sn: 'R-1', model: 'M1', owner: null }, 'test')),
  )
  t.equal(outcomes.filter(({ ok }) => ok).length, 1)
  t.ok(outcomes.every(outcome => outcome.ok || outcome.code === 'SN_TAKEN'))
})

t.test('stations stand in the order of their sn by code units', async t => {
  for (const sn of ['b', 'B', 'a.1', 'a-1', 'a_1', '0']) await addStation(sn)
  const { all } = await stations.registry()
  const sns = all.map(({ sn }) => sn)
  t.strictSame(
    sns,
    sns.toSorted((a, b) => (a < b ? -1 : 1)),
  )
})

t.test('there is a bound of stations and of series', async t => {
  const { all } = await stations.registry()
  const few = openStations({ pool, nowMs: () => clock.ms, log: silentLog, stationsMax: all.length + 1 })
  const addTo = (sn: string) => few.add({ sn, model: 'M1', owner: null }, 'test')
  t.match(await addTo('F-1'), { ok: true })
  t.strictSame(await addTo('F-2'), { ok: false, code: 'REGISTRY_FULL' })
  await few.close()
  const next = openStations({ pool, nowMs: () => clock.ms, log: silentLog, stationsMax: all.length + 3 })
  const sns = Array.from({ length: 12 }, (_, at) => `F-1${at}`)
  const added = await Promise.all(sns.map(sn => next.add({ sn, model: 'M1', owner: null }, 'test')))
  t.equal(added.filter(({ ok }) => ok).length, 2, 'so many at the same moment, too')
  await next.close()
  const { rows } = await pool.query('SELECT last_value AS value FROM station_series_number')
  await pool.query('SELECT setval($1, $2)', ['station_series_number', seriesNumberMax - 3])
  t.strictSame(await stations.add({ sn: 'F-2', model: 'M1', owner: null }, 'test'), {
    ok: false,
    code: 'REGISTRY_FULL',
  })
  t.equal(await stations.find('F-2'), undefined)
  await pool.query('SELECT setval($1, $2)', ['station_series_number', rows[0].value])
})

t.test('the stations of an account that is removed go to the operator', async t => {
  const [owner, operator] = [await person('owner@stations.example'), await person('operator@stations.example')]
  t.strictSame(await stations.change((await addStation('H-0')).id, { owner: 99_999 }, 'test'), {
    ok: false,
    code: 'OWNER_UNKNOWN',
  })
  await pool.query("UPDATE accounts SET role = 'operator' WHERE id = $1", [operator])
  await addStation('H-1', {}, owner)
  await stations.remove(await addStation('H-2', {}, owner), 'test')
  const account = await accounts.find(owner)
  if (account === undefined) throw new Error('no account')
  t.match(await deleteAccount(accounts, account), { ok: true })
  t.equal((await stations.find('H-1'))?.owner, operator)
  t.strictSame((await auditOf('H-1')).slice(1), [`station.change {"owner":${operator}}`])
})

t.test('when data came is known at once, saved later, and never goes back', async t => {
  const flushing = openStations({ pool, nowMs: () => clock.ms, log: silentLog, flushMs: 1 })
  const added = await addStation('D-1')
  t.equal(flushing.lastDataMs(added), null)
  flushing.noteData(added, 2_000)
  flushing.noteData(added, 1_000)
  t.equal(flushing.lastDataMs(added), 2_000)
  await flushing.close()
  const reopened = openStations({ pool, nowMs: () => clock.ms, log: silentLog })
  const read = await reopened.find('D-1')
  t.equal(read && reopened.lastDataMs(read), 2_000)
  if (read !== undefined) reopened.noteData(read, 1_500)
  t.equal(read && reopened.lastDataMs(read), 2_000)
  await reopened.close()
})

t.test('the first data of a station are saved soon', async t => {
  const slow = openStations({ pool, nowMs: () => clock.ms, log: silentLog, flushMs: 3_600_000 })
  t.teardown(() => slow.close())
  const [first, second] = [await addStation('D-2'), await addStation('D-3')]
  for (const station of [first, second]) slow.noteData(station, 2_000)
  await waitFor('both are saved', async () => {
    const { rows } = await pool.query('SELECT 1 FROM stations WHERE sn = ANY($1) AND last_data_at IS NOT NULL', [
      ['D-2', 'D-3'],
    ])
    return rows.length === 2
  })
})

t.test(
  'data that were heard of are known before they are saved, and who took them saves them soon all the same',
  async t => {
    const taker = openStations({ pool, nowMs: () => clock.ms, log: silentLog, flushMs: 3_600_000 })
    t.teardown(() => taker.close())
    const [added, silent] = [await addStation('D-4'), await addStation('D-5')]
    const numbers = [...added.series.values()].slice(0, 2)
    let at = -1
    taker.heard({
      place: { receiptMs: 3_000 },
      next: () => ++at < numbers.length,
      get series() {
        return numbers[at] as number
      },
    })
    await waitFor('they are known', () => taker.lastDataMs(added) === 3_000)
    t.equal(taker.lastDataMs(silent), null)
    const saved = async () =>
      (await pool.query('SELECT last_data_at AS at FROM stations WHERE id = $1', [added.id])).rows
    t.strictSame(await saved(), [{ at: null }], 'by who took them alone')
    taker.noteData(added, 2_500)
    await waitFor('they are saved', async () => (await saved())[0]?.at?.getTime() === 3_000)
  },
)

/** Stations on the same PostgreSQL, by way of a gate. */
async function openBehindGate(t: Test, log: Log) {
  const { host = '', port = 0, user = '', password, database = '' } = pool.options
  const gate = await openGate(t, { host, port, user, password: String(password), database })
  const gated = new pg.Pool({ ...pool.options, password, host: gate.address.host, port: gate.address.port })
  gated.on('error', () => undefined)
  t.teardown(() => gated.end())
  const behind = openStations({ pool: gated, nowMs: () => clock.ms, log, flushMs: 1 })
  t.teardown(() => behind.close())
  return { gate, behind }
}

t.test('a PostgreSQL that is away is told, and what is in memory goes on being read', async t => {
  const { log, texts } = recordingLog('warn')
  const { gate, behind } = await openBehindGate(t, log)
  const { all } = await behind.registry()
  const [station] = all
  if (station === undefined) throw new Error('no station')
  await gate.shut()
  await t.rejects(behind.change(station.id, { city: 'Agra' }, 'test'))
  t.equal((await behind.registry()).all, all)
  behind.noteData(station, clock.ms)
  await waitFor('a failure to save is told', () => texts.length > 0)
  t.match(texts, [/could not save when data of stations came/])
  await gate.open()
  // The next statement is not one of the save, which is tried again.
  await waitFor('it is saved', async () => {
    const { rows } = await pool.query('SELECT last_data_at AS at FROM stations WHERE id = $1', [station.id])
    return rows[0]?.at?.getTime() === clock.ms
  })
  gate.cutAtNextStatement('pg_current_xact_id')
  await t.rejects(behind.change(station.id, { city: 'Agra' }, 'test'))
  t.equal((await behind.registry()).all, all, 'cut before COMMIT')
  t.match(await behind.change(station.id, { city: 'Agra' }, 'test'), { ok: true })
  t.equal((await behind.find(station.sn))?.city, 'Agra')
})

t.test('while it is not known what came of a COMMIT, no station is read from memory', async t => {
  const { gate, behind } = await openBehindGate(t, silentLog)
  const station = await addStation('C-1')
  const { all } = await behind.registry()
  gate.cutAtNextStatement('COMMIT')
  await t.rejects(behind.change(station.id, { city: 'Agra' }, 'test'), { message: /did not confirm/ })
  await gate.shut()
  await t.rejects(behind.registry())
  await gate.open()
  await waitFor('it is found out', () =>
    behind.registry().then(
      () => true,
      () => false,
    ),
  )
  t.not((await behind.registry()).all, all)
  t.equal((await behind.find('C-1'))?.city, null, 'the COMMIT did not arrive')
})

t.test('fields are checked', async t => {
  const good: [object, object][] = [
    [
      { latitude: '-90', longitude: '+180.0' },
      { latitude: -90, longitude: 180 },
    ],
    [
      { latitude: '-0', longitude: '12.' },
      { latitude: 0, longitude: 12 },
    ],
    [{ country: 'de' }, { country: 'DE' }],
    [{ timezone: null }, { timezone: 'UTC' }],
    [{ timezone: 'Asia/Kolkata' }, { timezone: 'Asia/Kolkata' }],
    [
      { city: null, outdoors: null, latitude: null },
      { city: null, outdoors: null, latitude: null },
    ],
    [{ sn: 'dropped', id: 1, city: '' }, { city: '' }],
  ]
  for (const [given, read] of good) t.strictSame(StationChangeFields.parse(given), read, JSON.stringify(given))
  const bad: Record<string, unknown[]> = {
    latitude: ['90.1', 91, '1e1', '', ' 1'],
    longitude: ['0x10', 181, true],
    country: ['DEU', 'ß'],
    timezone: ['Mars/Base', 'x'.repeat(65)],
    model: ['', null],
    private: [null, 'true'],
    outdoors: ['yes'],
    city: ['a\nb', '\ud800'],
    location: ['x'.repeat(501)],
  }
  for (const [field, values] of Object.entries(bad)) {
    for (const value of values) t.notOk(StationChangeFields.safeParse({ [field]: value }).success, `${field} ${value}`)
  }
  for (const sn of ['a', '0', 'A.b_c-d', 'x'.repeat(64)]) {
    t.ok(NewStationFields.safeParse({ sn, model: 'M1' }).success, sn)
  }
  for (const sn of ['', '.a', '-a', '_a', 'a b', 'a/b', 'ä', 'x'.repeat(65), 'a\n']) {
    t.notOk(NewStationFields.safeParse({ sn, model: 'M1' }).success, JSON.stringify(sn))
  }
})

t.test('who may do what', t => {
  const owner = 7
  const key = (role: Role, id: number, of: readonly Scope[] = scopes): KeyPrincipal => {
    return { kind: 'key', account: { id, role } as Account, keyId: 1, scopes: of, createDevices: false }
  }
  const people = [key('user', 1), key('user', owner), key('administrator', 2), key('operator', 3)]
  const operations: Record<StationOperation, { scope: Scope; private: string; public: string; none: string }> = {
    // An ordinary user, the owner, an administrator, the operator.
    read: { scope: 'read', private: '-yyy', public: 'yyyy', none: 'yyyy' },
    'points.add': { scope: 'ingest', private: '-yyy', public: '-yyy', none: 'yyyy' },
    add: { scope: 'stations', private: '--yy', public: '--yy', none: '--yy' },
    change: { scope: 'stations', private: '-yyy', public: '-yyy', none: 'yyyy' },
    remove: { scope: 'stations', private: '---y', public: '---y', none: '---y' },
  }
  for (const [name, expected] of Object.entries(operations)) {
    const operation = name as StationOperation
    const verdicts = (station?: Pick<Station, 'owner' | 'private'>) =>
      people.map(person => (mayUse(operation, person, station) ? 'y' : '-')).join('')
    t.equal(verdicts({ owner, private: true }), expected.private, `${name}, private`)
    t.equal(verdicts({ owner, private: false }), expected.public, `${name}, public`)
    t.equal(verdicts(), expected.none, `${name}, any`)
    const others = scopes.filter(scope => scope !== expected.scope)
    t.notOk(mayUse(operation, key('operator', owner, others)), `${name} needs ${expected.scope}`)
    t.ok(mayUse(operation, key('operator', owner, [expected.scope])), `${name} needs no more`)
  }
  t.end()
})

const ownedMax = 5
const writers = createWriters(devices, { user: ownedMax, administrator: ownedMax + 2, operator: 0 })

async function addDevice(name: string, fields: object = {}): Promise<string> {
  const added = await devices.add([NewDevice.parse({ name, ...fields })], 'test')
  if (!added.ok) throw new Error(added.code)
  return added.value[0]?.password ?? ''
}

const keyOf = async (id: number, scopes: Scope[] = ['ingest'], createDevices = false, tags: string[] = []) =>
  await keys.find(await service.keyOf(id, { scopes, createDevices, tags }))

function known(writer: CredentialWriter | string | undefined): CredentialWriter {
  if (writer === undefined || typeof writer === 'string') throw new Error(`no writer: ${writer}`)
  return writer
}

/** The name of what is found, or why nothing is. */
function found(writer: Writer, name: string): string {
  const device = writer.find(name)
  return typeof device === 'string' ? writeRefusals[device] && device : `found ${device.name}`
}

t.test('a device writes itself, as long as it may log', async t => {
  const password = await addDevice('Küche', { owner })
  await addDevice('attic', { owner })
  t.equal(writers.ofDevice('Küche', 'wrong'), undefined)
  t.equal(writers.ofDevice('nobody', password), undefined)
  const writer = known(writers.ofDevice('Küche', password))
  t.equal(writer.device, devices.get('Küche'))
  t.equal(found(writer, 'Küche'.normalize('NFD')), 'found Küche')
  t.equal(found(writer, 'attic'), 'DEVICE_MISMATCH')
  t.equal(found(writer, 'nobody'), 'DEVICE_MISMATCH')
  t.equal(await writer.createDevices(['new']), 'done')
  t.equal(devices.get('new'), undefined)
  await devices.change('Küche', { log_switch: false }, 'test')
  t.equal(found(writer, 'Küche'), 'LOGGING_DISABLED')
  await devices.change('Küche', { log_switch: true, name: 'kitchen' }, 'test')
  t.equal(found(writer, 'kitchen'), 'found kitchen', 'a new name counts at once')
  t.equal(found(writer, 'Küche'), 'DEVICE_MISMATCH')
  await devices.remove(writer.device?.number ?? 0, 'test')
  t.equal(found(writer, 'kitchen'), 'DEVICE_UNKNOWN')
  await addDevice('kitchen', { owner })
  t.equal(found(writer, 'kitchen'), 'DEVICE_UNKNOWN', 'a new device of the same name is another one')
})

t.test('a device whose password has ended writes nothing any more, one with an older password for a while', async t => {
  const first = await addDevice('cellar', { owner })
  const writer = known(writers.ofDevice('cellar', first))
  t.equal(await writer.renewed(), writer)
  const rotated = await devices.rotate('cellar', false, 'test')
  t.equal(found(writer, 'cellar'), 'found cellar', 'within the grace time')
  t.equal(await writer.renewed(), writer)
  const second = rotated.ok ? rotated.value.password : ''
  const newer = known(writers.ofDevice('cellar', second))
  await devices.rotate('cellar', true, 'test')
  for (const old of [writer, newer]) {
    t.equal(found(old, 'cellar'), 'DEVICE_UNKNOWN')
    t.equal(await old.renewed(), 'UNAUTHENTICATED')
  }
  const last = await devices.rotate('cellar', true, 'test')
  const current = known(writers.ofDevice('cellar', last.ok ? last.value.password : ''))
  await devices.change('cellar', { name: 'basement', location_short: 'below' }, 'test')
  t.equal(found(current, 'basement'), 'found basement')
  t.equal(await current.renewed(), current, 'a new name ends no credential')
  await devices.remove(current.device?.number ?? 0, 'test')
  t.equal(await current.renewed(), 'UNAUTHENTICATED')
})

t.test('a record is checked as its name is, and is known by its number until it changes', async t => {
  const password = await addDevice('shed', { owner })
  const shed = devices.get('shed')
  if (shed?.authSeq === undefined) throw new Error('no such device')
  const { number, authSeq } = shed
  const ofOwner = known(writers.ofPrincipal(await keyOf(owner)))
  const ofOther = known(writers.ofPrincipal(await keyOf(other)))
  const itself = known(writers.ofDevice('shed', password))
  const neighbour = known(writers.ofDevice('barn', await addDevice('barn', { owner })))
  const all = [ofOwner, ofOther, itself, neighbour]
  const checked = () => all.map(writer => writer.check(shed))
  t.strictSame(checked(), [shed, 'DEVICE_FORBIDDEN', shed, 'DEVICE_MISMATCH'])
  for (const writer of all) t.equal(writer.unchanged(number, authSeq), shed)
  await devices.change('shed', { name: 'hut' }, 'test')
  t.strictSame(checked(), [shed, 'DEVICE_FORBIDDEN', shed, 'DEVICE_MISMATCH'])
  for (const writer of all) t.equal(writer.unchanged(number, authSeq), undefined)
  await devices.change('hut', { log_switch: false }, 'test')
  t.strictSame(checked(), ['LOGGING_DISABLED', 'DEVICE_FORBIDDEN', 'LOGGING_DISABLED', 'DEVICE_MISMATCH'])
  await devices.remove(number, 'test')
  t.strictSame(checked(), ['DEVICE_UNKNOWN', 'DEVICE_UNKNOWN', 'DEVICE_UNKNOWN', 'DEVICE_MISMATCH'])
  t.equal(ofOwner.unchanged(number, shed.authSeq), undefined)
})

t.test('the writer of a key is renewed with what the key and its account are now', async t => {
  const id = await account('renewed@example.com', 'administrator')
  const owned = await accounts.find(id)
  const made =
    owned &&
    (await keys.create(owned, { name: 'test', scopes: ['ingest'], createDevices: false, expiresInDays: undefined }))
  if (made?.ok !== true) throw new Error('no key')
  const { id: keyId, text } = made.value
  const find = () => keys.find(text)
  const writer = known(writers.ofPrincipal(await find(), find))
  await addDevice('of nobody')
  t.equal(found(writer, 'of nobody'), 'found of nobody')
  await service.set(id, { role: 'user' })
  const renewed = known(await writer.renewed())
  t.equal(found(renewed, 'of nobody'), 'DEVICE_FORBIDDEN')
  t.equal(renewed.id, writer.id)
  await keys.revokeAny(keyId, 'test')
  t.equal(await renewed.renewed(), 'UNAUTHENTICATED')
})

t.test('a key needs the scope, and writes the devices of its owner; of an administrator all', async t => {
  await addDevice('mine', { owner })
  await addDevice('nobodys')
  const key = await keyOf(owner)
  const writer = known(writers.ofPrincipal(key))
  t.equal(writer.device, undefined)
  const all = ['mine', 'nobodys', 'nothing']
  t.strictSame(
    all.map(name => found(writer, name)),
    ['found mine', 'DEVICE_FORBIDDEN', 'DEVICE_UNKNOWN'],
  )
  const foreign = known(writers.ofPrincipal(await keyOf(other)))
  t.strictSame(
    all.map(name => found(foreign, name)),
    ['DEVICE_FORBIDDEN', 'DEVICE_FORBIDDEN', 'DEVICE_UNKNOWN'],
  )
  const every = known(writers.ofPrincipal(await keyOf(administrator)))
  t.strictSame(
    all.map(name => found(every, name)),
    ['found mine', 'found nobodys', 'DEVICE_UNKNOWN'],
  )
  await devices.change('mine', { log_switch: false }, 'test')
  t.equal(found(writer, 'mine'), 'LOGGING_DISABLED')
  t.equal(writers.ofPrincipal(await keyOf(owner, ['read', 'stations'])), 'FORBIDDEN')
  t.equal(writers.ofPrincipal(await keyOf(administrator, ['read', 'admin'])), 'FORBIDDEN')
  t.equal(writers.ofPrincipal(undefined), 'UNAUTHENTICATED')
  for (const kind of ['admin-token', 'service'] as const) t.equal(writers.ofPrincipal({ kind }), 'UNAUTHENTICATED')
})

t.test('a key that is limited to tags writes the devices of its owner that have all of them', async t => {
  const id = await account('tagged@example.com')
  await addDevice('both', { owner: id, tags: ['room:1', 'site:berlin'] })
  await addDevice('one', { owner: id, tags: ['site:berlin'] })
  await addDevice('foreign', { owner: await account('untagged@example.com'), tags: ['room:1', 'site:berlin'] })
  const tags = ['site:berlin', 'room:1']
  const writer = known(writers.ofPrincipal(await keyOf(id, ['ingest'], true, tags)))
  const all = ['both', 'one', 'foreign']
  const told = (of: Writer) => all.map(name => found(of, name))
  t.strictSame(told(writer), ['found both', 'DEVICE_FORBIDDEN', 'DEVICE_FORBIDDEN'])
  const every = known(writers.ofPrincipal(await keyOf(administrator, ['ingest'], false, tags)))
  t.strictSame(told(every), ['found both', 'DEVICE_FORBIDDEN', 'found foreign'])
  await devices.change('one', { tags: ['room:1', 'site:berlin'] }, 'test')
  await devices.change('both', { tags: [] }, 'test')
  t.strictSame(told(writer), ['DEVICE_FORBIDDEN', 'found one', 'DEVICE_FORBIDDEN'], 'as the devices are now')
  t.equal(await writer.createDevices(['made']), 'done')
  t.equal(found(writer, 'made'), 'found made')
  t.strictSame(devices.get('made')?.tags, ['site:berlin', 'room:1'].sort(), 'what it adds has its tags')
})

t.test('a key that may adds devices, up to a number of them', async t => {
  const plain = known(writers.ofPrincipal(await keyOf(other)))
  t.equal(await plain.createDevices(['a']), 'done')
  t.equal(devices.get('a'), undefined)
  const writer = known(writers.ofPrincipal(await keyOf(other, ['ingest'], true)))
  t.equal(writer.mayCreateDevices, true)
  t.equal(await writer.createDevices(['a', 'a', 'mine', 'a:b', '..', '\u200b']), 'done')
  t.strictSame([devices.ownedBy(other), devices.get('a')?.owner, devices.get('mine')?.owner], [1, other, owner])
  t.equal(found(writer, 'a'), 'found a')
  for (const name of ['a:b', 'a+b', ' b', 'b  c', 'b\u00a0c']) t.equal(found(writer, name), 'NAME_INVALID', name)
  t.equal(
    writeRefusalReason('NAME_INVALID', 'b  c'),
    'no new device can have this name: it must not contain two spaces in a row',
  )
  t.equal(found(plain, ' b'), 'DEVICE_UNKNOWN', 'a key that adds none need not be told')
  t.equal(await writer.createDevices(['a', 'mine']), 'done')
  t.equal(devices.ownedBy(other), 1)
  await Promise.all([writer.createDevices(['b', 'c', 'd']), writer.createDevices(['e', 'f', 'g'])])
  t.equal(devices.ownedBy(other), 4, 'there is no room for both')
  t.equal(await writer.createDevices(['h', 'i', 'j']), 'done')
  t.strictSame([devices.ownedBy(other), devices.get('i')], [ownedMax, undefined])
  t.strictSame([found(writer, 'i'), found(plain, 'i')], ['TOO_MANY_DEVICES', 'DEVICE_UNKNOWN'])
  t.equal(await writer.createDevices(['i']), 'done')
  await devices.remove(devices.get('a')?.number ?? 0, 'test')
  await devices.change('h', { owner: null }, 'test')
  t.equal(devices.ownedBy(other), ownedMax - 2)
  const { rows } = await pool.query("SELECT DISTINCT actor FROM audit WHERE subject IN ('device a', 'a')")
  t.match(rows[0]?.actor, /^key \d+ of account \d+$/)
})

t.test('an administrator has a bound of their own', async t => {
  const writer = known(writers.ofPrincipal(await keyOf(administrator, ['ingest'], true)))
  const names = Array.from({ length: ownedMax + 3 }, (_, at) => `of-administrator-${at}`)
  t.equal(await writer.createDevices(names), 'done')
  t.equal(devices.ownedBy(administrator), ownedMax + 2)
  t.equal(found(writer, names.at(-1) ?? ''), 'TOO_MANY_DEVICES')
})

t.test('a device with an older name goes on working', async t => {
  const names = [' lead2', 'a  b', 'b\u00a0c', 'c+d', 'e/f']
  const { rows } = await pool.query<{ number: number }>(
    `INSERT INTO devices (name, slug, location_short, location_desc, log_switch, battery, owner, credential_current,
       created_at, auth_seq)
     SELECT name, 'device', '', '', true, false, $2, sha256('secret'), now(), nextval('auth_seq') FROM unnest($1::text[]) AS name
     RETURNING number`,
    [names, owner],
  )
  const reopened = await openDevices({ pool: pool, now: Date.now, log: silentLog, graceMs: 3_600_000 })
  t.teardown(() => reopened.close())
  const own = createWriters(reopened, { user: 100, administrator: 100, operator: 100 })
  const byKey = known(own.ofPrincipal(await keyOf(owner, ['ingest'], true)))
  for (const name of names) {
    t.equal(found(known(own.ofDevice(name, 'secret')), name), `found ${name}`)
    t.equal(found(byKey, name), `found ${name}`)
    t.match(await reopened.change(name, { location_short: 'here' }, 'test'), { ok: true })
    t.match(await reopened.rotate(name, true, 'test'), { ok: true })
  }
  t.equal(rows.length, names.length)
})

t.test(
  'no long text of a stranger is composed, which may take time that grows with the square of its length',
  async t => {
    const password = await addDevice('yard')
    const writersOfTexts = [
      known(writers.ofDevice('yard', password)),
      known(writers.ofPrincipal(await keyOf(owner, ['ingest'], true))),
    ]
    const lengths: number[] = []
    const { normalize } = String.prototype
    t.teardown(() => {
      String.prototype.normalize = normalize
    })
    String.prototype.normalize = function (form) {
      lengths.push(this.length)
      return normalize.call(this, form)
    }
    const long = `a${'\u0301\u0316'.repeat(20_000)}`
    t.equal(writers.ofDevice(long, 'x'), undefined)
    for (const writer of writersOfTexts) {
      t.match(writer.find(long), /^(DEVICE_MISMATCH|NAME_INVALID)$/)
      t.equal(await writer.createDevices([long]), 'done')
    }
    t.match(writeRefusalReason('NAME_INVALID', long), /at most 64 characters/)
    t.notOk(lengths.some(length => length > 512))
    t.equal(composed(`${'e\u0301'.repeat(256)}`), 'é'.repeat(256))
  },
)
