/** Structures of the live state, compared with plain arrays. */

import fc from 'fast-check'
import t from 'tap'
import { threeHourChange, trendOf } from '../../../analytics/summary/pressure-tendency.ts'
import { Deadlines, noDeadline } from '../../../query/live/deadlines.ts'
import { DeviceHours } from '../../../query/live/device-hours.ts'
import { type FleetOrder, ListedOrder } from '../../../query/live/fleet-order.ts'
import { pageOf } from '../../../query/live/fleet-page.ts'
import { LatestValues } from '../../../query/live/latest-values.ts'
import { LiveFleet } from '../../../query/live/live-fleet.ts'
import { liveStates } from '../../../query/live/live-state.ts'
import { hourMs, minuteMs } from '../../analytics/series.ts'
import { runs } from '../../support/runs.ts'
import { type MadeFleet, type MadeReading, madeDevice, makeFleet, stored } from './made-fleet.ts'

t.test('deadlines come in the order of time, whatever is set and taken away', async () => {
  const change = fc.record({ place: fc.nat(200), timeMs: fc.oneof(fc.nat(50), fc.constant(Number.POSITIVE_INFINITY)) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), changes => {
      const items = Array.from({ length: 201 }, () => ({ ...noDeadline }))
      const deadlines = new Deadlines()
      const expected = new Map<object, number>()
      for (const { place, timeMs } of changes) {
        const item = items[place] as (typeof items)[0]
        deadlines.set(item, timeMs)
        if (timeMs === Number.POSITIVE_INFINITY) expected.delete(item)
        else expected.set(item, timeMs)
        if (deadlines.nextMs() !== Math.min(Number.POSITIVE_INFINITY, ...expected.values())) return false
      }
      for (let item = deadlines.next(); item !== undefined; item = deadlines.next()) {
        if (expected.get(item) !== deadlines.nextMs()) return false
        if (deadlines.nextMs() !== Math.min(...expected.values())) return false
        deadlines.set(item, Number.POSITIVE_INFINITY)
        expected.delete(item)
      }
      return expected.size === 0
    }),
  )
})

/** The expected fleet in its plainest form. */
interface ModelDevice {
  name: string
  log: boolean
  lastMs: number
}

const unseen = Number.NEGATIVE_INFINITY
const name = fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom('a', 'b', 'Z', 'é', '0') })
const devicesMax = 560
const number = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: devicesMax }))
const event = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('change' as const), number, name, log: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), number }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const), number, agoMs: fc.nat(1_000_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(200_000) }) },
)
type FleetEvent = typeof event extends fc.Arbitrary<infer Event> ? Event : never

function happen(event: FleetEvent, fleet: LiveFleet, model: Map<number, ModelDevice>, clock: { nowMs: number }): void {
  if (event.kind === 'change') {
    const [unique, { number, log }] = [`${event.name}-${event.number}`, event]
    fleet.deviceChanged(madeDevice(number, { name: unique, log_switch: log, expected_interval_seconds: 60 }))
    model.set(number, { name: unique, log, lastMs: model.get(number)?.lastMs ?? unseen })
  } else if (event.kind === 'remove') {
    fleet.deviceRemoved(event.number)
    model.delete(event.number)
  } else if (event.kind === 'read') {
    const timeMs = clock.nowMs - event.agoMs
    fleet.take(stored([{ device: event.number, timeMs, temperature: 1 }]))
    const known = model.get(event.number)
    if (known !== undefined) known.lastMs = Math.max(known.lastMs, timeMs)
  } else clock.nowMs += event.ms
}

function modelState({ log, lastMs }: ModelDevice, nowMs: number): number {
  if (!log) return 4
  if (lastMs === unseen) return 2
  const seconds = Math.floor((nowMs - lastMs) / 1000)
  if (seconds <= 120) return 3
  return seconds <= 360 ? 1 : 0
}

/** A digit of the state and the name, in the order of all pages. */
function allPages(order: FleetOrder, limit: number): string[] {
  const found: string[] = []
  let after: { state: (typeof liveStates)[number]; name: string } | undefined
  for (;;) {
    const { devices, hasMore } = pageOf(order, { states: liveStates, order: 'state', after, limit })
    for (const { state, device } of devices) found.push(`${liveStates.indexOf(state)}${device.name}`)
    const last = devices.at(-1)
    if (!hasMore || last === undefined) return found
    after = { state: last.state, name: last.device.name }
  }
}

t.test('pages equal a sorted array after any changes of the fleet', async () => {
  const failed = (error: unknown) => {
    throw error
  }
  fc.assert(
    fc.property(fc.array(event, { maxLength: 200, size: 'max' }), fc.integer({ min: 5, max: 60 }), (events, limit) => {
      const clock = { nowMs: 1_800_000_000_000 }
      const model = new Map<number, ModelDevice>()
      const fleet = new LiveFleet({ nowMs: () => clock.nowMs, wants: () => undefined, failed })
      for (let number = 1; number < devicesMax; number += 1) {
        happen({ kind: 'change', number, name: `${(number * 7919) % devicesMax}`, log: true }, fleet, model, clock)
      }
      for (const each of events) happen(each, fleet, model, clock)
      while (fleet.advance());
      const expected = [...model.values()]
        .map(device => `${modelState(device, clock.nowMs)}${device.name}`)
        .sort((a, b) => (a < b ? -1 : 1))
      const counts = liveStates.map((_, state) => expected.filter(text => text.startsWith(String(state))).length)
      // Every third device has an owner.
      const owned = [...model]
        .filter(([number]) => number % 3 === 0)
        .map(([number, { name }]) => ({ number, name }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
      const listed = new ListedOrder(owned, number => fleet.get(number))
      const ownNames = new Set(owned.map(({ name }) => name))
      const expectedOwn = expected.filter(text => ownNames.has(text.slice(1)))
      return (
        allPages(fleet.order, limit).join() === expected.join() &&
        counts.join() === liveStates.map(state => fleet.order.counts[state]).join() &&
        allPages(listed, limit).join() === expectedOwn.join() &&
        Object.values(listed.counts).reduce((sum, count) => sum + count, 0) === owned.length
      )
    }),
    runs(8, 100),
  )
})

t.test('a page of listed devices reads only these in a search that yields between its turns', async t => {
  const devices = Array.from({ length: 20_000 }, (_, index) => {
    const [name, location_short] = [`sensor-${String(index).padStart(5, '0')}`, index % 2 === 0 ? 'Roof' : '']
    return madeDevice(index + 1, { name, location_short })
  })
  const { live } = await makeFleet(t, devices, Date.UTC(2026, 5, 1))
  const owned = devices.filter(({ number }) => number % 100 === 1)
  const asked = { states: liveStates, order: 'name', after: undefined, limit: 10 } as const
  const page = live.page(asked, owned)
  const own = page.devices.map(text => JSON.parse(text).device).join()
  t.equal(own, Array.from(owned.slice(0, 10), ({ name }) => name).join())
  t.equal(live.counts(owned).never, 200)
  t.equal(live.page({ ...asked, limit: 200 }, owned).last, undefined)
  const large = devices.filter(({ number }) => number % 3 === 0)
  const searching = live.search({ ...asked, limit: 1000 }, 'roof', new AbortController().signal, large)
  // Between two turns of the search, a found device is removed. Another device with a matching place is added.
  const first = large.find(({ location_short }) => location_short === 'Roof')
  live.deviceRemoved(first?.number ?? 0)
  live.deviceChanged(madeDevice(50_000, { name: 'somebody-elses', location_short: 'Roof' }))
  const found = await searching
  const names = found?.devices.map(text => JSON.parse(text).device) ?? []
  t.equal(names.length, 999)
  t.notOk(names.includes('somebody-elses') || names.includes(first?.name))
  t.not(found?.last, undefined, 'and there are more')
  t.strictSame(live.page(asked, []).devices, [])
})

t.test('the hour in which a device begins is not a full one', async t => {
  const [minuteMs, firstMs] = [60_000, Date.UTC(2026, 0, 1, 10, 30)]
  let nowMs = firstMs
  const failed = (error: unknown) => {
    throw error
  }
  const fleet = new LiveFleet({ nowMs: () => nowMs, wants: () => undefined, failed })
  fleet.deviceChanged(madeDevice(1, { expected_interval_seconds: 600 }))
  for (; nowMs < firstMs + 150 * minuteMs; nowMs += 10 * minuteMs) {
    fleet.take(stored([{ device: 1, timeMs: nowMs, temperature: 1 }]))
  }
  const shareOf = (hour: number) => fleet.get(1)?.hourShare(Date.UTC(2026, 0, 1, hour))
  t.strictSame([9, 10, 11, 12].map(shareOf), [Number.NaN, Number.NaN, 1, 1])
})

const startMs = Date.UTC(2026, 5, 1, 12)
const devices = [madeDevice(1, { expected_interval_seconds: 600 }), madeDevice(2)]
const only = ({ live }: MadeFleet) => live.trends(devices).devices[0]

function tenMinutes(hours: number, values: (hoursBefore: number) => Partial<MadeReading>): MadeReading[] {
  return Array.from({ length: 6 * hours + 1 }, (_, index) => {
    const hoursBefore = hours - index / 6
    return { device: 1, timeMs: startMs - hoursBefore * hourMs, ...values(hoursBefore) }
  })
}

t.test('the last 24 full hours have the means of their values, or null without values', async t => {
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
    // Six readings of an hour, the last ten minutes before its end, have their mean 5 minutes before its middle.
    t.ok(Math.abs((found?.change ?? Number.NaN) - slope * (3 + 1 / 12)) < 0.006, `${found?.change} by ${slope}`)
  }
})

t.test('a trend needs a recent value and the hours before it', async t => {
  const fleet = await makeFleet(t, devices, startMs)
  fleet.take(tenMinutes(3, () => ({ temperature: 20 })))
  t.equal(only(fleet)?.trend, null, 'only one of the two hours')
  const longer = await makeFleet(t, devices, startMs)
  longer.take(tenMinutes(4, () => ({ temperature: 20 })))
  t.match(only(longer), { change: 0, trend: 'steady' })
  longer.clock.nowMs = startMs + hourMs
  t.match(only(longer), { change: null, trend: null }, 'the value is too old to be shown')
})

t.test('a change is the slope of a line through the means at any moment', async t => {
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

t.test('means equal a plain list after any values and merges', async () => {
  const reading = fc.record({ wait: fc.nat(50), temperature: fc.double({ min: -40, max: 60, noNaN: true }) })
  fc.assert(
    fc.property(fc.array(reading, { maxLength: 200 }), fc.nat(200), (readings, mergedAt) => {
      const hours = new DeviceHours()
      const latest = new LatestValues()
      const values = new Map<number, number[]>()
      let minute = 1_000_000
      for (const [index, { wait, temperature }] of readings.entries()) {
        minute += wait
        const hour = Math.floor(minute / 60)
        const value = (column: number) => (column === 0 ? temperature : Number.NaN)
        hours.addValue(hour, { timeUs: minute * 60e6, value }, latest)
        values.set(hour, [...(values.get(hour) ?? []), temperature])
        if (index !== mergedAt) continue
        hours.setMean(hour, { count: 1, mean: temperature + 5 }, false)
        const before = values.get(hour - 1)
        if (before === undefined) continue
        before.push(7)
        const mean = before.reduce((sum, one) => sum + one, 0) / before.length
        hours.setMean(hour - 1, { count: before.length, mean }, true)
      }
      const newest = Math.floor(minute / 60)
      return Array.from({ length: 30 }, (_, ago) => newest - ago).every(hour => {
        const found = hours.mean(hour)
        const expected = values.get(hour)
        if (expected === undefined || newest - hour >= 26) return Number.isNaN(found)
        return Math.abs(found - expected.reduce((sum, one) => sum + one, 0) / expected.length) < 1e-4
      })
    }),
  )
})
