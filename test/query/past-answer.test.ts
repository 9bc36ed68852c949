/** The answer of past_window_data: local days hour by hour, also where clocks change or are half an hour off. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { createLocalTime, type LocalTime } from '../../analytics/time/local-time.ts'
import { buildPast, pastDays } from '../../query/answers/past-answer.ts'
import { PastDays } from '../../query/shapes/past.ts'
import { dayMs, hourMs, minuteMs } from '../analytics/series.ts'
import { validated } from '../support/answer-shapes.ts'
import { type Reading, seriesOf } from './made-series.ts'

const keys = ['today', 'yesterday', '7d', '30d', '365d'] as const

type Hour = PastDays['today']['hours'][number]
type Figures = Hour['temperature']

function past(local: LocalTime, nowMs: number, readings: readonly Reading[]): PastDays {
  const days = pastDays(local, nowMs).map(day => {
    const inDay = readings.filter(([timeMs]) => timeMs >= day.startMs && timeMs < day.endMs)
    return { ...day, series: seriesOf(inDay), custom: [] }
  })
  const device = { name: 'roof', expected_interval_seconds: null }
  const timesMs = new Float64Array(0)
  return validated(PastDays, JSON.parse(buildPast({ device, days, timesMs, nowMs, local })))
}

const none: Figures = { mean: null, min: null, max: null, count: 0 }
const one = (value: number): Figures => ({ mean: value, min: value, max: value, count: 1 })
const noHour = { temperature: none, humidity: none, pressure: none }

function emptyHours(date: string): Hour[] {
  return Array.from({ length: 24 }, (_, hour) => {
    return { hour, d: `${date} ${String(hour).padStart(2, '0')}:00`, ...noHour }
  })
}

test('a whole answer: five days of 24 hours, with nulls where nothing was measured or is yet to be', async t => {
  const local = createLocalTime('UTC')
  const nowMs = Date.UTC(2026, 2, 1, 2, 20)
  const answer = past(local, nowMs, [
    [Date.UTC(2025, 2, 1), { pressure: 990 }],
    [Date.UTC(2026, 1, 28, 23, 59, 59), { temperature: 3, humidity: 80 }],
    [Date.UTC(2026, 2, 1, 1, 0), { temperature: 1 }],
    [Date.UTC(2026, 2, 1, 1, 59), { temperature: -2, humidity: 70.5 }],
  ])
  const day = (date: string, offset_days: number, known: Record<number, Partial<Hour>>) => ({
    date,
    offset_days,
    hours: emptyHours(date).map((hour, index) => ({ ...hour, ...known[index] })),
  })
  t.strictSame(answer, {
    device: 'roof',
    time_zone: 'UTC',
    generated_at: '2026-03-01 02:20',
    today: day('2026-03-01', 0, {
      1: { temperature: { mean: -0.5, min: -2, max: 1, count: 2 }, humidity: one(70.5) },
    }),
    yesterday: day('2026-02-28', 1, { 23: { temperature: one(3), humidity: one(80) } }),
    '7d': day('2026-02-22', 7, {}),
    '30d': day('2026-01-30', 30, {}),
    '365d': day('2025-03-01', 365, { 0: { pressure: one(990) } }),
  })
  t.strictSame(Object.keys(answer).slice(3), keys, 'in this order')
})

test('a device without readings has the same keys', async t => {
  const answer = past(createLocalTime('UTC'), Date.UTC(2026, 2, 1), [])
  t.strictSame(Object.keys(answer), ['device', 'time_zone', 'generated_at', ...keys])
  for (const key of keys) t.strictSame(answer[key].hours, emptyHours(answer[key].date), key)
})

test('when clocks go back an hour comes twice, when they go forward one is missing', async t => {
  const berlin = createLocalTime('Europe/Berlin')
  const autumn = Date.UTC(2025, 9, 25, 22)
  const readings = Array.from({ length: 25 }, (_, hour): Reading => [autumn + hour * hourMs, { temperature: hour }])
  const { today } = past(berlin, autumn + 25 * hourMs - 1, readings)
  t.equal(today.date, '2025-10-26')
  for (const [place, expected] of [0, 1, 2, 2, 3].entries()) {
    const { hour, d, temperature } = today.hours[place] as Hour
    t.strictSame([hour, d, temperature.mean], [expected, `2025-10-26 0${expected}:00`, place])
  }
  t.strictSame([today.hours.length, today.hours.at(-1)?.hour, today.hours.at(-1)?.temperature.mean], [25, 23, 24])

  const spring = past(berlin, Date.UTC(2025, 2, 31, 10), []).yesterday
  t.equal(spring.date, '2025-03-30')
  const hours = spring.hours.map(({ hour }) => hour)
  t.strictSame([hours.length, hours.includes(2)], [23, false])
})

test('a day that the zone left out has no hours', async t => {
  const apia = createLocalTime('Pacific/Apia')
  t.strictSame(past(apia, Date.UTC(2011, 11, 30, 20), []).yesterday, { date: '2011-12-30', offset_days: 1, hours: [] })
})

test('the calendar counts the days back, over a leap day as over any other', async t => {
  const days = pastDays(createLocalTime('Europe/Berlin'), Date.UTC(2024, 2, 31, 22, 30))
  t.strictSame(Object.fromEntries(days.map(({ key, date }) => [key, date])), {
    ...{ today: '2024-04-01', yesterday: '2024-03-31' },
    ...{ '7d': '2024-03-25', '30d': '2024-03-02', '365d': '2023-04-02' },
  })
})

test('hours follow each other without a hole, and every reading of a day is in one', async () => {
  const halfHours = ['Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe']
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'America/Santiago', ...halfHours)
  const day = fc.integer({ min: 0, max: 4 * 365 })
  const minutes = fc.uniqueArray(fc.nat(26 * 60), { maxLength: 200 })
  fc.assert(
    fc.property(zones, day, minutes, (zone, number, list) => {
      const local = createLocalTime(zone)
      const nowMs = Date.UTC(2023, 0, 1) + number * dayMs
      const [today] = pastDays(local, nowMs)
      assert.ok(today)
      const readings = list
        .sort((a, b) => a - b)
        .map((minute): Reading => [today.startMs + (minute - 60) * minuteMs, { pressure: 1000 + minute / 10 }])
        .filter(([timeMs]) => timeMs >= today.startMs && timeMs < today.endMs)
      const answer = past(local, nowMs, readings).today
      const labelled = Object.groupBy(readings, ([timeMs]) => local.text(timeMs * 1000).slice(0, 13))
      const counts = new Map<string, number>()
      for (const { d, hour, pressure } of answer.hours) {
        assert.equal(Number(d.slice(11, 13)), hour)
        counts.set(d.slice(0, 13), (counts.get(d.slice(0, 13)) ?? 0) + pressure.count)
        if (pressure.mean === null) assert.deepEqual(pressure, none)
        else assert.ok((pressure.min as number) <= pressure.mean && pressure.mean <= (pressure.max as number))
      }
      for (const [label, count] of counts) assert.equal(count, labelled[label]?.length ?? 0, label)
      const total = answer.hours.reduce((sum, { pressure }) => sum + pressure.count, 0)
      assert.equal(total, readings.length)
    }),
  )
})
