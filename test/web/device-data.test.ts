/** What the device and compare pages make of answers: series with their gaps, calendars, tables, and what keys do. */

import t from 'tap'
import { keyAction, moveCursor } from '../../web/charts/chart-keys.ts'
import type { ComparedMetric } from '../../web/pages/compare/answers.ts'
import { comparedWindow } from '../../web/pages/compare/comparison-panels.ts'
import { freshMs } from '../../web/pages/device/age.ts'
import type { Detail } from '../../web/pages/device/answers.ts'
import { calendarWeeks } from '../../web/pages/device/calendar-weeks.ts'
import { daySeries, monthSeries, readingsSeries, withLastValues } from '../../web/pages/device/chart-series.ts'
import { readingsQuery, sourceOf } from '../../web/pages/device/range-plan.ts'
import { suspectMetrics, suspectsIn } from '../../web/pages/device/suspects.ts'
import { builtInNames } from '../../web/text/quantities.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const none = { humidity: [], pressure: [], battery_voltage: [], battery_percentage: [] }
const d = '1970-01-01 00:00'
const hour = { t: 0, mean: 2, min: 1, max: 3, count: 60, d }
const detail: Detail = {
  device: 'porch',
  time_zone: 'UTC',
  generated_at: d,
  last_24h: {
    ...none,
    temperature: [
      { t: 1000, v: 1, d },
      { t: 2000, v: 2, d },
    ],
    gap_seconds: 150,
    downsampled: false,
  },
  last_30d_hourly: { ...none, temperature: [hour, { ...hour, t: 3 * hourMs }] },
}

t.test('the last day goes on with the readings that come, each once', async t => {
  const live = [
    { ts: 2000, values: { temperature: 2 } },
    { ts: 3000, values: { temperature: 3, humidity: 50 } },
  ]
  t.strictSame(daySeries(detail, builtInNames, live), [
    { kind: 'gauge', metric: 'temperature', timesMs: [1000, 2000, 3000], values: [1, 2, 3], gapMs: 150_000 },
    { kind: 'gauge', metric: 'humidity', timesMs: [3000], values: [50], gapMs: 150_000 },
  ])
  const irregular = { ...detail, last_24h: { ...detail.last_24h, gap_seconds: null } }
  t.equal(daySeries(irregular, builtInNames, [])[0]?.gapMs, null)
})

t.test('the last values are points of the day, before what comes and in its range', async t => {
  const live = [
    { ts: 4000, values: { temperature: 4 } },
    { ts: 5000, values: { temperature: 5 } },
  ]
  const values = {
    temperature: { v: 3, ts: 3000, unit: '°C' },
    humidity: { v: 50, ts: 4000, unit: '%' },
    pressure: { v: 1000, ts: 400, unit: 'hPa' },
  }
  const series = daySeries(detail, builtInNames, withLastValues(live, values, { fromMs: 500, toMs: 9000 }))
  t.match(series, [
    { metric: 'temperature', timesMs: [1000, 2000, 3000, 4000, 5000], values: [1, 2, 3, 4, 5] },
    { metric: 'humidity', timesMs: [4000], values: [50] },
  ])
  t.equal(series.length, 2, 'what has no value is no line')
  const again = withLastValues(live, { temperature: { v: 5, ts: 5000, unit: '°C' } }, { fromMs: 500, toMs: 9000 })
  t.strictSame(daySeries(detail, builtInNames, again)[0]?.timesMs, [1000, 2000, 4000, 5000], 'each reading once')
})

t.test('means have extremes, and a gap where one is missing', async t => {
  const gauge = { kind: 'gauge', metric: 'temperature' }
  t.strictSame(monthSeries(detail, builtInNames), [
    {
      ...gauge,
      timesMs: [0, 3 * hourMs],
      values: [2, 2],
      extremes: { lows: [1, 1], highs: [3, 3] },
      gapMs: 1.5 * hourMs,
    },
  ])
  const rows = [
    { ts: 0, temperature_mean: 2, temperature_min: 1, temperature_max: 3, temperature_count: 4 },
    { ts: 60_000, temperature_count: 0 },
  ]
  const mean = { ...gauge, timesMs: [0], values: [2], extremes: { lows: [1], highs: [3] }, gapMs: 7_200_000 }
  t.strictSame(
    readingsSeries(rows, builtInNames, 60, () => 7_200_000),
    [mean],
  )
  const gapOf = (metric: string) => (metric === 'co2' ? 60_000 : null)
  t.strictSame(readingsSeries([{ ts: 5, pressure: 1000, co2: 400 }], ['pressure', 'co2'], undefined, gapOf), [
    { kind: 'gauge', metric: 'pressure', timesMs: [5], values: [1000], gapMs: null },
    { kind: 'gauge', metric: 'co2', timesMs: [5], values: [400], gapMs: 60_000 },
  ])
})

t.test('a range is read as finely as it is drawn, and at full steps', async t => {
  const nowMs = 20_000 * dayMs + 12_345
  t.strictSame(sourceOf({ preset: '24h' }, { fromMs: nowMs - dayMs, toMs: nowMs }, 60), { kind: 'day' })
  t.strictSame(sourceOf({ preset: '30d' }, { fromMs: nowMs - 30 * dayMs, toMs: nowMs }, 60), { kind: 'month' })
  const week = { fromMs: nowMs - 7 * dayMs, toMs: nowMs }
  t.match(sourceOf({ preset: '7d' }, week, 60), {
    stepSeconds: 900,
    window: { fromMs: 19_993 * dayMs, toMs: 20_000 * dayMs + 900_000 },
  })
  const hourly = sourceOf({ preset: '7d' }, week, 3600)
  t.match(hourly, { kind: 'readings', stepSeconds: undefined }, 'as it came')
  t.equal(readingsQuery({ fromMs: 1, toMs: 2 }, 60, 'json'), 'start=1&end=2&step=60&format=json')
  t.equal(readingsQuery({ fromMs: 1, toMs: 2 }, undefined, 'csv'), 'start=1&end=2&format=csv')
  t.match(readingsQuery({ fromMs: 1, toMs: 2 }, 60, 'json', ['a', 'b']), '&metrics=a,b')
})

t.test('up to which age a value is current', async t => {
  const regular = { cadence: 'regular', expected_interval_seconds: 60, gap_threshold_seconds: 150 } as const
  t.equal(freshMs('co2', regular, undefined), 120_000)
  t.equal(freshMs('co2', { ...regular, expected_interval_seconds: 10 }, undefined), 70_000)
  t.equal(freshMs('co2', undefined, undefined), 1_800_000)
  const irregular = { cadence: 'irregular', expected_interval_seconds: 1080, gap_threshold_seconds: 15_960 } as const
  t.equal(freshMs('co2', irregular, undefined), 15_960_000, 'the service has an irregular device as fresh up to G')
  const co2 = { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 } as const
  const gaps = (gap_seconds: number) => ({ last_24h: { gap_seconds: 150 }, metrics: { co2: { ...co2, gap_seconds } } })
  t.equal(freshMs('co2', regular, gaps(1500)), 1_500_000, 'what comes less often has gaps of its own')
  t.equal(freshMs('co2', regular, gaps(150)), 120_000)
  t.equal(freshMs('temperature', regular, gaps(1500)), 120_000)
})

t.test('weeks begin on Monday', async t => {
  const days = ['2026-11-21', '2026-11-22', '2026-11-23'].map(date => ({ date }))
  const [saturday, sunday, monday] = days
  const six = new Array(6).fill(undefined)
  t.strictSame(calendarWeeks(days), [
    [...new Array(5).fill(undefined), saturday, sunday],
    [monday, ...six],
  ])
  t.strictSame(calendarWeeks([]), [])
})

t.test('keys move the cursor from value to value', async t => {
  const key = (key: string, more = {}) =>
    keyAction({ key, shiftKey: false, ctrlKey: false, altKey: false, metaKey: false, ...more })
  t.strictSame(key('ArrowLeft'), { kind: 'step', points: -1 })
  t.strictSame(key('ArrowLeft', { shiftKey: true }), { kind: 'pan', share: -0.25 })
  t.strictSame(key('+', { shiftKey: true }), { kind: 'zoom', factor: 0.5 })
  t.equal(key('ArrowLeft', { ctrlKey: true }), undefined, 'of the browser')
  t.equal(key('Tab'), undefined)
  const times = [10, 20, 30, 40]
  const step = (points: number, atMs?: number) => moveCursor({ kind: 'step', points }, atMs, times)
  t.strictSame([step(-1), step(-1, 40), step(-1, 25), step(1, 25), step(1, 40), step(-1, 10)], [40, 30, 20, 30, 40, 10])
  t.equal(moveCursor({ kind: 'leap', share: -0.1 }, 40, times), 30, 'at least one value')
  t.equal(moveCursor({ kind: 'end', isLast: false }, 40, times), 10)
  t.equal(moveCursor({ kind: 'end', isLast: true }, undefined, []), undefined)
})

t.test('two devices are drawn over the same hours', async t => {
  const points = (...hours: number[]) => hours.map(at => ({ t: at * hourMs, v: at, d }))
  const stats = {} as ComparedMetric['stats']
  const metric: ComparedMetric = { unit: '°C', a: points(0, 1, 2, 9), b: points(0, 2), diff: points(0, 2), stats }
  t.strictSame(comparedWindow([metric], '24h'), { fromMs: -14 * hourMs, toMs: 10 * hourMs })
  t.equal(comparedWindow([{ ...metric, a: [], b: [] }], '7d'), undefined)
})

t.test('suspect readings are told where all of them are known, by the row of the table that they are in', async t => {
  const nowMs = 100 * dayMs
  const point = (hoursAgo: number, flag?: 3) => ({ t: nowMs - hoursAgo * hourMs, v: hoursAgo, ...(flag && { flag }) })
  const measured = { temperature: [point(20, 3), point(5), point(2, 3)], humidity: [point(2, 3)], pressure: [point(2)] }
  const last_24h = { ...none, ...measured, gap_seconds: null }
  const detail = { time_zone: 'UTC', last_24h, last_30d_hourly: {} } as unknown as Detail
  const within = (fromHours: number, toHours: number) =>
    suspectsIn(detail, builtInNames, { fromMs: nowMs - fromHours * hourMs, toMs: nowMs - toHours * hourMs }, nowMs)
  t.strictSame(Object.fromEntries(within(24, 0)), {
    temperature: { timesMs: [nowMs - 20 * hourMs, nowMs - 2 * hourMs], values: [20, 2] },
    humidity: { timesMs: [nowMs - 2 * hourMs], values: [2] },
  })
  t.equal(within(19, 3).size, 0)
  t.equal(within(25, 0).size, 0, 'not a part of a longer time')
  t.equal(suspectsIn(undefined, builtInNames, { fromMs: nowMs, toMs: nowMs }, nowMs).size, 0)
  t.strictSame(
    [...suspectMetrics(within(24, 0))].join('; '),
    `${nowMs - 20 * hourMs},temperature; ${nowMs - 2 * hourMs},temperature,humidity`,
  )
  t.strictSame([...suspectMetrics(within(3, 0), 12 * hourMs)], [[nowMs - 12 * hourMs, ['temperature', 'humidity']]])
})
