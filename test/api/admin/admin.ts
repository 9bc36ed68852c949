/** The admin API: permissions, and whole responses of its routes for devices, metrics, stations, dead letters and the status. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { DeadLetterPage } from '../../../api/admin/answers.ts'
import { checkAdditions } from '../../../api/admin/devices.ts'
import type { DeviceDetails } from '../../../auth/devices/device.ts'
import { nameOf, writeDeadLetter } from '../../../ingest/forwarder/dead-letters.ts'
import { openDisk } from '../../../ingest/journal/disk.ts'
import { encodePoints, points } from '../../../ingest/points-table.ts'
import { readings } from '../../../ingest/readings-table.ts'
import { catalogue } from '../../../store/metrics/catalogue.ts'
import { packageVersion } from '../../../store/version.ts'
import { adminToken, goodPassword, serviceSecret } from '../../support/accounts.ts'
import { at, invalidBody, isoTime, problem, startAdmin } from '../../support/admin.ts'
import { rollBackChanges } from '../../support/breaking-pool.ts'
import { valueIn } from '../../support/changed.ts'
import { records } from '../../support/journal-parts.ts'

const admin = await startAdmin(t)
const { app, devices, metrics, ingest, pointsIngest, journal, pointsJournal, rejections, store, people, ask, answers } =
  admin
const pool = store.postgres
const ada = await people.person('ada@stations.example')

async function personOf(role: string): Promise<{ id: number; cookie: string; token: string }> {
  const email = `${role}@example.com`
  const id = await people.person(email)
  await people.set(id, { role })
  const { body } = await people.ask('POST', '/token', { body: { email, password: goodPassword } })
  return { id, cookie: (await people.cookieOf(id)).cookie, token: String(body['access_token']) }
}

const user = await personOf('user')
const administrator = await personOf('administrator')
const operator = await personOf('operator')
const token = { authorization: `Bearer ${adminToken}` }
const password = /^[0-9a-f]{64}$/

async function audited(where: string): Promise<string[]> {
  const { rows } = await pool.query(`SELECT actor, action FROM audit WHERE ${where} ORDER BY id`)
  return rows.map(({ actor, action }) => `${actor}: ${action}`)
}

t.test('an empty body is ignored, also with a media type', async t => {
  await answers(
    t,
    ['POST', '/devices', { name: 'bodiless' }, { status: 201 }],
    ['POST', '/devices/bodiless/rotate', '', { status: 200, body: { password } }],
    ['POST', '/dead-letters/replay', '', { status: 200, body: { replayed: 0 } }],
    ['DELETE', '/devices/bodiless', '', { status: 204 }],
    ['POST', '/devices', '', invalidBody('')],
  )
})

t.test('one change of many devices changes each separately, and lists the failed ones', async t => {
  const names = ['bulk-1', 'bulk-2', 'bulk-3']
  const tags = ['site:bonn', ...Array.from({ length: 15 }, (_, index) => `t${index}:1`)]
  const added = names.map((name, index) => ({ name, tags: index === 2 ? tags : ['site:bonn', 'room:1'] }))
  t.match(await ask('POST', '/devices', added), { status: 201 })
  const change = async (action: string, devices: string[], more = {}) =>
    (await ask('POST', '/device-changes', { action, devices, ...more })).body
  const of = (name: string) => devices.get(name)
  const unknown = { device: 'nobody', reason: 'device unknown' }
  const twoOfThree = { done: 2, failed: [unknown], issued: [] }

  t.strictSame(await change('suspend', ['bulk-1', 'nobody', 'bulk-2']), twoOfThree)
  t.match(
    [of('bulk-1'), of('bulk-2'), of('bulk-3')],
    [{ log_switch: false }, { log_switch: false }, { log_switch: true }],
  )
  t.match(await change('resume', ['bulk-1']), { done: 1, failed: [] })
  t.equal(of('bulk-1')?.log_switch, true)

  t.strictSame(await change('tag', names, { tag: 'site:berlin' }), { done: 3, failed: [], issued: [] })
  t.strictSame(of('bulk-1')?.tags, ['room:1', 'site:berlin'], 'one value for a key')
  const full = { device: 'bulk-3', reason: 'it has as many tags as a device may have' }
  t.strictSame(await change('tag', [...names, 'nobody'], { tag: 'floor:1' }), {
    ...twoOfThree,
    failed: [full, unknown],
  })
  t.match(await change('untag', names, { tag: 'site:*' }), { done: 3 })
  t.match(await change('untag', names, { tag: 'room:2' }), { done: 3 })
  t.strictSame(of('bulk-1')?.tags, ['floor:1', 'room:1'])

  const rotated = (await change('rotate', ['bulk-2', 'nobody', 'bulk-1'])) as { issued: { password: string }[] }
  const issued = { device: 'bulk-2', password, old_password_until: isoTime }
  t.match(rotated, { done: 2, failed: [unknown], issued: [issued, { device: 'bulk-1' }] })
  const first = rotated.issued[0]?.password ?? ''
  t.equal(devices.authenticate('bulk-2', first)?.name, 'bulk-2')
  t.match(await change('rotate', ['bulk-2'], { now: true }), { issued: [{ old_password_until: null }] })
  t.equal(devices.authenticate('bulk-2', first), undefined)

  const records = await audited("subject = 'bulk-2' AND action IN ('device.rotate', 'device.change')")
  t.equal(records.length, 7, 'each change has a record')
  for (const wrong of [
    { action: 'suspend', devices: [] },
    { action: 'suspend', devices: ['bulk-1', 'bulk-1'] },
    { action: 'suspend', devices: Array.from({ length: 501 }, (_, index) => `d${index}`) },
    { action: 'suspend', devices: ['bulk-1'], now: true },
    { action: 'tag', devices: ['bulk-1'], tag: 'site:*' },
    { action: 'remove', devices: ['bulk-1'] },
  ]) {
    await answers(t, ['POST', '/device-changes', wrong, problem(422, 'invalid body')])
  }
  for (const name of names) await ask('DELETE', `/devices/${name}`)
})

t.test('unknown paths and methods are rejected', async t => {
  for (const path of ['/nothing', '/']) t.match(await ask('GET', path), problem(404, 'not found'))
  const allowed = async (method: string, path: string, allow: string) =>
    t.match(await ask(method, path), { ...problem(405, 'method not allowed'), headers: { allow } }, `${method} ${path}`)
  for (const method of ['PUT', 'QUERY', 'OPTIONS']) await allowed(method, '/devices', 'GET, HEAD, POST')
  await allowed('POST', '/devices/a', 'GET, HEAD, PATCH, DELETE')
  await allowed('GET', '/devices/a/rotate', 'POST')
})

t.test('a device is added, shown, changed and removed', async t => {
  const added = await ask('POST', '/devices', { name: 'kitchen' })
  t.strictSame(Object.keys(added.body as object), ['device', 'password'])
  t.match(added, { status: 201, headers: { location: '/api/admin/devices/kitchen' } })
  t.match(added.body, { device: 'kitchen', password })
  const place = { location_short: '', location_desc: '', altitude_m: null, latitude: null, longitude: null }
  const shown = await ask('GET', '/devices/kitchen')
  t.match(shown, { status: 200, body: { name: 'kitchen', symbol: /^kitchen-\d+$/, ...place } })
  t.match(shown.body, { log_switch: true, battery: false, battery_type: null, battery_cells: null, profile: 'none' })
  t.match(shown.body, { expected_interval_seconds: null, owner: null, quality_limits: null, metrics: null })
  t.match(shown.body, { created_at: isoTime, last_seen: null, credential: 'current', old_password_until: null })
  const changes = {
    ...{ location_short: 'K', location_desc: 'under the stairs', log_switch: false, battery: true },
    ...{ altitude_m: 312.5, latitude: -33.925, longitude: 18.425, expected_interval_seconds: 60 },
    owner: await people.person('anna@example.com'),
    quality_limits: { temperature: { min: -40, max: null }, pressure: { flat_hours: 12 } },
    ...{ profile: 'indoor', battery_type: 'coin', battery_cells: 3 },
  }
  const changed = await ask('PATCH', '/devices/kitchen', changes)
  t.match(changed, { status: 200, body: { name: 'kitchen', ...changes } })
  t.strictSame((await ask('GET', '/devices/kitchen')).body, changed.body)
  const fewer = { name: 'attic', altitude_m: null, quality_limits: null }
  const { symbol } = shown.body as DeviceDetails
  const nowhere = { latitude: null, longitude: null }
  const unknown = problem(404, 'device unknown')
  await answers(
    t,
    ['PATCH', '/devices/kitchen', fewer, { status: 200, body: { ...fewer, symbol } }],
    ['PATCH', '/devices/attic', { latitude: 1 }, problem(422, 'invalid body')],
    ['PATCH', '/devices/attic', { longitude: null }, problem(422, 'invalid body')],
    ['PATCH', '/devices/attic', { latitude: 1, longitude: null }, problem(422, 'invalid body')],
    ['PATCH', '/devices/attic', nowhere, { status: 200, body: nowhere }],
    ['GET', '/devices/kitchen', undefined, unknown],
    ['DELETE', '/devices/attic', undefined, { status: 204, body: undefined }],
    ['DELETE', '/devices/attic', undefined, unknown],
    ['PATCH', '/devices/attic', { battery: true }, unknown],
  )
})

t.test('a name of any characters is a segment of the path', async t => {
  for (const name of ['q?x=1&y', '100%', '🌡'.repeat(64), '%2F', '...']) {
    const path = `/devices/${encodeURIComponent(name)}`
    await answers(
      t,
      ['POST', '/devices', { name }, { status: 201, headers: { location: `/api/admin${path}` } }],
      ['GET', path, undefined, { status: 200, body: { name } }],
      ['POST', `${path}/rotate`, undefined, { status: 200, body: { device: name } }],
      ['DELETE', path, undefined, { status: 204 }],
    )
  }
})

t.test('each fault of a device is reported by its field', async t => {
  const invalid = (...errors: object[]) => problem(422, 'invalid body', { errors })
  const posted: [body: unknown, ...errors: object[]][] = [
    [{}, { path: 'name' }],
    [{ name: '' }, { path: 'name', message: 'must not be empty' }],
    [{ name: 'a', altitude_m: '3', battery: 1 }, { path: 'battery' }, { path: 'altitude_m' }],
    [
      { name: 'a', locaton_short: 'x' },
      { path: '', message: /locaton_short/ },
    ],
    [
      { name: 'a', latitude: 52.5 },
      { path: 'longitude', message: 'must be given with the other coordinate' },
    ],
    [{ name: 'a', quality_limits: { pressure: { min: 900, max: 800 } } }, { path: 'quality_limits.pressure.min' }],
    [{ name: 'a', quality_limits: { rain: { max: 1 } } }, { path: 'quality_limits' }],
    [null, { path: '' }],
    ['"kitchen"', { path: '' }],
    [undefined, { path: '' }],
    [[], { path: '', message: 'must hold at least one device' }],
    [[{ name: 'a' }, { name: 'b', batery: true }, 3], { path: '[1]', message: /batery/ }, { path: '[2]' }],
  ]
  for (const [body, ...errors] of posted) await answers(t, ['POST', '/devices', body, invalid(...errors)])
  t.match(await ask('POST', '/devices', '{"name":'), problem(400, 'invalid json'))
  const unsupported = problem(415, 'unsupported media type')
  t.match(await ask('POST', '/devices', 'name=a', { 'content-type': 'text/plain' }), unsupported)
  t.match(await ask('POST', '/devices', {}, { 'content-encoding': 'gzip' }), unsupported)
  const noReadings = await ask('POST', '/import', 'x', { 'content-type': 'text/plain' })
  t.match(noReadings, { ...unsupported, body: { detail: 'send text/csv or application/x-ndjson' } })
  const long = `{"location_desc":"${'x'.repeat(70_000)}"}`
  await answers(
    t,
    ['POST', '/devices', { name: 'kitchen' }, { status: 201 }],
    ['PATCH', '/devices/kitchen', {}, invalidBody('', 'must name at least one field to change')],
    ['PATCH', '/devices/kitchen', { password: 'x' }, invalidBody('', /password/)],
    ['PATCH', '/devices/kitchen', long, problem(413, 'payload too large')],
    ['DELETE', '/devices/kitchen', undefined, { status: 204 }],
  )
})

t.test('many devices are added at once, or none of them', async t => {
  const names = Array.from({ length: 250 }, (_, at) => `sensor ${String(at).padStart(3, '0')}`)
  const bodies = names.map(name => ({ name, location_short: 'hall' }))
  const issued = names.map(device => ({ device, password }))
  const taken = (path: string) => problem(409, 'name taken', at(path, 'is taken by another device'))
  const twice = { errors: [{ path: '[0].name' }, { path: '[1].name', message: 'stands here more than once' }] }
  await answers(
    t,
    ['POST', '/devices', bodies, { status: 201, body: issued }],
    ['POST', '/devices', [{ name: 'new' }, { name: 'sensor 003' }], taken('[1].name')],
    ['POST', '/devices', { name: 'sensor 003' }, taken('name')],
    ['PATCH', '/devices/sensor%20001', { name: 'sensor 002' }, taken('name')],
    ['POST', '/devices', [{ name: 'new' }, { name: 'new' }], problem(422, 'name twice', twice)],
  )
  const readAt = (at: number) => {
    const { name = '', number = 0 } = devices.get(names[at] ?? '') ?? {}
    return { name, last_reading: new Date(1_000 * number).toISOString() }
  }
  const additions = t.capture(devices, 'add', devices.add)
  const tooMany = Array.from({ length: 10_001 }, (_, at) => ({ name: `n${at}` }))
  await answers(
    t,
    ['POST', '/devices', tooMany, problem(413, 'too many devices', { detail: 'at most 10000 at a time' })],
    ['POST', '/devices', [...tooMany.slice(2), { name: 'n9' }], problem(422, 'name twice')],
    ['POST', '/devices', 'x'.repeat(17 * 1024 * 1024), problem(413, 'payload too large')],
    ['GET', '/devices?search=HALL&page=2', undefined, { body: { total: 250, page: 2, next: 3 } }],
    ['PATCH', '/devices/sensor%20007', { log_switch: false }, { status: 200 }],
    ['GET', '/devices?search=hall&sort=state', undefined, { body: { devices: [{ name: names[0], state: 'fresh' }] } }],
    ['GET', '/devices?search=hall&sort=-state', undefined, { body: { devices: [{ name: names[7], state: 'off' }] } }],
    ['GET', '/devices?search=hall&sort=last_reading', undefined, { body: { devices: [readAt(0), readAt(1)] } }],
    ['GET', '/devices?search=hall&sort=-last_reading', undefined, { body: { devices: [readAt(249), readAt(248)] } }],
  )
  const added = additions().map(({ args: [some] }) => some.length)
  t.strictSame(added, [10_000], 'too many devices do not reach the registry')
  const refused: [query: string, path: string][] = [
    ['page=0', 'page'],
    [`search=${'x'.repeat(300)}`, 'search'],
    ['sort=colour', 'sort'],
    ['pge=2', ''],
  ]
  for (const [query, path] of refused) {
    await answers(t, ['GET', `/devices?${query}`, undefined, problem(400, 'invalid query', at(path))])
  }
})

t.test('many devices are checked some hundred at a time, with other requests between', async t => {
  const body: object[] = Array.from({ length: 10_000 }, (_, at) => ({ name: `checked ${at}` }))
  let turns = 0
  let isOver = false
  const count = () => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const read = await checkAdditions(body)
  isOver = true
  t.ok(turns >= 19, `${turns} turns`)
  t.match(read, { success: true, data: { length: 10_000, 9999: { name: 'checked 9999', log_switch: true } } })
  const last = await ask('POST', '/devices', [...body.slice(1), { name: '' }])
  t.match(last, invalidBody('[9999].name', 'must not be empty'))
})

t.test('a password is replaced, with a grace time or at once', async t => {
  await ask('POST', '/devices', { name: 'kitchen' })
  const rotated = await ask('POST', '/devices/kitchen/rotate')
  t.match(rotated, { status: 200, body: { device: 'kitchen', password, old_password_until: isoTime } })
  t.match(await ask('GET', '/devices/kitchen'), { body: { credential: 'rotating', old_password_until: isoTime } })
  const atOnce = await ask('POST', '/devices/kitchen/rotate?now=1')
  t.match(atOnce, { status: 200, body: { device: 'kitchen', password, old_password_until: null } })
  t.match(await ask('POST', '/devices/kitchen/rotate?now=yes'), problem(400, 'invalid query', at('now')))
  t.match(await ask('POST', '/devices/nobody/rotate'), problem(404, 'device unknown'))
  const text = JSON.stringify([await ask('GET', '/devices/kitchen'), await ask('GET', '/devices')])
  t.notMatch(text, (atOnce.body as { password: string }).password, 'a password is shown once')
  await ask('DELETE', '/devices/kitchen')
})

t.test('an erase needs a present or former device, or a metric of a device', async t => {
  const unknown = problem(404, 'device unknown')
  const location = '/api/admin/devices/a%20b/erase'
  const job = { state: 'waiting', rows: null, requested_at: isoTime, finished_at: null }
  await answers(
    t,
    ['POST', '/devices/nobody/erase', undefined, unknown],
    ['GET', '/devices/nobody/erase', undefined, unknown],
    ['POST', '/devices', { name: 'a b' }, { status: 201 }],
    ['GET', '/devices/a%20b/erase', undefined, unknown],
    ['POST', '/devices/a%20b/erase', undefined, { status: 202, headers: { location }, body: job }],
    ['GET', '/devices/a%20b', undefined, unknown],
  )
  const path = '/devices/green%20house/metrics'
  const soil = `${path}/soil_moisture`
  await answers(
    t,
    ['GET', '/devices/a%20b/erase', undefined, { body: { device: 'a b', symbols: [/^a-b-\d+$/], finished_at: null } }],
    ['POST', '/devices', { name: 'green house' }, { status: 201 }],
    ['DELETE', '/devices/nobody/metrics/co2', undefined, unknown],
    ['DELETE', soil, undefined, problem(404, 'metric unknown')],
    ['DELETE', `${path}/temperature`, undefined, problem(409, 'metric built in')],
    ['GET', soil, undefined, problem(404, 'metric unknown')],
  )
  const { number } = devices.get('green house') ?? { number: 0 }
  t.equal(await metrics.ensure([{ device: number, field: 'soil_moisture' }], 'test'), 'done')
  const metricJob = { device: 'green house', metric: 'soil_moisture', state: 'waiting', rows: null, finished_at: null }
  const asked = { status: 202, headers: { location: `/api/admin${soil}` }, body: metricJob }
  await answers(
    t,
    ['DELETE', '/metrics/soil_moisture', undefined, problem(409, 'metric in use')],
    ['DELETE', soil, undefined, asked],
    ['GET', soil, undefined, { status: 200, body: { metric: 'soil_moisture', error: null } }],
    ['GET', '/devices/green%20house', undefined, { status: 200 }],
  )
  t.strictSame(metrics.metricsOf(number), [])
  await ask('DELETE', '/devices/green%20house')
})

t.test('the status describes the parts', async t => {
  const { status, body } = await ask('GET', '/status')
  t.equal(status, 200)
  t.match(body, {
    versions: { barograph: packageVersion(), node: process.versions.node },
    questdb: { kind: 'given', state: 'away', suspended: false },
    postgres: { kind: 'own', state: 'up', version: /^\d+/ },
    journal: { bytes: Number, bytes_max: 1024 ** 3, readings: 0, damaged_bytes: 0, fault: null },
    lag: { readings: 0, seconds: 0 },
    dead_letters: 0,
    points: { journal: { bytes_max: 1024 ** 3, points: 0 }, lag: { points: 0 }, dead_letters: 0, suspended: false },
    disk: { free_bytes: Number, total_bytes: Number, journal_bytes: 5, growth_bytes_per_day: 7, days_until_full: null },
  })
  const waiting = { from: '2026-01-01', before: '2026-01-15', days: 3, reason: 'several_days' }
  const days = { days: 30, oldest_day: '2026-01-01', expired_days: 2 }
  t.match(body, { retention: { ...days, last_run: '2026-01-31T00:00:00.000Z', fault: null, waiting } })
  t.notOk('replicas' in (body as object), 'a single replica is not listed besides')
  t.match(await ask('HEAD', '/status'), { status: 200, body: undefined })
})

t.test('pending days are confirmed, with an audit entry', async t => {
  const confirmed = { before: '2026-01-15' }
  await answers(
    t,
    ['POST', '/retention/confirm', confirmed, { status: 200, body: confirmed }],
    ['POST', '/retention/confirm', { before: '2026-01-16' }, problem(409, 'no waiting days')],
    ['POST', '/retention/confirm', {}, problem(422, 'invalid body')],
    ['POST', '/retention/confirm', { before: '2026-02-30' }, problem(422, 'invalid body')],
  )
  t.match(await ask('GET', '/audit'), { body: { entries: [{ action: 'retention.confirm', subject: '2026-01-15' }] } })
})

t.test('the audit names a device that acts by its number', async t => {
  t.match(await ask('POST', '/devices', { name: 'acting' }), { status: 201 })
  const actor = `device ${devices.get('acting')?.number}`
  await pool.query("INSERT INTO audit (actor, action, subject) VALUES ($1, 'metric.add', 'metric co2')", [actor])
  t.match(await ask('GET', '/audit'), { body: { entries: [{ actor }], names: { [actor]: 'acting' } } })
})

const writtenMs = Date.UTC(2026, 0, 2)
const shownTimes = { at: '2026-01-02T00:00:00.000Z', time: '2026-01-01T00:00:00.000000Z' }
const lettersOf = async (query = '') => (await ask('GET', `/dead-letters${query}`)).body as DeadLetterPage
const noLetters = { dead_letters: [], damaged: [], next: null }

t.test('unregistered devices that send are listed until they are added', async t => {
  const reading = { family: 'zigbee2mqtt', owner: null, fields: { device: 'well', temperature: 21, co2: 500 } }
  const source = { way: 'mqtt', sender: { name: 'broker', isKnown: true }, device: 'well' } as const
  const sends = () => rejections.add({ ...source, reason: 'device unknown', unregistered: reading })
  for (const send of [sends, sends]) send()
  const known = { family: 'zigbee2mqtt', owner: null, metrics: ['temperature', 'co2'], messages: 2 }
  const well = { name: 'well', way: 'mqtt', sender: 'broker', ...known, at: isoTime, first_at: isoTime }
  await answers(
    t,
    ['GET', '/unknown-devices', undefined, { status: 200, body: { since: isoTime, devices: [well], next: null } }],
    ['POST', '/devices', { name: 'well', owner: null }, { status: 201, body: { device: 'well', password } }],
    ['GET', '/unknown-devices', undefined, { status: 200, body: { devices: { length: 0 } } }],
    ['DELETE', '/devices/well', undefined, { status: 204 }],
    ['GET', '/unknown-devices', undefined, { status: 200, body: { devices: { length: 0 } } }],
  )
  sends()
  await answers(t, ['GET', '/unknown-devices', undefined, { body: { devices: [{ messages: 1 }] } }])
  rejections.forget('well')
  await answers(t, ['GET', '/unknown-devices', undefined, { body: { devices: { length: 0 } } }])
  const asUser = { method: 'GET', url: '/api/admin/unknown-devices', headers: { cookie: user.cookie } } as const
  t.equal((await app.inject(asUser)).statusCode, 403)
})

t.test('dead letters are shown page by page and sent again', async t => {
  const disk = openDisk(journal)
  for (let id = 1; id <= 101; id++) {
    const record = records({ number: id, symbol: `kitchen-${id}` }, [20], Date.UTC(2026, 0, 1) * 1000)
    writeDeadLetter(readings, disk, id * 100, record, 'too hot', writtenMs)
  }
  const { dead_letters, next } = await lettersOf()
  t.equal(dead_letters.length, 100)
  const values = { temperature: 20, humidity: 50, pressure: 1000, battery_voltage: null, battery_percentage: null }
  const first = { table: 'readings', id: 100, reason: 'too hot', symbol: 'kitchen-1', values, ...shownTimes }
  t.strictSame({ ...dead_letters[0] }, first)
  t.match(await lettersOf(`?after=${next}`), { dead_letters: { length: 1 }, next: null })
  t.match(await lettersOf('?after=9007199254740991'), { dead_letters: { length: 0 } })
  for (const after of ['x', '9007199254740992', '99999999999999999']) {
    await answers(t, ['GET', `/dead-letters?after=${after}`, undefined, problem(400, 'invalid query', at('after'))])
  }
  const before = ingest.status().journal.records
  const replay = '/dead-letters/replay'
  await answers(
    t,
    ['POST', replay, { ids: [] }, invalidBody('ids')],
    ['POST', replay, { all: 1 }, invalidBody('')],
    ['POST', replay, null, problem(422, 'invalid body')],
    ['POST', replay, { ids: [100, 300, 301] }, { body: { replayed: 2, damaged: 0 } }],
    ['POST', replay, undefined, { body: { replayed: 99, damaged: 0 } }],
  )
  t.equal(ingest.status().journal.records - before, 101, 'they are in the journal')
  t.strictSame(await lettersOf(), noLetters)
})

function writePointLetters(series: readonly number[]): void {
  const disk = openDisk(pointsJournal)
  for (const [index, number] of series.entries()) {
    const values = { timestampMs: Date.UTC(2026, 0, 1), value: 12.5 + index, storedAtUs: 5_000_000 }
    const record = encodePoints([{ series: { number, symbol: 'ugm3' }, values }])
    writeDeadLetter(points, disk, 100 * (index + 1), record, 'too dirty', writtenMs)
  }
}

t.test('dead letters of points name their station, and are sent again or discarded', async t => {
  const { series } = valueIn(await people.stations.add({ sn: 'IN-1', model: 'M1', owner: null }, 'test'))
  const number = series.get('pm25') ?? 0
  writePointLetters([number, number, 2_000_000, number])
  t.strictSame(await lettersOf(), noLetters, 'they are no readings')
  const { dead_letters, next } = await lettersOf('?table=points')
  t.equal(next, null)
  const values = { value: 12.5, stored_at: 5_000_000 }
  const first = { table: 'points', id: 100, reason: 'too dirty', symbol: 'IN-1 pm25 ugm3', values, ...shownTimes }
  t.strictSame({ ...dead_letters[0] }, first)
  t.equal(dead_letters[2]?.symbol, 'series 2000000 ugm3', 'a series without a station')
  await answers(
    t,
    ['POST', '/dead-letters/replay', { ids: [100] }, { body: { replayed: 0, damaged: 0 } }],
    ['POST', '/dead-letters/replay', { table: 'points', ids: [100] }, { body: { replayed: 1, damaged: 0 } }],
    ['POST', '/dead-letters/discard', { table: 'points', ids: [200, 201] }, { body: { discarded: 1 } }],
  )
  t.match((await lettersOf('?table=points')).dead_letters, [{ id: 300 }, { id: 400 }])
  t.match((await ask('POST', '/dead-letters/replay')).body, { replayed: 2, damaged: 0 }, 'those of all tables')
  t.equal(pointsIngest.status().journal.records, 3)
  for (const body of [{ table: 'points' }, { table: 'stations', ids: [1] }, { ids: [] }, undefined]) {
    await answers(t, ['POST', '/dead-letters/discard', body, { status: 422 }])
  }
  t.match(await ask('GET', '/dead-letters?table=x'), problem(400, 'invalid query', at('table')))
  const { rows } = await pool.query("SELECT subject, details FROM audit WHERE action = 'dead-letters.discard'")
  t.strictSame(rows, [{ subject: 'points', details: { discarded: 1, ids: [200, 201] } }])
})

t.test('a damaged dead letter is listed by its name, skipped by a replay, and discarded', async t => {
  writePointLetters([1, 1])
  const name = nameOf(100)
  writeFileSync(join(pointsJournal, name), '{"id":')
  const { dead_letters, damaged } = await lettersOf('?table=points')
  t.match(dead_letters, [{ id: 200 }])
  t.strictSame(damaged, [{ table: 'points', id: 100, name, reason: 'the file is not JSON' }])
  await answers(
    t,
    ['POST', '/dead-letters/replay', { table: 'points' }, { body: { replayed: 1, damaged: 1 } }],
    ['POST', '/dead-letters/discard', { table: 'points', ids: [100] }, { body: { discarded: 1 } }],
  )
  t.strictSame(await lettersOf('?table=points'), noLetters)
})

t.test('a thousand arguments are read, one more is rejected', async t => {
  const answer = await ask('GET', `/devices?page=1${'&page=1'.repeat(1_000)}`)
  t.match(answer, problem(400, 'invalid query', { detail: 'at most 1000 arguments' }))
})

t.test('an import and a replay succeed without their audit entries', async t => {
  await ask('POST', '/devices', { name: 'porch' })
  await pool.query('ALTER TABLE audit RENAME TO audit_elsewhere')
  t.teardown(() => pool.query('ALTER TABLE audit_elsewhere RENAME TO audit'))
  const line = '{"timestamp":"2026-01-01T00:00:00Z","device":"porch","temperature":1,"humidity":2,"pressure":1000}'
  const imported = await ask('POST', '/import', line, { 'content-type': 'application/x-ndjson' })
  t.match(imported, { status: 200, body: { accepted: 1, rejected: 0 } })
  t.match(await ask('POST', '/dead-letters/replay'), { status: 200, body: { replayed: 0 } })
})

t.test('the expected interval is also read by its former name', async t => {
  const both = { expected_interval_s: 1, expected_interval_seconds: 2 }
  await answers(
    t,
    ['POST', '/devices', { name: 'old-one', expected_interval_s: 60 }, { status: 201 }],
    ['GET', '/devices/old-one', undefined, { body: { expected_interval_seconds: 60 } }],
    ['PATCH', '/devices/old-one', { expected_interval_s: 90 }, { body: { expected_interval_seconds: 90 } }],
    ['PATCH', '/devices/old-one', both, { status: 422, body: { errors: [{ message: /expected_interval_s/ }] } }],
    ['DELETE', '/devices/old-one', undefined, { status: 204 }],
  )
})

async function statusOf(headers: Record<string, string>, method: 'GET' | 'POST' | 'PUT' = 'GET', url = '/devices') {
  const response = await app.inject({ method, url: `/api/admin${url}`, headers })
  const type = response.statusCode < 400 ? /json/ : 'application/problem+json'
  t.match(response, { headers: { 'content-type': type, 'cache-control': 'no-store' }, json: Function })
  if (response.statusCode === 401) t.equal(response.headers['www-authenticate'], 'Bearer realm="admin"')
  return response.statusCode
}

t.test('administrators are accepted by their session, and any caller with the admin token', async t => {
  const table: [who: string, headers: Record<string, string>, status: number][] = [
    ['no credential', {}, 401],
    ['the admin token', token, 200],
    ['the admin token in another case', { authorization: `bEARER  ${adminToken}` }, 200],
    ['the admin token as a key', { 'x-api-key': adminToken }, 401],
    ['the session of a user', { cookie: user.cookie }, 403],
    ['the session of an administrator', { cookie: administrator.cookie }, 200],
    ['the session of the operator', { cookie: operator.cookie }, 200],
    ['the token of a user', { authorization: `Bearer ${user.token}` }, 401],
    ['the token of the operator', { authorization: `Bearer ${operator.token}` }, 401],
    ['the service secret', { 'x-service-secret': serviceSecret }, 401],
    ['a cookie that is not good', { cookie: `${administrator.cookie}x` }, 401],
    ['the admin token and a session', { ...token, cookie: administrator.cookie }, 401],
  ]
  for (const [who, headers, status] of table) {
    t.equal(await statusOf(headers), status, who)
    // Only an accepted caller gets 404, 405 and the accepted media types.
    t.equal(await statusOf(headers, 'GET', '/nothing'), status === 200 ? 404 : status, `${who}: no path`)
    t.equal(await statusOf(headers, 'PUT'), status === 200 ? 405 : status, `${who}: no method`)
    t.equal(await statusOf(headers, 'POST'), status === 200 ? 422 : status, `${who}: a write`)
  }
})

t.test("other sites' pages change nothing with a cookie", async t => {
  const { cookie } = administrator
  const write = (headers: Record<string, string>) => statusOf({ cookie, ...headers }, 'POST')
  t.equal(await write({ 'sec-fetch-site': 'cross-site' }), 403)
  t.equal(await write({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }), 422, 'a listed site may')
  t.equal(await statusOf({ cookie, 'sec-fetch-site': 'cross-site' }), 200, 'reading is no change')
  t.equal(await statusOf({ ...token, 'sec-fetch-site': 'cross-site' }, 'POST'), 422, 'no browser adds the token')
})

t.test('the audit names the actor', async t => {
  await pool.query('TRUNCATE audit')
  const post = async (url: string, payload: object | string, headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url: `/api/admin${url}`, payload, headers })).statusCode
  t.equal(await post('/devices', { name: 'one' }, token), 201)
  t.equal(await post('/devices', { name: 'two' }, { cookie: administrator.cookie }), 201)
  t.equal(await post('/devices', { name: 'three' }, { cookie: user.cookie }), 403)
  const as = (type: string) => ({ cookie: operator.cookie, 'content-type': type })
  const csv = 'timestamp,device,temperature,humidity,pressure\n2026-01-01T00:00:00Z,one,20,50,1000\n'
  t.equal(await post('/import', csv, as('text/csv')), 200)
  t.equal(await post('/dead-letters/replay', '', as('application/json')), 200)
  t.equal(await post('/devices/two/erase', '', as('application/json')), 202)
  t.strictSame(await audited("actor <> 'test'"), [
    'local admin token: device.add',
    `account ${administrator.id}: device.add`,
    ...['readings.import', 'dead-letters.replay', 'device.erase', 'device.remove'].map(
      action => `account ${operator.id}: ${action}`,
    ),
  ])
})

t.test('a metric is added from the catalogue or as given, changed and removed', async t => {
  const own = { name: 'sap_flow', title: 'Sap', unit: 'l/h', kind: 'rate', decimals: 3, min: 0, max: 9 }
  const change = { kind: 'counter', unit: null, quality: { max: 8, spike: 1 } }
  const unknown = problem(404, 'metric unknown')
  const co2 = { name: 'co2', title: 'CO₂', unit: 'ppm', kind: 'gauge', built_in: false }
  const temperature = { name: 'temperature', unit: 'Cel', unit_sign: '°C', decimals: 1, min: -90, max: 85 }
  await answers(
    t,
    ['GET', '/metrics', undefined, { body: { metrics: [temperature] } }],
    ['GET', '/metrics/temperature', undefined, { body: { ...temperature, built_in: true } }],
    ['POST', '/metrics', { name: 'co2' }, { status: 201, headers: { location: '/api/admin/metrics/co2' }, body: co2 }],
    ['GET', '/metrics/rain', undefined, unknown],
    ['POST', '/metrics', own, { status: 201, body: { ...own, unit: 'L/h', unit_sign: 'L/h', quality: null } }],
    ['PATCH', '/metrics/sap_flow', change, { status: 200, body: { ...change, unit_sign: null, title: 'Sap' } }],
    ['DELETE', '/metrics/sap_flow', undefined, { status: 204, body: undefined }],
    ['DELETE', '/metrics/sap_flow', undefined, unknown],
    ['PATCH', '/metrics/sap_flow', { decimals: 1 }, unknown],
  )
})

t.test('a rejected change of metrics names the field', async t => {
  const unitAndMax = { errors: [{ path: 'unit' }, { path: 'max' }] }
  await answers(
    t,
    ['POST', '/metrics', { name: 'co2' }, problem(409, 'name taken', at('name', /is taken/))],
    ['POST', '/metrics', { name: 'co2_ppm' }, problem(409, 'name taken', at('name', 'is co2'))],
    ['POST', '/metrics', { name: 'catalogue' }, invalidBody('name', /./)],
    ['POST', '/metrics', { name: 'x', unit: 'furlong' }, invalidBody('unit', /not a known unit/)],
    ['PATCH', '/metrics/co2', { max: -1 }, problem(422, 'range empty', at('min', /less than max/))],
    ['PATCH', '/metrics/pressure', { unit: 'Pa', max: 2000 }, problem(409, 'metric built in', unitAndMax)],
    ['DELETE', '/metrics/humidity', undefined, problem(409, 'metric built in')],
  )
})

t.test('the catalogue lists metrics and units', async t => {
  const { status, body } = await ask('GET', '/metrics/catalogue')
  t.equal(status, 200)
  const { metrics, units } = body as { metrics: { name: string }[]; units: { code: string }[] }
  t.equal(metrics.length, catalogue.length)
  const pm25 = metrics.find(({ name }) => name === 'pm25')
  t.match(pm25, { unit_sign: 'µg/m³', kind: 'gauge' })
  const mph = units.find(({ code }) => code === '[mi_i]/h')
  t.match(mph, { sign: 'mph', dimension: 'speed' })
})

t.test('listed metrics of a device are registered from the catalogue and cannot be removed meanwhile', async t => {
  const listed = ['co2', 'temperature']
  const unknown = (...errors: object[]) => problem(422, 'metrics unknown', { errors })
  const several = [{ name: 'a' }, { name: 'b', metrics: ['radon', 'sap_flow'] }]
  const asked = { metrics: ['co2', 'sap_flow', 'radon', 'snow'] }
  const sapFlow = { path: 'metrics[1]', message: '"sap_flow" is not a metric' }
  const snow = { path: 'metrics[3]', message: '"snow" is not a metric; it is called snow_depth' }
  await answers(
    t,
    ['POST', '/devices', { name: 'lab', metrics: listed }, { status: 201 }],
    ['GET', '/devices/lab', undefined, { body: { metrics: listed } }],
    ['POST', '/devices', { name: 'hall' }, { status: 201 }],
    ['GET', '/devices/hall', undefined, { body: { metrics: null } }],
    ['PATCH', '/devices/hall', asked, unknown(sapFlow, snow)],
    ['POST', '/devices', several, unknown({ path: '[1].metrics[1]' })],
    ['GET', '/devices/a', undefined, { status: 404 }],
    ['GET', '/metrics/radon', undefined, { status: 404 }],
  )
  for (const wrong of [[], ['co2', 'co2'], ['CO2'], Array.from({ length: 65 }, (_, at) => `m_${at}`), 'co2']) {
    await answers(t, ['PATCH', '/devices/hall', { metrics: wrong }, problem(422, 'invalid body')])
  }
  const most = Array.from({ length: 64 }, (_, at) => `most_${at}`)
  for (const name of most) await ask('POST', '/metrics', { name })
  const ofCatalogue = ['soil_temperature', 'temperature', 'uv_index']
  await answers(
    t,
    ['PATCH', '/devices/hall', { metrics: most }, { status: 200, body: { metrics: most } }],
    ['PATCH', '/devices/hall', { battery: true }, { body: { metrics: most } }],
    ['DELETE', '/metrics/co2', undefined, problem(409, 'metric in use')],
    ['PATCH', '/devices/lab', { metrics: null }, { status: 200, body: { metrics: null } }],
    ['DELETE', '/metrics/co2', undefined, { status: 204 }],
    ['PATCH', '/devices/lab', { metrics: ['most_0', 'gone'] }, problem(422, 'metrics unknown')],
    ['POST', '/devices', { name: 'bed', metrics: ofCatalogue }, { status: 201 }],
    ['GET', '/metrics/soil_temperature', undefined, { body: { unit: 'Cel', kind: 'gauge', max: 100 } }],
    ['PATCH', '/devices/bed', { metrics: ['leaf_wetness'] }, { status: 200 }],
    ['POST', '/devices', { name: 'bed', metrics: ['ph'] }, problem(409, 'name taken')],
    ['GET', '/metrics/ph', undefined, { status: 404 }],
    ['DELETE', '/metrics/leaf_wetness', undefined, problem(409, 'metric in use')],
    ['DELETE', '/metrics/uv_index', undefined, { status: 204 }],
  )
})

t.test('a metric removed while a device begins to list it is listed, or unknown', async t => {
  for (let round = 0; round < 5; round++) {
    await ask('POST', '/metrics', { name: 'contested' })
    const [removed, listed] = await Promise.all([
      ask('DELETE', '/metrics/contested'),
      ask('PATCH', '/devices/lab', { metrics: ['contested'] }),
    ])
    const outcome = [removed.status, listed.status].join()
    t.ok(['204,422', '409,200'].includes(outcome), outcome)
    await ask('PATCH', '/devices/lab', { metrics: null })
  }
})

t.test('a station is added, read, changed and removed', async t => {
  const given = { sn: 'A-1', model: 'M1', city: 'Delhi', private: true }
  const body = { ...given, country: 'in', latitude: '28.5', owner: 'Ada@Stations.example' }
  const added = await ask('POST', '/stations', body)
  t.match(added, { status: 201, headers: { location: '/api/admin/stations/A-1' } })
  t.match(added.body, { ...given, country: 'IN', latitude: 28.5, owner: ada, timezone: 'UTC', last_data_at: null })
  t.strictSame((await ask('GET', '/stations/A-1')).body, added.body)
  t.notMatch(added.body, { id: Number }, 'an internal number is not shown')
  const change = { city: null, owner: null, private: false }
  const unknown = problem(404, 'station unknown')
  await answers(
    t,
    ['PATCH', '/stations/A-1', change, { status: 200, body: { ...change, country: 'IN' } }],
    ['PATCH', '/stations/A-1', { owner: ada }, { body: { owner: ada } }],
    ['DELETE', '/stations/A-1', undefined, { status: 204 }],
    ['GET', '/stations/A-1', undefined, unknown],
    ['DELETE', '/stations/A-1', undefined, unknown],
    ['PATCH', '/stations/A-1', { city: null }, unknown],
  )
  const actions = ['add', 'change', 'change', 'remove'].map(action => `local admin token: station.${action}`)
  t.strictSame(await audited("subject = 'station A-1'"), actions)
})

t.test('a removal can be repeated after a failed erase of its points', async t => {
  await answers(
    t,
    ['POST', '/stations', { sn: 'A-2', model: 'M1' }, { status: 201 }],
    ['DELETE', '/stations/A-2', undefined, { status: 204 }],
    ['DELETE', '/stations/A-2', undefined, { status: 404 }],
  )
  await pool.query("UPDATE erase_jobs SET state = 'failed' WHERE name = 'A-2'")
  await answers(
    t,
    ['DELETE', '/stations/A-2', undefined, { status: 204 }],
    ['GET', '/stations/A-2/erase', undefined, { body: { state: /waiting|running/, error: null } }],
    ['DELETE', '/stations/A-2', undefined, { status: 404 }],
  )
})

t.test('each fault of a station is reported by its field', async t => {
  await ask('POST', '/stations', { sn: 'B-1', model: 'M1' })
  const refused = (status: number, path: string) => ({ status, body: { errors: [{ path }] } })
  const right = { sn: 'B-2', model: 'M1' }
  await answers(
    t,
    ['POST', '/stations', { sn: 'B-1', model: 'M1' }, refused(409, 'sn')],
    ['POST', '/stations', { ...right, owner: 'nobody@example.com' }, refused(422, 'owner')],
    ['POST', '/stations', { ...right, owner: 999_999 }, refused(422, 'owner')],
    ['POST', '/stations', { sn: 'B-2' }, refused(422, 'model')],
    ['POST', '/stations', { ...right, colour: 'red' }, refused(422, '')],
    ['PATCH', '/stations/B-1', {}, refused(422, '')],
    ['PATCH', '/stations/B-1', { sn: 'B-2' }, refused(422, '')],
    ['PATCH', '/stations/B-1', { owner: 999_999 }, refused(422, 'owner')],
    ['PATCH', '/stations/B-1', { latitude: 91 }, refused(422, 'latitude')],
    ['GET', '/stations/B-2', undefined, { status: 404 }],
    ['GET', '/stations?page=0', undefined, { status: 400 }],
    ['PUT', '/stations/B-1', {}, { status: 405 }],
  )
})

t.test('the list of stations is searched and paged', async t => {
  await pool.query(
    `INSERT INTO stations (sn, model, city, timezone, private, created_at, updated_at)
     SELECT 'P-' || n, 'M9', CASE WHEN n = 7 THEN 'Île (Nord)' END, 'UTC', true, now(), now()
     FROM generate_series(1, 150) AS n`,
  )
  // The rows are read into memory after this change.
  await ask('POST', '/stations', { sn: 'P-0', model: 'M9' })
  const page = async (query: string) => {
    const { body } = await ask('GET', `/stations?${query}`)
    const { stations, total, next } = body as { stations: { sn: string }[]; total: number; next: number | null }
    return [stations.length, total, next]
  }
  t.strictSame(await page('search=m9'), [100, 151, 2])
  t.strictSame(await page('search=m9&page=2'), [51, 151, null])
  t.strictSame(await page('search=%C3%AEle%20(n'), [1, 1, null])
  t.strictSame(await page('search=.*'), [0, 0, null])
})

t.test('only the operator removes a station, by session or key', async t => {
  await ask('POST', '/stations', { sn: 'KEPT-1', model: 'M1', owner: ada })
  const known = async (role: string) => {
    const id = await people.person(`${role}-of-stations@example.com`)
    await people.set(id, { role })
    const { cookie } = await people.cookieOf(id)
    return [{ cookie }, { 'x-api-key': await people.keyOf(id, { scopes: ['admin', 'stations'] }) }]
  }
  const url = '/api/admin/stations/KEPT-1'
  for (const headers of (await known('administrator')) as Record<string, string>[]) {
    const refused = await app.inject({ method: 'DELETE', url, headers })
    t.match([refused.statusCode, refused.json()], [403, { title: 'operator only', detail: /only the operator/ }])
    const changed = await app.inject({ method: 'PATCH', url, headers, payload: { city: 'Delhi' } })
    t.equal(changed.statusCode, 200, 'an administrator changes it')
  }
  await people.set(operator.id, { role: 'user' })
  for (const headers of (await known('operator')) as Record<string, string>[]) {
    t.equal((await app.inject({ method: 'DELETE', url, headers })).statusCode, 204)
    await ask('POST', '/stations', { sn: 'KEPT-1', model: 'M1' })
  }
})

async function tries(): Promise<number> {
  const { rows } = await pool.query("SELECT nextval('audit_tries')::int - 1 AS tries, setval('audit_tries', 1, false)")
  return rows[0].tries
}

t.test('repeated rollbacks of a change in PostgreSQL cause the response to try again', async t => {
  const later = { status: 503, headers: { 'retry-after': /^\d+$/ } }
  const unavailable = { ...later, body: { title: 'database unavailable' } }
  for (const code of ['40001', '40P01']) {
    await rollBackChanges(pool, code)
    await tries()
    t.match(await ask('POST', '/devices', [{ name: 'conflicting' }]), unavailable)
    t.equal(await tries(), 3)
    t.match(await ask('POST', '/tenants', { slug: 'conflicting', name: 'C' }), unavailable)
    const body = { email: 'conflicting@example.com', password: goodPassword }
    t.match(await people.ask('POST', '/register', { body }), { ...later, body: { detail: 'Service Unavailable' } })
  }
  t.equal(devices.get('conflicting'), undefined)
  await pool.query('DROP TRIGGER roll_back ON audit')
  t.match(await ask('POST', '/devices', [{ name: 'conflicting' }]), { status: 201 })
})
