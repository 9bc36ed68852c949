/** The latest readings and the local day of one device, asked of a real QuestDB. */

import t from 'tap'
import type { Answer } from '../../query/cache/body.ts'
import { DayReadings } from '../../query/day.ts'
import { LatestReadings } from '../../query/latest.ts'
import { validated } from '../support/answer-shapes.ts'
import { openGate } from '../support/pg-gate.ts'
import { startQuestdb, type TestReading } from '../support/questdb.ts'
import { bodyIn, jsonIn, makeDevice, queryAt, stays } from './query-at.ts'

const questdb = await startQuestdb(t)
const { pg } = questdb.address

/** One gate serves all tests. Each test sets its clock. */
const gate = await openGate(t, pg)
const dayQuery = queryAt(t, gate.address, '2025-07-05T00:00:00Z')

function dayIn(answer: Answer): DayReadings {
  return validated(DayReadings, jsonIn(answer))
}

function readingsAt(symbol: string, times: readonly string[]): TestReading[] {
  return times.map((time, i) => ({ symbol, time, temperature: i, humidity: i + 10, pressure: i + 1000 }))
}

t.test('a day holds its readings as three series, from local midnight to local midnight', async t => {
  const device = makeDevice('plain')
  const inside = ['2025-07-01T22:00:00.000000Z', '2025-07-02T10:00:30.500000Z', '2025-07-02T21:59:59.999999Z']
  await questdb.write(
    readingsAt(device.symbol, ['2025-07-01T21:59:59.999999Z', ...inside, '2025-07-02T22:00:00.000000Z']),
  )
  await questdb.write(readingsAt(makeDevice('neighbour').symbol, inside))
  dayQuery.clock.time = '2025-07-05T00:00:00Z'
  const answer = await dayQuery.day(device, '2025-07-02', stays())
  const times = ['00:00', '12:00', '23:59']
  const points = (...values: number[]) => values.map((v, at) => ({ d: `2025-07-02 ${times[at]}`, v }))
  t.strictSame(dayIn(answer), {
    temperature: points(1, 2, 3),
    humidity: points(11, 12, 13),
    pressure: points(1001, 1002, 1003),
  })
  t.equal(Object.keys(dayIn(answer)).join(), 'temperature,humidity,pressure')
})

t.test('a date that is none is refused', async t => {
  dayQuery.clock.time = '2025-07-05T00:00:00Z'
  for (const date of ['2026-02-30', '2026-13-01', 'today', '2026-1-1', '']) {
    t.strictSame(dayQuery.day(makeDevice('any'), date, stays()), { ok: false, code: 'DATE_INVALID' }, date)
  }
})

t.test('a day in the future is empty and not asked for, one without data is empty too', async t => {
  const before = gate.statements()
  dayQuery.clock.time = '2025-07-05T21:54:00Z'
  const empty = { temperature: [], humidity: [], pressure: [] }
  const device = makeDevice('none')
  for (const date of ['2025-07-06', '2025-07-07', '9999-12-31', '1969-07-20', '0000-01-01']) {
    t.strictSame(dayIn(await dayQuery.day(device, date, stays())), empty, date)
  }
  t.equal(gate.statements() - before, 0)
  t.strictSame(dayIn(await dayQuery.day(device, '2025-07-01', stays())), empty)
  dayQuery.clock.advance(2 * 60_000)
  t.strictSame(
    dayIn(await dayQuery.day(device, '2025-07-06', stays())),
    empty,
    'a device’s clock may be ahead by so much',
  )
  t.equal(gate.statements() - before, 2)
})

t.test('a day is read again only after new readings of the device', async t => {
  const before = gate.statements()
  const device = makeDevice('fresh')
  dayQuery.clock.time = '2025-08-01T12:00:00Z'
  const ask = () => dayQuery.day(device, '2025-08-01', stays())
  const first = await ask()
  t.equal(bodyIn(await ask()), bodyIn(first))
  dayQuery.clock.advance(3_600_000)
  t.notOk(ask() instanceof Promise, 'it stays right however old it is')
  t.equal(gate.statements() - before, 1)
  await questdb.write(readingsAt(device.symbol, ['2025-08-01T11:00:00Z']))
  dayQuery.revisions.set(device.number, 1)
  t.match(dayIn(await ask()), { temperature: [{ d: '2025-08-01 13:00', v: 0 }] })
  t.equal(gate.statements() - before, 2)
})

t.test('today may be kept for some seconds, a day that is over for longer', async t => {
  const device = makeDevice('ages')
  dayQuery.clock.time = '2025-08-02T12:00:00Z'
  const age = async (date: string) => {
    const answer = await dayQuery.day(device, date, stays())
    return answer.ok ? answer.maxAgeSeconds : undefined
  }
  t.strictSame([await age('2025-08-02'), await age('2025-08-01')], [5, 60])
})

t.test('a day above the size limit is refused from the cache the second time', async t => {
  const before = gate.statements()
  const device = makeDevice('dense')
  const start = Date.parse('2025-08-04T10:00:00Z')
  const times = Array.from({ length: 200 }, (_, i) => new Date(start + i).toISOString())
  await questdb.write(readingsAt(device.symbol, times))
  for (const latestBytesMax of [2000, 10_000]) {
    const query = queryAt(t, gate.address, '2025-08-04T12:00:00Z', { limits: { latestBytesMax } })
    t.strictSame(await query.day(device, '2025-08-04', stays()), { ok: false, code: 'TOO_LARGE' })
    t.strictSame(query.day(device, '2025-08-04', stays()), { ok: false, code: 'TOO_LARGE' })
  }
  t.equal(gate.statements() - before, 2)
})

/** One query serves all tests without limits of their own. Each test sets its clock. */
const query = queryAt(t, pg, '2025-10-26T02:30:00Z')
const pointBytes = '{"d":"2026-01-01 00:00","v":1},'.length

async function latestJson(answer: Answer | Promise<Answer>): Promise<LatestReadings> {
  return validated(LatestReadings, jsonIn(await answer))
}

/** `count` readings of temperature and humidity 1, `stepSeconds` apart from `start` on. */
function series(symbol: string, start: string, stepSeconds: number, count: number): TestReading[] {
  return Array.from({ length: count }, (_, i) => {
    const time = new Date(Date.parse(start) + i * stepSeconds * 1000).toISOString()
    return { symbol, time, temperature: i, humidity: 1 }
  })
}

t.test('every active device is listed with its raw points of the last hours, in local time', async t => {
  const device = (name: string) => makeDevice(name, `${name} 1`)
  const [kitchen, attic, cellar, shed] = [device('Kitchen'), device('Attic'), device('Cellar'), device('Shed')]
  await questdb.write([
    { symbol: kitchen.symbol, time: '2025-10-26T00:29:59.999999Z', temperature: 9, humidity: 9 },
    { symbol: kitchen.symbol, time: '2025-10-26T00:30:00.000000Z', temperature: 20.5, humidity: 40 },
    { symbol: kitchen.symbol, time: '2025-10-26T01:30:00.000001Z', temperature: -0.1, humidity: 1e-7 },
    { symbol: kitchen.symbol, time: '2025-10-26T02:34:59.999999Z', temperature: 21, humidity: 42 },
    { symbol: kitchen.symbol, time: '2025-10-26T02:35:00.000000Z', temperature: 9, humidity: 9 },
    { symbol: attic.symbol, time: '2025-10-26T02:00:00.000000Z', temperature: 3 },
    { symbol: attic.symbol, time: '2025-10-26T02:01:00.000000Z', humidity: 55 },
    { symbol: attic.symbol, time: '2025-10-26T02:02:00.000000Z', pressure: 1000 },
    { symbol: shed.symbol, time: '2025-10-26T02:00:00.000000Z', temperature: 1, humidity: 1 },
  ])
  query.clock.time = '2025-10-26T02:30:00Z'
  const answer = await query.latestAll(2, () => [attic, cellar, kitchen])
  t.strictSame(await latestJson(answer), {
    cached_at: '2025-10-26 03:30',
    data: [
      {
        device: 'Attic',
        device_loc: 'Attic 1',
        humidity: [{ d: '2025-10-26 03:01', v: 55 }],
        temperature: [{ d: '2025-10-26 03:00', v: 3 }],
      },
      { device: 'Cellar', device_loc: 'Cellar 1', humidity: [], temperature: [] },
      {
        device: 'Kitchen',
        device_loc: 'Kitchen 1',
        humidity: [
          { d: '2025-10-26 02:30', v: 40 },
          { d: '2025-10-26 02:30', v: 1e-7 },
          { d: '2025-10-26 03:34', v: 42 },
        ],
        temperature: [
          { d: '2025-10-26 02:30', v: 20.5 },
          { d: '2025-10-26 02:30', v: -0.1 },
          { d: '2025-10-26 03:34', v: 21 },
        ],
      },
    ],
  })
  t.equal(Object.keys((await latestJson(answer)).data[0] ?? {}).join(), 'device,device_loc,humidity,temperature')
})

t.test('names and places are written as JSON, whatever is in them', async t => {
  const device = makeDevice('Küche "1" \\ 🌡 </script>', 'Über\u2028unten')
  query.clock.time = '2025-03-01T00:00:00Z'
  t.strictSame(await latestJson(query.latestAll(1, () => [device])), {
    cached_at: '2025-03-01 01:00',
    data: [{ device: device.name, device_loc: device.location_short, humidity: [], temperature: [] }],
  })
  t.strictSame(await latestJson(query.latestAll(72, () => [])), { cached_at: '2025-03-01 01:00', data: [] }, 'of none')
})

t.test('points stay raw while the body fits, else they are means over the finest buckets that fit', async t => {
  const device = makeDevice('thinned')
  await questdb.write(series(device.symbol, '2025-04-01T12:00:00Z', 30, 120))
  const ask = (latestBytesMax: number) => {
    const query = queryAt(t, pg, '2025-04-01T13:00:00Z', { limits: { latestBytesMax } })
    return query.latestAll(1, () => [device])
  }
  const raw = await ask(1_000_000)
  const rawBytes = bodyIn(raw).bytes.length
  t.notOk('bucket_seconds' in (jsonIn(raw) as object))
  t.same(bodyIn(await ask(rawBytes + 1)).bytes, bodyIn(raw).bytes, 'it fits with a byte to spare')

  const minutes = await latestJson(ask(rawBytes))
  t.equal(minutes.bucket_seconds, 60, 'it does not when the limit is its own length')
  t.strictSame(Object.keys(minutes), ['cached_at', 'bucket_seconds', 'data'])
  t.equal(minutes.data[0]?.temperature.length, 60)

  const five = await latestJson(ask(60 * pointBytes))
  const expected = Array.from({ length: 12 }, (_, i) => {
    return { d: `2025-04-01 14:${String(i * 5).padStart(2, '0')}`, v: i * 10 + 4.5 }
  })
  t.strictSame(five.data[0]?.temperature, expected)
  t.strictSame([five.bucket_seconds, five.cached_at], [300, '2025-04-01 15:00'])

  const quarter = await latestJson(ask(12 * 2 * pointBytes))
  t.strictSame([quarter.bucket_seconds, quarter.data[0]?.humidity.length], [900, 4])
})

t.test('a bucket that the range cuts is named by its own start, in local time', async t => {
  const device = makeDevice('cut')
  await questdb.write(series(device.symbol, '2025-04-02T00:00:00Z', 10, 6000))
  const limits = { latestBytesMax: 1500 }
  const query = queryAt(t, pg, '2025-04-02T16:30:00Z', { limits })
  const { bucket_seconds, data } = await latestJson(query.latestAll(16, () => [device]))
  t.equal(bucket_seconds, 3600)
  t.strictSame(data[0]?.humidity.slice(0, 2), [
    { d: '2025-04-02 02:00', v: 1 },
    { d: '2025-04-02 03:00', v: 1 },
  ])
  t.equal(data[0]?.temperature[0]?.v, (180 + 359) / 2, 'of the first hour only the half within the range counts')
})

t.test('a bucket without values is absent, as missing values do not count', async t => {
  const device = makeDevice('gaps')
  const at = (second: number) => new Date(Date.parse('2025-04-03T12:00:00Z') + second * 1000).toISOString()
  const warm = Array.from({ length: 30 }, (_, i) => ({ symbol: device.symbol, time: at(i), temperature: i % 2 }))
  const dry = Array.from({ length: 30 }, (_, i) => ({ symbol: device.symbol, time: at(90 + i), humidity: 7 }))
  await questdb.write([...warm, ...dry])
  const query = queryAt(t, pg, '2025-04-03T12:30:00Z', { limits: { latestBytesMax: 1000 } })
  const { data, bucket_seconds } = await latestJson(query.latestAll(1, () => [device]))
  t.equal(bucket_seconds, 60)
  t.strictSame(data[0]?.temperature, [{ d: '2025-04-03 14:00', v: 0.5 }])
  t.strictSame(data[0]?.humidity, [{ d: '2025-04-03 14:01', v: 7 }])
})

t.test('a range is too large if a point a day does not fit', async t => {
  const devices = Array.from({ length: 10 }, (_, i) => makeDevice(`wide-${i}`))
  await questdb.write(devices.flatMap(device => series(device.symbol, '2025-04-04T12:00:00Z', 60, 5)))
  const query = queryAt(t, pg, '2025-04-04T13:00:00Z', { limits: { latestBytesMax: 1000 } })
  t.strictSame(await query.latestAll(1, () => devices), { ok: false, code: 'TOO_LARGE' })
  const again = query.latestAll(1, () => devices)
  t.strictSame(again, { ok: false, code: 'TOO_LARGE' }, 'which is remembered')
  t.ok((await query.latestOf(1, devices.slice(0, 1), stays())).ok)
  const frames = queryAt(t, pg, '2025-04-04T13:00:00Z', { limits: { latestBytesMax: 100 } })
  t.strictSame(await frames.latestAll(1, () => devices), { ok: false, code: 'TOO_LARGE' }, 'the names alone do not fit')
})

t.test('the limit counts only readings of the device with a temperature or humidity', async t => {
  const listed = makeDevice('listed')
  const other = makeDevice('other')
  const pressures = series(listed.symbol, '2025-04-05T12:20:00Z', 1, 500).map(({ symbol, time }) => {
    return { symbol, time, pressure: 1 }
  })
  await questdb.write([
    ...series(listed.symbol, '2025-04-05T12:00:00Z', 60, 10),
    ...pressures,
    ...series(other.symbol, '2025-04-05T12:00:00Z', 1, 3000),
  ])
  const query = queryAt(t, pg, '2025-04-05T13:00:00Z', { limits: { latestBytesMax: 30 * pointBytes } })
  const answer = await latestJson(query.latestAll(1, () => [listed]))
  t.equal(answer.bucket_seconds, undefined)
  t.equal(answer.data[0]?.temperature.length, 10)
})

t.test('points are fetched only when they might fit', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('counted')
  await questdb.write(series(device.symbol, '2025-04-06T12:00:00Z', 1, 3000))
  const query = queryAt(t, gate.address, '2025-04-06T13:00:00Z', { limits: { latestBytesMax: 30 * pointBytes } })
  const { bucket_seconds } = await latestJson(query.latestAll(1, () => [device]))
  t.equal(bucket_seconds, 300)
  t.equal(gate.statements(), 4, 'counted raw, by one minute and by five, and fetched once')
})

const statementsPerBuild = 2

t.test('a body is built at most once a minute for each number of hours', async t => {
  const gate = await openGate(t, pg)
  const device = makeDevice('minute')
  const query = queryAt(t, gate.address, '2025-05-02T12:00:00Z')
  const first = await query.latestAll(24, () => [device])
  t.match(first, { maxAgeSeconds: 60 })
  query.clock.advance(59_500)
  const last = await query.latestAll(24, () => [device])
  t.equal(bodyIn(last), bodyIn(first))
  t.match(last, { maxAgeSeconds: 0 }, 'clients may keep it for whole seconds that are left')
  t.equal(gate.statements(), statementsPerBuild)
  await query.latestAll(23, () => [device])
  await query.latestOf(24, [device], stays())
  t.equal(gate.statements(), 3 * statementsPerBuild, 'other hours and other devices are bodies of their own')
})

t.test('a body has its devices only, for any number of devices', async t => {
  const gate = await openGate(t, pg)
  const query = queryAt(t, gate.address, '2025-05-02T18:00:00Z')
  const devices = Array.from({ length: 510 }, (_, index) => makeDevice(`many-${index}`))
  const time = '2025-05-02T17:00:00.000000Z'
  await questdb.write(devices.map(({ symbol }, index) => ({ symbol, time, temperature: index, humidity: 1 })))
  const listed = async (of: readonly (typeof devices)[number][]) => {
    const { data } = await latestJson(query.latestOf(2, of, stays()))
    return data.map(({ device, temperature }) => [device, temperature.length])
  }
  const expected = (of: typeof devices) => of.map(({ name }) => [name, 1])
  const [all, few] = [devices.slice(0, 505), devices.slice(3, 5)]
  t.strictSame(await listed(all), expected(all), 'more than can be named one by one')
  t.strictSame(await listed(few), expected(few))
  t.strictSame(await listed([]), [])
  const { length: statements } = Array.from({ length: gate.statements() })
  t.strictSame([await listed([...all]), await listed([...few])], [expected(all), expected(few)])
  t.equal(gate.statements(), statements, 'from the cache')
})

t.test('no answer that was built with a device that is removed is served', async t => {
  const [stays, removed] = [makeDevice('stays'), makeDevice('removed')]
  const query = queryAt(t, pg, '2025-05-07T12:00:00Z')
  let devices = [stays, removed]
  const ask = (hours: number) => query.latestAll(hours, () => devices)
  const names = async (answer: ReturnType<typeof ask>) => (await latestJson(answer)).data.map(({ device }) => device)
  t.strictSame(await names(ask(1)), [stays.name, removed.name])
  const building = ask(2)
  devices = [stays]
  query.deviceRemoved()
  t.strictSame(await names(ask(1)), [stays.name], 'cached')
  await building
  t.strictSame(await names(ask(2)), [stays.name], 'built meanwhile')
})
