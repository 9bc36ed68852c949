/** Data points come in by `POST /device/{sn}/data/`, and out again by the other calls. */

import t from 'tap'
import type { Station } from '../../../auth/stations/station.ts'
import { startAirQuality } from '../../support/air-quality.ts'
import { until } from '../../support/processes.ts'
import { startQuestdb } from '../../support/questdb.ts'

const { address } = await startQuestdb(t)
const { ask, person, keyOf, addStation, people, pointsIngest } = await startAirQuality(t, 60, { questdb: address })
pointsIngest.startForwarding(address.http, true)
people.clock.ms = Date.parse('2026-05-30T02:20:00Z')

const ownerId = await person('owner@example.com')
const everybody = {
  anonymous: undefined,
  user: await keyOf(await person('user@example.com')),
  reader: await keyOf(ownerId, ['read', 'stations']),
  owner: await keyOf(ownerId),
  administrator: await keyOf(await person('administrator@example.com', 'administrator')),
  operator: await keyOf(await person('operator@example.com', 'operator')),
}
const key = everybody.owner

const point = { parameter: 'pm25', unit: 'ugm3', timestamp: '2026-05-30T02:00:00', value: 12.5 }

async function stationOf(sn: string): Promise<Station> {
  const station = await people.stations.find(sn)
  if (station === undefined) throw new Error('no such station')
  return station
}

const untilApplied = () => until('the points are visible', () => pointsIngest.status().lag.rows === 0)

async function pointsOf(sn: string): Promise<Record<string, unknown>[]> {
  await untilApplied()
  return (await ask('GET', `/device/${sn}/data/`, { key })).body['data'] as Record<string, unknown>[]
}

t.test('who may add points', async t => {
  const statuses = { anonymous: 401, user: 403, reader: 403, owner: 201, administrator: 201, operator: 201 }
  for (const isPrivate of [false, true]) {
    await addStation(`who-${isPrivate}`, { private: isPrivate }, ownerId)
    for (const [name, key] of Object.entries(everybody)) {
      const { status } = await ask('POST', `/device/who-${isPrivate}/data/`, { key, body: point })
      t.equal(status, statuses[name as keyof typeof statuses], `private ${isPrivate}: ${name}`)
    }
  }
  t.equal((await ask('POST', '/device/nowhere/data/', { key, body: point })).status, 404)
  const redirected = await ask('POST', '/device/who-true/data', { key, body: point })
  t.match(redirected, { status: 308, headers: { location: '/api/v1.0/device/who-true/data/' } })
  t.equal((await ask('OPTIONS', '/device/who-true/data/', { key })).headers['allow'], 'GET, HEAD, POST, OPTIONS')
})

t.test('a point sent again replaces the old one and keeps its id', async t => {
  await addStation('again', {}, ownerId)
  const add = async (value: number, more = {}) => {
    const { status, body } = await ask('POST', '/devices/again/data/', { key, body: { ...point, value, ...more } })
    t.strictSame({ status, body }, { status: 201, body: { stored: 1, rejected: 0, errors: [] } })
  }
  await add(1)
  const [first] = await pointsOf('again')
  t.match(first, { ...point, value: undefined, value_1min: 1, last_updated: '2026-05-30T02:20:00' })
  people.clock.ms += 60_000
  // As it was read, in another zone and with another unit.
  await add(2, { ...first, unit: 'ppb', timestamp: '2026-05-30 07:30+05:30' })
  const points = await pointsOf('again')
  t.equal(points.length, 1)
  t.match(points[0], { id: first?.['id'], value_1min: 2, unit: 'ppb', last_updated: '2026-05-30T02:21:00' })
  t.match((await ask('GET', '/device/again', { key })).body, { last_updated: '2026-05-30T02:21:00+00:00' })
})

t.test('of an array the good elements are stored; of two with one key the later one', async t => {
  await addStation('array', {}, ownerId)
  const body = [
    { ...point, value: 1 },
    { ...point, value: '1' },
    { ...point, parameter: 'no2', value: 2 },
    null,
    { ...point, value: 3 },
    { ...point, unit: 'furlong', timestamp: 'now' },
    { ...point, parameter: 'noise' },
    { ...point, sn: 'other' },
  ]
  const answer = await ask('POST', '/device/array/data/', { key, body })
  t.equal(answer.status, 201)
  t.strictSame(answer.body, {
    stored: 3,
    rejected: 5,
    errors: [
      { index: 1, message: 'value: must be a number' },
      { index: 3, message: 'a data point must be an object' },
      {
        index: 5,
        message: 'timestamp: must be an ISO 8601 time, as 2026-01-31T12:00:00; unit: must be one of ppb, ppm, ugm3',
      },
      { index: 6, message: 'parameter: must be one of so2, o3, no2, no, co, pm1, pm25, pm10' },
      { index: 7, message: 'sn: must be array, as in the path' },
    ],
  })
  const points = await pointsOf('array')
  const valuesOf = (name: string) => points.filter(({ parameter }) => parameter === name).map(p => p['value_1min'])
  t.strictSame([points.length, valuesOf('no2'), valuesOf('pm25')], [2, [2], [3]])
  const allBad = await ask('POST', '/device/array/data/', { key, body: [{}] })
  t.match(allBad, { status: 201, body: { stored: 0, rejected: 1 } })
})

t.test('codes that stand for no value are rejected, and the running means never see them', async t => {
  await addStation('coded', {}, ownerId)
  const minute = (at: number, value: number) => ({
    ...point,
    timestamp: `2026-05-30T02:${String(at).padStart(2, '0')}:00`,
    value,
  })
  const codes = [-999, -9999, 65_535, 1e9]
  const body = Array.from({ length: 15 }, (_, at) => minute(at, 12)).concat(
    codes.map((code, at) => minute(at + 2, code)),
  )
  const { body: answer } = await ask('POST', '/device/coded/data/', { key, body })
  t.match(answer, {
    stored: 15,
    rejected: 4,
    errors: codes.map((_, at) => ({ index: 15 + at, message: /^value: must be from / })),
  })
  t.match((await pointsOf('coded')).at(-1), { value_15min: 12 })
  const one = await ask('POST', '/device/coded/data/', { key, body: minute(20, -999) })
  t.match(one, { status: 400, body: { id: 'bad_request', message: /^value: must be from / } })
})

t.test('bad requests', async t => {
  await addStation('bad', {}, ownerId)
  const bad: [body: unknown, message: string | RegExp][] = [
    [[], 'an array must hold 1 to 10000 data points'],
    [Array(10_001).fill(point), 'an array must hold 1 to 10000 data points'],
    [7, 'a data point must be an object'],
    ['{"value":', /JSON/i],
    [{}, 'timestamp: is required; parameter: is required; unit: is required; value: is required'],
    [{ ...point, value: null }, 'value: must be a number'],
    [{ ...point, timestamp: 0 }, /^timestamp: must be an ISO 8601 time/],
    [{ ...point, timestamp: '2026-02-30' }, /^timestamp: must be an ISO 8601 time/],
    [{ ...point, timestamp: '1999-12-31T23:59:59' }, 'timestamp: must not be before 2000-01-01'],
    [{ ...point, timestamp: '2026-05-30T02:00:00.5' }, 'timestamp: must be a whole second'],
    [{ ...point, timestamp: '2026-05-30T02:00:00.000001' }, 'timestamp: must be a whole second'],
    [{ ...point, timestamp: '2026-05-31' }, 'timestamp: must not be in the future'],
  ]
  for (const [body, message] of bad) {
    const answer = await ask('POST', '/device/bad/data/', { key, body })
    t.match(answer, { status: 400, body: { id: 'bad_request', message } })
  }
  const tooLarge = await ask('POST', '/device/bad/data/', { key, body: `"${'x'.repeat(4_000_001)}"` })
  t.match(tooLarge, { status: 413, body: { id: 'too_large' } })
  t.strictSame(await pointsOf('bad'), [])
})

t.test('10,000 points in a request; those of a device that was dropped are gone', async t => {
  await addStation('many', {}, ownerId)
  const startMs = Date.parse('2026-05-01T00:00:00Z')
  const body = Array.from({ length: 10_000 }, (_, minute) => ({
    parameter: 'o3',
    unit: 'ppb',
    value: minute,
    timestamp: new Date(startMs + minute * 60_000).toISOString(),
  }))
  const total = async () => {
    await untilApplied()
    const { meta } = (await ask('GET', '/device/many/data/?per_page=1', { key })).body as { meta: { total: number } }
    return meta.total
  }
  t.match((await ask('POST', '/device/many/data/', { key, body })).body, { stored: 10_000, rejected: 0 })
  t.equal(await total(), 10_000)
  t.equal((await ask('DELETE', '/device/many', { key: everybody.operator })).status, 202)
  t.equal((await ask('POST', '/device/many/data/', { key, body: point })).status, 404)
  await addStation('many', {}, ownerId)
  t.equal(await total(), 0)
})

t.test('nothing is stored by a key, or of a station, that goes while a body comes in', async t => {
  const { id } = await addStation('going', {}, ownerId)
  const { keys, stations } = people
  const { find } = keys
  t.teardown(() => {
    keys.find = find
  })
  const second = (then: () => Promise<unknown>) => {
    let calls = 0
    keys.find = async text => {
      if (++calls === 2) await then()
      return await find(text)
    }
  }
  const ending = await keyOf(ownerId)
  const { keyId = 0 } = (await find(ending)) ?? {}
  second(() => keys.revokeAny(keyId, 'test'))
  const revoked = await ask('POST', '/device/going/data/', { key: ending, body: [point] })
  t.match(revoked, { status: 401, body: { id: 'unauthorized' } })
  second(() => stations.change(id, { owner: null }, 'test'))
  t.match(await ask('POST', '/device/going/data/', { key, body: point }), { status: 403, body: { id: 'forbidden' } })
  second(async () => {
    await stations.remove(await stationOf('going'), 'test')
    await addStation('going', {}, ownerId)
  })
  const anybodys = everybody.administrator
  t.match(await ask('POST', '/device/going/data/', { key: anybodys, body: point }), { status: 404 })
  keys.find = find
  t.strictSame(await pointsOf('going'), [])
})

t.test('a large body is read on no thread that serves anybody else, and one too many is a 503', async t => {
  await addStation('elsewhere', {}, ownerId)
  const parse = JSON.parse
  let charactersMax = 0
  JSON.parse = (text: string, ...more) => {
    charactersMax = Math.max(charactersMax, text.length)
    return parse(text, ...more)
  }
  t.teardown(() => {
    JSON.parse = parse
  })
  const path = '/device/elsewhere/data/'
  const body = Array.from({ length: 1000 }, (_, index) => ({ ...point, value: index % 2 === 0 ? index : 'none' }))
  const { status, text } = await ask('POST', path, { key, body })
  const { errors, ...counts } = parse(text) as { errors: { index: number }[] }
  t.strictSame([status, counts, errors.length, errors[1]?.index], [201, { stored: 500, rejected: 500 }, 500, 3])
  const nonsense = { status: 400, body: { id: 'bad_request', message: /json/i } }
  t.match(await ask('POST', path, { key, body: '['.repeat(100_000) }), nonsense)
  t.match(await ask('POST', path, { key, body: `[${'{},'.repeat(200_000)}{}]` }), {
    status: 400,
    body: { message: 'an array must hold 1 to 10000 data points' },
  })
  const large = () => ask('POST', path, { key, body: `[${' '.repeat(3_000_000)}]` })
  const answers = await Promise.all(Array.from({ length: 70 }, large))
  t.strictSame(new Set(answers.map(answer => answer.status)), new Set([400, 503]))
  t.match(
    answers.find(answer => answer.status === 503),
    { headers: { 'retry-after': '5' }, body: { id: 'unavailable', message: 'too many data points at once' } },
  )
  // Of answers the test itself reads larger ones.
  t.ok(charactersMax < 100_000, `${charactersMax} characters were parsed here`)
})

t.test('a journal that takes nothing more is a 503', async t => {
  await addStation('closing', {}, ownerId)
  await pointsIngest.close()
  const answer = await ask('POST', '/device/closing/data/', { key, body: [point] })
  t.match(answer, { status: 503, headers: { 'retry-after': '5' }, body: { id: 'unavailable' } })
})
