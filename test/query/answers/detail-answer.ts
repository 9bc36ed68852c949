/** The answer of detail_data: every reading of a day or a picture of them, and a month of hours. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import {
  buildDetail,
  type DetailInput,
  detailPointsMax,
  detailPointsMin,
  detailWindows,
} from '../../../query/analyses/detail.ts'
import type { CustomMetric } from '../../../query/custom-metric.ts'
import { DeviceDetail } from '../../../query/shapes/detail.ts'
import { type Metric, metrics } from '../../../store/tables.ts'
import { dayMs, hourMs, minuteMs } from '../../analytics/series.ts'
import { validated } from '../../support/answer-shapes.ts'
import { hourlyOf, type Reading, seriesOf } from '../made-series.ts'

const utc = createLocalTime('UTC')
const nowMs = Date.UTC(2026, 6, 2, 12, 0, 30)
const startMs = Date.UTC(2026, 6, 1, 12)

type Point = { d: string; v: number; t: number }

type More = Partial<DetailInput> & { every?: number | null; earlier?: readonly Reading[] }

function detail(readings: readonly Reading[], more: More = {}): DeviceDetail {
  const { every = 60, earlier = [], ...given } = more
  const text = buildDetail({
    device: { name: 'roof', expected_interval_seconds: every, altitude_m: null, quality_limits: null, profile: 'none' },
    series: seriesOf(readings),
    hourly: hourlyOf([...earlier, ...readings]),
    earlierMs: Float64Array.from(earlier, ([timeMs]) => timeMs),
    custom: [],
    nowMs,
    local: utc,
    points: undefined,
    withTimes: false,
    withFlags: false,
    ...given,
  })
  return validated(DeviceDetail, JSON.parse(text))
}

function temperatures(stepMs: number, values: readonly number[]): Reading[] {
  return values.map((temperature, index) => [startMs + (index + 1) * stepMs, { temperature }])
}

const point = (d: string, v: number) => ({ d, v })
/** An hour of one value. */
const hourOf = (d: string, v: number) => ({ d, mean: v, min: v, max: v, count: 1 })
const nothing = { temperature: [], humidity: [], pressure: [], battery_voltage: [], battery_percentage: [] }

test('a whole answer: raw points without the missing ones, hours without the empty ones', async t => {
  const answer = detail(
    [
      [startMs + 1, { temperature: 20.25, humidity: 50, battery_voltage: 3.7 }],
      [startMs + 60_000, { temperature: -0.1 }],
      [startMs + 24 * hourMs, { temperature: 1e-7, pressure: 1000.125, battery_percentage: 99 }],
    ],
    { earlier: [[startMs - 20 * dayMs + 5, { humidity: 40 }]] },
  )
  const first = '2026-07-01 12:00'
  const last = '2026-07-02 12:00'
  t.strictSame(answer, {
    device: 'roof',
    time_zone: 'UTC',
    generated_at: '2026-07-02 12:00',
    last_24h: {
      temperature: [point(first, 20.25), point('2026-07-01 12:01', -0.1), point(last, 1e-7)],
      humidity: [point(first, 50)],
      pressure: [point(last, 1000.125)],
      battery_voltage: [point(first, 3.7)],
      battery_percentage: [point(last, 99)],
      gap_seconds: 150,
      downsampled: false,
    },
    last_30d_hourly: {
      temperature: [{ d: first, mean: (20.25 - 0.1) / 2, min: -0.1, max: 20.25, count: 2 }, hourOf(last, 1e-7)],
      humidity: [hourOf('2026-06-11 12:00', 40), hourOf(first, 50)],
      pressure: [hourOf(last, 1000.125)],
      battery_voltage: [hourOf(first, 3.7)],
      battery_percentage: [hourOf(last, 99)],
    },
  })
  t.strictSame(Object.keys(answer.last_24h), [...metrics, 'gap_seconds', 'downsampled'])
})

test('a device without readings has the same keys, with or without a number of points', async t => {
  for (const points of [undefined, 100]) {
    const answer = detail([], { every: null, points })
    t.strictSame(answer.last_24h, { ...nothing, gap_seconds: null, downsampled: false })
    t.strictSame(answer.last_30d_hourly, nothing)
    t.strictSame(detail([], { points }).last_24h, { ...nothing, gap_seconds: 150, downsampled: false }, 'configured')
  }
})

test('t distinguishes the two repeated hours, in whole milliseconds', async t => {
  const local = createLocalTime('Europe/Berlin')
  const beforeMs = Date.UTC(2025, 9, 26, 0, 30)
  const readings: Reading[] = [
    [beforeMs + 0.123, { temperature: 1 }],
    [beforeMs + hourMs, { temperature: 2 }],
  ]
  const { last_24h, last_30d_hourly } = detail(readings, { local, nowMs: beforeMs + 2 * hourMs, withTimes: true })
  t.strictSame(last_24h.temperature, [
    { d: '2025-10-26 02:30', v: 1, t: beforeMs },
    { d: '2025-10-26 02:30', v: 2, t: beforeMs + hourMs },
  ])
  t.strictSame(last_30d_hourly.temperature, [
    { ...hourOf('2025-10-26 02:00', 1), t: beforeMs - hourMs / 2 },
    { ...hourOf('2025-10-26 02:00', 2), t: beforeMs + hourMs / 2 },
  ])
})

test('both windows end at the full minute and include the running hour', async t => {
  const throughMs = Date.UTC(2026, 6, 2, 12)
  t.strictSame(detailWindows({ nowMs }), {
    afterUs: (throughMs - dayMs) * 1000,
    throughUs: throughMs * 1000,
    throughMs,
    fromMs: throughMs + hourMs - 30 * dayMs,
    toMs: throughMs + hourMs,
  })
  const { throughMs: minute, toMs } = detailWindows({ nowMs: throughMs - 1 })
  t.strictSame([minute, toMs], [throughMs - minuteMs, throughMs])
})

test('a picture with as many points as readings returns the readings', async t => {
  const values = Array.from({ length: 200 }, (_, minute) => Math.sin(minute / 9) * 7)
  const readings = temperatures(minuteMs, values)
  t.strictSame(detail(readings, { points: 200 }), detail(readings))
  const fewer = detail(readings, { points: 199 }).last_24h
  t.ok(fewer.downsampled && fewer.temperature.length < 200)
  t.ok(detail(readings, { points: detailPointsMax }).last_24h.downsampled === false)
})

/** Readings of a metric at intervals of a minute, sometimes of hours. */
const day = fc.array(
  fc.record({
    waitMs: fc.oneof(
      { weight: 30, arbitrary: fc.constant(minuteMs) },
      { weight: 1, arbitrary: fc.integer({ min: 3, max: 120 }).map(minutes => minutes * minuteMs) },
    ),
    temperature: fc.option(fc.double({ min: -40, max: 60, noNaN: true }), { nil: undefined, freq: 9 }),
    humidity: fc.option(fc.double({ min: 0, max: 100, noNaN: true }), { nil: undefined, freq: 3 }),
  }),
  { maxLength: 300, size: 'max' },
)

function readingsOf(list: typeof day extends fc.Arbitrary<infer Made> ? Made : never) {
  let timeMs = startMs
  return list.map(({ waitMs, ...values }): Reading => {
    timeMs += waitMs
    return [timeMs, Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))]
  })
}

function pointsOf(readings: readonly Reading[], metric: Metric): Point[] {
  return readings.flatMap(([timeMs, values]): Point[] => {
    const v = values[metric]
    return v === undefined ? [] : [{ d: utc.text(timeMs * 1000), v: v === 0 ? 0 : v, t: timeMs }]
  })
}

test('suspect readings have a flag for who asks, also in a picture', async t => {
  const values = Array.from({ length: 1000 }, (_, index) => 20 + (index % 7) / 10)
  values[400] = 35
  values[700] = -31
  const readings = temperatures(60_000, values)
  const flaggedIn = (more: More) =>
    detail(readings, { withTimes: true, ...more }).last_24h.temperature.filter(point => 'flag' in point)
  const suspect = (index: number) => ({ ...pointsOf(readings, 'temperature')[index], flag: 3 })
  const all = flaggedIn({ withFlags: true })
  // Between 20 and 35, the neighbours of the spike are also far from their neighbours.
  t.strictSame(all, [399, 400, 401, 699, 700, 701].map(suspect))
  t.strictSame(flaggedIn({ withFlags: true, points: 50 }), all)
  t.strictSame(flaggedIn({ points: 50 }), [])
  t.strictSame(flaggedIn({}), [])
})

test('raw points are the readings to the last bit', async () => {
  fc.assert(
    fc.property(day, list => {
      const readings = readingsOf(list)
      const { last_24h } = detail(readings, { withTimes: true })
      for (const metric of ['temperature', 'humidity', 'pressure'] as const) {
        assert.deepEqual(last_24h[metric], pointsOf(readings, metric))
      }
    }),
  )
})

test('a picture is a subset of the readings, broken at gaps of more than gap_seconds only', async () => {
  let broken = 0
  fc.assert(
    fc.property(day, fc.integer({ min: detailPointsMin, max: 300 }), (list, points) => {
      const readings = readingsOf(list)
      const { gap_seconds, downsampled, ...last_24h } = detail(readings, { withTimes: true, points }).last_24h
      assert.ok(gap_seconds !== null && gap_seconds >= 150)
      let left = 0
      for (const metric of ['temperature', 'humidity'] as const) {
        const all = pointsOf(readings, metric)
        const kept = last_24h[metric].map(point => ({ t: 0, ...point }))
        left += all.length - kept.length
        assert.ok(kept.length <= points)
        const places = kept.map(point => all.findIndex(({ t }) => t === point.t))
        const thinned = places.map(place => all[place])
        assert.deepEqual(thinned, kept)
        for (let index = 1; index < kept.length; index++) {
          const stepMs = (kept[index]?.t ?? 0) - (kept[index - 1]?.t ?? 0)
          if (stepMs <= gap_seconds * 1000) continue
          broken++
          const isBeside = (places[index] ?? 0) - (places[index - 1] ?? 0) === 1
          assert.ok(isBeside, 'the line is broken where there are readings')
        }
      }
      assert.equal(downsampled, left > 0)
    }),
  )
  assert.ok(broken > 50, `${broken} gaps were met`)
})

test('the interval is the one of the statistics for any part of a day', async t => {
  const rare = (stepMs: number, count: number) => temperatures(-stepMs, new Array<number>(count).fill(20)).toReversed()
  const gap = (readings: readonly Reading[]) => {
    const within = readings.filter(([timeMs]) => timeMs > startMs)
    const earlier = readings.filter(([timeMs]) => timeMs <= startMs)
    return detail(within, { every: null, earlier }).last_24h.gap_seconds
  }
  const stats = (readings: readonly Reading[]) => {
    const timesMs = Float64Array.from(readings, ([timeMs]) => timeMs)
    return (cadenceOf(timesMs, null).gapMs ?? Number.NaN) / 1000
  }
  const hourly = rare(hourMs, 200)
  const few: Reading[] = [...hourly, [startMs + 5 * minuteMs, { temperature: 20 }]]
  for (const readings of [hourly, few, rare(10 * minuteMs, 300)]) t.equal(gap(readings), stats(readings))
  t.equal(gap(hourly), 9000, 'also of a day without a reading')
})

test('a thinned line of a custom metric breaks only where the device was silent', async t => {
  const timesMs = Float64Array.from({ length: 24 * 60 }, (_, index) => startMs + (index + 1) * minuteMs)
  const described = { title: 'Air quality', unit: null, decimals: 0, quality: null, speed: undefined, place: undefined }
  const custom = (['counter', 'state'] as const).map(kind => {
    const metric = { ...described, name: kind, kind } as unknown as CustomMetric
    const values = timesMs.map((_, index) => (kind === 'state' ? Math.floor(index / 240) % 2 : index ** 2))
    const day = { metric, timesMs, values, speeds: undefined }
    return { day, month: day }
  })
  const { last_24h, metrics: { counter, state } = {} } = detail([], { custom, points: 100, withTimes: true })
  for (const [name, answer] of Object.entries({ counter, state })) {
    const points = (last_24h as unknown as Record<string, Point[]>)[name] ?? []
    const stepsMs = points.slice(1).map(({ t }, place) => t - (points[place] as Point).t)
    t.ok(Math.max(...stepsMs) > 150_000, `points of the ${name} are further apart than two of its readings`)
    t.equal(answer?.gap_seconds, Math.max(...stepsMs) / 1000)
  }
  t.equal(state?.hold_seconds, 60)
  const { metrics: { counter: all } = {} } = detail([], { custom })
  t.equal(all?.gap_seconds, 150, 'of all readings')
})
