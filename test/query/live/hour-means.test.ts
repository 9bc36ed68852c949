/** The hourly means of a device and its trend, by made readings and a clock of the test's own. */

import fc from 'fast-check'
import t from 'tap'
import { threeHourChange, trendOf } from '../../../analytics/summary/three-hour-trend.ts'
import { Columns } from '../../../query/live/columns.ts'
import { countValue, meanOf, mergeMean, replaceMean } from '../../../query/live/hour-means.ts'
import { hourMs, minuteMs } from '../../analytics/series.ts'
import { type MadeFleet, type MadeReading, madeDevice, makeFleet } from './made-fleet.ts'

const startMs = Date.UTC(2026, 5, 1, 12)
const devices = [madeDevice(1, { expected_interval_seconds: 600 }), madeDevice(2)]
const only = ({ live }: MadeFleet) => live.trends(devices).devices[0]

/** Every ten minutes from some hours before the start to it. */
function tenMinutes(hours: number, values: (hoursBefore: number) => Partial<MadeReading>): MadeReading[] {
  return Array.from({ length: 6 * hours + 1 }, (_, index) => {
    const hoursBefore = hours - index / 6
    return { device: 1, timeMs: startMs - hoursBefore * hourMs, ...values(hoursBefore) }
  })
}

t.test('the last 24 full hours have the means of their values, and null without one', async t => {
  const fleet = await makeFleet(t, devices, startMs)
  t.strictSame(fleet.live.trends(devices), { until: startMs, devices: [] })
  fleet.take(tenMinutes(3, hoursBefore => ({ temperature: hoursBefore > 1 && hoursBefore <= 2 ? Number.NaN : 20 })))
  fleet.clock.nowMs = startMs + 30 * minuteMs
  const means = [...Array(21).fill(null), 20, null, 20]
  const trend = { device: 'device-1', metric: 'temperature', means, change: null, trend: null }
  t.strictSame(fleet.live.trends(devices), { until: startMs, devices: [trend] })
  fleet.clock.nowMs = startMs + 24 * hourMs
  t.strictSame(only(fleet)?.means, [20, ...Array(23).fill(null)])
  fleet.clock.nowMs = startMs + 60 * hourMs
  t.strictSame(only(fleet)?.means, Array(24).fill(null))
  fleet.live.deviceRemoved(1)
  t.strictSame(fleet.live.trends(devices).devices, [])
})

t.test('the first metric of the air that came within a day counts', async t => {
  const fleet = await makeFleet(t, devices, startMs)
  fleet.take([{ device: 1, timeMs: startMs - hourMs, battery_voltage: 3 }])
  t.equal(only(fleet), undefined)
  fleet.take([{ device: 1, timeMs: startMs - 50 * minuteMs, pressure: 1000 }])
  t.equal(only(fleet)?.metric, 'pressure')
  fleet.take([{ device: 1, timeMs: startMs - 40 * minuteMs, pressure: 1000, humidity: 50 }])
  t.match(only(fleet), { metric: 'humidity', means: [...Array(23).fill(null), 50] })
  fleet.take([{ device: 1, timeMs: startMs - 30 * minuteMs, pressure: 1000 }])
  t.equal(only(fleet)?.metric, 'humidity', 'it may come with some readings only')
  fleet.take([{ device: 1, timeMs: startMs + 24 * hourMs, pressure: 1000 }])
  t.equal(only(fleet)?.metric, 'humidity', 'too far ahead of the clock')
  fleet.clock.nowMs = startMs + 26 * hourMs
  fleet.take([{ device: 1, timeMs: startMs + 25 * hourMs, pressure: 1001 }])
  t.match(only(fleet), { metric: 'pressure', means: [...Array(23).fill(null), 1001] })
})

t.test('a trend is the change from three hours before, by the hours around then', async t => {
  for (const [text, trend] of Object.entries({ 0: 'steady', 0.16: 'steady', 1: 'rising', '-0.2': 'falling' })) {
    const slope = Number(text)
    const fleet = await makeFleet(t, devices, startMs)
    fleet.take(tenMinutes(6, hoursBefore => ({ temperature: 20 - slope * hoursBefore })))
    const found = only(fleet)
    t.equal(found?.trend, trend)
    // Six readings of an hour, of which the last is ten minutes before its end, have the mean of 5 minutes before its middle.
    t.ok(Math.abs((found?.change ?? Number.NaN) - slope * (3 + 1 / 12)) < 0.006, `${found?.change} by ${slope}`)
  }
})

t.test('without a recent value, or without the hours, there is no trend', async t => {
  const fleet = await makeFleet(t, devices, startMs)
  fleet.take(tenMinutes(3, () => ({ temperature: 20 })))
  t.equal(only(fleet)?.trend, null, 'only one of the two hours')
  const longer = await makeFleet(t, devices, startMs)
  longer.take(tenMinutes(4, () => ({ temperature: 20 })))
  t.match(only(longer), { change: 0, trend: 'steady' })
  longer.clock.nowMs = startMs + hourMs
  t.match(only(longer), { change: null, trend: null }, 'the value is too old to be told')
})

t.test('a change is that of a line through the means, wherever the moment lies', async t => {
  const line = (hour: number) => 2 * (hour + 0.5)
  fc.assert(
    fc.property(fc.integer({ min: 10 * hourMs, max: 20 * hourMs }), timeMs => {
      const value = (2 * timeMs) / hourMs
      return Math.abs(threeHourChange(value, timeMs, line) - 6) < 1e-9
    }),
  )
  t.ok(Number.isNaN(threeHourChange(1, 5 * hourMs, hour => (hour === 2 ? Number.NaN : 1))))
  t.ok(Number.isNaN(threeHourChange(1, 5 * hourMs, hour => (hour === 1 ? Number.NaN : 1))))
  t.strictSame([trendOf(0.5, 0.5), trendOf(0.6, 0.5), trendOf(-0.6, 0.5)], ['steady', 'rising', 'falling'])
})

t.test('the means are those of a plain list, whatever comes and is merged', async () => {
  const reading = fc.record({ wait: fc.nat(50), temperature: fc.double({ min: -40, max: 60, noNaN: true }) })
  fc.assert(
    fc.property(fc.array(reading, { maxLength: 200 }), fc.nat(200), (readings, mergedAt) => {
      const columns = new Columns()
      columns.clear(3)
      const values = new Map<number, number[]>()
      let minute = 1_000_000
      for (const [index, { wait, temperature }] of readings.entries()) {
        minute += wait
        const hour = Math.floor(minute / 60)
        const value = (column: number) => (column === 0 ? temperature : Number.NaN)
        countValue(columns.get(), 3, hour, { timeUs: minute * 60e6, value })
        values.set(hour, [...(values.get(hour) ?? []), temperature])
        if (index !== mergedAt) continue
        // QuestDB has the same, and of the hour before another reading.
        mergeMean(columns.get(), 3, { hour, count: 1, mean: temperature + 5 })
        const before = values.get(hour - 1)
        if (before === undefined) continue
        before.push(7)
        const mean = before.reduce((sum, one) => sum + one, 0) / before.length
        replaceMean(columns.get(), 3, { hour: hour - 1, count: before.length, mean })
      }
      const newest = Math.floor(minute / 60)
      return Array.from({ length: 30 }, (_, ago) => newest - ago).every(hour => {
        const found = meanOf(columns.get(), 3, hour)
        const expected = values.get(hour)
        if (expected === undefined || newest - hour >= 26) return Number.isNaN(found)
        return Math.abs(found - expected.reduce((sum, one) => sum + one, 0) / expected.length) < 1e-4
      })
    }),
  )
})
