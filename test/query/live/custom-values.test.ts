/** Last values of metrics without a column, in memory and loaded from a real QuestDB. */

import t from 'tap'
import type { LiveMetric } from '../../../query/live/live-rows.ts'
import { liveStates } from '../../../query/live/live-state.ts'
import { until } from '../../support/processes.ts'
import { startQuestdb } from '../../support/questdb.ts'
import { queryAt } from '../query-at.ts'
import { madeDevice, makeFleet } from './made-fleet.ts'

const nowMs = Date.UTC(2026, 5, 1, 12)
const minuteMs = 60_000
const gauge = (unit: string | null) => ({ title: 'A title', kind: 'gauge', unit, decimals: 0 }) as const
const direction = { title: 'Wind direction', kind: 'direction', unit: '°', decimals: 1 } as const
const builtIn = (name: string): LiveMetric => ({ name, description: gauge('x'), series: undefined })
/** Co2 is shown before the pressure. */
const shown: readonly LiveMetric[] = [
  builtIn('temperature'),
  { name: 'co2', description: gauge('ppm'), series: 11 },
  builtIn('humidity'),
  builtIn('pressure'),
  { name: 'lux', description: gauge(null), series: 12 },
  { name: 'wind', description: direction, series: 13 },
  builtIn('battery_voltage'),
  builtIn('battery_percentage'),
]
const metricsOf = (device: number) => (device === 1 ? shown : shown.filter(({ series }) => series === undefined))
const devices = [1, 2].map(number => madeDevice(number, { expected_interval_seconds: 60 }))
const all = { states: liveStates, order: 'name', after: undefined, limit: 10 } as const
const at = (minutes: number) => nowMs + minutes * minuteMs

t.test('values have the order of their metrics and are never replaced by older ones', async t => {
  const fleet = await makeFleet(t, devices, nowMs, { metricsOf })
  fleet.take([
    { device: 1, timeMs: at(-2), temperature: 20, custom: { 11: 400, 12: 0.5 } },
    { device: 1, timeMs: at(-1), humidity: 50, custom: { 11: 401, 99: 5 } },
    { device: 2, timeMs: at(-1), temperature: 7 },
    { device: 1, timeMs: at(-3), custom: { 11: 1, 13: 90 } },
  ])
  t.strictSame(fleet.live.latest(1)?.values, {
    temperature: { v: 20, ts: at(-2), unit: '°C' },
    humidity: { v: 50, ts: at(-1), unit: '%' },
    co2: { v: 401, ts: at(-1), unit: 'ppm' },
    lux: { v: 0.5, ts: at(-2), unit: '' },
    wind: { v: 90, ts: at(-3), unit: '°' },
  })
  t.strictSame(Object.keys(fleet.live.latest(1)?.values ?? {}), ['temperature', 'co2', 'humidity', 'lux', 'wind'])
  t.strictSame(fleet.live.latest(1)?.metrics, { co2: gauge('ppm'), lux: gauge(null), wind: direction })
  const values = { temperature: { v: 7, ts: at(-1), unit: '°C' } }
  const other = { device: 'device-2', location_short: '', state: 'fresh', last_seen: at(-1), values }
  t.strictSame(fleet.live.latest(2), other, 'nothing more where there are no others')
  fleet.take([{ device: 1, timeMs: at(24 * 60 - 2), temperature: 21 }])
  t.strictSame(Object.keys(fleet.live.latest(1)?.values ?? {}), ['temperature', 'co2', 'humidity'], 'a day later')
  fleet.live.deviceRemoved(1)
  fleet.live.deviceChanged(devices[0] as (typeof devices)[0])
  fleet.take([{ device: 1, timeMs: at(0), temperature: 1 }])
  t.strictSame(Object.keys(fleet.live.latest(1)?.values ?? {}), ['temperature'], 'a slot that is used again')
  t.equal(fleet.live.latest(1)?.metrics, undefined)
})

t.test('expired and erased values are removed while the device continues', async t => {
  let expiredBeforeUs = Number.NEGATIVE_INFINITY
  const hourSources = () => ({ rawFromUs: Number.NEGATIVE_INFINITY, expiredBeforeUs })
  const fleet = await makeFleet(t, devices, nowMs, { metricsOf, hourSources })
  fleet.take([
    { device: 1, timeMs: at(-60), temperature: 20, pressure: 1000, custom: { 11: 400, 12: 0.5 } },
    { device: 1, timeMs: at(-1), temperature: 21, custom: { 11: 401, 13: 90 } },
  ])
  const names = () => Object.keys(fleet.live.latest(1)?.values ?? {})
  t.strictSame(names(), ['temperature', 'co2', 'pressure', 'lux', 'wind'])
  expiredBeforeUs = at(-30) * 1000
  await until('older values have expired', () => !names().includes('lux'))
  t.strictSame(names(), ['temperature', 'co2', 'wind'])
  await fleet.live.seriesErased([11, 99])
  t.strictSame(names(), ['temperature', 'wind'])
  fleet.take([{ device: 1, timeMs: at(0), temperature: 22, custom: { 11: Number.NaN, 13: 91 } }])
  t.strictSame(names(), ['temperature', 'wind'], 'a record whose value was erased has none')
})

t.test('a device with all the series that it may have gets a new one before the erased one is forgotten', async t => {
  const fleet = await makeFleet(t, devices, nowMs, { metricsOf })
  const numbers = [11, 12, ...Array.from({ length: 62 }, (_, index) => 100 + index)]
  const valued = (series: readonly number[], value: number) => Object.fromEntries(series.map(one => [one, value]))
  fleet.take([{ device: 1, timeMs: at(-2), temperature: 20, custom: valued(numbers, 1) }])
  // Device 12 was erased meanwhile. Its place in the registry is now device 13's.
  fleet.take([
    { device: 1, timeMs: at(-1), custom: valued([...numbers.filter(one => one !== 12), 13], 2) },
    { device: 2, timeMs: at(-1), temperature: 7 },
  ])
  t.strictSame(Object.keys(fleet.live.latest(1)?.values ?? {}), ['temperature', 'co2', 'wind'])
  t.equal(fleet.live.latest(2)?.values.temperature?.v, 7, 'what others have sent in the group is there')
})

t.test('a list has the first six of a device, in the order in which they are shown', async t => {
  const fleet = await makeFleet(t, devices, nowMs, { metricsOf })
  const battery = { battery_voltage: 3, battery_percentage: 90 }
  const reading = { timeMs: at(-1), temperature: 20, humidity: 50, pressure: 1000, ...battery }
  fleet.take([
    { device: 1, ...reading, custom: { 13: 90, 11: 400 } },
    { device: 2, ...reading },
  ])
  const [one, two] = fleet.live.page(all).devices.map(text => JSON.stringify(JSON.parse(text).values))
  t.equal(one, '{"temperature":20,"co2":400,"humidity":50,"pressure":1000,"wind":90,"battery_voltage":3}')
  t.equal(two, '{"temperature":20,"humidity":50,"pressure":1000,"battery_voltage":3,"battery_percentage":90}')
  t.strictSame(fleet.live.page(all).metrics, { co2: gauge('ppm'), wind: direction }, 'every value has its metric')
  t.strictSame(fleet.live.page({ ...all, after: { state: undefined, name: 'device-1' } }).metrics, {}, 'of this page')
  fleet.take([{ device: 1, timeMs: at(70), temperature: 21 }])
  fleet.clock.nowMs = at(70)
  t.strictSame(JSON.parse(fleet.live.page(all).devices[0] ?? '').values, { temperature: 21 }, 'none that is old')
})

t.test('values are loaded, and looked up when a reading without them replaces one', async t => {
  const questdb = await startQuestdb(t)
  const { pg, http } = questdb.address
  const query = queryAt(t, pg, new Date(nowMs).toISOString(), { http })
  const time = (minutes: number) => new Date(at(minutes)).toISOString()
  await questdb.write([
    { symbol: 'device-1-1', time: time(-1), temperature: 20 },
    { symbol: 'device-1-1', time: time(-9), temperature: 19 },
    { symbol: 'device-1-1', time: time(-20), temperature: 19 },
  ])
  await questdb.writeCustom([
    { series: 11, time: time(-9), value: 399 },
    { series: 11, time: time(-1), value: 400 },
    { series: 12, time: time(-20), value: 7 },
    { series: 12, time: time(-1), value: null },
    { series: 55, time: time(-1), value: 5 },
  ])
  const options = { metricsOf, ask: query.fleetRows, lookUpEveryMs: 10 }
  const fleet = await makeFleet(t, devices, nowMs, options)
  const values = () => fleet.live.latest(1)?.values
  t.match(values(), { co2: { v: 400, ts: at(-1) }, lux: { v: 7, ts: at(-20) } })
  await questdb.writeCustom([{ series: 11, time: time(-1), value: null }])
  fleet.take([{ device: 1, timeMs: at(-1), temperature: 20, custom: { 12: 8 } }])
  t.strictSame(values()?.['co2'], undefined)
  await until('the value before is found', () => values()?.['co2'] !== undefined)
  t.match(values(), { co2: { v: 399, ts: at(-9) }, lux: { v: 8, ts: at(-1) } })
})
