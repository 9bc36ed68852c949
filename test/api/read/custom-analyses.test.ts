/** Custom metrics in the analyses and ranges: the figures of each kind, from readings in real databases. */

import t, { type Test } from 'tap'
import { counterIncrease } from '../../../analytics/counter/counter-increase.ts'
import { analysesGroup } from '../../../api/read/analyses.ts'
import { openReads } from '../../../api/read/read-access.ts'
import { readingsGroup } from '../../../api/read/readings.ts'
import type { Device } from '../../../auth/devices/device.ts'
import { createReadingsExport } from '../../../query/export/readings-export.ts'
import { createReplicas } from '../../../query/replicas.ts'
import { queryAt } from '../../query/query-at.ts'
import { validatedRead } from '../../support/answer-shapes.ts'
import { startCustomReadings } from '../../support/custom-readings.ts'
import { closing, silentLog } from '../../support/databases.ts'
import { serveGroups } from '../serve-groups.ts'
import { readClient, refusing } from './reading-client.ts'

const minuteMs = 60_000
const stepMs = 10 * minuteMs
const at = (text: string) => Date.parse(`2026-03-${text}:00Z`)

const world = await startCustomReadings(t)
const addDevice = (name: string, more = {}) => world.addDevice(name, { expected_interval_seconds: 600, ...more })
const mast = await addDevice('Mast')
const plain = await addDevice('Plain')
const odd = await addDevice('Odd')
const twin = await addDevice('Twin')
const room = await addDevice('Room', { profile: 'indoor' })
await world.addMetric({ name: 'outdoor_temperature', title: 'Outdoors', unit: '°C', kind: 'gauge', decimals: 1 })
await world.addMetric({ name: 'sap_flow', title: 'Sap flow', unit: 'L/h', kind: 'rate', decimals: 3 })

/** The total of rain restarts with the sample at 18:00 of the 9th. */
const resetMs = at('09T18:00')
const doors = new Map([
  [at('09T08:00'), 1],
  [at('09T20:00'), 0],
  [at('10T06:00'), 1],
])
const firstMs = at('08T00:00')
const times = Array.from({ length: (at('10T12:00') - firstMs) / stepMs + 1 }, (_, step) => firstMs + step * stepMs)
const totalAt = (timeMs: number) => {
  const [sinceMs, from] = timeMs < resetMs ? [firstMs, 100] : [resetMs, 0.1]
  return from + (0.2 * (timeMs - sinceMs)) / stepMs
}
const co2At = (timeMs: number) => 400 + ((timeMs / stepMs) % 6)
type Values = Record<string, number>
const sendAll = (device: Device, valuesAt: (timeMs: number, step: number) => Values, of = times) =>
  world.send(
    device,
    of.map((timeMs, step) => [timeMs, valuesAt(timeMs, step)] as const),
  )
function doorAt(doors: ReadonlyMap<number, number>, timeMs: number): Values {
  const door = doors.get(timeMs)
  return door === undefined ? {} : { door }
}
await sendAll(mast, timeMs => {
  const wind_direction = (timeMs / stepMs) % 2 === 0 ? 350 : 10
  const rain = { rain_total: totalAt(timeMs), rain: 0.1 }
  return { temperature: 20, co2: co2At(timeMs), ...rain, wind_direction, wind_speed: 4, ...doorAt(doors, timeMs) }
})
/** The device has two hours without a reading, one wild temperature, and no CO2 after an evening. */
const ofOdd = times.filter(timeMs => timeMs < at('08T18:00') || timeMs >= at('08T20:00'))
await sendAll(
  odd,
  timeMs => {
    const temperature = timeMs === at('09T06:00') ? 30 : 20
    return timeMs < at('09T18:00') ? { temperature, co2: co2At(timeMs) } : { temperature }
  },
  ofOdd,
)
const twinDoors = new Map([
  [at('09T10:00'), 1],
  [at('10T00:00'), 0],
])
await sendAll(twin, (timeMs, step) => {
  const rain = { rain_total: 0.3 * step, rain: 0.2 }
  return { co2: co2At(timeMs) + 2, ...rain, wind_direction: 20, ...doorAt(twinDoors, timeMs) }
})
await sendAll(plain, () => ({ temperature: 20 }))
await sendAll(room, () => ({ temperature: 21, humidity: 60, outdoor_temperature: 0 }))
await world.applied()

const { http, pg } = world.store.questdb.address
const query = queryAt(t, pg, '2026-03-10T12:00:30Z', { http, timeZone: 'UTC' })
const options = { query, metrics: world.metrics }
const { port } = await serveGroups(t, analysesGroup(openReads(world.devices), options))
const ask = readClient(port)
const refuses = refusing(ask)

// Other devices have current values, for a range.
await world.addMetric({ name: 'noise' })
const station = await world.addDevice('station')
const bare = await world.addDevice('bare')
const listing = await world.addDevice('listing', { metrics: ['noise', 'co2'] })
const startMs = Date.now() - 600_000
const quantities = (temperature: number) => ({ temperature, humidity: 50, pressure: 1000 })
await world.send(station, [
  [startMs, { ...quantities(0), rain: 0.2, co2: 400 }],
  [startMs + 1000, { ...quantities(1), co2: 401 }],
  [startMs + 2000, quantities(2)],
])
await world.send(bare, [[startMs, quantities(0)]])
await world.send(listing, [[startMs, { ...quantities(0), co2: 500, noise: 7 }]])
await world.applied()

const replicas = createReplicas([{ address: world.store.questdb.address }])
const rangeReads = closing(t, createReadingsExport({ replicas, log: silentLog, limits: { timeoutMs: 600_000 } }))
const rangeOptions = { rangeReads, metrics: world.metrics, nowMs: Date.now, log: silentLog }
const expiredBeforeUs = () => Number.NEGATIVE_INFINITY
const readingsOf = readingsGroup(openReads(world.devices), { ...rangeOptions, expiredBeforeUs })
const { app: ranges } = await serveGroups(t, readingsOf)
const askRange = async (name: string, query = '') =>
  await ranges.inject({ url: `/api/readings/${name}?start=${startMs - 5000}&end=${startMs + 60_000}${query}` })
const rows = async (...given: Parameters<typeof askRange>) => (await askRange(...given)).json()

// biome-ignore lint/suspicious/noExplicitAny: an answer is read as a client reads it, without our types
async function json(t: Test, path: string): Promise<any> {
  const answer = await ask(path)
  t.equal(answer.status, 200, path)
  return validatedRead(path, answer.json())
}

const five = ['temperature', 'humidity', 'pressure', 'battery_voltage', 'battery_percentage']
/** The custom metrics of Mast. */
const sent = ['co2', 'rain_total', 'rain', 'wind_direction', 'wind_speed', 'door']
const increaseOfAll = counterIncrease({
  timesMs: Float64Array.from(times),
  values: Float64Array.from(times, totalAt),
}).increase as number
const dayRange = 'start=2026-03-09T00:00:00Z&end=2026-03-10T00:00:00Z'
const isNear = (value: unknown, expected: number) => typeof value === 'number' && Math.abs(value - expected) < 1e-9
const cosine10 = Math.cos(Math.PI / 18)

t.test('detail_data: custom metrics are beside the five, point by point', async t => {
  const { last_24h, last_30d_hourly, metrics } = await json(t, '/detail_data/Mast?t=1')
  t.strictSame(Object.keys(last_24h), [...five, ...Object.keys(metrics), 'gap_seconds', 'downsampled'])
  t.strictSame(new Set(Object.keys(metrics)), new Set(sent))
  t.strictSame(Object.keys(last_30d_hourly), [...five, ...Object.keys(metrics)])
  const rainTotal = { title: 'Rain in total', kind: 'counter', unit: 'mm', decimals: 1, gap_seconds: 1500 }
  t.strictSame(metrics.rain_total, rainTotal)
  const weekSeconds = 7 * 86_400
  const door = { title: 'Door open', kind: 'state', unit: null, decimals: 0 }
  t.strictSame(metrics.door, { ...door, gap_seconds: weekSeconds, hold_seconds: weekSeconds }, 'sent on change alone')
  t.equal(metrics.co2.hold_seconds, undefined)
  const lastDay = times.filter(timeMs => timeMs > at('09T12:00'))
  const dated = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')
  const points = (of: (timeMs: number) => number) =>
    lastDay.map(timeMs => ({ d: dated(timeMs), v: of(timeMs), t: timeMs }))
  t.strictSame(last_24h.co2, points(co2At))
  t.strictSame(last_24h.rain_total, points(totalAt))
  t.match(last_24h.door, [{ v: 0 }, { v: 1 }])
  t.equal(last_24h.door.length, 2)
})

// biome-ignore lint/suspicious/noExplicitAny: as above
const hourAt = (hours: any[], text: string) => hours.find(({ t }) => t === at(text))

t.test('detail_data: the hours of a month, each kind with its figures', async t => {
  const { last_30d_hourly: hours } = await json(t, '/detail_data/Mast?t=1')
  t.match(hourAt(hours.co2, '10T07:00'), { kind: 'gauge', mean: 402.5, min: 400, max: 405, count: 6 })
  const usual = hourAt(hours.rain_total, '10T07:00')
  t.match(usual, { kind: 'counter', count: 6, covered_seconds: 3600, resets: 0, unplaced_increase: 0 })
  t.ok(isNear(usual.increase, 1.2) && isNear(usual.increase_per_second, 1.2 / 3600))
  // Five times 0.2, and the 0.1 after the reset.
  t.ok(isNear(hourAt(hours.rain_total, '09T17:00').increase, 1.1))
  t.equal(hourAt(hours.rain_total, '09T18:00').resets, 1)
  const sum = hours.rain_total.reduce((all: number, { increase }: { increase: number }) => all + increase, 0)
  t.ok(isNear(sum, increaseOfAll))
  const wind = hourAt(hours.wind_direction, '10T07:00')
  t.match(wind, { kind: 'direction', count: 6, vector: { count: 6, mean_speed: 4 } })
  t.ok(isNear((wind.mean_degrees + 180) % 360, 180) && isNear(wind.resultant_length, cosine10))
  t.ok(isNear((wind.vector.vector_direction_degrees + 180) % 360, 180))
  t.ok(isNear(wind.vector.vector_speed, 4 * cosine10) && isNear(wind.vector.steadiness, cosine10))
  const opened = { kind: 'state', states: [{ state: 1, seconds: 3600, share: 1 }], known_seconds: 3600, changes: 1 }
  t.match(hourAt(hours.door, '10T06:00'), opened)
  t.match(hourAt(hours.door, '10T05:00'), { states: [{ state: 0, seconds: 3600 }], unknown_seconds: 0, changes: 0 })
  t.equal(hourAt(hours.door, '09T07:00'), undefined, 'before its first value nothing is known')
  const rain = hourAt(hours.rain, '10T07:00')
  t.match(rain, { kind: 'rate', count: 6, max: 0.1, max_at: '2026-03-10 07:10', coverage: 1, missing: 0, valid: true })
  t.ok(isNear(rain.sum, 0.6))
})

t.test('days before 1970 have no values', async t => {
  const names = 'past_window_data detail_data stats_data daily_summary changes normal forecast'
  for (const name of names.split(' ')) await json(t, `/${name}/Mast?end=6160072`)
})

t.test('past_window_data: hours of local days, whole at the ends of a day', async t => {
  const { today, yesterday, metrics } = await json(t, '/past_window_data/Mast')
  t.strictSame(new Set(Object.keys(metrics)), new Set(sent))
  t.match(today.hours[7], { hour: 7, co2: { kind: 'gauge', mean: 402.5, min: 400, max: 405, count: 6 } })
  t.match(today.hours[13], {
    co2: { mean: null, count: 0 },
    rain_total: { increase: null, covered_seconds: 0 },
    wind_direction: { count: 0, mean_degrees: null, vector: { count: 0 } },
    door: { known_share: null, states: [] },
    rain: { sum: null, count: 0 },
  })
  for (const { hours } of [today, yesterday]) t.ok(isNear(hours[0].rain_total.increase, 1.2))
  const last = yesterday.hours[23]
  t.ok(isNear(last.rain_total.increase, 1.2), 'as far as midnight, by the value behind it')
  t.equal(last.rain_total.covered_seconds, 3600)
  t.ok(isNear(last.rain.sum, 0.6), 'with the amount of midnight')
  t.match(yesterday.hours[7].door, { known_seconds: 0, unknown_seconds: 3600 })
  t.match(today.hours[0].door, { states: [{ state: 0, seconds: 3600 }] }, 'by the value of the evening before')
})

t.test('daily_summary: local days, each kind with its figures', async t => {
  const { days, metrics } = await json(t, '/daily_summary/Mast?days=3')
  t.strictSame(new Set(Object.keys(metrics)), new Set(sent))
  const [first, second, today] = days
  t.match(second.co2, { kind: 'gauge', mean: 402.5, min: 400, max: 405, count: 144, coverage: 1, valid: true })
  t.equal(second.co2.min_at, '2026-03-09 00:00')
  t.match(second.rain_total, { kind: 'counter', count: 144, covered_seconds: 86_400, resets: 1, unplaced_increase: 0 })
  t.ok(isNear(second.rain_total.increase, 143 * 0.2 + 0.1))
  t.ok(isNear(today.rain_total.increase, 72 * 0.2))
  t.ok(isNear(second.wind_direction.resultant_length, cosine10))
  const states = [
    { state: 0, seconds: 4 * 3600, share: 0.25 },
    { state: 1, seconds: 12 * 3600, share: 0.75 },
  ]
  t.match(second.door, { kind: 'state', states, unknown_seconds: 8 * 3600, known_share: 2 / 3, changes: 1 })
  t.match(second.rain, { kind: 'rate', count: 144, coverage: 1, missing: 0 })
  t.ok(isNear(second.rain.sum, 14.4))
  t.equal(first.rain.count, 144, 'midnight at its end is of it, midnight at its start is not')
  const { days: plainDays, metrics: none } = await json(t, '/daily_summary/Plain?days=2')
  t.strictSame([Object.keys(plainDays[1]), none], [['date', 'hours', 'temperature', 'humidity', 'pressure'], undefined])
})

t.test('stats_data: gauges have the figures of the five, other kinds separate ones', async t => {
  const stats = await json(t, '/stats_data/Mast')
  t.strictSame(new Set(Object.keys(stats.metrics)), new Set(sent))
  const gauges = ['co2', 'wind_speed']
  for (const part of ['autocorrelation', 'seasonality', 'quality']) {
    t.strictSame(new Set(Object.keys(stats[part])), new Set([...five, ...gauges]), part)
  }
  const names = [...five, 'dew_point', ...gauges]
  t.equal(stats.correlations.pairs.length, (names.length * (names.length - 1)) / 2)
  t.match(stats.units, { temperature: '°C', co2: 'ppm', wind_direction: '°', door: null })
  t.match(stats.freshness.metrics, { co2: { last_seen: '2026-03-10 12:00', value: co2At(at('10T12:00')) } })
  t.match(stats.freshness.metrics.door, { last_seen: '2026-03-10 06:00', value: 1 })
  const { metrics: complete } = stats.reliability.windows['24h']
  t.strictSame(new Set(Object.keys(complete)), new Set([...five, ...sent.filter(name => name !== 'door')]))
  t.equal(complete.co2.completeness, 1)
  t.match(stats.quality.co2, { good: times.length, suspect: 0, missing: 0 })
  const { aggregates } = stats
  t.match(aggregates.co2, { kind: 'gauge', count: times.length, min: 400, max: 405, median: 402 })
  const resets = [{ after: '2026-03-09 17:50', until: '2026-03-09 18:00', value_after: 0.1 }]
  const counted = { kind: 'counter', count: times.length, increase: increaseOfAll }
  t.match(aggregates.rain_total, { ...counted, resets_total: 1, resets })
  t.match(aggregates.wind_direction.rose, { count: times.length, calm_count: 0 })
  const { sector_counts } = aggregates.wind_direction.rose
  t.strictSame([sector_counts[0], sector_counts.length], [times.length, 16], 'both are in the sector of north')
  const last_change = { at: '2026-03-10 06:00', from: 0, to: 1 }
  t.match(aggregates.door, { kind: 'state', count: 3, last: 1, changes: 2, last_change, known_seconds: 28 * 3600 })
  t.match(aggregates.rain, { kind: 'rate', greatest_hour: { count: 6 } })
  t.ok(isNear(aggregates.rain.greatest_hour.sum, 0.6))
})

t.test('responses for a device without custom metrics are unchanged', async t => {
  const [all, none] = [await json(t, '/stats_data/Mast'), await json(t, '/stats_data/Plain')]
  t.equal(none.metrics, undefined)
  t.strictSame(Object.keys(none.aggregates), [...five, 'dew_point'])
  for (const part of ['seasonality', 'autocorrelation']) {
    t.strictSame(none[part], Object.fromEntries(five.map(name => [name, all[part][name]])), part)
  }
  t.equal(none.correlations.pairs.length, 15)
  const detail = await json(t, '/detail_data/Plain')
  t.strictSame(Object.keys(detail), ['device', 'time_zone', 'generated_at', 'last_24h', 'last_30d_hourly'])
  t.strictSame(Object.keys(detail.last_24h), [...five, 'gap_seconds', 'downsampled'])
  const past = await json(t, '/past_window_data/Plain')
  t.strictSame(Object.keys(past.today.hours[0]), ['hour', 'd', 'temperature', 'humidity', 'pressure'])
  t.equal(past.metrics, undefined)
})

t.test('compare_data: metrics of both devices by the hour, each kind with its figures', async t => {
  const compared = await json(t, '/compare_data?a=Mast&b=Twin&preset=24h&t=1')
  t.strictSame(new Set(Object.keys(compared.metrics)), new Set(sent.filter(name => name !== 'wind_speed')))
  t.match(compared.co2, { kind: 'gauge', unit: 'ppm', stats: { n: 24, bias: -2, mae: 2 } })
  t.equal(compared.co2.a.length, 24)
  const { kind, a, diff, stats } = compared.rain_total
  t.equal(kind, 'counter')
  t.ok(isNear(hourAt(a, '10T07:00').v, 1.2) && isNear(hourAt(diff, '10T07:00').v, -0.6))
  t.ok(isNear(hourAt(diff, '09T17:00').v, -0.7), 'the hour before the reset')
  t.ok(stats.n === 24 && isNear(stats.bias, (23 * -0.6 - 0.7) / 24))
  t.ok(isNear(compared.rain.stats.bias, -0.6) && compared.rain.stats.n === 24)
  const wind = compared.wind_direction
  t.match(wind, { kind: 'direction', unit: '°', stats: { n: 24 } })
  t.ok(isNear(wind.stats.bias, -20) && isNear(wind.stats.mae, 20) && isNear(wind.stats.resultant_length, 1))
  const shares = (closedHours: number) => ({
    states: [
      { state: 0, seconds: closedHours * 3600 },
      { state: 1, seconds: (24 - closedHours) * 3600 },
    ],
  })
  const same = { known_seconds: 24 * 3600, same_seconds: 14 * 3600, same_share: 14 / 24 }
  t.match(compared.door, { kind: 'state', a: shares(10), b: shares(12), stats: same })
  const names = Object.keys(await json(t, '/compare_data?a=Mast&b=Plain'))
  t.strictSame(names.slice(-3), ['temperature', 'humidity', 'pressure'])
  const named = await json(t, '/compare_data?a=Mast&b=Plain&metrics=co2,battery_voltage')
  t.match(named, { co2: { b: [], stats: { n: 0 } }, battery_voltage: { kind: 'gauge', a: [] } })
})

t.test('excursions: one gauge is beyond a threshold', async t => {
  const found = await json(t, `/excursions/Mast?metric=co2&above=403.5&${dayRange}`)
  // The last two of the six values in each hour are beyond it.
  t.match(found, { metric: 'co2', unit: 'ppm', above: 403.5, below: null, for_seconds: 0, episodes_total: 24 })
  t.match(found.total, { count: 24, longest_seconds: 1200, seconds: 28_800, degree_minutes: 480, gap_seconds: 0 })
  t.equal(found.total.covered_seconds, 86_400)
  t.match(found.episodes[0], { direction: 'above', end: null, seconds: 1200, extreme: 405, gap_seconds: 0 })
  t.match((await json(t, `/excursions/Mast?metric=co2&above=403.5&for=601&${dayRange}`)).total, { count: 0 })
  const cold = await json(t, '/excursions/Mast?metric=temperature&below=20.5')
  t.match(cold, { unit: '°C', episodes: [{ direction: 'below', start: '2026-03-08 00:00', end: null, extreme: 20 }] })
  await refuses(t, '/excursions/Mast?metric=co2', 400, /^above or below is required$/)
  await refuses(t, '/excursions/Mast?metric=door&above=1', 400, /^door is not a gauge$/)
  await refuses(t, '/excursions/Mast?metric=smell&above=1', 400, /^there is no metric smell here$/)
})

t.test('domain: figures follow the profile of the device', async t => {
  const { indoor, profile, weather } = await json(t, '/domain/Room?days=2')
  t.strictSame([profile, weather, indoor.days.length], ['indoor', null, 2])
  t.match(indoor.total, { temperature: { hours_above: 0, observed_hours: 36 } })
  t.match(indoor.total.mould, { hours: 36, measured_outdoor_hours: 36 }, 'it measures the temperature outdoors')
  t.match((await json(t, `/domain/Room?${dayRange}`)).indoor, { total: { mould: { hours: 24 } }, days: [{}] })
  t.match(await json(t, '/domain/Plain'), { profile: 'none', weather: null, cold_chain: null })
  await refuses(t, '/domain/Room?days=367', 400, /^days must be a whole number from 1 to 366$/)
})

t.test('anomalies: pages have those of all metrics or of named ones', async t => {
  const found = await json(t, '/anomalies/Odd')
  t.match(found, { start: '2026-02-08 12:00', end: '2026-03-10 12:00' })
  const expected = { expected: [17, 23], reason: /^Temperature had a spike at 9 Mar 2026, 06:00/ }
  const spike = { start: '2026-03-09 05:50', end: '2026-03-09 06:10', value: 30, value_at: '2026-03-09 06:00' }
  t.match(found.anomalies, [
    { code: 'silent_metric', metric: 'co2', start: '2026-03-09 17:50', end: null },
    { code: 'spike', metric: 'temperature', ...spike, ...expected },
    { code: 'outage', metric: null, start: '2026-03-08 17:50', end: '2026-03-08 20:00' },
  ])
  t.match(found, { anomalies_total: 3, next: null, metrics: { co2: { unit: 'ppm' } } })
  const first = await json(t, '/anomalies/Odd?limit=2')
  t.equal(first.next, first.anomalies[1].id)
  const second = await json(t, `/anomalies/Odd?limit=2&after=${first.next}`)
  t.strictSame([...first.anomalies, ...second.anomalies], found.anomalies)
  t.equal(second.next, null)
  const ofDay = await json(t, `/anomalies/Odd?metrics=temperature&${dayRange}`)
  t.match(ofDay, { start: '2026-03-09 00:00', anomalies_total: 1, anomalies: [{ code: 'spike' }] })
  t.equal(ofDay.metrics, undefined)
  t.match(await json(t, '/anomalies/Plain'), { anomalies: [] })
  await refuses(t, '/anomalies/Odd?after=1', 400, /^after must be next of an answer$/)
  await refuses(t, '/anomalies/Odd?limit=501', 400, /^limit must be a whole number from 1 to 500$/)
})

t.test('changes, normal, forecast: responses have the gauges', async t => {
  const changes = await json(t, '/changes/Mast')
  t.strictSame(Object.keys(changes.metrics), ['co2', 'wind_speed'])
  t.match(changes.co2, { status: 'insufficient_data', reason: 'few_levels', changes: [] })
  t.match(changes.humidity, { status: 'no_data', reason: 'no_value' })
  const normal = await json(t, '/normal/Mast?metrics=co2')
  t.match(normal.co2, { value: 402.5, at: '2026-03-10 11:00', reason: 'few_same_hours' })
  const unusual = await json(t, '/unusual/Mast?metrics=co2,door')
  t.match(unusual.co2, {
    status: 'insufficient_data',
    reason: 'short_history',
    lack: { needed: 14 },
    since: null,
    hours: [],
  })
  t.equal(unusual.door, undefined)
  const forecast = await json(t, '/forecast/Mast?metrics=co2,door')
  t.match(forecast.co2, { status: 'insufficient_data', reason: 'short_history', hours: [] })
  t.equal(forecast.door, undefined, 'a state is no gauge')
  t.equal((await ask('/forecast/Nobody')).status, 404)
  await refuses(t, '/changes/Mast?days=19', 400, /^days must be a whole number from 20 to 366$/)
})

t.test("metrics= selects among the device's, and rejects wrong names", async t => {
  const { today, metrics } = await json(t, '/past_window_data/Mast?metrics=co2,temperature,battery_voltage')
  t.strictSame(Object.keys(metrics), ['co2', 'battery_voltage'])
  const names = ['hour', 'd', 'temperature', 'humidity', 'pressure', 'co2', 'battery_voltage']
  t.strictSame(Object.keys(today.hours[7]), names)
  t.match(today.hours[7], { battery_voltage: { kind: 'gauge', count: 0 } })
  await refuses(t, '/past_window_data/Mast?metrics=sap_flow', 400, /^there is no metric sap_flow here$/)
  await refuses(t, '/stats_data/Plain?metrics=co2', 400, /^there is no metric co2 here$/)
  const many = Array.from({ length: 80 }, (_, i) => `m${i}`).join()
  for (const path of ['/detail_data/Mast?', '/stats_data/Mast?', '/forecast/Mast?', '/compare_data/?a=Mast&b=Twin&']) {
    await refuses(t, `${path}metrics=co2,nothing`, 400, /^there is no metric nothing here$/)
    for (const text of ['', 'co2,', 'CO2', 'co2&metrics=co2', many]) {
      const status = /^metrics must be at most 69 names of metrics, with commas/
      await refuses(t, `${path}metrics=${text}`, 400, status)
    }
  }
})

t.test('a range has the custom metrics, with as many columns as requested', async t => {
  const ts = (second: number) => startMs + second * 1000
  t.strictSame(await rows('station'), [
    { ts: ts(0), ...quantities(0), co2: 400, rain: 0.2 },
    { ts: ts(1), ...quantities(1), co2: 401 },
    { ts: ts(2), ...quantities(2) },
  ])
  const header = async (name: string, query = '') => (await askRange(name, `&format=csv${query}`)).body.split('\r\n')[0]
  const usual = `timestamp,device,${five}`
  t.equal(await header('station'), `${usual},co2,rain`, 'by position')
  t.equal(await header('bare'), usual)
  t.equal(await header('listing'), `${usual},noise,co2`, 'as it lists them')
  t.equal(await header('station', '&metrics=co2,humidity'), 'timestamp,device,co2,humidity')
  for (const wrong of ['noise', 'co2,co2', '', 'co2,', 'co2&metrics=rain', 'x'.repeat(5000)]) {
    const answer = await askRange('station', `&metrics=${wrong}`)
    t.equal(answer.statusCode, 400, wrong.slice(0, 20))
    t.match(answer.json().status, /^metrics must name each once, .*: temperature, .*battery_percentage, co2, rain$/)
  }
})
