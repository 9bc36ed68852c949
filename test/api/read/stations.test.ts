/** The reads of air-quality stations, from points in a real QuestDB: figures against a plain computation, and permissions. */

import type { AddressInfo } from 'node:net'
import { type FastifyInstance, fastify } from 'fastify'
import t, { type Test } from 'tap'
import { registerGroup } from '../../../api/http/route-family.ts'
import { loggerRules } from '../../../api/http/status-operations.ts'
import { createRangeSender } from '../../../api/read/range-sender.ts'
import { privateReads } from '../../../api/read/read-access.ts'
import { PublicStation } from '../../../api/read/stations/station-shape.ts'
import { stationsGroup } from '../../../api/read/stations/stations.ts'
import { type AuthRateLimit, createAuthRateLimit } from '../../../auth/rate-limits.ts'
import type { Parameter, Station } from '../../../auth/stations/station.ts'
import { createReadingsExport } from '../../../query/export/readings-export.ts'
import type { QueryLimits } from '../../../query/limits.ts'
import { createReplicas } from '../../../query/replicas.ts'
import { DailySummary } from '../../../query/shapes/daily.ts'
import { DeviceDetail } from '../../../query/shapes/detail.ts'
import { PastDays } from '../../../query/shapes/past.ts'
import { StationLatest, StationUnits } from '../../../query/shapes/station.ts'
import { Stats } from '../../../query/shapes/stats.ts'
import type { QuestdbHttp } from '../../../store/questdb/client/questdb-address.ts'
import { queryAt } from '../../query/query-at.ts'
import { startAirQuality } from '../../support/air-quality.ts'
import { validated } from '../../support/answer-shapes.ts'
import { closing, silentLog } from '../../support/databases.ts'
import { openReadsOf } from '../../support/open-reads.ts'
import { startPointsQuestdb, type TestPoint } from '../../support/questdb-points.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const stepMs = 10 * minuteMs
const nowMs = Date.parse('2026-03-10T12:00:30Z')
const firstMs = Date.parse('2026-03-08T00:00:00Z')
const lastMs = Date.parse('2026-03-10T12:00:00Z')

const { address, write: writePoints } = await startPointsQuestdb(t)
const { people, person, keyOf, addStation } = await startAirQuality(t, 60, { replicas: createReplicas([{ address }]) })
const ownerId = await person('owner@example.com')
const owner = await keyOf(ownerId)
const stranger = await keyOf(await person('stranger@example.com'))
const administrator = await keyOf(await person('administrator@example.com', 'administrator'))
const withoutRead = await keyOf(ownerId, ['ingest'])
const unverifiedId = await people.person('unverified@example.com', { isUnverified: true })
const { cookie: unverified } = await people.cookieOf(unverifiedId)

const coordinates = { latitude: 28.6, longitude: 77.2 }
const place = { city: 'Delhi', country: 'IN', timezone: 'Asia/Kolkata', outdoors: true, ...coordinates }
const open = await addStation('DEL-1', place)
const closed = await addStation('DEL-2', { private: true }, ownerId)
await addStation('DEL-3', { private: true }, unverifiedId)
await addStation('EMPTY-1')

const times = Array.from({ length: (lastMs - firstMs) / stepMs + 1 }, (_, step) => firstMs + step * stepMs)
const pm25At = (timeMs: number) => 40 + ((timeMs / stepMs) % 36)
/** NO2 is in ppm up to noon of the 9th, then in ppb: the same quantity. */
const ppbFromMs = Date.parse('2026-03-09T12:00:00Z')
const no2PpbAt = (timeMs: number) => 20 + ((timeMs / stepMs) % 5)
/** Ozone is in µg/m³ for an hour of the 10th, which cannot be converted to a share of the air. */
const ugFromMs = Date.parse('2026-03-10T02:00:00Z')
const isUg = (timeMs: number) => timeMs >= ugFromMs && timeMs < ugFromMs + hourMs
const o3At = (timeMs: number) => 30 + ((timeMs / stepMs) % 7)

function numberOf({ series }: Station, parameter: Parameter): number {
  const number = series.get(parameter)
  if (number === undefined) throw new Error('a station has every parameter')
  return number
}

function pointAt(station: Station, parameter: Parameter, timeMs: number, value: number, unit: string): TestPoint {
  return { timeUs: timeMs * 1000, storedUs: timeMs * 1000, series: numberOf(station, parameter), value, unit }
}

function pointsAt(station: Station, timeMs: number): TestPoint[] {
  const at = (parameter: Parameter, value: number, unit: string) => pointAt(station, parameter, timeMs, value, unit)
  return [
    at('pm25', pm25At(timeMs), 'ugm3'),
    timeMs < ppbFromMs ? at('no2', no2PpbAt(timeMs) / 1000, 'ppm') : at('no2', no2PpbAt(timeMs), 'ppb'),
    isUg(timeMs) ? at('o3', 2 * o3At(timeMs), 'ugm3') : at('o3', o3At(timeMs), 'ppb'),
  ]
}

await write(times.flatMap(timeMs => [...pointsAt(open, timeMs), ...pointsAt(closed, timeMs)]))

/** Marks the station in the registry as one with data, like the ingest: otherwise points are not queried. */
async function write(points: readonly TestPoint[]): Promise<void> {
  const { all } = await people.stations.registry()
  const series = new Set(points.map(point => point.series))
  for (const station of all)
    if (station.series.values().some(one => series.has(one))) people.stations.noteData(station, nowMs)
  await writePoints(points)
}

const unlimited: AuthRateLimit = { isExceeded: () => false }
const rangeReads = closing(t, createReadingsExport({ replicas: createReplicas([{ address }]), log: silentLog }))

async function startReads(
  access: ReturnType<typeof openReadsOf>,
  more: { limits?: Partial<QueryLimits>; authRateLimit?: AuthRateLimit; http?: QuestdbHttp | undefined } = {},
) {
  const { limits = {}, authRateLimit = unlimited, http } = { http: address.http, ...more }
  const over = http === undefined ? {} : { http }
  const query = queryAt(t, address.pg, new Date(nowMs).toISOString(), { timeZone: 'UTC', limits, ...over })
  const { stations, findPrincipal } = people
  const options = {
    ...{ stations, findPrincipal, authRateLimit, query },
    metrics: { get: () => undefined },
    nowMs: () => nowMs,
  }
  const sendRange = createRangeSender(access, { rangeReads, nowMs: () => nowMs, log: silentLog })
  const app = fastify({ routerOptions: { ignoreTrailingSlash: true } })
  const register = async (scope: FastifyInstance) => {
    access.guard(scope)
    registerGroup(scope, stationsGroup(access, options, sendRange), loggerRules)
  }
  app.register(register, { prefix: '/api' })
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  const { port } = app.server.address() as AddressInfo
  return (path: string, headers: Record<string, string> = {}) => {
    return fetch(`http://127.0.0.1:${port}/api/stations/${path}`, { headers })
  }
}

const ask = await startReads(openReadsOf([]))
const withKey = (key: string) => ({ 'x-api-key': key })

async function json(t: Test, path: string): Promise<unknown> {
  const response = await ask(path)
  t.equal(response.status, 200, path)
  return response.json()
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const isNear = (value: unknown, expected: number) => typeof value === 'number' && Math.abs(value - expected) < 1e-9
const within = (fromMs: number, toMs: number) => times.filter(timeMs => timeMs > fromMs && timeMs <= toMs)

t.test('a station is described, with its newest points in the unit of each', async t => {
  const station = { sn: 'DEL-1', model: 'M1', location: null, private: false, ...place }
  t.strictSame(validated(PublicStation, await json(t, 'DEL-1')), station)
  const latest = validated(StationLatest, await json(t, 'DEL-1/latest'))
  t.match(latest, { time_zone: 'Asia/Kolkata', state: 'fresh', last_seen: lastMs })
  t.strictSame(latest.values, {
    o3: { v: o3At(lastMs), ts: lastMs, unit: 'ppb' },
    no2: { v: no2PpbAt(lastMs), ts: lastMs, unit: 'ppb' },
    pm25: { v: pm25At(lastMs), ts: lastMs, unit: 'µg/m³' },
  })
  t.strictSame(latest.metrics?.['pm25'], { title: 'PM2.5', kind: 'gauge', unit: 'µg/m³', decimals: 1 })
})

t.test('points of a station that never reported are not queried', async t => {
  const station = await addStation('MUTE-1')
  await writePoints(pointsAt(station, lastMs))
  for (const sn of ['EMPTY-1', 'MUTE-1']) {
    const latest = validated(StationLatest, await json(t, `${sn}/latest`))
    t.match(latest, { state: 'never', last_seen: null, values: {} })
    t.equal(validated(DeviceDetail, await json(t, `${sn}/detail_data`)).metrics, undefined)
    t.equal(validated(Stats, await json(t, `${sn}/stats_data`)).n_samples, 0)
    t.strictSame(await json(t, `${sn}/readings?start=${firstMs}`), [])
    const csv = await ask(`${sn}/readings?start=${firstMs}&format=csv`)
    t.strictSame([await csv.text(), csv.headers.get('point-units')], ['timestamp,device\r\n', null])
    t.strictSame(validated(StationUnits, await json(t, `${sn}/units?start=${firstMs}`)).units, {})
    validated(DailySummary, await json(t, `${sn}/daily_summary?days=3`))
    validated(PastDays, await json(t, `${sn}/past_window_data`))
  }
  people.stations.noteData(station, nowMs)
  t.match(await json(t, 'MUTE-1/latest'), { state: 'fresh' })
})

interface Hour {
  t: number
  mean: number
  count: number
}

t.test('the day has every point in one unit, the month hourly means', async t => {
  const answer = validated(DeviceDetail, await json(t, 'DEL-1/detail_data?t=1'))
  t.equal(answer.time_zone, 'Asia/Kolkata')
  const points = (name: string) => answer.last_24h[name as 'temperature'] as unknown as { t: number; v: number }[]
  const day = within(lastMs - dayMs, lastMs)
  const timesAndValues = (name: string) => points(name).map(({ t: timeMs, v }) => [timeMs, v])
  const inPpb = day.filter(timeMs => !isUg(timeMs)).map(timeMs => [timeMs, o3At(timeMs)])
  const ofPm25 = day.map(timeMs => [timeMs, pm25At(timeMs)])
  t.strictSame(timesAndValues('pm25'), ofPm25)
  t.strictSame(timesAndValues('o3'), inPpb)
  t.strictSame(answer.last_24h.temperature, [])
  const hours = answer.last_30d_hourly['no2' as 'temperature'] as unknown as Hour[]
  t.equal(hours.length, (lastMs - firstMs) / hourMs + 1)
  for (const { t: startMs, mean: found, count } of hours) {
    const ofHour = times.filter(timeMs => timeMs >= startMs && timeMs < startMs + hourMs)
    t.equal(count, ofHour.length)
    t.ok(isNear(found, mean(ofHour.map(no2PpbAt))), `the mean of ${new Date(startMs).toISOString()} is ${found}`)
  }
  t.strictSame(Object.keys(answer.metrics ?? {}), ['o3', 'no2', 'pm25'])
  t.equal(answer.metrics?.['o3']?.left_out, 6)
  t.equal(answer.metrics?.['no2']?.left_out, undefined)
  t.match(answer.metrics?.['no2'], { unit: 'ppb', decimals: 0 })
})

t.test('days are in the zone of the station', async t => {
  const { days } = validated(DailySummary, await json(t, 'DEL-1/daily_summary?days=2&metrics=pm25,o3'))
  const midnightMs = Date.parse('2026-03-09T00:00+05:30')
  const ofDay = times.filter(timeMs => timeMs >= midnightMs && timeMs < midnightMs + dayMs)
  const [yesterday] = days as unknown as { date: string; pm25: { mean: number; count: number; max_at: string } }[]
  t.match(yesterday, { date: '2026-03-09', pm25: { count: ofDay.length } })
  t.ok(isNear(yesterday?.pm25.mean, mean(ofDay.map(pm25At))))
  const { today } = validated(PastDays, await json(t, 'DEL-1/past_window_data'))
  t.match(today, { date: '2026-03-10', hours: [{ d: '2026-03-10 00:00' }] })
})

t.test('the first day is the same in a longer response, also of a parameter that has stopped since', async t => {
  const station = await addStation('STOP-1')
  const pointsOf = (parameter: Parameter, fromMs: number, toMs: number) => {
    const series = numberOf(station, parameter)
    return Array.from({ length: (toMs - fromMs) / hourMs }, (_, hour) => {
      const timeUs = (fromMs + (hour + 0.5) * hourMs) * 1000
      return { timeUs, storedUs: timeUs, series, value: (hour * hour) % 50, unit: 'ugm3' }
    })
  }
  const stoppedMs = Date.parse('2026-01-20T00:00:00Z')
  await write([...pointsOf('pm10', stoppedMs - 5 * dayMs, stoppedMs), ...pointsOf('pm25', firstMs, lastMs)])
  const dayOf = async (days: number) => {
    const answer = validated(DailySummary, await json(t, `STOP-1/daily_summary?days=${days}`))
    return answer.days.find(({ date }) => date === '2026-01-18') as unknown as { pm10: { count: number } }
  }
  const [first, later] = [await dayOf(52), await dayOf(90)]
  t.equal(first.pm10.count, 24)
  t.strictSame(first.pm10, later.pm10)
})

t.test('statistics of the points have the time of the station in their changing parts', async t => {
  const stats = validated(Stats, await json(t, 'DEL-1/stats_data'))
  t.equal(stats.n_samples, times.length)
  t.match(stats.freshness, { state: 'fresh', last_seen: '2026-03-10 17:30', expected_interval_seconds: 600 })
  const aggregate = stats.aggregates['pm25' as 'temperature'] as unknown as { count: number; mean: number; max: number }
  t.equal(aggregate.max, Math.max(...times.map(pm25At)))
  t.ok(stats.correlations.pairs.some(({ a, b }) => [a, b].includes('pm25' as never) && [a, b].includes('no2' as never)))
  t.equal(stats.metrics?.['o3']?.left_out, 6)
})

t.test('a range has the points of one time in a row, and reports omitted ones', async t => {
  const response = await ask(`DEL-1/readings?start=${ugFromMs - hourMs}&end=${ugFromMs + 2 * hourMs}`)
  t.equal(response.headers.get('points-left-out'), 'o3=6')
  t.equal(response.headers.get('point-units'), 'o3=ppb, no2=ppb, pm25=ugm3')
  t.match(response.headers.get('access-control-expose-headers'), /points-left-out, point-units/)
  const ofRange = times.filter(timeMs => timeMs >= ugFromMs - hourMs && timeMs < ugFromMs + 2 * hourMs)
  const ozoneAt = (ts: number) => (isUg(ts) ? {} : { o3: o3At(ts) })
  const rows = ofRange.map(ts => ({ ts, ...ozoneAt(ts), no2: no2PpbAt(ts), pm25: pm25At(ts) }))
  t.strictSame(await response.json(), rows)
  const csv = await (await ask(`DEL-1/readings?start=${lastMs}&metrics=pm25,so2&format=csv`)).text()
  t.equal(csv, `timestamp,device,pm25,so2\r\n2026-03-10T12:00:00.000000Z,DEL-1,${pm25At(lastMs)},\r\n`)
  const parquet = await ask(`DEL-1/readings?start=${firstMs}&format=parquet`)
  t.match(Buffer.from(await parquet.arrayBuffer()).toString('latin1'), /^PAR1/)
})

t.test('a past range is in the units of its points', async t => {
  const [fromMs, toMs] = [ppbFromMs - hourMs, ppbFromMs]
  const range = `start=${fromMs}&end=${toMs}`
  const response = await ask(`DEL-1/readings?${range}&metrics=no2,so2&format=csv`)
  t.equal(response.headers.get('point-units'), 'no2=ppm')
  const wanted = times.filter(timeMs => timeMs >= fromMs && timeMs < toMs).map(timeMs => no2PpbAt(timeMs) / 1000)
  const [head, ...lines] = (await response.text()).trim().split('\r\n')
  t.equal(head, 'timestamp,device,no2,so2')
  const found = lines.map(line => Number(line.split(',')[2]))
  t.strictSame(found, wanted)
  const { units } = validated(StationUnits, await json(t, `DEL-1/units?${range}`))
  t.match(units, { no2: { unit: 'ppm', counts: { ppm: 6 }, left_out: {} } })
})

t.test('a range has the parameters and units of the newest points', async t => {
  const station = await addStation('SOON-1')
  const at = (parameter: Parameter, timeMs: number, value: number, unit: string) =>
    pointAt(station, parameter, timeMs, value, unit)
  await write([at('pm25', firstMs, 1, 'ugm3'), at('o3', firstMs, 30, 'ppb')])
  const path = `SOON-1/readings?start=${firstMs}&end=${lastMs}&format=csv`
  const first = await ask(path)
  t.equal(await first.text(), 'timestamp,device,o3,pm25\r\n2026-03-08T00:00:00.000000Z,SOON-1,30,1\r\n')
  await write([at('so2', firstMs + 1000, 5, 'ppb'), at('o3', firstMs + 1000, 60, 'ugm3')])
  const second = await ask(path)
  t.equal(second.headers.get('points-left-out'), 'o3=1')
  t.equal(second.headers.get('point-units'), 'so2=ppb, o3=ugm3, pm25=ugm3')
  t.match(await second.text(), /^timestamp,device,so2,o3,pm25\r\n.*,,,1\r\n.*,5,60,\r\n$/)
})

t.test('the responses are the same without an export of QuestDB', async t => {
  const overPg = await startReads(openReadsOf([]), { http: undefined })
  for (const path of ['DEL-1/detail_data?t=1&flags=1', 'DEL-1/daily_summary?days=3', 'DEL-1/past_window_data']) {
    t.equal(await (await overPg(path)).text(), await (await ask(path)).text(), path)
  }
})

interface BucketRow {
  ts: number
  no2_count: number
  no2_mean: number
}

t.test('buckets of a range continue over the change of a unit', async t => {
  const [fromMs, toMs] = [ppbFromMs - hourMs, ppbFromMs + hourMs]
  const path = `DEL-1/readings?start=${fromMs}&end=${toMs}&step=7200&metrics=no2`
  const rows = (await json(t, path)) as BucketRow[]
  const starts = [...new Set([fromMs, ppbFromMs].map(timeMs => Math.floor(timeMs / 7_200_000) * 7_200_000))]
  t.equal(rows.length, starts.length)
  for (const row of rows) {
    const ofBucket = times.filter(ms => ms >= fromMs && ms < toMs && ms >= row.ts && ms < row.ts + 7_200_000)
    t.equal(row.no2_count, ofBucket.length)
    t.ok(isNear(row.no2_mean, mean(ofBucket.map(no2PpbAt))))
  }
})

t.test('the units of a range are counted', async t => {
  const { units } = validated(StationUnits, await json(t, `DEL-1/units?start=${firstMs}&end=${lastMs + 1}`))
  const ppm = times.filter(timeMs => timeMs < ppbFromMs).length
  t.strictSame(units, {
    o3: { unit: 'ppb', counts: { ppb: times.length - 6, ugm3: 6 }, left_out: { ugm3: 6 } },
    no2: { unit: 'ppb', counts: { ppb: times.length - ppm, ppm }, left_out: {} },
    pm25: { unit: 'ugm3', counts: { ugm3: times.length }, left_out: {} },
  })
})

t.test('a read is limited, and rejected with a sentence', async t => {
  const refused: [string, number, RegExp][] = [
    [`DEL-1/readings?start=${firstMs - 400 * dayMs}`, 400, /366 days/],
    [`DEL-1/units?start=${firstMs - 400 * dayMs}`, 400, /366 days/],
    ['DEL-1/units', 400, /start/],
    ['DEL-1/daily_summary?days=367', 400, /366/],
    ['DEL-1/stats_data?metrics=temperature', 400, /no metric temperature/],
    [`DEL-1/readings?start=${firstMs}&metrics=co2`, 400, /metrics must name/],
    ['DEL-1/latest?day=1', 400, /day/],
    ['NO-1', 404, /station unknown/],
    ['NO-1/latest', 404, /station unknown/],
  ]
  for (const [path, status, word] of refused) {
    const response = await ask(path)
    t.equal(response.status, status, path)
    t.match(await response.json(), { status: word }, path)
  }
  const bounded = await startReads(openReadsOf([]), { limits: { lightRowsMax: 50, analysisRowsMax: 60 } })
  t.equal((await bounded('DEL-1/detail_data')).status, 413)
  const days = await bounded('DEL-1/stats_data')
  t.equal(days.status, 413)
  t.match(await days.json(), { status: /fewer days/ })
})

const ofRange = [`/units?start=${firstMs}`, `/readings?start=${firstMs}`]
const reads = ['', '/latest', '/detail_data', '/stats_data', '/daily_summary', '/past_window_data', ...ofRange]

async function shownBy(response: Response): Promise<unknown[]> {
  return [response.status, await response.text(), [...response.headers].filter(([name]) => name !== 'date')]
}

t.test('only the owner and administrators see a private station', async t => {
  for (const read of reads) {
    const expected = await shownBy(await ask(`NO-1${read}`))
    for (const headers of [{}, withKey(stranger), withKey(withoutRead), withKey('no-such-key')]) {
      t.strictSame(await shownBy(await ask(`DEL-2${read}`, headers)), expected, `${read} ${JSON.stringify(headers)}`)
    }
    for (const key of [owner, administrator]) {
      const response = await ask(`DEL-2${read}`, withKey(key))
      t.equal(response.status, 200, `DEL-2${read}`)
      t.match(response.headers.get('cache-control'), /private/)
      t.match(response.headers.get('vary'), /x-api-key/)
      await response.arrayBuffer()
    }
  }
  t.equal((await ask('DEL-3', { cookie: unverified })).status, 404, 'an unconfirmed address is not an owner')
  const { cookie } = await people.cookieOf(ownerId)
  t.equal((await ask('DEL-2', { cookie })).status, 200)
})

t.test('with private reads, public stations are for all permitted readers', async t => {
  const devices = { get: () => undefined, all: () => [], active: () => [], tagged: () => ({ all: [], active: [] }) }
  const device = { number: 1 } as never
  const access = privateReads({
    findPrincipal: people.findPrincipal,
    devices: { ...devices, authenticate: () => device },
    authRateLimit: unlimited,
  })
  const asked = await startReads(access)
  const cases: [sn: string, headers: Record<string, string>, status: number][] = [
    ['DEL-1', {}, 401],
    ['DEL-1', { authorization: 'Basic YTpi' }, 403],
    ['DEL-1', withKey(withoutRead), 403],
    ['DEL-1', { cookie: unverified }, 403],
    ['DEL-1', withKey(stranger), 200],
    ['DEL-2', withKey(stranger), 404],
    ['DEL-2', withKey(owner), 200],
    ['DEL-2', withKey(administrator), 200],
  ]
  for (const [sn, headers, status] of cases) {
    t.equal((await asked(`${sn}/latest`, headers)).status, status, `${sn} ${JSON.stringify(headers)}`)
  }
})

t.test('guesses of keys are delayed, with or without a private station', async t => {
  for (const sn of ['DEL-2', 'NO-1']) {
    const asked = await startReads(openReadsOf([]), { authRateLimit: createAuthRateLimit(2, () => nowMs) })
    const statuses: number[] = []
    for (let attempt = 0; attempt < 4; attempt++) statuses.push((await asked(sn, withKey(`guess-${attempt}`))).status)
    t.strictSame(statuses, [404, 404, 429, 429], sn)
    t.equal((await asked('DEL-1', withKey('guess'))).status, 200)
  }
})
