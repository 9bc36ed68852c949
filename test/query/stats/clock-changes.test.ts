/** Days of 23 and 25 hours: the answer's days, profiles and texts follow the local clock, everything else does not. */

import { test } from 'tap'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { type Answer, ask, dayMs, every, minuteMs, near, seriesOf } from './stats-of.ts'

const local = createLocalTime('Europe/Berlin')

/** Ten local days of five-minute readings, the seventh of which has the change. */
function around(startUtc: string, changeHours: number): { found: Answer; readings: number } {
  const startMs = Date.parse(startUtc)
  const readings = 12 * (9 * 24 + changeHours)
  const series = seriesOf(every(5 * minuteMs, startMs, readings), {
    temperature: timeMs => 10 + 5 * Math.cos((2 * Math.PI * (timeMs - startMs)) / dayMs),
  })
  const nowMs = startMs + readings * 5 * minuteMs
  return { found: ask({ series, nowMs, local, predecessorMs: startMs - 5 * minuteMs }), readings }
}

test('the clocks go forward: 23 hours, and two o’clock has a day fewer', async t => {
  const { found, readings } = around('2025-03-23T23:00Z', 23)
  t.match(found.window, { end: '2025-04-02 23:55' })
  const day = found.reliability.days.find((one: Answer) => one.date === '2025-03-30')
  t.strictSame(day, { date: '2025-03-30', completeness: 1, state: 'ok' })
  t.strictSame(
    found.reliability.days.slice(-2).map((one: Answer) => one.date),
    ['2025-04-02', '2025-04-03'],
  )
  const counts = found.seasonality.temperature.daily_profile.map((hour: Answer) => hour.n)
  t.strictSame(
    counts,
    Array.from({ length: 24 }, (_, hour) => (hour === 2 ? 108 : 120)),
  )
  t.match(found.reliability.windows['7d'], { completeness: 1, uptime: 1, gap_count: 0 })
  t.equal(found.n_samples, readings)
  t.equal(found.autocorrelation.temperature.n, readings)
})

test('the clocks go back: 25 hours, and two o’clock comes twice', async t => {
  const { found, readings } = around('2025-10-19T22:00Z', 25)
  t.match(found.window, { end: '2025-10-29 23:55' })
  const day = found.reliability.days.find((one: Answer) => one.date === '2025-10-26')
  t.strictSame(day, { date: '2025-10-26', completeness: 1, state: 'ok' })
  const counts = found.seasonality.temperature.daily_profile.map((hour: Answer) => hour.n)
  t.strictSame(
    counts,
    Array.from({ length: 24 }, (_, hour) => (hour === 2 ? 132 : 120)),
  )
  t.match(found.reliability.windows['7d'], { completeness: 1, uptime: 1, gap_count: 0 })
  t.equal(found.autocorrelation.temperature.n, readings)
  const [peak] = found.seasonality.temperature.peaks
  t.ok(near(peak.period_hours, 24, 0.01), 'the cycle goes by UTC')
  // The highest is at 22:00 UTC, from cell middles; after the change that is 23:00.
  t.match(peak.phase_time, /^23:0\d$|^22:5\d$/)
})
