/** The answer of daily_summary: whole ones for small cases, and readings in their local days by plain grouping. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { localDays } from '../../../analytics/time/local-days.ts'
import { createLocalTime, type LocalTime } from '../../../analytics/time/local-time.ts'
import { buildDaily, type DailyInput } from '../../../query/analyses/daily.ts'
import { buildPast, pastDays } from '../../../query/analyses/past.ts'
import { DailySummary } from '../../../query/shapes/daily.ts'
import { PastDays } from '../../../query/shapes/past.ts'
import { dayMs, hourMs, minuteMs } from '../../analytics/series.ts'
import { validated } from '../../support/answer-shapes.ts'
import { type Reading, seriesOf } from '../made-series.ts'

const utc = createLocalTime('UTC')
const berlin = createLocalTime('Europe/Berlin')
const startMs = Date.UTC(2026, 6, 1)

type Day = DailySummary['days'][number]
type Figures = Day['temperature']
type Given = Partial<DailyInput> & { every?: number | null; days?: number }

function daily(readings: readonly Reading[], more: Given = {}): DailySummary {
  const { every = 3600, days = 1, nowMs = startMs + dayMs - 1, local = utc, ...given } = more
  const text = buildDaily({
    earlierMs: new Float64Array(0),
    custom: [],
    device: { name: 'roof', expected_interval_seconds: every },
    series: seriesOf(readings),
    buckets: localDays(local, nowMs, days),
    nowMs,
    local,
    ...given,
  })
  return validated(DailySummary, JSON.parse(text))
}

function temperatures(fromMs: number, stepMs: number, values: readonly number[]): Reading[] {
  return values.map((temperature, index) => [fromMs + index * stepMs, { temperature }])
}

const noFigures: Figures = {
  ...{ mean: null, min: null, max: null, min_at: null, max_at: null, std: null, tw_mean: null, mean_of_hours: null },
  ...{ count: 0, coverage: 0, valid: false },
}
const unknown = { ...noFigures, coverage: null }

test('a whole answer: yesterday in full, today so far', async t => {
  const yesterday = Array.from({ length: 24 }, (_, hour): Reading => {
    const pressure = hour % 2 === 0 ? { pressure: 1000 } : {}
    return [startMs - dayMs + hour * hourMs + hourMs / 2, { temperature: hour, ...pressure }]
  })
  const today = temperatures(startMs + hourMs / 2, hourMs, [-5, -5, -2])
  const first = '2026-06-30 00:30'
  t.strictSame(daily([...yesterday, ...today], { days: 2, nowMs: startMs + 4 * hourMs }), {
    ...{ device: 'roof', time_zone: 'UTC', generated_at: '2026-07-01 04:00' },
    days: [
      {
        date: '2026-06-30',
        hours: 24,
        temperature: {
          ...{ mean: 11.5, min: 0, max: 23, min_at: first, max_at: '2026-06-30 23:30', std: Math.sqrt(50) },
          ...{ count: 24, coverage: 1, valid: true, mean_of_hours: 11.5 },
          tw_mean: (23 * 11.5 + 0.5 * 16) / 23.5,
        },
        humidity: noFigures,
        pressure: {
          ...{ mean: 1000, min: 1000, max: 1000, min_at: first, max_at: first, std: 0, tw_mean: 1000 },
          ...{ count: 12, coverage: 0.5, valid: false, mean_of_hours: null },
        },
      },
      {
        date: '2026-07-01',
        hours: 24,
        temperature: {
          ...{ mean: -4, min: -5, max: -2, min_at: '2026-07-01 00:30', max_at: '2026-07-01 02:30', std: Math.sqrt(3) },
          ...{ count: 3, coverage: 0.75, valid: true, mean_of_hours: null },
          // Half an hour from 9 to −5, an hour at −5, an hour from −5 to −2.
          tw_mean: (0.5 * 2 - 5 - 3.5) / 2.5,
        },
        humidity: noFigures,
        pressure: noFigures,
      },
    ],
  })
})

test('a device without readings has its days with nulls, the newest last', async t => {
  const empty = { hours: 24, temperature: noFigures, humidity: noFigures, pressure: noFigures }
  t.strictSame(daily([], { days: 3 }).days, [
    { date: '2026-06-29', ...empty },
    { date: '2026-06-30', ...empty },
    { date: '2026-07-01', ...empty },
  ])
  const { days } = daily([], { every: null })
  t.strictSame(days, [{ date: '2026-07-01', hours: 24, temperature: unknown, humidity: unknown, pressure: unknown }])
})

test('a mean of hours needs 18 hours on days of 23 and of 24 hours', async t => {
  const meanOfHours = (hours: number, nowMs: number) => {
    const fromMs = localDays(berlin, nowMs, 1)[0]?.startMs ?? 0
    const { days } = daily(temperatures(fromMs, hourMs, [...Array(hours).keys()]), { local: berlin, nowMs })
    return (days[0] as Day).temperature.mean_of_hours
  }
  t.strictSame([meanOfHours(18, startMs), meanOfHours(17, startMs)], [8.5, null])
  const [spring, autumn] = [Date.UTC(2026, 2, 29, 12), Date.UTC(2026, 9, 25, 12)]
  t.strictSame([meanOfHours(18, spring), meanOfHours(17, spring)], [8.5, null])
  t.strictSame([meanOfHours(19, autumn), meanOfHours(18, autumn)], [9, null])
})

test('the reading before the first day counts as its start value and belongs to no day', async t => {
  const readings = temperatures(startMs - hourMs / 2, hourMs, [0, 10])
  const { count, tw_mean, min } = (daily(readings).days[0] as Day).temperature
  t.strictSame([count, tw_mean, min], [1, 7.5, 10])
})

/** The values of each local day with their texts, by plain grouping. */
function byLocalDay(readings: readonly Reading[], metric: 'temperature' | 'humidity', local: LocalTime) {
  const texts = readings.flatMap(([timeMs, values]): [string, number][] => {
    const value = values[metric]
    return value === undefined ? [] : [[local.text(timeMs * 1000), value]]
  })
  return Map.groupBy(texts, ([text]) => text.slice(0, 10))
}

function agrees(found: Figures, expected: readonly (readonly [string, number])[]): void {
  const values = expected.map(([, value]) => value)
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  assert.ok(Math.abs((found.mean as number) - mean) < 1e-9)
  assert.deepEqual([found.count, found.min, found.max], [values.length, Math.min(...values), Math.max(...values)])
  assert.equal(found.min_at, expected.find(([, value]) => value === found.min)?.[0])
  assert.equal(found.max_at, expected.find(([, value]) => value === found.max)?.[0])
  assert.ok((found.coverage as number) > 0 && (found.coverage as number) <= 1)
}

test('every reading belongs to its local day in any time zone', async () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: -999, max: 999 })), {
    minLength: 1,
    maxLength: 100,
  })
  const zones = fc.constantFrom('UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/St_Johns', 'Pacific/Chatham')
  fc.assert(
    fc.property(steps, zones, fc.integer({ min: 0, max: 364 }), (list, zone, day) => {
      const local = createLocalTime(zone)
      let timeMs = startMs + day * dayMs
      const readings = list.map(([minutes, value]): Reading => {
        timeMs += minutes * minuteMs
        return [timeMs, value % 5 === 0 ? { humidity: value / 10 } : { temperature: value / 10 }]
      })
      const { days } = daily(readings, { local, nowMs: timeMs + 1, days: 40, every: 600 })
      for (const metric of ['temperature', 'humidity'] as const) {
        const expected = byLocalDay(readings, metric, local)
        for (const { date, [metric]: found } of days) {
          const ofDay = expected.get(date)
          if (ofDay === undefined) assert.deepEqual(found, noFigures)
          else agrees(found, ofDay)
          expected.delete(date)
        }
        assert.equal(expected.size, 0, 'a reading was in no day')
      }
    }),
  )
})

const keys = ['today', 'yesterday', '7d', '30d', '365d'] as const

type Hour = PastDays['today']['hours'][number]
type HourFigures = Hour['temperature']

function past(local: LocalTime, nowMs: number, readings: readonly Reading[]): PastDays {
  const days = pastDays(local, nowMs).map(day => {
    const inDay = readings.filter(([timeMs]) => timeMs >= day.startMs && timeMs < day.endMs)
    return { ...day, series: seriesOf(inDay), custom: [] }
  })
  const device = { name: 'roof', expected_interval_seconds: null }
  const timesMs = new Float64Array(0)
  return validated(PastDays, JSON.parse(buildPast({ device, days, timesMs, nowMs, local })))
}

const none: HourFigures = { mean: null, min: null, max: null, count: 0 }
const one = (value: number): HourFigures => ({ mean: value, min: value, max: value, count: 1 })
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

test('hours follow each other without a gap and hold every reading of a day', async () => {
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
