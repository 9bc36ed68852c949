/** Where a device changed its interval, and what that means for its reliability. */

import { test } from 'tap'
import { cadenceOf, expectedBetween, StretchCursor } from '../../analytics/reliability/cadence.ts'
import { constantStretches } from '../../analytics/reliability/cadence-changes.ts'
import { type Reliability, reliabilityAt } from '../../analytics/reliability/reliability.ts'
import { recordReliability } from '../../analytics/reliability/reliability-record.ts'
import { createLocalTime } from '../../analytics/time/local-time.ts'
import { uniform } from './series.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const startMs = Date.UTC(2026, 0, 1)
const utc = createLocalTime('UTC')

function every(stepMs: number, fromMs: number, untilMs: number): number[] {
  return Array.from({ length: Math.ceil((untilMs - fromMs) / stepMs) }, (_, place) => fromMs + place * stepMs)
}

function stretchesOf(times: readonly number[]): [fromHours: number, expectedSeconds: number][] {
  return constantStretches(Float64Array.from(times)).map(({ fromMs, expectedMs }) => {
    return [(fromMs - startMs) / hourMs, expectedMs / 1000]
  })
}

function reliabilityOf(times: readonly number[], nowMs: number, configuredMs: number | null = null): Reliability {
  const timesMs = Float64Array.from(times)
  const cadence = cadenceOf(timesMs, configuredMs)
  const record = recordReliability({ timesMs, beforeMs: null, metrics: {}, nowMs, cadence, local: utc })
  return reliabilityAt(record, nowMs, utc)
}

test('a change is found where it was, to the reading', async t => {
  const at = (hours: number) => startMs + hours * hourMs
  const always = Number.NEGATIVE_INFINITY
  const slow = every(5 * minuteMs, startMs, at(100))
  t.strictSame(stretchesOf([...slow, ...every(minuteMs, at(100), at(150))]), [
    [always, 300],
    [100, 60],
  ])
  const back = [
    ...every(minuteMs, startMs, at(7)),
    ...every(5 * minuteMs, at(7), at(60)),
    ...every(10_000, at(60), at(62)),
  ]
  t.strictSame(stretchesOf([...back, ...every(minuteMs, at(62), at(70))]), [
    [always, 60],
    [7, 300],
    [60, 10],
    [62, 60],
  ])
  t.strictSame(stretchesOf([...every(hourMs, startMs, at(72)), ...every(minuteMs, at(72), at(73))]), [
    [always, 3600],
    [72, 60],
  ])
})

test('losses, retries, outages and a few odd readings are no change', async t => {
  const next = uniform(3)
  const day = every(minuteMs, startMs, startMs + 10 * dayMs)
  const isUp = (timeMs: number) => (timeMs - startMs) % (3 * dayMs) > 20 * hourMs || timeMs < startMs + dayMs
  const kinds = {
    'nothing special': day,
    '70 % lost': day.filter(() => next() > 0.7),
    retries: day.flatMap(timeMs => (next() < 0.3 ? [timeMs, timeMs + 2000] : [timeMs])),
    'outages of a day': day.filter(isUp),
    'a burst': [...day, ...every(1000, startMs + hourMs, startMs + hourMs + 6000)].sort((a, b) => a - b),
    'none at all': [],
    'a few': day.slice(0, 10),
  }
  for (const [name, times] of Object.entries(kinds)) t.ok(stretchesOf(times).length < 2, name)
})

test('what is due follows the interval, and a slower stretch is not a loss', async t => {
  const change = startMs + 20 * dayMs + 7 * hourMs
  const nowMs = startMs + 30 * dayMs + hourMs
  const times = [...every(5 * minuteMs, startMs, change), ...every(minuteMs, change, nowMs)]
  const cadence = cadenceOf(Float64Array.from(times), null)
  t.match(cadence, { kind: 'regular', source: 'estimated', expectedMs: minuteMs, gapMs: 2.5 * minuteMs, regularity: 1 })
  t.equal(expectedBetween(cadence, change - hourMs, change + hourMs), 12 + 60)
  const cursor = new StretchCursor(cadence.stretches)
  t.strictSame(
    [change - 1, change, change + 1].map(timeMs => cursor.at(timeMs)?.gapMs),
    [12.5 * minuteMs, 2.5 * minuteMs, 2.5 * minuteMs],
  )
  const { windows, gaps_total, days, gap_threshold_seconds } = reliabilityOf(times, nowMs)
  t.strictSame([gaps_total, gap_threshold_seconds], [0, 150])
  t.match(windows['30d'], { uptime: 1, completeness: 1, expected: windows['30d'].received })
  t.ok(days.every(({ completeness, state }) => completeness === 1 && state === 'ok'))
  t.equal(
    reliabilityOf(times, nowMs, minuteMs).gaps_total > 5000,
    true,
    'a configured interval holds for all of the past',
  )
})

test('a day with too many readings does not make up for another', async t => {
  // As of a device that was switched to half its interval for some days, and off for as long.
  const [nowMs, configuredMs] = [startMs + 7 * dayMs, 10 * minuteMs]
  const day = (number: number, stepMs: number) =>
    every(stepMs, startMs + number * dayMs, startMs + (number + 1) * dayMs)
  const times = [0, 1, 2].flatMap(number => day(number, 5 * minuteMs)).concat(day(3, configuredMs))
  const { completeness, received, expected } = reliabilityOf(times, nowMs, configuredMs).windows['7d']
  t.ok(Math.abs((completeness ?? 0) - 4 / 7) < 0.005, `${completeness}: three days are away`)
  t.strictSame([received, expected], [3 * 288 + 144, 7 * 144])
})

test('a window short of its length by an interval is whole, and the first day begins with the first reading', async t => {
  const nowMs = startMs + 30 * dayMs
  const since = (firstMs: number) => reliabilityOf(every(hourMs, firstMs, nowMs), nowMs)
  const truncated = (firstMs: number) => since(firstMs).windows['30d'].truncated
  t.strictSame(
    [0, 59, 60, 61].map(minutes => truncated(startMs + minutes * minuteMs)),
    [false, false, false, true],
  )
  const { days } = since(startMs + 3 * dayMs + 18 * hourMs)
  t.strictSame(days.slice(1, 5), [
    { date: '2026-01-03', completeness: null, state: null },
    { date: '2026-01-04', completeness: 1, state: 'ok' },
    { date: '2026-01-05', completeness: 1, state: 'ok' },
    { date: '2026-01-06', completeness: 1, state: 'ok' },
  ])
  t.strictSame(days.at(-1), { date: '2026-01-31', completeness: null, state: null }, 'a day that has just begun')
})
