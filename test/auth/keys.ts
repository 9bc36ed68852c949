/** API keys, stations and the devices a credential may write, on a real PostgreSQL: changes, owners, and expiry. */

import pg from 'pg'
import t from 'tap'
import type { Account } from '../../auth/accounts/account.ts'
import type { Role } from '../../auth/accounts/account-details.ts'
import { changeAccount } from '../../auth/accounts/account-parts.ts'
import { sweepStatements } from '../../auth/accounts/accounts.ts'
import { deleteAccount } from '../../auth/accounts/profile.ts'
import { openDevices } from '../../auth/devices/devices.ts'
import { type Scope, scopes } from '../../auth/keys/key.ts'
import { insertKey } from '../../auth/keys/key-rows.ts'
import { createKeyText } from '../../auth/keys/key-text.ts'
import { openKeys } from '../../auth/keys/keys.ts'
import { type KeyPrincipal, mayUse, type StationOperation } from '../../auth/stations/permissions.ts'
import {
  NewStationFields,
  parameters,
  type Station,
  StationChangeFields,
  seriesNumberMax,
} from '../../auth/stations/station.ts'
import { openStations, type StationsOptions } from '../../auth/stations/stations.ts'
import {
  type CredentialWriter,
  createWriters,
  type Writer,
  writeRefusalReason,
  writeRefusals,
} from '../../auth/writers.ts'
import { composed } from '../../store/plain-text.ts'
import { startAccounts } from '../support/accounts.ts'
import { addDeviceTo, valueIn } from '../support/changed.ts'
import { closing, recordingLog, silentLog } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { waitFor } from '../support/wait-for.ts'

const service = await startAccounts(t)
const { accounts, keys, stations, person, store, clock } = service
const pool = store.postgres
const devices = closing(t, await openDevices({ pool, now: Date.now, log: silentLog, graceMs: 3_600_000 }))

async function account(email: string, role: Role = 'user'): Promise<number> {
  const id = await person(email)
  await service.set(id, { role })
  return id
}

const owner = await account('owner@writers.example')
const other = await account('other@example.com')
const administrator = await account('administrator@example.com', 'administrator')

function insert(accountId: number, more: Partial<Parameters<typeof insertKey>[1]> = {}) {
  const usual = { name: 'a script', scopes: ['read' as const], createDevices: false, expiresMs: null }
  const request = { ...usual, accountId, nowMs: clock.ms, ...more }
  return changeAccount(accounts, accountId, transaction => insertKey(transaction, request))
}

const accountOf = service.account

const open = (options: Partial<StationsOptions> = {}) =>
  openStations({ pool, nowMs: () => clock.ms, log: silentLog, ...options })

t.test('garbage causes no query, a known key one, unknown keys few', async t => {
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
  const id = await person('read-once@example.com')
  const text = await made(id)
  const before = asked()
  for (const principal of await Promise.all(Array.from({ length: 16 }, () => keys.find(text)))) {
    t.match(principal, { kind: 'key', account: { id }, scopes: ['read'] })
  }
  await keys.find(text)
  t.equal(asked(), before + 2, 'the key, and its account')
})

t.test('the last use of a key is the later one of two processes', async t => {
  const id = await person('two-processes@example.com')
  const text = await made(id)
  const account = await accountOf(id)
  const [one, other] = [openKeys({ parts: accounts }), openKeys({ parts: accounts })]
  const lastUses = async () => [
    (await one.list(account))[0]?.lastUsedMs,
    (await one.page({ accountId: id, from: 0, rowsMax: 1 })).owned[0]?.lastUsedMs,
  ]
  clock.ms += 1000
  await one.find(text)
  t.strictSame(await lastUses(), [clock.ms, clock.ms], 'at once')
  clock.ms += 1000
  await other.find(text)
  await other.close()
  t.strictSame(await lastUses(), [clock.ms, clock.ms])
  clock.ms += 1000
  await one.find(text)
  t.strictSame(await lastUses(), [clock.ms, clock.ms])
  await one.close()
})

t.test('an expired key stays in the list for 30 days', async t => {
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

t.test('a key revoked while its account is read is rejected once the revocation is answered', async t => {
  const id = await person('revoked@example.com')
  const text = await made(id)
  await keys.find(text)
  // The account is evicted, and its next read is blocked.
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

t.test('a key of an unverified address sends readings without adding devices', async t => {
  const id = await person('earlier@example.com')
  const text = await made(id, { scopes: ['ingest'], createDevices: true })
  for (const at of [new Date(clock.ms), null, new Date(clock.ms)]) {
    await service.set(id, { email_verified_at: at })
    t.match(await keys.find(text), { scopes: ['ingest'], createDevices: at !== null })
  }
})

t.test('a key limited to tags shows them everywhere, and may only read and send readings', async t => {
  const id = await person('limited@example.com')
  const tags = ['room:1', 'site:berlin']
  const text = await made(id, { scopes: ['read', 'ingest'], tags })
  t.strictSame((await keys.find(text))?.tags, tags)
  t.equal((await keys.find(await made(id)))?.tags, undefined)
  const { owned } = await keys.page({ accountId: id, from: 0, rowsMax: 10 })
  for (const listed of [await keys.list(await accountOf(id)), owned]) {
    const shown = listed.map(key => key.tags)
    t.strictSame(shown, [[], tags])
  }
  const created = "SELECT details FROM audit WHERE action = 'key.create' AND subject = $1 ORDER BY id"
  const { rows } = await pool.query(created, [`account ${id}`])
  t.match(rows, [{ details: { tags } }, { details: { scopes: ['read'] } }])
  for (const scope of ['stations', 'admin'] as const) {
    await service.set(id, { role: 'administrator' })
    t.match(await insert(id, { scopes: ['read', scope], tags }), { ok: false, code: 'TAGS_NOT_ALLOWED' }, scope)
  }
})

/** Counts the statements about keys from now on. The mailer uses another pool. */
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

async function made(id: number, more: Parameters<typeof insert>[1] = {}): Promise<string> {
  return valueIn(await insert(id, more)).text
}

async function addStation(sn: string, fields: object = {}, owner: number | null = null): Promise<Station> {
  return valueIn(await stations.add({ ...NewStationFields.parse({ sn, model: 'M1', ...fields }), owner }, 'test'))
}

async function auditOf(sn: string): Promise<string[]> {
  const text = 'SELECT action, details FROM audit WHERE subject = $1 ORDER BY id'
  const { rows } = await pool.query(text, [`station ${sn}`])
  return rows.map(({ action, details }) => `${action} ${JSON.stringify(details)}`)
}

t.test('the number of a series is never reused, even after its station was removed', async t => {
  const first = await addStation('S-1')
  t.strictSame([...first.series.keys()].sort(), [...parameters].sort())
  await stations.remove(first, 'test')
  const second = await addStation('S-1')
  t.not(second.id, first.id)
  const numbers = [...first.series.values(), ...second.series.values()]
  t.equal(new Set(numbers).size, 2 * parameters.length)
  t.ok(numbers.every(number => number >= 1 && number <= seriesNumberMax))
  const again = open()
  t.strictSame((await again.find('S-1'))?.series, second.series, 'the same after a restart')
  await again.close()
})

t.test('one of many concurrent additions gets an sn, the order of stations in code units', async t => {
  const add = () => stations.add({ sn: 'R-1', model: 'M1', owner: null }, 'test')
  const outcomes = await Promise.all(Array.from({ length: 16 }, add))
  t.equal(outcomes.filter(({ ok }) => ok).length, 1)
  t.ok(outcomes.every(outcome => outcome.ok || outcome.code === 'SN_TAKEN'))
  for (const sn of ['b', 'B', 'a.1', 'a-1', 'a_1', '0']) await addStation(sn)
  const sns = (await stations.registry()).all.map(({ sn }) => sn)
  const ordered = sns.toSorted((a, b) => (a < b ? -1 : 1))
  t.strictSame(sns, ordered)
})

t.test('stations and series have a limit', async t => {
  const { all } = await stations.registry()
  const full = { ok: false, code: 'REGISTRY_FULL' }
  const few = open({ stationsMax: all.length + 2 })
  const addTo = (registry: typeof few, sn: string) => registry.add({ sn, model: 'M1', owner: null }, 'test')
  const added = await Promise.all(Array.from({ length: 12 }, (_, at) => addTo(few, `F-1${at}`)))
  t.equal(added.filter(({ ok }) => ok).length, 2)
  t.strictSame(await addTo(few, 'F-2'), full)
  await few.close()
  const { rows } = await pool.query('SELECT last_value AS value FROM station_series_number')
  await pool.query('SELECT setval($1, $2)', ['station_series_number', seriesNumberMax - 3])
  t.strictSame(await addTo(stations, 'F-2'), full)
  t.equal(await stations.find('F-2'), undefined)
  await pool.query('SELECT setval($1, $2)', ['station_series_number', rows[0].value])
})

t.test('the stations of a removed account go to the operator', async t => {
  const [owner, operator] = [await person('owner@stations.example'), await person('operator@stations.example')]
  const changed = await stations.change((await addStation('H-0')).id, { owner: 99_999 }, 'test')
  t.strictSame(changed, { ok: false, code: 'OWNER_UNKNOWN' })
  await pool.query("UPDATE accounts SET role = 'operator' WHERE id = $1", [operator])
  await addStation('H-1', {}, owner)
  await stations.remove(await addStation('H-2', {}, owner), 'test')
  t.match(await deleteAccount(accounts, await accountOf(owner)), { ok: true })
  t.equal((await stations.find('H-1'))?.owner, operator)
  t.strictSame((await auditOf('H-1')).slice(1), [`station.change {"owner":${operator}}`])
})

t.test('received data are known before the accepting process saves them', async t => {
  const taker = closing(t, open({ flushMs: 3_600_000 }))
  const [added, silent] = [await addStation('D-4'), await addStation('D-5')]
  const numbers = [...added.series.values()].slice(0, 2)
  let at = -1
  taker.received({
    place: { receiptMs: 3_000 },
    next: () => ++at < numbers.length,
    get series() {
      return numbers[at] as number
    },
  })
  await waitFor('they are known', () => taker.lastDataMs(added) === 3_000)
  t.equal(taker.lastDataMs(silent), null)
  const saved = async () => (await pool.query('SELECT last_data_at AS at FROM stations WHERE id = $1', [added.id])).rows
  t.strictSame(await saved(), [{ at: null }], 'by who took them alone')
  taker.noteData(added, 2_500)
  await waitFor('they are saved', async () => (await saved())[0]?.at?.getTime() === 3_000)
  const reopened = closing(t, open())
  t.equal(reopened.lastDataMs((await reopened.find('D-4')) ?? added), 3_000)
})

t.test('stations in memory are readable while PostgreSQL is unavailable', async t => {
  const { log, texts } = recordingLog('warn')
  const { host = '', port = 0, user = '', password, database = '' } = pool.options
  const gate = await openGate(t, { host, port, user, password: String(password), database })
  const gated = new pg.Pool({ ...pool.options, password, host: gate.address.host, port: gate.address.port })
  gated.on('error', () => undefined)
  t.teardown(() => gated.end())
  const behind = closing(t, open({ pool: gated, log, flushMs: 1 }))
  const { all } = await behind.registry()
  const [station] = all
  if (station === undefined) throw new Error('no station')
  await gate.shut()
  await t.rejects(behind.change(station.id, { city: 'Agra' }, 'test'))
  t.equal((await behind.registry()).all, all)
  behind.noteData(station, clock.ms)
  await waitFor('a failure to save is in the log', () => texts.length > 0)
  t.match(texts, [/could not save times of station data/])
  await gate.open()
  // The retry of the save has to end before the next statement.
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

t.test('fields are checked', async t => {
  const gives = (given: object, read: object) => t.strictSame(StationChangeFields.parse(given), read)
  gives({ latitude: '-90', longitude: '+180.0' }, { latitude: -90, longitude: 180 })
  gives({ latitude: '-0', longitude: '12.' }, { latitude: 0, longitude: 12 })
  gives({ country: 'de', timezone: null }, { country: 'DE', timezone: 'UTC' })
  const unset = { city: null, outdoors: null, latitude: null, timezone: 'Asia/Kolkata' }
  gives(unset, unset)
  gives({ sn: 'dropped', id: 1, city: '' }, { city: '' })
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
  const isGood = (sn: string) => NewStationFields.safeParse({ sn, model: 'M1' }).success
  for (const sn of ['a', '0', 'A.b_c-d', 'x'.repeat(64)]) t.ok(isGood(sn), sn)
  for (const sn of ['', '.a', '-a', '_a', 'a b', 'a/b', 'ä', 'x'.repeat(65), 'a\n']) t.notOk(isGood(sn), sn)
})

t.test('permissions by role and visibility', t => {
  const owner = 7
  const key = (role: Role, id: number, of: readonly Scope[] = scopes): KeyPrincipal => {
    return { kind: 'key', account: { id, role } as Account, keyId: 1, scopes: of, createDevices: false }
  }
  const people = [key('user', 1), key('user', owner), key('administrator', 2), key('operator', 3)]
  const operations: Record<StationOperation, { scope: Scope; private: string; public: string; none: string }> = {
    // The letters stand for an ordinary user, the owner, an administrator and the operator.
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

const addDevice = (name: string, fields = {}) => addDeviceTo(devices, name, fields)

const keyOf = async (id: number, scopes: Scope[] = ['ingest'], createDevices = false, tags: string[] = []) =>
  await keys.find(await service.keyOf(id, { scopes, createDevices, tags }))

function known(writer: CredentialWriter | string | undefined): CredentialWriter {
  if (writer === undefined || typeof writer === 'string') throw new Error(`no writer: ${writer}`)
  return writer
}

/** The name of the found device, or the code of the refusal. */
function found(writer: Writer, name: string): string {
  const device = writer.find(name)
  return typeof device === 'string' ? writeRefusals[device] && device : `found ${device.name}`
}

t.test('a device with the scope log writes itself', async t => {
  const password = await addDevice('Küche', { owner })
  await addDevice('attic', { owner })
  for (const [name, text] of [
    ['Küche', 'wrong'],
    ['nobody', password],
  ] as const) {
    t.equal(writers.ofDevice(name, text), undefined)
  }
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

t.test('only the current and for a while the older password may write', async t => {
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

t.test('a record is checked like its name, and by its number until it changes', async t => {
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

t.test('a renewed writer of a key has the current rights of the key and its account', async t => {
  const id = await account('renewed@example.com', 'administrator')
  const text = await made(id, { scopes: ['ingest'] })
  const find = () => keys.find(text)
  const principal = await find()
  const writer = known(writers.ofPrincipal(principal, find))
  await addDevice('of nobody')
  t.equal(found(writer, 'of nobody'), 'found of nobody')
  await service.set(id, { role: 'user' })
  const renewed = known(await writer.renewed())
  t.equal(found(renewed, 'of nobody'), 'DEVICE_FORBIDDEN')
  t.equal(renewed.id, writer.id)
  await keys.revokeAny(principal?.keyId ?? 0, 'test')
  t.equal(await renewed.renewed(), 'UNAUTHENTICATED')
})

t.test('a key with the scope writes the devices of its owner, or all for an administrator', async t => {
  await addDevice('mine', { owner })
  await addDevice('nobodys')
  const key = await keyOf(owner)
  const writer = known(writers.ofPrincipal(key))
  t.equal(writer.device, undefined)
  const all = async (id: number) => {
    const writer = known(writers.ofPrincipal(await keyOf(id)))
    return ['mine', 'nobodys', 'nothing'].map(name => found(writer, name))
  }
  t.strictSame(await all(owner), ['found mine', 'DEVICE_FORBIDDEN', 'DEVICE_UNKNOWN'])
  t.strictSame(await all(other), ['DEVICE_FORBIDDEN', 'DEVICE_FORBIDDEN', 'DEVICE_UNKNOWN'])
  t.strictSame(await all(administrator), ['found mine', 'found nobodys', 'DEVICE_UNKNOWN'])
  await devices.change('mine', { log_switch: false }, 'test')
  t.equal(found(writer, 'mine'), 'LOGGING_DISABLED')
  t.equal(writers.ofPrincipal(await keyOf(owner, ['read', 'stations'])), 'FORBIDDEN')
  t.equal(writers.ofPrincipal(await keyOf(administrator, ['read', 'admin'])), 'FORBIDDEN')
  t.equal(writers.ofPrincipal(undefined), 'UNAUTHENTICATED')
  for (const kind of ['admin-token', 'service'] as const) t.equal(writers.ofPrincipal({ kind }), 'UNAUTHENTICATED')
})

t.test('a key limited to tags writes the devices of its owner that have all of them', async t => {
  const id = await account('tagged@example.com')
  await addDevice('both', { owner: id, tags: ['room:1', 'site:berlin'] })
  await addDevice('one', { owner: id, tags: ['site:berlin'] })
  await addDevice('foreign', { owner: await account('untagged@example.com'), tags: ['room:1', 'site:berlin'] })
  const tags = ['site:berlin', 'room:1']
  const writer = known(writers.ofPrincipal(await keyOf(id, ['ingest'], true, tags)))
  const all = ['both', 'one', 'foreign']
  const finds = (of: Writer) => all.map(name => found(of, name))
  t.strictSame(finds(writer), ['found both', 'DEVICE_FORBIDDEN', 'DEVICE_FORBIDDEN'])
  const every = known(writers.ofPrincipal(await keyOf(administrator, ['ingest'], false, tags)))
  t.strictSame(finds(every), ['found both', 'DEVICE_FORBIDDEN', 'found foreign'])
  await devices.change('one', { tags: ['room:1', 'site:berlin'] }, 'test')
  await devices.change('both', { tags: [] }, 'test')
  t.strictSame(finds(writer), ['DEVICE_FORBIDDEN', 'found one', 'DEVICE_FORBIDDEN'], 'as the devices are now')
  t.equal(await writer.createDevices(['made']), 'done')
  t.equal(found(writer, 'made'), 'found made')
  t.strictSame(devices.get('made')?.tags, ['site:berlin', 'room:1'].sort(), 'what it adds has its tags')
})

t.test('a key with the permission adds devices, up to a limit', async t => {
  const plain = known(writers.ofPrincipal(await keyOf(other)))
  t.equal(await plain.createDevices(['a']), 'done')
  t.equal(devices.get('a'), undefined)
  const writer = known(writers.ofPrincipal(await keyOf(other, ['ingest'], true)))
  t.equal(writer.mayCreateDevices, true)
  t.equal(await writer.createDevices(['a', 'a', 'mine', 'a:b', '..', '\u200b']), 'done')
  t.strictSame([devices.ownedBy(other), devices.get('a')?.owner, devices.get('mine')?.owner], [1, other, owner])
  t.equal(found(writer, 'a'), 'found a')
  for (const name of ['a:b', 'a+b', ' b', 'b  c', 'b\u00a0c']) t.equal(found(writer, name), 'NAME_INVALID', name)
  const reason = 'no new device can have this name: it must not contain two spaces in a row'
  t.equal(writeRefusalReason('NAME_INVALID', 'b  c'), reason)
  t.equal(found(plain, ' b'), 'DEVICE_UNKNOWN')
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
  const ofAdministrator = known(writers.ofPrincipal(await keyOf(administrator, ['ingest'], true)))
  const names = Array.from({ length: ownedMax + 3 }, (_, at) => `of-administrator-${at}`)
  t.equal(await ofAdministrator.createDevices(names), 'done')
  t.equal(devices.ownedBy(administrator), ownedMax + 2, 'an administrator has a bound of their own')
})

t.test('a device with an older name continues to work', async t => {
  const names = [' lead2', 'a  b', 'b\u00a0c', 'c+d', 'e/f']
  const { rows } = await pool.query<{ number: number }>(
    `INSERT INTO devices (name, slug, location_short, location_desc, log_switch, battery, owner, credential_current,
       created_at, auth_seq)
     SELECT name, 'device', '', '', true, false, $2, sha256('secret'), now(), nextval('auth_seq')
     FROM unnest($1::text[]) AS name RETURNING number`,
    [names, owner],
  )
  const reopened = closing(t, await openDevices({ pool: pool, now: Date.now, log: silentLog, graceMs: 3_600_000 }))
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

t.test('a long foreign text is not composed, as the cost is quadratic', async t => {
  const ofDevice = known(writers.ofDevice('yard', await addDevice('yard')))
  const ofKey = known(writers.ofPrincipal(await keyOf(owner, ['ingest'], true)))
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
  for (const writer of [ofDevice, ofKey]) {
    t.match(writer.find(long), /^(DEVICE_MISMATCH|NAME_INVALID)$/)
    t.equal(await writer.createDevices([long]), 'done')
  }
  t.match(writeRefusalReason('NAME_INVALID', long), /at most 64 characters/)
  t.notOk(lengths.some(length => length > 512))
  t.equal(composed(`${'e\u0301'.repeat(256)}`), 'é'.repeat(256))
})
