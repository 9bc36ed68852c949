/** The data points of the air-quality API, to the letter of the interface. */

import fc from 'fast-check'
import t from 'tap'
import type { Station } from '../../../auth/stations/station.ts'
import { operators } from '../../../query/conditions/condition.ts'
import { pointColumnTypes } from '../../../query/points/point-columns.ts'
import { base, startAirQuality } from '../../support/air-quality.ts'
import { startPointsQuestdb, type TestPoint } from '../../support/questdb-points.ts'

const { address, write } = await startPointsQuestdb(t)
const { ask, person, keyOf, addStation } = await startAirQuality(t, 60, { questdb: address })
const key = await keyOf(await person('user@example.com'))
const ownerId = await person('owner@example.com')
const owner = await keyOf(ownerId)
const administrator = await keyOf(await person('administrator@example.com', 'administrator'))

const minuteUs = 60_000_000
const startUs = Date.parse('2016-05-30T02:20:00Z') * 1000

function numberOf({ series }: Station, parameter: 'pm25' | 'no2'): number {
  const number = series.get(parameter)
  if (number === undefined) throw new Error('a station has every parameter')
  return number
}

function pointsOf(station: Station, minutes: number): TestPoint[] {
  return Array.from({ length: minutes }, (_, minute) => minute).flatMap(minute => {
    const timeUs = startUs + minute * minuteUs
    const shared = { timeUs, storedUs: timeUs + 1_500_000 }
    return [
      { ...shared, series: numberOf(station, 'pm25'), value: minute, unit: 'ugm3' },
      { ...shared, series: numberOf(station, 'no2'), value: 0.5, unit: 'ppb' },
    ]
  })
}

interface DataPoint {
  id: number
  parameter: string
  value_1min: number
}

const station = await addStation('IN-1', { timezone: 'Asia/Kolkata' }, ownerId)
await write(pointsOf(station, 60))
const data = '/device/IN-1/data/'

interface Meta {
  total: number
  next_url: string | null
  prev_page: string | null
}

async function listOf(path: string) {
  const { status, body } = await ask('GET', path, { key })
  return { status, meta: body['meta'] as Meta, data: body['data'] as DataPoint[] }
}

t.test('a point has the fields of the interface, however it is asked for', async t => {
  const idOf = (parameter: 'pm25' | 'no2', timeUs: number) => {
    return ((timeUs - Date.UTC(2000, 0, 1) * 1000) / 1e6) * 2 ** 21 + numberOf(station, parameter)
  }
  const last = {
    sn: 'IN-1',
    unit: 'ugm3',
    parameter: 'pm25',
    timestamp: '2016-05-30T03:19:00',
    timestamp_local: '2016-05-30T08:49:00+05:30',
    last_updated: '2016-05-30T03:19:01.500000',
    id: idOf('pm25', startUs + 59 * minuteUs),
    value_1min: 59,
    value_15min: 52,
    value_30min: 44.5,
    value_60min: 29.5,
  }
  const listed = await listOf(`${data}?filter=parameter,eq,pm25&sort=timestamp,desc&per_page=1`)
  t.strictSame(listed.data, [last])
  const point = await ask('GET', `${data}${last.id}`, { key })
  t.equal(point.headers['content-type'], 'application/json')
  t.strictSame(point.body, last)
  const { body } = await ask('GET', '/device/IN-1/latest', { key })
  t.equal(body['timestamp'], last.timestamp)
  for (const id of [last.id + 1, '0', 'x', '-1', '99999999999999999']) {
    const unknown = await ask('GET', `${data}${id}`, { key })
    t.equal(unknown.status, 404, String(id))
    t.equal(unknown.body['id'], 'not_found')
  }
})

t.test('pages: the oldest first, links from the first to the last', async t => {
  const ids: number[] = []
  let url: string | null = `${base}${data}?per_page=50`
  for (let pages = 0; url !== null && pages < 10; pages++) {
    const page = await listOf(url.slice(base.length))
    t.equal(page.meta.total, 120)
    ids.push(...page.data.map(({ id }) => id))
    url = page.meta.next_url
    // Newer ones that the walk does not see.
    const late = { timeUs: startUs + (100 + pages) * minuteUs, storedUs: startUs, value: 1, unit: 'ppb' }
    await write([{ ...late, series: numberOf(station, 'no2') }])
  }
  t.equal(new Set(ids).size, 120)
  t.strictSame(
    ids,
    ids.toSorted((a, b) => a - b),
  )
  t.equal((await listOf(data)).meta.total, 123)
  const { meta } = await listOf(`${data}?per_page=50&page=2&limit=70&filter=timestamp,lt,2016-05-30T03:20`)
  t.match(meta, { page: 2, pages: 2, per_page: 50, total: 70, next_url: null })
  t.match(meta.prev_page, /page=1&per_page=50&filter=timestamp%2Clt%2C2016-05-30T03%3A20&limit=70&until=\d+$/)
})

t.test('an empty list has one page, and no further one', async t => {
  const filter = 'filter=parameter,eq,so2'
  const { status, meta, data: none } = await listOf(`${data}?${filter}`)
  t.equal(status, 200)
  t.strictSame(none, [])
  const first = `${base}${data}?page=1&per_page=50&filter=parameter%2Ceq%2Cso2`
  t.strictSame(meta, {
    first_url: first,
    last_url: first,
    next_url: null,
    page: 1,
    pages: 0,
    per_page: 50,
    prev_page: null,
    total: 0,
  })
  for (const page of [0, -1, 2]) t.equal((await listOf(`${data}?${filter}&page=${page}`)).status, 404)
  t.equal((await listOf(`${data}?page=9`)).status, 404)
  await addStation('IN-2')
  t.strictSame((await ask('GET', '/device/IN-2/latest', { key })).text, '{}')
  t.match((await listOf('/device/IN-2/data/')).meta, { total: 0, pages: 0 })
})

t.test('what is wrong with a list is named', async t => {
  const gives = async (query: string, message: RegExp | string) => {
    const { status, body } = await ask('GET', `${data}?${query}`, { key })
    t.equal(status, 400, query)
    t.match(body, { id: 'bad_request', message }, query)
  }
  await gives('filter=humidity,eq,1', /unknown column "humidity"/)
  await gives('filter=value_1min,gt,much', /the value "much" is no number/)
  await gives('filter=id,eq,1.5', /the value "1.5" is no whole number/)
  await gives('sort=parameter,up', /unknown direction "up"/)
  await gives('filter=value_15min,gt,1', /lower and an upper bound on timestamp/)
  await gives('sort=value_60min&filter=timestamp,ge,2016-05-01;timestamp,lt,2016-06-02', /31 days/)
  await gives('format=xml', /json, csv or ndjson/)
  const bounded = 'filter=value_15min,ge,50;timestamp,ge,2016-05-30;timestamp,lt,2016-05-31'
  const { data: high } = await listOf(`${data}?${bounded}`)
  t.strictSame(
    high.map(point => point.value_1min),
    [57, 58, 59],
  )
})

/** Of each type, and of none. */
const someValues = ['IN-1', 'pm25', 'ugm3', '%5', '2016-05-30T02:20', 'true', '1.5', '-1', '1e300', '']

t.test('a filter by any column, operator and value gives a list, or names what is wrong', async () => {
  const point = fc.constantFrom(...Object.keys(pointColumnTypes)).chain(column => {
    const value = fc.oneof(fc.double().map(String), fc.integer().map(String), fc.constantFrom(...someValues))
    return fc.tuple(fc.constant(column), fc.constantFrom(...operators), value)
  })
  await fc.assert(
    fc.asyncProperty(point, async ([column, operator, value]) => {
      const bounds = 'timestamp,ge,2016-05-30;timestamp,lt,2016-05-31'
      const filter = encodeURIComponent(`${column},${operator},${value};${bounds}`)
      const { status, body } = await ask('GET', `${data}?per_page=1&filter=${filter}`, { key })
      if (status === 200) return true
      return status === 400 && body['id'] === 'bad_request' && String(body['message']).includes(value)
    }),
    { seed: 20_261_122, numRuns: 120 },
  )
})

t.test('CSV and NDJSON by Accept or format, with the same filters', async t => {
  const filter = 'filter=parameter,eq,pm25;value_1min,lt,3'
  const csv = await ask('GET', `${data}?${filter}`, { key, headers: { accept: 'text/csv' } })
  t.match(csv.headers['content-type'], /^text\/csv/)
  const [header = '', first = '', ...rest] = csv.text.split('\r\n')
  t.match(header, /^id,sn,parameter,unit,timestamp,/)
  t.match(first, /^\d+,IN-1,pm25,ugm3,2016-05-30T02:20:00,2016-05-30T07:50:00\+05:30,2016-05-30T02:20:01.500000,0,,,$/)
  t.equal(rest.length, 3, 'two more and the end')
  const [, ...all] = (await ask('GET', `${data}?format=csv`, { key })).text.trimEnd().split('\r\n')
  const storedTexts = all.map(line => line.split(',')[6])
  const isWhole = (text: string | undefined) => text?.endsWith('.000000') === true
  t.ok(storedTexts.some(isWhole) && !storedTexts.every(isWhole), 'some were stored at a whole second')
  t.ok(
    storedTexts.every(text => text?.length === '2016-05-30T02:20:00.000000'.length),
    'and all times are of one form',
  )
  const ndjson = await ask('GET', `${data}?${filter}&format=ndjson`, { key })
  t.equal(ndjson.headers['content-type'], 'application/x-ndjson')
  const lines = ndjson.text.trimEnd().split('\n')
  t.strictSame(
    lines.map(line => JSON.parse(line)),
    (await listOf(`${data}?${filter}`)).data,
  )
  const plain = await ask('GET', data, { key, headers: { accept: 'text/html, */*;q=0.1' } })
  t.equal(plain.headers['content-type'], 'application/json')
  const head = await ask('HEAD', `${data}?format=csv`, { key })
  t.equal(head.status, 200)
  t.equal(head.text, '')
  t.equal((await ask('GET', `${data}?format=csv&sort=value,asc`, { key })).status, 400)
})

t.test('ETag, HEAD, slashes and methods', async t => {
  for (const path of [data, '/device/IN-1/latest']) {
    const { headers, text } = await ask('GET', path, { key })
    const etag = String(headers['etag'])
    t.equal((await ask('GET', path, { key, headers: { 'if-none-match': etag } })).status, 304)
    t.equal((await ask('GET', path, { key, headers: { 'if-match': '"other"' } })).status, 412)
    const head = await ask('HEAD', path, { key })
    t.match(head.headers, { etag, 'content-length': String(Buffer.byteLength(text)) })
  }
  const redirected = await ask('GET', '/device/IN-1/data?page=1', { key })
  t.equal(redirected.status, 308)
  t.equal(redirected.headers['location'], '/api/v1.0/device/IN-1/data/?page=1')
  t.equal((await ask('GET', '/device/IN-1/latest/', { key })).status, 404)
  t.equal((await ask('DELETE', data, { key })).status, 405)
  t.equal((await ask('OPTIONS', '/device/IN-1/latest')).headers['allow'], 'GET, HEAD, OPTIONS')
})

t.test('points of a private station are for its owner and administrators', async t => {
  const hidden = await addStation('IN-3', { private: true }, ownerId)
  await write(pointsOf(hidden, 1))
  const id = (await ask('GET', '/device/IN-3/latest', { key: owner })).body['id']
  for (const path of ['/device/IN-3/data/', `/device/IN-3/data/${id}`, '/device/IN-3/latest']) {
    const statusOf = async (by: string | undefined) => (await ask('GET', path, { key: by })).status
    t.strictSame(
      [await statusOf(undefined), await statusOf(key), await statusOf(owner), await statusOf(administrator)],
      [401, 403, 200, 200],
      path,
    )
  }
  t.equal((await ask('GET', `${data}${id}`, { key })).status, 404, 'nor by another station')
})
