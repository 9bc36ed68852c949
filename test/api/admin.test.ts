/** The admin API: whole answers of its routes. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { DeadLetterPage } from '../../api/admin/dead-letter-answers.ts'
import { checkAdditions } from '../../api/admin/device-additions.ts'
import type { DeviceDetails } from '../../auth/devices/device.ts'
import { NewDevice } from '../../auth/devices/device.ts'
import { nameOf, writeDeadLetter } from '../../ingest/forwarder/dead-letters.ts'
import { openDisk } from '../../ingest/journal/disk.ts'
import { encodePoints, points } from '../../ingest/points-table.ts'
import { readingLength, readings, writeReading } from '../../ingest/readings-table.ts'
import { packageVersion } from '../../store/version.ts'
import { adminToken } from '../support/accounts.ts'
import { startAdmin } from '../support/admin.ts'

const { app, devices, metrics, ingest, pointsIngest, journal, pointsJournal, store, people, ask } = await startAdmin(t)
const password = /^[0-9a-f]{64}$/
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const problem = (status: number, title: string, more: object = {}) => ({
  status,
  headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  body: { type: `urn:barograph:problem:${title.replaceAll(' ', '-')}`, title, status, ...more },
})

t.test('nobody comes in without the token, whatever the path and the method', async t => {
  for (const authorization of [
    undefined,
    '',
    'Bearer',
    'Bearer x',
    `Basic ${adminToken}`,
    adminToken,
    `Bearer ${adminToken}a`,
  ]) {
    for (const [method, url] of [
      ['GET', '/api/admin/devices'],
      ['POST', '/api/admin/devices'],
      ['PUT', '/api/admin/devices'],
      ['GET', '/api/admin/nothing'],
      ['POST', '/api/admin/import'],
    ] as const) {
      const headers = authorization === undefined ? {} : { authorization }
      const response = await app.inject({ method, url, headers })
      t.match(
        response,
        { statusCode: 401, headers: { 'www-authenticate': 'Bearer realm="admin"' } },
        `${method} ${url}`,
      )
      t.match(response.json(), problem(401, 'unauthorized').body)
    }
  }
  t.match(await app.inject({ url: '/api/admin/devices', headers: { authorization: `bEARER  ${adminToken}` } }), {
    statusCode: 200,
  })
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
  await allowed('DELETE', '/devices', 'GET, HEAD, POST')
  await allowed('POST', '/devices/a', 'GET, HEAD, PATCH, DELETE')
  await allowed('GET', '/devices/a/rotate', 'POST')
  await allowed('DELETE', '/devices/a/erase', 'GET, HEAD, POST')
  await allowed('QUERY', '/devices', 'GET, HEAD, POST')
  await allowed('POST', '/dead-letters', 'GET, HEAD')
  await allowed('GET', '/dead-letters/replay', 'POST')
  await allowed('POST', '/status', 'GET, HEAD')
  await allowed('GET', '/import', 'POST')
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
  for (const name of ['Küche Nord', 'q?x=1&y', '100%', '温室', '🌡'.repeat(64), 'x'.repeat(64), '%2F', 'a;b', '...']) {
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

t.test('a decomposed name in the path or the body is the composed one', async t => {
  t.match(await ask('POST', '/devices', { name: 'Ku\u0308che' }), { status: 201, body: { device: 'Küche' } })
  t.match(await ask('GET', `/devices/${encodeURIComponent('Ku\u0308che')}`), { status: 200, body: { name: 'Küche' } })
  t.match(await ask('POST', '/devices', { name: 'Küche' }), problem(409, 'name taken'))
  await ask('DELETE', '/devices/K%C3%BCche')
})

t.test('what is wrong with a device is told field by field', async t => {
  const told = async (body: unknown, errors: object[]) =>
    t.match(await ask('POST', '/devices', body), problem(422, 'invalid body', { errors }), JSON.stringify(body))
  await told({}, [{ path: 'name' }])
  await told({ name: '' }, [{ path: 'name', message: 'must not be empty' }])
  await told({ name: 'a:b' }, [{ path: 'name', message: 'must not contain ":", "/", "+" or "#"' }])
  await told({ name: 'a  b' }, [{ path: 'name', message: 'must not contain two spaces in a row' }])
  await told({ name: 'a', altitude_m: '3', battery: 1 }, [{ path: 'battery' }, { path: 'altitude_m' }])
  await told({ name: 'a', locaton_short: 'x' }, [{ path: '', message: /locaton_short/ }])
  await told({ name: 'a', expected_interval_seconds: 1.5 }, [{ path: 'expected_interval_seconds' }])
  await told({ name: 'a', altitude_m: 1e9 }, [{ path: 'altitude_m' }])
  await told({ name: 'a', latitude: 90.1, longitude: -180.1 }, [{ path: 'latitude' }, { path: 'longitude' }])
  await told({ name: 'a', latitude: 52.5 }, [{ path: 'longitude', message: 'must be given with the other coordinate' }])
  await told({ name: 'a', latitude: null, longitude: 13.4 }, [{ path: 'latitude' }])
  const limits = (quality_limits: object, path: string) => told({ name: 'a', quality_limits }, [{ path }])
  await limits({ pressure: { min: 900, max: 800 } }, 'quality_limits.pressure.min')
  await limits({ temperature: { spike: -1 } }, 'quality_limits.temperature.spike')
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
  t.equal(devices.size(), 0)
  await ask('POST', '/devices', { name: 'kitchen' })
  const refused = async (body: unknown, errors: object[]) =>
    t.match(await ask('PATCH', '/devices/kitchen', body), problem(422, 'invalid body', { errors }))
  await refused({}, [{ path: '', message: 'must name at least one field to change' }])
  await refused({ logswitch: true }, [{ path: '', message: /logswitch/ }])
  await refused({ password: 'x' }, [{ path: '', message: /password/ }])
  await refused([{ battery: true }], [{ path: '' }])
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
  t.equal(devices.size(), 250)
  const page = async (query: string) => {
    const { status, body } = await ask('GET', `/devices${query}`)
    const { devices: found, ...rest } = body as { devices: { name: string }[] }
    return { status, count: found.length, first: found[0]?.name, ...rest }
  }
  t.strictSame(await page(''), { status: 200, count: 100, first: 'sensor 000', total: 250, page: 1, next: 2 })
  t.strictSame(await page('?page=3'), { status: 200, count: 50, first: 'sensor 200', total: 250, page: 3, next: null })
  t.strictSame(await page('?page=4'), { status: 200, count: 0, first: undefined, total: 250, page: 4, next: null })
  t.strictSame(await page('?search=R%2001'), {
    status: 200,
    count: 10,
    first: 'sensor 010',
    total: 10,
    page: 1,
    next: null,
  })
  t.strictSame(await page('?search=HALL&page=2'), {
    status: 200,
    count: 100,
    first: 'sensor 100',
    total: 250,
    page: 2,
    next: 3,
  })
  const refused = async (query: string, path: string) =>
    t.match(await ask('GET', `/devices?${query}`), problem(400, 'invalid query', { errors: [{ path }] }), query)
  for (const number of ['0', 'x', '', '1e3', '-1', '1&page=2']) await refused(`page=${number}`, 'page')
  await refused(`search=${'x'.repeat(300)}`, 'search')
  await refused('pge=2', '')
  await Promise.all(names.map(name => ask('DELETE', `/devices/${encodeURIComponent(name)}`)))
  t.equal(devices.size(), 0)
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
  const { body } = await ask('POST', '/devices', { name: 'kitchen' })
  const first = (body as { password: string }).password
  const rotated = await ask('POST', '/devices/kitchen/rotate')
  t.match(rotated, { status: 200, body: { device: 'kitchen', password, old_password_until: time } })
  t.match(await ask('GET', '/devices/kitchen'), { body: { credential: 'rotating', old_password_until: time } })
  const second = (rotated.body as { password: string }).password
  t.ok(devices.authenticate('kitchen', first) && devices.authenticate('kitchen', second))
  const atOnce = await ask('POST', '/devices/kitchen/rotate?now=1')
  t.match(atOnce, { status: 200, body: { device: 'kitchen', password, old_password_until: null } })
  t.notOk(devices.authenticate('kitchen', first) ?? devices.authenticate('kitchen', second))
  t.match(
    await ask('POST', '/devices/kitchen/rotate?now=yes'),
    problem(400, 'invalid query', { errors: [{ path: 'now' }] }),
  )
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
  t.match(await ask('HEAD', '/status'), { status: 200, body: undefined })
})

t.test('days that wait are confirmed, with a row of the audit', async t => {
  const confirm = (body: unknown) => ask('POST', '/retention/confirm', body)
  t.match(await confirm({ before: '2026-01-15' }), { status: 200, body: { before: '2026-01-15' } })
  t.match(await confirm({ before: '2026-01-16' }), problem(409, 'no waiting days'))
  for (const body of [{}, { before: '2026-02-30' }, { before: 5 }, { before: '2026-01-15', all: true }]) {
    t.match(await confirm(body), problem(422, 'invalid body'), JSON.stringify(body))
  }
  t.match(await ask('GET', '/audit'), { body: { entries: [{ action: 'retention.confirm', subject: '2026-01-15' }] } })
})

t.test('dead letters are shown page by page and sent again', async t => {
  const timeUs = Date.UTC(2026, 0, 1) * 1000
  const disk = openDisk(journal)
  for (let id = 1; id <= 150; id++) {
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
  t.equal(second.dead_letters.length, 50)
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
  t.strictSame((await ask('POST', '/dead-letters/replay')).body, { replayed: 148, damaged: 0 })
  t.equal(ingest.status().journal.records - before, 150, 'they are in the journal')
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

t.test('every change leaves a row that says who', async t => {
  await store.postgres.query('TRUNCATE audit')
  await ask('POST', '/devices', { name: 'kitchen' })
  await ask('PATCH', '/devices/kitchen', { battery: true })
  await ask('POST', '/devices/kitchen/rotate?now=1')
  await ask('POST', '/devices/kitchen/erase')
  await ask('POST', '/dead-letters/replay')
  const { rows } = await store.postgres.query('SELECT actor, action, subject FROM audit ORDER BY id')
  t.strictSame(
    rows.map(({ actor, action, subject }) => [actor, action, subject]),
    [
      ['local admin token', 'device.add', 'kitchen'],
      ['local admin token', 'device.change', 'kitchen'],
      ['local admin token', 'device.rotate', 'kitchen'],
      ['local admin token', 'device.erase', 'kitchen'],
      ['local admin token', 'device.remove', 'kitchen'],
      ['local admin token', 'dead-letters.replay', ''],
    ],
  )
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
  t.match(await ask('PATCH', '/devices/old-one', { expected_interval_seconds: null }), {
    status: 200,
    body: { expected_interval_seconds: null },
  })
  const both = { expected_interval_s: 1, expected_interval_seconds: 2 }
  t.match(await ask('PATCH', '/devices/old-one', both), {
    status: 422,
    body: { errors: [{ message: /expected_interval_s/ }] },
  })
  t.equal(await interval('old-one'), null)
})
