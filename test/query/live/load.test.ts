/** The initial state of the fleet, read from a real QuestDB. */

import t from 'tap'
import { deviceHours, deviceRow, lastRow } from '../../../query/answers/fleet-rows.ts'
import { liveStates } from '../../../query/live/live-state.ts'
import { allFromReadings } from '../../../query/questdb/hourly-sql.ts'
import { hourMs, minuteMs } from '../../analytics/series.ts'
import { until } from '../../support/processes.ts'
import { startQuestdb, type TestReading } from '../../support/questdb.ts'
import { queryAt } from '../query-at.ts'
import { madeDevice, makeFleet } from './made-fleet.ts'

const questdb = await startQuestdb(t)
const { pg, http } = questdb.address
const nowMs = Date.UTC(2026, 5, 1, 12, 20)
const never = new AbortController().signal
const query = queryAt(t, pg, new Date(nowMs).toISOString(), { http })

const firstOnly = { states: liveStates, order: 'name', after: undefined, limit: 1 } as const

function series(number: number, everyMs: number, count: number, agoMs: number, values: object = {}): TestReading[] {
  return Array.from({ length: count }, (_, index) => {
    const time = new Date(nowMs - agoMs - (count - 1 - index) * everyMs).toISOString()
    return { symbol: `device-${number}-${number}`, time, temperature: index, ...values }
  })
}

await questdb.write([
  ...series(1, minuteMs, 1600, 0),
  ...series(2, 5 * minuteMs, 100, 0, { humidity: 50 }),
  ...series(3, 10 * minuteMs, 500, 20 * 24 * hourMs),
  ...series(4, minuteMs, 30, 0),
  { symbol: 'device-4-4', time: new Date(nowMs - 2 * hourMs).toISOString(), battery_voltage: 3.5 },
  ...series(5, 6 * hourMs, 30, hourMs),
  // Device 77 is missing from the registry.
  ...series(77, minuteMs, 30, 0),
])
const devices = [1, 2, 3, 4, 5, 6].map(number => madeDevice(number))

t.test('a device that is looked up by itself', async t => {
  const of = (...numbers: number[]) => devices.filter(({ number }) => numbers.includes(number))
  const asked = { nowUs: nowMs * 1000, newestUs: (nowMs + 300_000) * 1000, hourSources: allFromReadings }
  const all = await query.fleetRows('fleetDevices', { ...asked, devices: of(1, 3, 6), timesMax: 5000 }, never)
  if (!all.ok) throw new Error(all.code)
  const row = (index: number) => all.rows.subarray(index * deviceRow.width, (index + 1) * deviceRow.width)
  t.equal(all.rows.length, 3 * deviceRow.width)
  t.equal(row(0)[lastRow.timeUs], nowMs * 1000)
  t.equal(row(0)[lastRow.values], 1599)
  t.equal(row(0)[deviceRow.expectedMs], minuteMs)
  t.strictSame([...row(0).slice(deviceRow.counts, deviceRow.meanMetric)], [...Array(deviceHours - 1).fill(60), 21])
  t.equal(row(1)[deviceRow.expectedMs], 10 * minuteMs)
  t.ok(Number.isNaN(row(2)[lastRow.timeUs]))
  // With a smaller bound of readings, QuestDB counts the earlier hours.
  const few = await query.fleetRows('fleetDevices', { ...asked, devices: of(1), timesMax: 300 }, never)
  if (!few.ok) throw new Error(few.code)
  t.strictSame([...few.rows.slice(deviceRow.counts)], [...row(0).slice(deviceRow.counts)])
  t.equal(few.rows[deviceRow.expectedMs], minuteMs)
  const means = [...Array.from({ length: deviceHours - 1 }, (_, hour) => 1548.5 - 60 * (deviceHours - 2 - hour)), 1589]
  for (const rows of [row(0), few.rows]) {
    t.equal(rows[deviceRow.meanMetric], 0)
    t.strictSame([...rows.slice(deviceRow.meanCounts, deviceRow.means)], [...Array(deviceHours - 1).fill(60), 21])
    t.strictSame([...rows.slice(deviceRow.means)], means)
  }
  t.ok(Number.isNaN(row(2)[deviceRow.meanMetric]))
})

t.test('the whole fleet', async t => {
  const fleet = await makeFleet(t, devices, nowMs, { ask: query.fleetRows, lookUpEveryMs: 10 })
  const page = () => fleet.live.page({ ...firstOnly, limit: 100 }).devices.map(text => JSON.parse(text))
  await until('all are looked up', () =>
    page().every(device => device.last_seen === null || device.expected_interval_seconds !== null),
  )
  const [one, two, three, four, five, six] = page()
  t.match(one, { state: 'fresh', last_seen: nowMs, expected_interval_seconds: 60, values: { temperature: 1599 } })
  t.equal(one.hours, 'D'.repeat(24))
  t.match(two, { state: 'fresh', expected_interval_seconds: 300, values: { humidity: 50 } })
  const means = Array.from({ length: 24 }, (_, hour) => 1548.5 - 60 * (23 - hour))
  const { devices: trends } = fleet.live.trends(devices)
  t.match(trends[0], { device: 'device-1', metric: 'temperature', means, change: 180.5, trend: 'rising' })
  t.equal(trends.map(({ device }) => device).join(), [1, 2, 3, 4, 5].map(number => `device-${number}`).join())
  t.match(two.hours, /^-{16}[BCD]D{7}$/)
  const long = { state: 'silent', last_seen: nowMs - 20 * 24 * hourMs, hours: 'A'.repeat(24), values: {} }
  t.match(three, { ...long, expected_interval_seconds: 600 })
  t.match(four, { state: 'fresh', expected_interval_seconds: 60, values: { temperature: 29 } })
  t.match(fleet.live.latest(4)?.values, { battery_voltage: { v: 3.5, ts: nowMs - 2 * hourMs } })
  t.match(five, { state: 'fresh', expected_interval_seconds: 21_600 })
  t.match(six, { state: 'never' })
  t.strictSame(fleet.live.counts(), { silent: 1, late: 0, never: 1, fresh: 4, off: 0 })
})

t.test('a device is looked up when QuestDB has applied its transaction', async t => {
  const ordinals = { taken: 10, applied: 9 }
  let looks = 0
  await makeFleet(t, [madeDevice(1)], nowMs, {
    lookUpEveryMs: 1,
    ordinals: () => ({ ...ordinals }),
    ask: async (name, asked, signal) => {
      if (name === 'fleetDevices') looks++
      return await query.fleetRows(name, asked, signal)
    },
  })
  await new Promise(resolve => setTimeout(resolve, 100))
  t.equal(looks, 0)
  ordinals.applied = 10
  await until('it is looked up', () => looks === 1)
})

t.test('a device whose readings came before it was registered here is looked up when it is', async t => {
  const ordinals = { taken: 0, applied: 0 }
  const looked: unknown[] = []
  const fleet = await makeFleet(t, [], nowMs, {
    lookUpEveryMs: 1,
    ordinals: () => ({ ...ordinals }),
    ask: async (name, asked, signal) => {
      if ('devices' in asked) looked.push(...asked.devices.map(({ number }) => number))
      return await query.fleetRows(name, asked, signal)
    },
  })
  const states: string[] = []
  fleet.live.onState((device, before, now) => states.push(`${device.name}: ${before}, ${now}`))
  fleet.take([{ device: 1, timeMs: nowMs, temperature: 1599 }])
  ordinals.taken = 1
  for (const number of [1, 4]) fleet.live.deviceChanged(madeDevice(number, { expected_interval_seconds: 60 }))
  t.equal(fleet.live.stateOf(1), 'never')
  ordinals.applied = 1
  await until('it is looked up', () => fleet.live.stateOf(1) === 'fresh')
  t.match(fleet.live.latest(1), { last_seen: nowMs, values: { temperature: { v: 1599 } } })
  t.strictSame(states, ['device-1: never, fresh'])
  t.strictSame(looked, [1])
})

t.test('readings that arrive during the load are kept', async t => {
  const taken: (() => void)[] = []
  const fleet = await makeFleet(t, devices, nowMs, {
    lookUpEveryMs: 10,
    ask: async (name, asked, signal) => {
      const rows = await query.fleetRows(name, asked, signal)
      if (name === 'fleetLast') taken.shift()?.()
      return rows
    },
  })
  taken.push(() => fleet.take([{ device: 1, timeMs: nowMs + 1000, temperature: -1 }]))
  fleet.live.load()
  await until('the load has begun', () => taken.length === 0)
  const isLookedUp = () => fleet.live.page(firstOnly).devices[0]?.includes('"expected_interval_seconds":60,')
  await until('it is looked up', () => isLookedUp() === true)
  t.match(fleet.live.latest(1), { last_seen: nowMs + 1000, values: { temperature: { v: -1 } } })
})
