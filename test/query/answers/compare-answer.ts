/** The answer of compare_data: whole ones for small cases, and its parts against plain arithmetic. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import {
  buildCompare,
  type CompareInput,
  comparePreset,
  comparePresets,
  compareWindow,
} from '../../../query/analyses/compare.ts'
import { Comparison } from '../../../query/shapes/compare.ts'
import { dayMs, hourMs } from '../../analytics/series.ts'
import { validated } from '../../support/answer-shapes.ts'
import { hourlyOf, type Reading } from '../made-series.ts'

const berlin = createLocalTime('Europe/Berlin')
const roof = { name: 'roof', location_short: 'Dach »Süd«' }
const cellar = { name: 'cellar', location_short: 'Keller' }

function hoursOf(startMs: number, temperatures: readonly (number | undefined)[]): Reading[] {
  return temperatures.flatMap((temperature, hour): Reading[] => {
    return temperature === undefined ? [] : [[startMs + hour * hourMs + 60_000, { temperature }]]
  })
}

function compare(a: readonly Reading[], b: readonly Reading[], more: Partial<CompareInput> = {}) {
  const endMs = more.endMs ?? Date.UTC(2026, 6, 2)
  const text = buildCompare({
    a: { device: roof, hourly: hourlyOf(a) },
    b: { device: cellar, hourly: hourlyOf(b) },
    custom: [],
    preset: '24h',
    startMs: endMs - dayMs,
    endMs,
    nowMs: endMs + 90_000,
    local: berlin,
    withTimes: false,
    ...more,
  })
  return validated(Comparison, JSON.parse(text))
}

const noRelation = { pearson: null, n_eff: null, p_value: null, spearman: null, slope: null, intercept: null }
const noLag = { lag_seconds: null, lag_r: null, verdict: null }
const noErrors = { bias: null, sd_diff: null, mae: null, rmse: null, limits_of_agreement: null }
const noStats = { n: 0, ...noErrors, ...noRelation, ...noLag, reason: 'no_data' }
const emptyMetric = { a: [], b: [], diff: [], stats: noStats }

test('a whole answer: series where there are values, differences where there are two', async t => {
  const startMs = Date.UTC(2026, 6, 1)
  const a: Reading[] = [
    [startMs + 1, { temperature: 20, humidity: 50.1, pressure: 1000.25 }],
    [startMs + 2, { temperature: 21, pressure: 1000.75 }],
    [startMs + hourMs, { temperature: 22 }],
    [startMs + 5 * hourMs - 1, { temperature: 23, battery_voltage: 4 }],
    [startMs + dayMs, { temperature: 99 }],
  ]
  const b: Reading[] = [
    [startMs - 1, { temperature: 99 }],
    [startMs, { temperature: 20, pressure: 1000 }],
    [startMs + hourMs, { temperature: 23, humidity: 40 }],
    [startMs + 2 * hourMs, { temperature: 0.1 }],
  ]
  const at = (hour: number, v: number) => ({ d: `2026-07-01 0${hour}:00`, v })
  t.strictSame(compare(a, b), {
    a: { device: 'roof', location_short: 'Dach »Süd«' },
    b: { device: 'cellar', location_short: 'Keller' },
    time_zone: 'Europe/Berlin',
    generated_at: '2026-07-02 02:01',
    ...{ preset: '24h', start: '2026-07-01 02:00', end: '2026-07-02 02:00', step_seconds: 3600 },
    temperature: {
      unit: '°C',
      a: [at(2, 20.5), at(3, 22), at(6, 23)],
      b: [at(2, 20), at(3, 23), at(4, 0.1)],
      diff: [at(2, 0.5), at(3, -1)],
      stats: {
        n: 2,
        bias: -0.25,
        sd_diff: Math.sqrt(1.125),
        mae: 0.75,
        rmse: Math.sqrt(0.625),
        limits_of_agreement: [-0.25 - 1.96 * Math.sqrt(1.125), -0.25 + 1.96 * Math.sqrt(1.125)],
        ...noRelation,
        ...noLag,
        reason: 'insufficient_data',
      },
    },
    humidity: {
      unit: '%',
      a: [at(2, 50.1)],
      b: [at(3, 40)],
      diff: [],
      stats: noStats,
    },
    pressure: {
      unit: 'hPa',
      a: [at(2, 1000.5)],
      b: [at(2, 1000)],
      diff: [at(2, 0.5)],
      stats: { ...noStats, n: 1, bias: 0.5, mae: 0.5, rmse: 0.5, reason: 'insufficient_data' },
    },
  })
})

test('without data there are the same keys, empty arrays, nulls and a reason', async t => {
  const answer = compare([], [])
  t.strictSame(answer.temperature, { unit: '°C', ...emptyMetric })
  t.strictSame(answer.humidity, { unit: '%', ...emptyMetric })
  t.strictSame(answer.pressure, { unit: 'hPa', ...emptyMetric })
  const full = compare(hoursOf(Date.UTC(2026, 6, 1), [1]), [])
  t.strictSame(Object.keys(answer), Object.keys(full))
  t.strictSame(full.temperature, { unit: '°C', ...emptyMetric, a: [{ d: '2026-07-01 02:00', v: 1 }] })
})

test('t distinguishes the two hours that have the same label', async t => {
  const endMs = Date.UTC(2025, 9, 26, 4)
  const a = hoursOf(endMs - 4 * hourMs, [1, 2, 3, 4])
  const { temperature, start, end } = compare(a, a, { endMs, withTimes: true })
  t.strictSame([start, end], ['2025-10-25 06:00', '2025-10-26 05:00'])
  const labels = [2, 2, 3, 4].map((hour, place) => {
    return { d: `2025-10-26 0${hour}:00`, v: place + 1, t: endMs + (place - 4) * hourMs }
  })
  t.strictSame(temperature.a, labels)
  const timesOf = (points: object[]) => points.map(point => ('t' in point ? point.t : undefined))
  t.strictSame(timesOf(temperature.diff), timesOf(temperature.a))
})

test('the window ends with the last full hour of the device with the newest reading', async t => {
  const nowMs = Date.UTC(2026, 6, 2, 10, 40)
  const lastMs = Date.UTC(2026, 6, 1, 8, 59, 59)
  const endMs = Date.UTC(2026, 6, 1, 8)
  t.strictSame(compareWindow({ preset: '24h' }, [lastMs, lastMs - dayMs], nowMs), { startMs: endMs - dayMs, endMs })
  t.strictSame(compareWindow({ preset: '24h' }, [undefined, lastMs], nowMs), { startMs: endMs - dayMs, endMs })
  const year = compareWindow({ preset: '365d' }, [endMs], nowMs)
  t.strictSame(year, { startMs: endMs - 365 * dayMs, endMs }, 'a full hour is one')
  const hourMs = Date.UTC(2026, 6, 2, 10)
  const silent = compareWindow({ preset: '3d' }, [undefined, undefined], nowMs)
  t.strictSame(silent, { startMs: hourMs - 3 * dayMs, endMs: hourMs })
})

test('an alias is named as the preset that it stands for', async t => {
  t.strictSame(comparePresets, ['24h', '3d', '7d', '30d', '90d', '365d', '1d', '1w', '1m', '1y'])
  const presets = ['24h', '3d', '7d', '30d', '90d', '365d', '24h', '7d', '30d', '365d']
  t.strictSame(comparePresets.map(comparePreset), presets)
  for (const wrong of ['', '7D', '2d', 'toString', '__proto__', 'constructor']) t.equal(comparePreset(wrong), undefined)
})

test('points and counts equal the readings when hours are missing', async () => {
  const value = fc.option(fc.integer({ min: -300, max: 500 }), { nil: undefined, freq: 3 })
  const sides = fc.array(fc.tuple(value, value), { maxLength: 30 })
  const startMs = Date.UTC(2026, 6, 1)
  fc.assert(
    fc.property(sides, fc.integer({ min: -6, max: 6 }), (rows, offset) => {
      const aTenths = rows.map(([a]) => (a === undefined ? undefined : a / 10))
      const bTenths = rows.map(([, b]) => (b === undefined ? undefined : b / 10))
      const fromMs = startMs + offset * hourMs
      const { temperature } = compare(hoursOf(fromMs, aTenths), hoursOf(fromMs, bTenths), { withTimes: true })
      const expected = (of: (row: number) => number | undefined) =>
        rows.flatMap((_, row) => {
          const timeMs = fromMs + row * hourMs
          const v = timeMs < startMs || timeMs >= startMs + dayMs ? undefined : of(row)
          return v === undefined ? [] : [{ d: berlin.text(timeMs * 1000), v, t: timeMs }]
        })
      const difference = (row: number) => {
        const [a, b] = [aTenths[row], bTenths[row]]
        return a === undefined || b === undefined ? undefined : a - b
      }
      const [ofA, ofB] = [expected(row => aTenths[row]), expected(row => bTenths[row])]
      const differences = expected(difference)
      assert.deepEqual([temperature.a, temperature.b, temperature.diff], [ofA, ofB, differences])
      assert.equal(temperature.stats.n, differences.length)
      if (differences.length === 0) return
      const bias = differences.reduce((sum, { v }) => sum + v, 0) / differences.length
      assert.ok(Math.abs((temperature.stats.bias ?? Number.NaN) - bias) < 1e-12)
    }),
  )
})
