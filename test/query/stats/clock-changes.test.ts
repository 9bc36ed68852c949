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

for (const { way, start, hours, end, date } of [
  { way: 'forward', start: '2025-03-23T23:00Z', hours: 23, end: '2025-04-02 23:55', date: '2025-03-30' },
  { way: 'back', start: '2025-10-19T22:00Z', hours: 25, end: '2025-10-29 23:55', date: '2025-10-26' },
]) {
  test(`the clocks go ${way}: a day has ${hours} hours, and two o’clock as many readings more or fewer`, async t => {
    const { found, readings } = around(start, hours)
    t.match(found.window, { end })
    const day = found.reliability.days.find((one: Answer) => one.date === date)
    t.strictSame(day, { date, completeness: 1, state: 'ok' })
    const counts = found.seasonality.temperature.daily_profile.map((hour: Answer) => hour.n)
    const plain = new Array<number>(24).fill(120)
    t.strictSame(counts, plain.with(2, 120 + 12 * (hours - 24)))
    t.match(found.reliability.windows['7d'], { completeness: 1, uptime: 1, gap_count: 0 })
    t.strictSame([found.n_samples, found.autocorrelation.temperature.n], [readings, readings])
    const [peak] = found.seasonality.temperature.peaks
    t.ok(near(peak.period_hours, 24, 0.01), 'the cycle goes by UTC')
  })
}
