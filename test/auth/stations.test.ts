/** The stations on a real PostgreSQL: their changes, the numbers of their series, their owners, and when data came. */

import pg from 'pg'
import t, { type Test } from 'tap'
import type { Account } from '../../auth/accounts/account.ts'
import { deleteAccount } from '../../auth/accounts/profile.ts'
import type { Role } from '../../auth/accounts/role.ts'
import { type Scope, scopes } from '../../auth/keys/key.ts'
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
import type { Log } from '../../store/log.ts'
import { startAccounts } from '../support/accounts.ts'
import { recordingLog, silentLog } from '../support/databases.ts'
import { openGate } from '../support/pg-gate.ts'
import { waitFor } from '../support/wait-for.ts'

const service = await startAccounts(t)
const { accounts, stations, person, store, clock } = service
const pool = store.postgres

function valueIn<Value>(changed: StationChanged<Value>): Value {
  if (!changed.ok) throw new Error(changed.code)
  return changed.value
}

async function add(sn: string, fields: object = {}, owner: number | null = null): Promise<Station> {
  return valueIn(await stations.add({ ...NewStationFields.parse({ sn, model: 'M1', ...fields }), owner }, 'test'))
}

async function auditOf(sn: string): Promise<string[]> {
  const { rows } = await pool.query('SELECT action, details FROM audit WHERE subject = $1 ORDER BY id', [
    `station ${sn}`,
  ])
  return rows.map(({ action, details }) => `${action} ${JSON.stringify(details)}`)
}

t.test('a station is added once, changed and removed, each with a row of the audit', async t => {
  const added = await add('A-1', { city: 'Delhi', country: 'in', latitude: '28.6257', longitude: 77.25 })
  const { series, ...fields } = added
  t.match(fields, {
    sn: 'A-1',
    model: 'M1',
    city: 'Delhi',
    country: 'IN',
    location: null,
    latitude: 28.6257,
    longitude: 77.25,
    outdoors: null,
    timezone: 'UTC',
    private: false,
    owner: null,
    savedLastDataMs: null,
    createdMs: clock.ms,
    updatedMs: clock.ms,
  })
  t.strictSame(await stations.find('A-1'), added)
  t.strictSame(await stations.add({ sn: 'A-1', model: 'M2', owner: null }, 'test'), { ok: false, code: 'SN_TAKEN' })
  clock.ms += 1000
  const changed = valueIn(await stations.change(added.id, { city: null, private: true }, 'test'))
  t.match(changed, { city: null, country: 'IN', private: true, createdMs: clock.ms - 1000, updatedMs: clock.ms })
  t.strictSame(changed.series, series)
  t.strictSame(await stations.find('A-1'), changed)
  t.strictSame(await stations.remove(added, 'test'), { ok: true, value: undefined })
  t.equal(await stations.find('A-1'), undefined)
  const unknown = { ok: false, code: 'STATION_UNKNOWN' }
  t.strictSame(await stations.remove(added, 'test'), unknown)
  t.strictSame(await stations.change(added.id, { city: 'Agra' }, 'test'), unknown)
  const actions = (await auditOf('A-1')).map(text => text.split(' ')[0])
  t.strictSame(actions, ['station.add', 'station.change', 'station.remove'])
})

t.test('the number of a series is given once, also after its station was removed', async t => {
  const first = await add('S-1')
  t.strictSame([...first.series.keys()].sort(), [...parameters].sort())
  await stations.remove(first, 'test')
  const second = await add('S-1')
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
  for (const sn of ['b', 'B', 'a.1', 'a-1', 'a_1', '0']) await add(sn)
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
  const [owner, operator] = [await person('owner@example.com'), await person('operator@example.com')]
  t.strictSame(await stations.change((await add('H-0')).id, { owner: 99_999 }, 'test'), {
    ok: false,
    code: 'OWNER_UNKNOWN',
  })
  await pool.query("UPDATE accounts SET role = 'operator' WHERE id = $1", [operator])
  await add('H-1', {}, owner)
  await stations.remove(await add('H-2', {}, owner), 'test')
  const account = await accounts.find(owner)
  if (account === undefined) throw new Error('no account')
  t.match(await deleteAccount(accounts, account), { ok: true })
  t.equal((await stations.find('H-1'))?.owner, operator)
  t.strictSame((await auditOf('H-1')).slice(1), [`station.change {"owner":${operator}}`])
})

t.test('when data came is known at once, saved later, and never goes back', async t => {
  const flushing = openStations({ pool, nowMs: () => clock.ms, log: silentLog, flushMs: 1 })
  const added = await add('D-1')
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
  const [first, second] = [await add('D-2'), await add('D-3')]
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
    const [added, silent] = [await add('D-4'), await add('D-5')]
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
  const station = await add('C-1')
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
  const bad = [
    { latitude: '90.1' },
    { latitude: 91 },
    { latitude: '1e1' },
    { latitude: '' },
    { latitude: ' 1' },
    { longitude: '0x10' },
    { longitude: 181 },
    { longitude: true },
    { country: 'DEU' },
    { country: 'ß' },
    { timezone: 'Mars/Base' },
    { timezone: 'x'.repeat(65) },
    { model: '' },
    { model: null },
    { private: null },
    { private: 'true' },
    { outdoors: 'yes' },
    { city: 'a\nb' },
    { city: '\ud800' },
    { location: 'x'.repeat(501) },
  ]
  for (const given of bad) t.equal(StationChangeFields.safeParse(given).success, false, JSON.stringify(given))
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
