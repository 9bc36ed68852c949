/** Findings in generated readings: episodes, outages and their pattern, stuck sensors, spikes. */

import t from 'tap'
import { episodesOf } from '../../../analytics/findings/episodes.ts'
import { type CheckedMetric, qualityFindings, rejectedFinding } from '../../../analytics/findings/from-quality.ts'
import { outageFindings, outagePattern, silentFinding } from '../../../analytics/findings/from-reliability.ts'
import { checkQuality } from '../../../analytics/quality/quality.ts'
import { qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { recordReliability } from '../../../analytics/reliability/reliability-record.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { autoregressive, dayMs, hourMs, minuteMs } from '../series.ts'

const startMs = Date.UTC(2026, 0, 1)
const nowMs = startMs + 30 * dayMs
const berlin = createLocalTime('Europe/Berlin')

const times = (stepMs: number) =>
  Float64Array.from({ length: (30 * dayMs) / stepMs }, (_, place) => startMs + place * stepMs)

t.test('episodes end at a good value and at a gap, and are joined over a short time', async t => {
  const timesMs = Float64Array.of(0, 1, 2, 3, 4, 20, 21).map(minute => minute * minuteMs)
  const values = Float64Array.of(1, 2, 3, Number.NaN, 5, 6, 7)
  const marked = (...marks: number[]) => ({ timesMs, values, marks: Uint8Array.from(marks) })
  const gaps = [{ fromMs: Number.NEGATIVE_INFINITY, gapMs: 5 * minuteMs }]
  const found = (marks: number[], joinMs = 0) =>
    episodesOf(marked(...marks), 1, gaps, joinMs).map(({ startMs, endMs, count, isLast }) => {
      return `${startMs / minuteMs} to ${endMs / minuteMs}: ${count}${isLast ? ', last' : ''}`
    })
  t.strictSame(found([1, 1, 0, 0, 1, 0, 0]), ['0 to 1: 2', '4 to 4: 1'])
  t.strictSame(found([1, 1, 0, 0, 1, 0, 0], 3 * minuteMs), ['0 to 4: 3'])
  t.strictSame(found([0, 0, 0, 0, 1, 1, 1]), ['4 to 4: 1', '20 to 21: 2, last'], 'a gap, and the end')
  t.strictSame(found([0, 2, 1, 0, 1, 0, 2]), ['2 to 4: 2'], 'a missing value is none, and another test neither')
  t.match(episodesOf(marked(1, 1, 1, 0, 0, 0, 0), 1, gaps)[0], { last: 3, min: 1, max: 3 })
})

function checked(values: Float64Array, stepMs: number, metric = 'temperature'): CheckedMetric {
  const timesMs = times(stepMs)
  const limits = qualityLimits(metric, 0)
  const { marks, counts } = checkQuality(timesMs, values, limits, cadenceOf(timesMs, null).stretches)
  const flatMs = counts.flat_hours === null ? null : counts.flat_hours * hourMs
  return { name: metric, timesMs, values, marks, range: limits.range, flatMs }
}

function healthy(stepMs: number): Float64Array {
  const perDay = dayMs / stepMs
  return autoregressive(30 * perDay, 0, 5).map((noise, place) => {
    const value = 15 + 5 * Math.sin((2 * Math.PI * place) / perDay) + 0.1 * noise
    return Math.round(10 * value) / 10
  })
}

/** Findings for a series whose readings have one value in a range, with 288 readings a day. */
function foundWith(value: number, from: number, to?: number) {
  const stepMs = 5 * minuteMs
  const metric = checked(healthy(stepMs).fill(value, from, to), stepMs)
  return qualityFindings(metric, cadenceOf(metric.timesMs, null).stretches, nowMs)
}

t.test('a stuck sensor is found, with its beginning', async t => {
  t.strictSame(foundWith(0, 0, 0), [], 'a healthy one')
  const from = 28 * 288
  const [stuck, ...others] = foundWith(12.3, from)
  t.strictSame(others, [])
  t.match(stuck, { code: 'stuck', severity: 'critical', metric: 'temperature', untilMs: null, value: 12.3, count: 1 })
  t.ok(Math.abs((stuck?.sinceMs ?? 0) - (startMs + 28 * dayMs)) <= 10 * minuteMs)
  const untilMs = startMs + 28.5 * dayMs - 5 * minuteMs
  t.match(foundWith(12.3, from, from + 144), [{ code: 'stuck', severity: 'warning', untilMs }])
  t.strictSame(foundWith(12.3, 288, 3 * 288), [], 'three weeks ago')
})

t.test('several values out of range are one finding with the worst', async t => {
  const place = 29 * 288
  t.strictSame(foundWith(-40, place, place + 1), [])
  const range = { code: 'out_of_range', severity: 'warning', value: -40, expected: [-30, 50] }
  t.match(foundWith(-40, place, place + 6), [{ ...range, sinceMs: startMs + 29 * dayMs }])
})

/** Readings every 10 minutes, without those for which `isOut` holds by local hour and day. */
function reliabilityWithout(isOut: (hour: number, day: number) => boolean) {
  const timesMs = times(10 * minuteMs).filter(timeMs => {
    const localMs = timeMs + berlin.offsetMs(timeMs)
    return !isOut((localMs % dayMs) / hourMs, Math.floor((localMs - startMs) / dayMs))
  })
  const cadence = cadenceOf(timesMs, null)
  return recordReliability({ timesMs, beforeMs: null, metrics: {}, nowMs, cadence, local: berlin })
}

t.test('outages that recur every night are a pattern, instead of outages', async t => {
  const record = reliabilityWithout((hour, day) => hour >= 2 && hour < 5 && day !== 25)
  const found = outageFindings(record, berlin, nowMs)
  t.match(found, [
    { code: 'outage_pattern', untilMs: null, count: 6, pattern: { from: /^01:5|^02:0/, to: /^05:0/, days: 7 } },
  ])
  t.equal(found.length, 1)
})

t.test('a pattern includes nights before and after midnight', async t => {
  const midnightMs = startMs + 29 * dayMs - hourMs
  const gaps = Array.from({ length: 7 }, (_, night) => {
    const [start_ms, end_ms] = [(night % 2) * 20 - 10, 5 * 60].map(minute => {
      return midnightMs - night * dayMs + minute * minuteMs
    }) as [number, number]
    return { start_ms, end_ms, duration_seconds: (end_ms - start_ms) / 1000, missed: 1, ongoing: false }
  })
  const afterMs = midnightMs + 12 * hourMs
  const pattern = (some: typeof gaps) => outagePattern(some, berlin, afterMs, startMs - 60 * dayMs)
  t.match(pattern(gaps), { count: 7, pattern: { from: /^23:5|^00:0/, to: '05:00', days: 7 } })
  t.match(pattern(gaps.slice(0, 6)), { count: 6, pattern: { days: 7 } })
  t.equal(pattern(gaps.slice(0, 3)), null)
})

t.test('irregular outages are not a pattern: the longest is reported, with their number', async t => {
  const record = reliabilityWithout(
    (hour, day) => day >= 24 && day < 28 && hour >= 6 * (day - 24) && hour < 6 * (day - 24) + day - 22,
  )
  const found = outageFindings(record, berlin, nowMs)
  t.match(found, [{ code: 'outage', count: 4 }])
  t.equal(found.length, 1)
  t.ok(Math.abs((found[0]?.untilMs ?? 0) - (found[0]?.sinceMs ?? 0) - 5 * hourMs) <= 20 * minuteMs)
  t.equal(outagePattern(record.gaps, berlin, nowMs, startMs), null)
  t.strictSame(outageFindings(record, berlin, nowMs + 10 * dayMs), [], 'ten days later')
})

t.test('a device is silent only when it is stale or offline', async t => {
  for (const state of ['paused', 'fresh', 'late'] as const) t.equal(silentFinding(state, nowMs), undefined, state)
  t.equal(silentFinding('never', null), undefined)
  t.match(
    [silentFinding('stale', nowMs), silentFinding('offline', nowMs)],
    [{ severity: 'warning' }, { severity: 'critical' }],
  )
})

t.test('rejected readings are reported unless they are a single mistake', async t => {
  const of = (count: number, readings: number) =>
    rejectedFinding({ count, reason: 'out of range', sinceMs: startMs }, readings)
  t.match(of(4, 144), { code: 'rejected', count: 4, sinceMs: startMs, reason: 'out of range' })
  t.equal(of(2, 0), undefined)
  t.equal(of(8, 1440), undefined, 'one in 180')
})
