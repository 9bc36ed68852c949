/** The admin API: who may use it, and whole answers of its routes for devices, metrics, stations, dead letters and the status. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { DeadLetterPage } from '../../api/admin/dead-letter-answers.ts'
import { checkAdditions } from '../../api/admin/device-additions.ts'
import type { Status } from '../../api/admin/status-answer.ts'
import { actorOf } from '../../auth/actor.ts'
import { type DeviceDetails, NewDevice } from '../../auth/devices/device.ts'
import { authorize, type Principal } from '../../auth/policy.ts'
import { nameOf, writeDeadLetter } from '../../ingest/forwarder/dead-letters.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { encodePoints, points } from '../../ingest/points-table.ts'
import { readingLength, readings, writeReading } from '../../ingest/readings-table.ts'
import { catalogue } from '../../metrics/catalogue.ts'
import { packageVersion } from '../../store/version.ts'
import { adminToken, goodPassword, serviceSecret } from '../support/accounts.ts'
import { startAdmin } from '../support/admin.ts'
import { rollBackChanges } from '../support/breaking-pool.ts'

const up = { managed: true, state: () => ({ state: 'up' as const }), version: () => '9.0', commitMode: () => 'sync' }
const away = { ...up, managed: false, state: () => ({ state: 'away' as const, reason: 'it is away' }) }

const admin = await startAdmin(t, { shards: [{ number: 1, questdb: up }] })
const { app, devices, metrics, ingest, pointsIngest, journal, pointsJournal, store, people, ask } = admin
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
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const problem = (status: number, title: string, more: object = {}) => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  body: { type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`, title, status, ...more },
})

t.test('no body is none, also where the type of one is named', async t => {
  t.match(await ask('POST', '/devices', { name: 'bodiless' }), { status: 201 })
  t.match(await ask('POST', '/devices/bodiless/rotate', ''), { status: 200, body: { password } })
  t.match(await ask('POST', '/dead-letters/replay', ''), { status: 200, body: { replayed: 0 } })
  t.match(await ask('DELETE', '/devices/bodiless', ''), { status: 204 })
  t.match(await ask('POST', '/devices', ''), problem(422, 'invalid body'))
})

t.test('one change of many devices: each by itself, and what was not changed is told', async t => {
  const names = ['bulk-1', 'bulk-2', 'bulk-3']
  const tags = ['site:bonn', ...Array.from({ length: 15 }, (_, index) => `t${index}:1`)]
  const added = names.map((name, index) => ({ name, tags: index === 2 ? tags : ['site:bonn', 'room:1'] }))
  t.match(await ask('POST', '/devices', added), { status: 201 })
  const change = async (body: object) => (await ask('POST', '/device-changes', body)).body
  const of = (name: string) => devices.get(name)
  const unknown = { device: 'nobody', reason: 'device unknown' }

  t.strictSame(await change({ action: 'suspend', devices: ['bulk-1', 'nobody', 'bulk-2'] }), {
    done: 2,
    failed: [unknown],
    issued: [],
  })
  t.strictSame(
    names.map(name => of(name)?.log_switch),
    [false, false, true],
  )
  t.match(await change({ action: 'resume', devices: ['bulk-1'] }), { done: 1, failed: [] })
  t.equal(of('bulk-1')?.log_switch, true)

  t.strictSame(await change({ action: 'tag', devices: names, tag: 'site:berlin' }), { done: 3, failed: [], issued: [] })
  t.strictSame(of('bulk-1')?.tags, ['room:1', 'site:berlin'], 'one value for a key')
  t.strictSame(await change({ action: 'tag', devices: [...names, 'nobody'], tag: 'floor:1' }), {
    done: 2,
    failed: [{ device: 'bulk-3', reason: 'it has as many tags as a device may have' }, unknown],
    issued: [],
  })
  t.match(await change({ action: 'untag', devices: names, tag: 'site:*' }), { done: 3 })
  t.match(await change({ action: 'untag', devices: names, tag: 'room:2' }), { done: 3 })
  t.strictSame(of('bulk-1')?.tags, ['floor:1', 'room:1'])

  const rotated = await ask('POST', '/device-changes', { action: 'rotate', devices: ['bulk-2', 'nobody', 'bulk-1'] })
  t.match(rotated.body, { done: 2, failed: [unknown], issued: [{ device: 'bulk-2', password }, { device: 'bulk-1' }] })
  const [issued] = (rotated.body as { issued: { password: string; old_password_until: string }[] }).issued
  t.match(issued?.old_password_until, time)
  t.equal(devices.authenticate('bulk-2', issued?.password ?? '')?.name, 'bulk-2')
  t.match(await change({ action: 'rotate', devices: ['bulk-2'], now: true }), {
    issued: [{ old_password_until: null }],
  })
  t.equal(devices.authenticate('bulk-2', issued?.password ?? ''), undefined)

  const { body } = await ask('GET', '/audit')
  const audited = (body as { entries: { action: string; subject: string }[] }).entries
  const times = (action: string) => audited.filter(one => one.action === action && one.subject === 'bulk-2').length
  t.strictSame([times('device.rotate'), times('device.change')], [2, 5], 'each has its record')
  for (const wrong of [
    { action: 'suspend', devices: [] },
    { action: 'suspend', devices: ['bulk-1', 'bulk-1'] },
    { action: 'suspend', devices: Array.from({ length: 501 }, (_, index) => `d${index}`) },
    { action: 'suspend', devices: ['bulk-1'], now: true },
    { action: 'tag', devices: ['bulk-1'], tag: 'site:*' },
    { action: 'remove', devices: ['bulk-1'] },
  ]) {
    t.match(await ask('POST', '/device-changes', wrong), problem(422, 'invalid body'))
  }
  for (const name of names) await ask('DELETE', `/devices/${name}`)
})

t.test('a path that is not there and a method that it has not', async t => {
  t.match(await ask('GET', '/nothing'), problem(404, 'not found'))
  t.match(await ask('GET', '/'), problem(404, 'not found'))
  const allowed = async (method: string, path: string, allow: string) =>
    t.match(await ask(method, path), { ...problem(405, 'method not allowed'), headers: { allow } }, `${method} ${path}`)
  await allowed('PUT', '/devices', 'GET, HEAD, POST')
  await allowed('POST', '/devices/a', 'GET, HEAD, PATCH, DELETE')
  await allowed('GET', '/devices/a/rotate', 'POST')
  await allowed('QUERY', '/devices', 'GET, HEAD, POST')
  await allowed('OPTIONS', '/devices', 'GET, HEAD, POST')
})

t.test('a device is added, shown, changed and removed', async t => {
  const added = await ask('POST', '/devices', { name: 'kitchen' })
  t.strictSame(Object.keys(added.body as object), ['device', 'password'])
  t.match(added, { status: 201, headers: { location: '/api/admin/devices/kitchen' } })
  t.match(added.body, { device: 'kitchen', password })
  const shown = await ask('GET', '/devices/kitchen')
  t.match(shown, {
    status: 200,
    body: {
      name: 'kitchen',
      symbol: /^kitchen-\d+$/,
      location_short: '',
      location_desc: '',
      log_switch: true,
      battery: false,
      altitude_m: null,
      latitude: null,
      longitude: null,
      expected_interval_seconds: null,
      owner: null,
      quality_limits: null,
      metrics: null,
      profile: 'none',
      battery_type: null,
      battery_cells: null,
      created_at: time,
      last_seen: null,
      credential: 'current',
      old_password_until: null,
    },
  })
  const change = { location_short: 'K', location_desc: 'under the stairs', log_switch: false, battery: true }
  const quality_limits = { temperature: { min: -40, max: null }, pressure: { flat_hours: 12 } }
  const more = {
    altitude_m: 312.5,
    latitude: -33.925,
    longitude: 18.425,
    expected_interval_seconds: 60,
    owner: await people.person('anna@example.com'),
    quality_limits,
    profile: 'indoor',
    battery_type: 'coin',
    battery_cells: 3,
  }
  const changed = await ask('PATCH', '/devices/kitchen', { ...change, ...more })
  t.match(changed, { status: 200, body: { name: 'kitchen', ...change, ...more } })
  t.strictSame((await ask('GET', '/devices/kitchen')).body, changed.body)
  t.match(await ask('PATCH', '/devices/kitchen', { name: 'attic', altitude_m: null, quality_limits: null }), {
    status: 200,
    body: { name: 'attic', altitude_m: null, quality_limits: null, symbol: (shown.body as { symbol: string }).symbol },
  })
  for (const half of [{ latitude: 1 }, { longitude: null }, { latitude: 1, longitude: null }]) {
    t.match(await ask('PATCH', '/devices/attic', half), problem(422, 'invalid body'), JSON.stringify(half))
  }
  const nowhere = { latitude: null, longitude: null }
  t.match(await ask('PATCH', '/devices/attic', nowhere), { status: 200, body: nowhere })
  t.match(await ask('GET', '/devices/kitchen'), problem(404, 'device unknown'))
  t.match(await ask('DELETE', '/devices/attic'), { status: 204, body: undefined })
  t.match(await ask('DELETE', '/devices/attic'), problem(404, 'device unknown'))
  t.match(await ask('PATCH', '/devices/attic', { battery: true }), problem(404, 'device unknown'))
})

t.test('a name of any characters is a step of the path', async t => {
  for (const name of ['q?x=1&y', '100%', '🌡'.repeat(64), '%2F', '...']) {
    const path = `/devices/${encodeURIComponent(name)}`
    t.match(await ask('POST', '/devices', { name }), { status: 201, headers: { location: `/api/admin${path}` } }, name)
    t.match(await ask('GET', path), { status: 200, body: { name } }, name)
    t.match(await ask('POST', `${path}/rotate`), { status: 200, body: { device: name } }, name)
    t.match(await ask('DELETE', path), { status: 204 }, name)
  }
})

t.test('a device whose name was good once goes on working, and can be called otherwise', async t => {
  for (const name of ['a/b', ' ', 'a\u202eb']) {
    await devices.add([{ ...NewDevice.parse({ name: 'x' }), name }], 'somebody')
    const path = `/devices/${encodeURIComponent(name)}`
    t.match(await ask('GET', path), { status: 200, body: { name } })
    t.match(await ask('PATCH', path, { battery: true }), { status: 200, body: { name, battery: true } })
    t.match(await ask('POST', `${path}/rotate`), { status: 200, body: { device: name } })
    t.match(await ask('PATCH', path, { name: 'good' }), { status: 200, body: { name: 'good' } })
    t.match(await ask('PATCH', '/devices/good', { name }), { status: 422 })
    t.match(await ask('DELETE', '/devices/good'), { status: 204 })
  }
})

t.test('what is wrong with a device is told field by field', async t => {
  const told = async (body: unknown, errors: object[]) =>
    t.match(await ask('POST', '/devices', body), problem(422, 'invalid body', { errors }), JSON.stringify(body))
  await told({}, [{ path: 'name' }])
  await told({ name: '' }, [{ path: 'name', message: 'must not be empty' }])
  await told({ name: 'a', altitude_m: '3', battery: 1 }, [{ path: 'battery' }, { path: 'altitude_m' }])
  await told({ name: 'a', locaton_short: 'x' }, [{ path: '', message: /locaton_short/ }])
  await told({ name: 'a', latitude: 52.5 }, [{ path: 'longitude', message: 'must be given with the other coordinate' }])
  const limits = (quality_limits: object, path: string) => told({ name: 'a', quality_limits }, [{ path }])
  await limits({ pressure: { min: 900, max: 800 } }, 'quality_limits.pressure.min')
  await limits({ rain: { max: 1 } }, 'quality_limits')
  await told(null, [{ path: '' }])
  await told('"kitchen"', [{ path: '' }])
  await told([], [{ path: '', message: 'must hold at least one device' }])
  await told([{ name: 'a' }, { name: 'b', batery: true }, 3], [{ path: '[1]', message: /batery/ }, { path: '[2]' }])
  t.match(await ask('POST', '/devices', '{"name":'), problem(400, 'invalid json'))
  t.match(
    await ask('POST', '/devices', 'name=a', { 'content-type': 'text/plain' }),
    problem(415, 'unsupported media type'),
  )
  t.match(await ask('POST', '/devices', {}, { 'content-encoding': 'gzip' }), problem(415, 'unsupported media type'))
  const noReadings = await ask('POST', '/import', 'x', { 'content-type': 'text/plain' })
  t.match(noReadings, problem(415, 'unsupported media type', { detail: 'send text/csv or application/x-ndjson' }))
  t.match(await ask('POST', '/devices'), problem(422, 'invalid body'))
  await ask('POST', '/devices', { name: 'kitchen' })
  const refused = async (body: unknown, errors: object[]) =>
    t.match(await ask('PATCH', '/devices/kitchen', body), problem(422, 'invalid body', { errors }))
  await refused({}, [{ path: '', message: 'must name at least one field to change' }])
  await refused({ password: 'x' }, [{ path: '', message: /password/ }])
  t.match(
    await ask('PATCH', '/devices/kitchen', `{"location_desc":"${'x'.repeat(70_000)}"}`),
    problem(413, 'payload too large'),
  )
  await ask('DELETE', '/devices/kitchen')
})

t.test('many devices are added at once, or none of them', async t => {
  const names = Array.from({ length: 250 }, (_, at) => `sensor ${String(at).padStart(3, '0')}`)
  const added = await ask(
    'POST',
    '/devices',
    names.map(name => ({ name, location_short: 'hall' })),
  )
  t.equal(added.status, 201)
  t.match(
    added.body,
    names.map(device => ({ device, password })),
  )
  t.match(await ask('POST', '/devices', [{ name: 'new' }, { name: 'sensor 003' }]), {
    ...problem(409, 'name taken', { errors: [{ path: '[1].name', message: 'is taken by another device' }] }),
  })
  t.match(
    await ask('POST', '/devices', { name: 'sensor 003' }),
    problem(409, 'name taken', { errors: [{ path: 'name' }] }),
  )
  t.match(await ask('PATCH', '/devices/sensor%20001', { name: 'sensor 002' }), {
    ...problem(409, 'name taken', { errors: [{ path: 'name', message: 'is taken by another device' }] }),
  })
  t.match(await ask('POST', '/devices', [{ name: 'new' }, { name: 'new' }]), {
    ...problem(422, 'name twice', {
      errors: [{ path: '[0].name' }, { path: '[1].name', message: 'stands here more than once' }],
    }),
  })
  const additions = t.capture(devices, 'add', devices.add)
  const tooMany = Array.from({ length: 10_001 }, (_, at) => ({ name: `n${at}` }))
  t.match(
    await ask('POST', '/devices', tooMany),
    problem(413, 'too many devices', { detail: 'at most 10000 at a time' }),
  )
  // Its check takes as long, and begins later.
  t.match(await ask('POST', '/devices', [...tooMany.slice(2), { name: 'n9' }]), problem(422, 'name twice'))
  t.strictSame(
    additions().map(({ args: [some] }) => some.length),
    [10_000],
    'what is refused is not added',
  )
  t.match(await ask('POST', '/devices', 'x'.repeat(17 * 1024 * 1024)), problem(413, 'payload too large'))
  const page = async (query: string) => {
    const { status, body } = await ask('GET', `/devices${query}`)
    const { devices: found, ...rest } = body as { devices: { name: string }[] }
    return { status, count: found.length, first: found[0]?.name, ...rest }
  }
  const second = { status: 200, count: 100, first: 'sensor 100', total: 250, page: 2, next: 3 }
  t.strictSame(await page('?search=HALL&page=2'), second)
  const refused = async (query: string, path: string) =>
    t.match(await ask('GET', `/devices?${query}`), problem(400, 'invalid query', { errors: [{ path }] }), query)
  for (const number of ['0', '1e3', '1&page=2']) await refused(`page=${number}`, 'page')
  await refused(`search=${'x'.repeat(300)}`, 'search')
  await refused('pge=2', '')
})

t.test('many devices are checked some hundred at a time, and others have their turn between', async t => {
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
  t.match(await ask('POST', '/devices', [...body.slice(1), { name: '' }]), {
    ...problem(422, 'invalid body', { errors: [{ path: '[9999].name', message: 'must not be empty' }] }),
  })
})

t.test('a password is replaced, with a grace time or at once', async t => {
  await ask('POST', '/devices', { name: 'kitchen' })
  const rotated = await ask('POST', '/devices/kitchen/rotate')
  t.match(rotated, { status: 200, body: { device: 'kitchen', password, old_password_until: time } })
  t.match(await ask('GET', '/devices/kitchen'), { body: { credential: 'rotating', old_password_until: time } })
  const atOnce = await ask('POST', '/devices/kitchen/rotate?now=1')
  t.match(atOnce, { status: 200, body: { device: 'kitchen', password, old_password_until: null } })
  const refused = await ask('POST', '/devices/kitchen/rotate?now=yes')
  t.match(refused, problem(400, 'invalid query', { errors: [{ path: 'now' }] }))
  t.match(await ask('POST', '/devices/nobody/rotate'), problem(404, 'device unknown'))
  const text = JSON.stringify([await ask('GET', '/devices/kitchen'), await ask('GET', '/devices')])
  t.notMatch(text, (atOnce.body as { password: string }).password, 'a password is given once')
  await ask('DELETE', '/devices/kitchen')
})

t.test('erasing needs a device that is or was there', async t => {
  t.match(await ask('POST', '/devices/nobody/erase'), problem(404, 'device unknown'))
  t.match(await ask('GET', '/devices/nobody/erase'), problem(404, 'device unknown'))
  await ask('POST', '/devices', { name: 'a b' })
  t.match(await ask('GET', '/devices/a%20b/erase'), problem(404, 'device unknown'))
  const asked = await ask('POST', '/devices/a%20b/erase')
  t.match(asked, {
    status: 202,
    headers: { location: '/api/admin/devices/a%20b/erase' },
    body: {
      device: 'a b',
      symbols: [/^a-b-\d+$/],
      state: 'waiting',
      rows: null,
      requested_at: time,
      finished_at: null,
    },
  })
  t.match(await ask('GET', '/devices/a%20b'), problem(404, 'device unknown'), 'it is removed at once')
  t.match(await ask('GET', '/devices/a%20b/erase'), { status: 200, body: { device: 'a b', finished_at: null } })
})

t.test('erasing a metric needs one that the device has', async t => {
  t.match(await ask('DELETE', '/devices/nobody/metrics/co2'), problem(404, 'device unknown'))
  await ask('POST', '/devices', { name: 'green house' })
  const path = '/devices/green%20house/metrics'
  const { number } = devices.get('green house') ?? { number: 0 }
  t.match(await ask('DELETE', `${path}/soil_moisture`), problem(404, 'metric unknown'))
  t.match(await ask('DELETE', `${path}/temperature`), problem(409, 'metric built in'))
  t.match(await ask('GET', `${path}/soil_moisture`), problem(404, 'metric unknown'))
  t.equal(await metrics.ensure([{ device: number, field: 'soil_moisture' }], 'test'), 'done')
  const asked = await ask('DELETE', `${path}/soil_moisture`)
  t.match(asked, {
    status: 202,
    headers: { location: '/api/admin/devices/green%20house/metrics/soil_moisture' },
    body: { device: 'green house', metric: 'soil_moisture', state: 'waiting', rows: null, finished_at: null },
  })
  t.match(await ask('GET', `${path}/soil_moisture`), { status: 200, body: { metric: 'soil_moisture', error: null } })
  t.match(await ask('GET', '/devices/green%20house'), { status: 200 }, 'the device stays')
  t.strictSame(metrics.metricsOf(number), [])
  await ask('DELETE', '/devices/green%20house')
})

t.test('the status tells how the parts are', async t => {
  const status = await ask('GET', '/status')
  t.match(status, {
    status: 200,
    body: {
      versions: { barograph: packageVersion(), node: process.versions.node },
      questdb: { kind: 'given', state: 'away', suspended: false },
      postgres: { kind: 'own', state: 'up', version: /^\d+/ },
      journal: { bytes: Number, bytes_max: 1024 ** 3, readings: 0, damaged_bytes: 0, fault: null },
      lag: { readings: 0, seconds: 0 },
      dead_letters: 0,
      retention: {
        days: 30,
        oldest_day: '2026-01-01',
        expired_days: 2,
        last_run: '2026-01-31T00:00:00.000Z',
        fault: null,
        waiting: { from: '2026-01-01', before: '2026-01-15', days: 3, reason: 'several_days' },
      },
      points: { journal: { bytes_max: 1024 ** 3, points: 0 }, lag: { points: 0 }, dead_letters: 0, suspended: false },
      disk: {
        free_bytes: Number,
        total_bytes: Number,
        journal_bytes: 5,
        growth_bytes_per_day: 7,
        days_until_full: null,
      },
    },
  })
  t.notOk('shards' in (status.body as object), 'one alone is not told of twice')
  t.match(await ask('HEAD', '/status'), { status: 200, body: undefined })
})

t.test('days that wait are confirmed, with a row of the audit', async t => {
  const confirm = (body: unknown) => ask('POST', '/retention/confirm', body)
  t.match(await confirm({ before: '2026-01-15' }), { status: 200, body: { before: '2026-01-15' } })
  t.match(await confirm({ before: '2026-01-16' }), problem(409, 'no waiting days'))
  for (const body of [{}, { before: '2026-02-30' }]) {
    t.match(await confirm(body), problem(422, 'invalid body'), JSON.stringify(body))
  }
  t.match(await ask('GET', '/audit'), { body: { entries: [{ action: 'retention.confirm', subject: '2026-01-15' }] } })
})

t.test('dead letters are shown page by page and sent again', async t => {
  const timeUs = Date.UTC(2026, 0, 1) * 1000
  const disk = openDisk(journal)
  for (let id = 1; id <= 101; id++) {
    const symbol = `kitchen-${id}`
    const record = Buffer.alloc(readingLength({ number: id, symbol }))
    const reading = {
      temperature: 20,
      humidity: Number.NaN,
      pressure: 1000,
      battery_voltage: 3,
      battery_percentage: 90,
    }
    const view = new DataView(record.buffer, record.byteOffset, record.byteLength)
    writeReading(view, 0, { number: id, symbol }, timeUs, false, { timestampMs: undefined, ...reading })
    writeDeadLetter(readings, disk, id * 100, record, 'too hot', Date.UTC(2026, 0, 2))
  }
  const first = await ask('GET', '/dead-letters')
  t.equal(first.status, 200)
  const { dead_letters, next } = first.body as { dead_letters: unknown[]; next: number }
  t.equal(dead_letters.length, 100)
  t.strictSame(dead_letters[0], {
    table: 'readings',
    id: 100,
    at: '2026-01-02T00:00:00.000Z',
    reason: 'too hot',
    symbol: 'kitchen-1',
    time: '2026-01-01T00:00:00.000000Z',
    values: { temperature: 20, humidity: null, pressure: 1000, battery_voltage: 3, battery_percentage: 90 },
  })
  const second = (await ask('GET', `/dead-letters?after=${next}`)).body as { dead_letters: unknown[]; next: null }
  t.equal(second.dead_letters.length, 1)
  t.equal(second.next, null)
  for (const after of ['x', '9007199254740992', '99999999999999999']) {
    const refused = problem(400, 'invalid query', { errors: [{ path: 'after' }] })
    t.match(await ask('GET', `/dead-letters?after=${after}`), refused, after)
  }
  t.match(await ask('GET', '/dead-letters?after=9007199254740991'), { status: 200, body: { dead_letters: [] } })
  t.match(
    await ask('POST', '/dead-letters/replay', { ids: [] }),
    problem(422, 'invalid body', { errors: [{ path: 'ids' }] }),
  )
  t.match(
    await ask('POST', '/dead-letters/replay', { all: 1 }),
    problem(422, 'invalid body', { errors: [{ path: '' }] }),
  )
  t.match(await ask('POST', '/dead-letters/replay', null), problem(422, 'invalid body'), 'nothing is not all')
  const before = ingest.status().journal.records
  t.strictSame((await ask('POST', '/dead-letters/replay', { ids: [100, 300, 301] })).body, { replayed: 2, damaged: 0 })
  t.strictSame((await ask('POST', '/dead-letters/replay')).body, { replayed: 99, damaged: 0 })
  t.equal(ingest.status().journal.records - before, 101, 'they are in the journal')
  t.strictSame((await ask('GET', '/dead-letters')).body, { dead_letters: [], damaged: [], next: null })
})

t.test('dead letters of points say whose they are, and are sent again or discarded', async t => {
  const added = await people.stations.add({ sn: 'IN-1', model: 'M1', owner: null }, 'test')
  if (!added.ok) throw new Error(added.code)
  const number = added.value.series.get('pm25') ?? 0
  const disk = openDisk(pointsJournal)
  const timestampMs = Date.UTC(2026, 0, 1)
  for (const [index, series] of [number, number, 2_000_000, number].entries()) {
    const values = { timestampMs, value: 12.5 + index, storedAtUs: 5_000_000 }
    const record = encodePoints([{ series: { number: series, symbol: 'ugm3' }, values }])
    writeDeadLetter(points, disk, 100 * (index + 1), record, 'too dirty', Date.UTC(2026, 0, 2))
  }
  t.strictSame(
    (await ask('GET', '/dead-letters')).body,
    { dead_letters: [], damaged: [], next: null },
    'they are no readings',
  )
  const list = async () => (await ask('GET', '/dead-letters?table=points')).body as DeadLetterPage
  const { dead_letters, next } = await list()
  t.equal(next, null)
  t.strictSame(dead_letters[0], {
    table: 'points',
    id: 100,
    at: '2026-01-02T00:00:00.000Z',
    reason: 'too dirty',
    symbol: 'IN-1 pm25 ugm3',
    time: '2026-01-01T00:00:00.000000Z',
    values: { value: 12.5, stored_at: 5_000_000 },
  })
  t.equal(dead_letters[2]?.symbol, 'series 2000000 ugm3', 'of no station that is there')
  t.strictSame(
    (await ask('POST', '/dead-letters/replay', { ids: [100] })).body,
    { replayed: 0, damaged: 0 },
    'ids of readings',
  )
  t.strictSame((await ask('POST', '/dead-letters/replay', { table: 'points', ids: [100] })).body, {
    replayed: 1,
    damaged: 0,
  })
  const discard = { table: 'points', ids: [200, 201] }
  t.strictSame((await ask('POST', '/dead-letters/discard', discard)).body, { discarded: 1 })
  t.strictSame(
    (await list()).dead_letters.map(({ id }) => id),
    [300, 400],
  )
  t.strictSame((await ask('POST', '/dead-letters/replay')).body, { replayed: 2, damaged: 0 }, 'of all tables')
  t.equal(pointsIngest.status().journal.records, 3)
  for (const body of [{ table: 'points' }, { table: 'stations', ids: [1] }, { ids: [] }, undefined]) {
    t.match(await ask('POST', '/dead-letters/discard', body), { status: 422 }, JSON.stringify(body))
  }
  t.match(await ask('GET', '/dead-letters?table=x'), problem(400, 'invalid query', { errors: [{ path: 'table' }] }))
  const { rows } = await store.postgres.query(
    "SELECT subject, details FROM audit WHERE action = 'dead-letters.discard'",
  )
  t.strictSame(rows, [{ subject: 'points', details: { discarded: 1, ids: [200, 201] } }])
})

t.test('a damaged dead letter is listed by its name, passed over by a replay, and discarded', async t => {
  const disk = openDisk(pointsJournal)
  for (const id of [1, 2]) {
    const values = { timestampMs: Date.UTC(2026, 0, 1), value: id, storedAtUs: 5_000_000 }
    const record = encodePoints([{ series: { number: 1, symbol: 'ugm3' }, values }])
    writeDeadLetter(points, disk, id, record, 'too dirty', Date.UTC(2026, 0, 2))
  }
  writeFileSync(join(pointsJournal, nameOf(1)), '{"id":')
  const list = async (after = '') => (await ask('GET', `/dead-letters?table=points${after}`)).body as DeadLetterPage
  const { dead_letters, damaged } = await list()
  t.match(dead_letters, [{ id: 2 }])
  const damagedOne = { table: 'points', id: 1, name: 'dead-0000000000000001.json', reason: 'the file is not JSON' }
  t.strictSame(damaged, [damagedOne])
  const replay = { table: 'points' }
  t.strictSame((await ask('POST', '/dead-letters/replay', replay)).body, { replayed: 1, damaged: 1 })
  const discard = { table: 'points', ids: [1] }
  t.strictSame((await ask('POST', '/dead-letters/discard', discard)).body, { discarded: 1 })
  t.strictSame(await list(), { dead_letters: [], damaged: [], next: null })
})

t.test('a thousand arguments are read, one more is refused', async t => {
  const answer = await ask('GET', `/devices?page=1${'&page=1'.repeat(1_000)}`)
  t.match(answer, problem(400, 'invalid query', { detail: 'at most 1000 arguments' }))
})

t.test('what was stored is told so, whatever becomes of its row in the audit', async t => {
  await ask('POST', '/devices', { name: 'porch' })

  await store.postgres.query('ALTER TABLE audit RENAME TO audit_elsewhere')
  t.teardown(() => store.postgres.query('ALTER TABLE audit_elsewhere RENAME TO audit'))
  const line = '{"timestamp":"2026-01-01T00:00:00Z","device":"porch","temperature":1,"humidity":2,"pressure":1000}'
  const imported = await ask('POST', '/import', line, { 'content-type': 'application/x-ndjson' })
  t.match(imported, { status: 200, body: { accepted: 1, rejected: 0 } })
  t.match(await ask('POST', '/dead-letters/replay'), { status: 200, body: { replayed: 0 } })
})

t.test('the expected interval is taken by its name before, too', async t => {
  const interval = async (name: string) =>
    ((await ask('GET', `/devices/${name}`)).body as DeviceDetails).expected_interval_seconds
  t.match(await ask('POST', '/devices', { name: 'old-one', expected_interval_s: 60 }), { status: 201 })
  t.equal(await interval('old-one'), 60)
  const two = [
    { name: 'old-two', expected_interval_s: 30 },
    { name: 'new-three', expected_interval_seconds: 40 },
  ]
  t.match(await ask('POST', '/devices', two), { status: 201 })
  t.strictSame([await interval('old-two'), await interval('new-three')], [30, 40])
  t.match(await ask('PATCH', '/devices/old-one', { expected_interval_s: 90 }), {
    status: 200,
    body: { expected_interval_seconds: 90 },
  })
  const both = { expected_interval_s: 1, expected_interval_seconds: 2 }
  t.match(await ask('PATCH', '/devices/old-one', both), {
    status: 422,
    body: { errors: [{ message: /expected_interval_s/ }] },
  })
  t.equal(await interval('old-one'), 90)
})

async function statusOf(headers: Record<string, string>, method: 'GET' | 'POST' | 'PUT' = 'GET', url = '/devices') {
  const response = await app.inject({ method, url: `/api/admin${url}`, headers })
  t.match(response, {
    headers: { 'content-type': response.statusCode < 400 ? /json/ : 'application/problem+json' },
    json: Function,
  })
  t.equal(response.headers['cache-control'], 'no-store')
  if (response.statusCode === 401) t.equal(response.headers['www-authenticate'], 'Bearer realm="admin"')
  return response.statusCode
}

t.test('administrators come in by their session, and whoever holds the admin token', async t => {
  const table: [who: string, headers: Record<string, string>, status: number][] = [
    ['nobody', {}, 401],
    ['the admin token', token, 200],
    ['the admin token in another case', { authorization: `bEARER  ${adminToken}` }, 200],
    ['no token', { authorization: 'Bearer' }, 401],
    ['the admin token with more behind it', { authorization: `Bearer ${adminToken}a` }, 401],
    ['the admin token as a password', { authorization: `Basic ${adminToken}` }, 401],
    ['the admin token as a key', { 'x-api-key': adminToken }, 401],
    ['the session of a user', { cookie: user.cookie }, 403],
    ['the session of an administrator', { cookie: administrator.cookie }, 200],
    ['the session of the operator', { cookie: operator.cookie }, 200],
    ['the token of a user', { authorization: `Bearer ${user.token}` }, 401],
    ['the token of the operator', { authorization: `Bearer ${operator.token}` }, 401],
    ['the service secret', { 'x-service-secret': serviceSecret }, 401],
    ['a cookie that is not good', { cookie: `${administrator.cookie}x` }, 401],
    ['the admin token and a session', { ...token, cookie: administrator.cookie }, 401],
    ['the admin token and a cookie that is not good', { ...token, cookie: `${people.codec.cookieName}=x` }, 401],
    ['a session and a key', { cookie: administrator.cookie, 'x-api-key': 'x' }, 401],
    ['a session and the service secret', { cookie: administrator.cookie, 'x-service-secret': serviceSecret }, 401],
  ]
  for (const [who, headers, status] of table) {
    t.equal(await statusOf(headers), status, who)
    // Whatever the path and the method are, and with the method that the path has: who comes in learns what it takes.
    t.equal(await statusOf(headers, 'GET', '/nothing'), status === 200 ? 404 : status, `${who}: no path`)
    t.equal(await statusOf(headers, 'PUT'), status === 200 ? 405 : status, `${who}: no method`)
    t.equal(await statusOf(headers, 'POST'), status === 200 ? 422 : status, `${who}: a write`)
  }
})

t.test('the policy of API keys: the scope admin, and a role that has it now', async t => {
  const account = async (id: number) => {
    const found = await people.accounts.find(id)
    if (found === undefined) throw new Error('no such account')
    return found
  }
  const key = async (id: number, scopes: string[]) => ({ kind: 'key', account: await account(id), keyId: 7, scopes })
  const decisionOf = async (id: number, scopes: string[]) => authorize('admin', (await key(id, scopes)) as Principal)
  t.equal(await decisionOf(administrator.id, ['read', 'admin']), 'allowed')
  t.equal(await decisionOf(operator.id, ['admin']), 'allowed')
  t.equal(await decisionOf(administrator.id, ['read', 'ingest', 'stations']), 'FORBIDDEN')
  t.equal(await decisionOf(user.id, ['admin']), 'FORBIDDEN')
  t.equal(actorOf((await key(user.id, [])) as Principal), `key 7 of account ${user.id}`)
})

t.test('a page of another site changes nothing with a cookie', async t => {
  const { cookie } = administrator
  const write = (headers: Record<string, string>) => statusOf({ cookie, ...headers }, 'POST')
  t.equal(await write({ 'sec-fetch-site': 'cross-site' }), 403)
  t.equal(await write({ 'sec-fetch-site': 'same-site' }), 403)
  t.equal(await write({ origin: 'https://evil.example' }), 403)
  t.equal(await write({ 'sec-fetch-site': 'same-origin' }), 422)
  t.equal(await write({ 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }), 422, 'of a listed one it may')
  t.equal(await statusOf({ cookie, 'sec-fetch-site': 'cross-site' }), 200, 'reading is no change')
  t.equal(await statusOf({ ...token, 'sec-fetch-site': 'cross-site' }, 'POST'), 422, 'no browser adds the token')
})

t.test('the audit names who it was', async t => {
  await pool.query('TRUNCATE audit')
  const add = (name: string, headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: '/api/admin/devices', headers, payload: { name } })
  t.equal((await add('one', token)).statusCode, 201)
  t.equal((await add('two', { cookie: administrator.cookie })).statusCode, 201)
  t.equal((await add('three', { cookie: user.cookie })).statusCode, 403)
  const lines = (type: string, url: string, payload: string) =>
    app.inject({
      method: 'POST',
      url: `/api/admin${url}`,
      payload,
      headers: { cookie: operator.cookie, 'content-type': type },
    })
  const csv = 'timestamp,device,temperature,humidity,pressure\n2026-01-01T00:00:00Z,one,20,50,1000\n'
  t.equal((await lines('text/csv', '/import', csv)).statusCode, 200)
  t.equal((await lines('application/json', '/dead-letters/replay', '')).statusCode, 200)
  t.equal((await lines('application/json', '/devices/two/erase', '')).statusCode, 202)
  const { rows } = await pool.query("SELECT actor, action FROM audit WHERE actor <> 'test' ORDER BY id")
  t.strictSame(
    rows.map(({ actor, action }) => [actor, action]),
    [
      ['local admin token', 'device.add'],
      [`account ${administrator.id}`, 'device.add'],
      [`account ${operator.id}`, 'readings.import'],
      [`account ${operator.id}`, 'dead-letters.replay'],
      [`account ${operator.id}`, 'device.erase'],
      [`account ${operator.id}`, 'device.remove'],
    ],
  )
})

t.test('a role that is taken away, and an account that is off, count at the next request', async t => {
  const { id, cookie } = administrator
  const set = (text: string) =>
    people.accounts.memory.change(id, () => pool.query(`UPDATE accounts SET ${text} WHERE id = $1`, [id]))
  await set("role = 'user'")
  t.equal(await statusOf({ cookie }), 403)
  await set("role = 'administrator', is_active = false")
  t.equal(await statusOf({ cookie }), 401)
  await set('is_active = true')
  t.equal(await statusOf({ cookie }), 200)
})

const auditOf = async (subject: string) => {
  const { rows } = await pool.query('SELECT action FROM audit WHERE subject = $1 ORDER BY id', [subject])
  return rows.map(({ action }) => action)
}

t.test('the five are listed first, with the signs of their units', async t => {
  const { status, body } = await ask('GET', '/metrics')
  t.equal(status, 200)
  t.match(body, {
    metrics: [{ name: 'temperature', unit: 'Cel', unit_sign: '°C', decimals: 1, min: -90, max: 85, built_in: true }],
  })
  t.strictSame((await ask('GET', '/metrics/temperature')).body, (body as { metrics: object[] }).metrics[0])
  t.match(await ask('GET', '/metrics/rain'), problem(404, 'metric unknown'))
})

t.test('a metric is added as the catalogue has it or as it is given, changed and removed', async t => {
  const added = await ask('POST', '/metrics', { name: 'co2' })
  t.match(added, { status: 201, body: { name: 'co2', title: 'CO₂', unit: 'ppm', kind: 'gauge', built_in: false } })
  t.equal(added.headers['location'], '/api/admin/metrics/co2')
  t.notOk(Object.keys(added.body as object).includes('id'))
  const own = { name: 'sap_flow', title: 'Sap', unit: 'l/h', kind: 'rate', decimals: 3, min: 0, max: 9 }
  t.match(await ask('POST', '/metrics', own), {
    status: 201,
    body: { ...own, unit: 'L/h', unit_sign: 'L/h', quality: null },
  })
  const quality = { max: 8, spike: 1 }
  t.match(await ask('PATCH', '/metrics/sap_flow', { kind: 'counter', unit: null, quality }), {
    status: 200,
    body: { kind: 'counter', unit: null, unit_sign: null, quality, title: 'Sap' },
  })
  t.match(await ask('DELETE', '/metrics/sap_flow'), { status: 204, body: undefined })
  t.match(await ask('DELETE', '/metrics/sap_flow'), problem(404, 'metric unknown'))
  t.match(await ask('PATCH', '/metrics/sap_flow', { decimals: 1 }), problem(404, 'metric unknown'))
  t.strictSame(await auditOf('metric sap_flow'), ['metric.add', 'metric.change', 'metric.remove'])
})

t.test('what cannot be done is told with its field', async t => {
  const issue = (path: string, message: string | RegExp) => ({ errors: [{ path, message }] })
  t.match(await ask('POST', '/metrics', { name: 'co2' }), problem(409, 'name taken', issue('name', /is taken/)))
  t.match(await ask('POST', '/metrics', { name: 'co2_ppm' }), problem(409, 'name taken', issue('name', 'is co2')))
  for (const name of ['CO2', 'dew_point', 'catalogue'])
    t.match(await ask('POST', '/metrics', { name }), problem(422, 'invalid body', issue('name', /./)), name)
  t.match(
    await ask('POST', '/metrics', { name: 'x', unit: 'furlong' }),
    problem(422, 'invalid body', issue('unit', /no unit/)),
  )
  t.match(await ask('POST', '/metrics', { name: 'x', units: 'm' }), problem(422, 'invalid body'))
  t.match(await ask('PATCH', '/metrics/co2', {}), problem(422, 'invalid body'))
  t.match(await ask('PATCH', '/metrics/co2', { max: -1 }), problem(422, 'range empty', issue('min', /less than max/)))
  t.match(await ask('PATCH', '/metrics/pressure', { unit: 'Pa', max: 2000 }), {
    ...problem(409, 'metric built in'),
    body: { errors: [{ path: 'unit' }, { path: 'max' }] },
  })
  t.match(await ask('PATCH', '/metrics/pressure', { title: 'Air pressure' }), { status: 200 })
  t.match(await ask('PATCH', '/metrics/pressure', { title: 'Pressure' }), { status: 200 })
  t.match(await ask('DELETE', '/metrics/humidity'), problem(409, 'metric built in'))
})

t.test('the catalogue lists metrics and units', async t => {
  const { status, body } = await ask('GET', '/metrics/catalogue')
  t.equal(status, 200)
  const { metrics, units } = body as { metrics: { name: string }[]; units: { code: string }[] }
  t.equal(metrics.length, catalogue.length)
  t.match(
    metrics.find(({ name }) => name === 'pm25'),
    { unit_sign: 'µg/m³', kind: 'gauge' },
  )
  t.match(
    units.find(({ code }) => code === '[mi_i]/h'),
    { sign: 'mph', dimension: 'speed' },
  )
})

t.test('a device lists its metrics, which cannot be removed meanwhile', async t => {
  const metrics = ['co2', 'temperature']
  t.match(await ask('POST', '/devices', { name: 'lab', metrics }), { status: 201 })
  t.match((await ask('GET', '/devices/lab')).body, { metrics })
  t.match(await ask('POST', '/devices', { name: 'hall' }), { status: 201 })
  t.match((await ask('GET', '/devices/hall')).body, { metrics: null })
  t.match(await ask('PATCH', '/devices/hall', { metrics: ['co2', 'sap_flow', 'radon', 'snow'] }), {
    ...problem(422, 'metrics unknown'),
    body: {
      errors: [
        { path: 'metrics[1]', message: '"sap_flow" is no metric' },
        { path: 'metrics[3]', message: '"snow" is no metric; it is called snow_depth' },
      ],
    },
  })
  const several = [{ name: 'a' }, { name: 'b', metrics: ['radon', 'sap_flow'] }]
  t.match(await ask('POST', '/devices', several), {
    ...problem(422, 'metrics unknown'),
    body: { errors: [{ path: '[1].metrics[1]' }] },
  })
  t.match(await ask('GET', '/devices/a'), { status: 404 }, 'all or none')
  t.match(await ask('GET', '/metrics/radon'), { status: 404 }, 'nor a metric')
  for (const wrong of [[], ['co2', 'co2'], ['CO2'], Array.from({ length: 65 }, (_, at) => `m_${at}`), 'co2'])
    t.match(
      await ask('PATCH', '/devices/hall', { metrics: wrong }),
      problem(422, 'invalid body'),
      JSON.stringify(wrong),
    )
  const most = Array.from({ length: 64 }, (_, at) => `most_${at}`)
  for (const name of most) await ask('POST', '/metrics', { name })
  t.match(await ask('PATCH', '/devices/hall', { metrics: most }), { status: 200, body: { metrics: most } })
  t.match(await ask('PATCH', '/devices/hall', { battery: true }), { body: { metrics: most } })
  t.match(await ask('DELETE', '/metrics/co2'), problem(409, 'metric in use'))
  t.match(await ask('PATCH', '/devices/lab', { metrics: null }), { status: 200, body: { metrics: null } })
  t.match(await ask('DELETE', '/metrics/co2'), { status: 204 })
  t.match(await ask('PATCH', '/devices/lab', { metrics: ['most_0', 'gone'] }), problem(422, 'metrics unknown'))
})

t.test('a device that lists what only the catalogue knows registers it', async t => {
  const metrics = ['soil_temperature', 'temperature', 'uv_index']
  t.match(await ask('POST', '/devices', { name: 'bed', metrics }), { status: 201 })
  t.match((await ask('GET', '/devices/bed')).body, { metrics })
  t.match(await ask('GET', '/metrics/soil_temperature'), { body: { unit: 'Cel', kind: 'gauge', max: 100 } })
  t.match(await ask('PATCH', '/devices/bed', { metrics: ['leaf_wetness'] }), { status: 200 })
  t.match(await ask('GET', '/metrics/leaf_wetness'), { body: { title: 'Leaf wetness' } })
  t.match(await ask('POST', '/devices', { name: 'bed', metrics: ['ph'] }), problem(409, 'name taken'))
  t.match(await ask('GET', '/metrics/ph'), { status: 404 }, 'nothing is left of what was refused')
  t.match(await ask('DELETE', '/metrics/leaf_wetness'), problem(409, 'metric in use'))
  t.match(await ask('DELETE', '/metrics/uv_index'), { status: 204 })
})

t.test('a metric that is removed while a device begins to list it is listed, or unknown', async t => {
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

t.test('the status tells of the QuestDB of each shard, where there are several', async t => {
  const shards = [
    { number: 1, questdb: up },
    { number: 2, questdb: away },
  ]
  const { ask: asked } = await startAdmin(t, { shards, databases: admin.databases })
  const { body } = (await asked('GET', '/status')) as { body: Status }
  t.strictSame(body.shards, [
    { number: 1, kind: 'own', state: 'up', reason: null, version: '9.0', commit_mode: 'sync' },
    { number: 2, kind: 'given', state: 'away', reason: 'it is away', version: '9.0', commit_mode: 'sync' },
  ])
})

t.test('a station is added, read, changed and removed', async t => {
  const body = {
    sn: 'A-1',
    model: 'M1',
    city: 'Delhi',
    country: 'in',
    latitude: '28.5',
    private: true,
    owner: 'Ada@Stations.example',
  }
  const added = await ask('POST', '/stations', body)
  t.equal(added.status, 201)
  t.equal(added.headers['location'], '/api/admin/stations/A-1')
  t.match(added.body, { ...body, country: 'IN', latitude: 28.5, owner: ada, timezone: 'UTC', last_data_at: null })
  t.strictSame((await ask('GET', '/stations/A-1')).body, added.body)
  t.notMatch(added.body, { id: Number }, 'nothing of its inside')
  const changed = await ask('PATCH', '/stations/A-1', { city: null, owner: null, private: false })
  t.match([changed.status, changed.body], [200, { city: null, owner: null, private: false, country: 'IN' }])
  t.match((await ask('PATCH', '/stations/A-1', { owner: ada })).body, { owner: ada })
  t.equal((await ask('DELETE', '/stations/A-1')).status, 204)
  for (const method of ['GET', 'DELETE', 'PATCH']) {
    const { status, body } = await ask(method, '/stations/A-1', method === 'PATCH' ? { city: null } : undefined)
    t.match([status, body], [404, { title: 'station unknown' }], method)
  }
  const { rows } = await pool.query("SELECT actor, action FROM audit WHERE subject = 'station A-1' ORDER BY id")
  t.strictSame(
    rows.map(({ actor, action }) => `${actor}: ${action}`),
    ['add', 'change', 'change', 'remove'].map(action => `local admin token: station.${action}`),
  )
})

t.test('a removal is asked for again where the erase of its points has failed', async t => {
  await ask('POST', '/stations', { sn: 'A-2', model: 'M1' })
  t.equal((await ask('DELETE', '/stations/A-2')).status, 204)
  t.equal((await ask('DELETE', '/stations/A-2')).status, 404)
  await pool.query("UPDATE erase_jobs SET state = 'failed' WHERE name = 'A-2'")
  t.equal((await ask('DELETE', '/stations/A-2')).status, 204)
  t.match((await ask('GET', '/stations/A-2/erase')).body, { state: /waiting|running/, error: null })
  t.equal((await ask('DELETE', '/stations/A-2')).status, 404)
})

t.test('what is wrong is told with its place', async t => {
  await ask('POST', '/stations', { sn: 'B-1', model: 'M1' })
  const wrong: [string, string, object, number, string][] = [
    ['POST', '', { sn: 'B-1', model: 'M1' }, 409, 'sn'],
    ['POST', '', { sn: 'B-2', model: 'M1', owner: 'nobody@example.com' }, 422, 'owner'],
    ['POST', '', { sn: 'B-2', model: 'M1', owner: 999_999 }, 422, 'owner'],
    ['POST', '', { sn: 'B-2' }, 422, 'model'],
    ['POST', '', { sn: 'B-2', model: 'M1', colour: 'red' }, 422, ''],
    ['PATCH', '/B-1', {}, 422, ''],
    ['PATCH', '/B-1', { sn: 'B-2' }, 422, ''],
    ['PATCH', '/B-1', { owner: 999_999 }, 422, 'owner'],
    ['PATCH', '/B-1', { latitude: 91 }, 422, 'latitude'],
  ]
  for (const [method, path, body, status, place] of wrong) {
    const answer = await ask(method, `/stations${path}`, body)
    t.match([answer.status, answer.body], [status, { errors: [{ path: place }] }], JSON.stringify(body))
  }
  t.equal((await ask('GET', '/stations/B-2')).status, 404)
  t.equal((await ask('GET', '/stations?page=0')).status, 400)
  t.equal((await ask('PUT', '/stations/B-1', {})).status, 405)
})

t.test('the list is searched and comes in pages', async t => {
  await pool.query(
    `INSERT INTO stations (sn, model, city, timezone, private, created_at, updated_at)
     SELECT 'P-' || n, 'M9', CASE WHEN n = 7 THEN 'Île (Nord)' END, 'UTC', true, now(), now()
     FROM generate_series(1, 150) AS n`,
  )
  // Makes memory read them.
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

t.test('the operator alone removes a station, with the local admin token as his hand', async t => {
  await ask('POST', '/stations', { sn: 'KEPT-1', model: 'M1', owner: ada })
  const known = async (role: string) => {
    const id = await people.person(`${role}-of-stations@example.com`)
    await people.set(id, { role })
    const { cookie } = await people.cookieOf(id)
    const body = { name: 'k', scopes: ['admin', 'stations'] }
    const { key } = (await people.ask('POST', '/api-keys', { body, headers: { cookie } })).body
    return [{ cookie }, { 'x-api-key': String(key) }] as Record<string, string>[]
  }
  const send = (method: 'DELETE' | 'PATCH', headers: Record<string, string>) =>
    app.inject({
      method,
      url: '/api/admin/stations/KEPT-1',
      headers,
      ...(method === 'PATCH' ? { payload: { city: 'Delhi' } } : {}),
    })
  for (const headers of await known('administrator')) {
    const refused = await send('DELETE', headers)
    t.match([refused.statusCode, refused.json()], [403, { title: 'operator only', detail: /only the operator/ }])
    t.equal((await send('PATCH', headers)).statusCode, 200, 'changes are his')
  }
  const { id } = operator
  await people.set(id, { role: 'user' })
  for (const headers of await known('operator')) {
    t.equal((await send('DELETE', headers)).statusCode, 204)
    await ask('POST', '/stations', { sn: 'KEPT-1', model: 'M1' })
  }
})

async function tries(): Promise<number> {
  const { rows } = await pool.query("SELECT nextval('audit_tries')::int - 1 AS tries, setval('audit_tries', 1, false)")
  return rows[0].tries
}

const later = { status: 503, headers: { 'retry-after': /^\d+$/ } }

t.test('where PostgreSQL rolls a change back each time that it is tried, the answer says try again', async t => {
  for (const code of ['40001', '40P01']) {
    await rollBackChanges(pool, code)
    await tries()
    t.match(await ask('POST', '/devices', [{ name: 'conflicting' }]), {
      ...later,
      body: { title: 'database unavailable' },
    })
    t.equal(await tries(), 3)
    const tenant = { slug: 'conflicting', name: 'C' }
    t.match(await ask('POST', '/tenants', tenant), { ...later, body: { title: 'database unavailable' } })
    const account = { email: 'conflicting@example.com', password: goodPassword }
    t.match(await people.ask('POST', '/register', { body: account }), {
      ...later,
      body: { detail: 'Service Unavailable' },
    })
  }
  t.equal(devices.get('conflicting'), undefined)
  await pool.query('DROP TRIGGER roll_back ON audit')
  t.match(await ask('POST', '/devices', [{ name: 'conflicting' }]), { status: 201 })
})
