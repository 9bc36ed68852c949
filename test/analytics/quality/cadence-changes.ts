/** Changes of a device's interval, and their effect on its reliability. */

import { test } from 'tap'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { constantStretches } from '../../../analytics/reliability/cadence-changes.ts'
import { type Reliability, reliabilityAt } from '../../../analytics/reliability/reliability.ts'
import { recordReliability } from '../../../analytics/reliability/reliability-record.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { dayMs, hourMs, minuteMs } from '../series.ts'

const startMs = Date.UTC(2026, 0, 1)
const utc = createLocalTime('UTC')

function every(stepMs: number, fromMs: number, untilMs: number): number[] {
  return Array.from({ length: Math.ceil((untilMs - fromMs) / stepMs) }, (_, place) => fromMs + place * stepMs)
}

/** Seconds of the interval by the hour of its start. */
function stretchesOf(times: readonly number[]): Record<number, number> {
  const stretches = constantStretches(Float64Array.from(times))
  return Object.fromEntries(stretches.map(({ fromMs, expectedMs }) => [(fromMs - startMs) / hourMs, expectedMs / 1000]))
}

function reliabilityOf(times: readonly number[], nowMs: number, configuredMs: number | null = null): Reliability {
  const timesMs = Float64Array.from(times)
  const cadence = cadenceOf(timesMs, configuredMs)
  const record = recordReliability({ timesMs, beforeMs: null, metrics: {}, nowMs, cadence, local: utc })
  return reliabilityAt(record, nowMs, utc)
}

test('a change is located exactly, to the reading', async t => {
  const at = (hours: number) => startMs + hours * hourMs
  const slow = every(5 * minuteMs, startMs, at(100))
  t.strictSame(stretchesOf([...slow, ...every(minuteMs, at(100), at(150))]), {
    [Number.NEGATIVE_INFINITY]: 300,
    100: 60,
  })
  const back = [
    ...every(minuteMs, startMs, at(7)),
    ...every(5 * minuteMs, at(7), at(60)),
    ...every(10_000, at(60), at(62)),
  ]
  t.strictSame(stretchesOf([...back, ...every(minuteMs, at(62), at(70))]), {
    [Number.NEGATIVE_INFINITY]: 60,
    7: 300,
    60: 10,
    62: 60,
  })
  t.strictSame(stretchesOf([...every(hourMs, startMs, at(72)), ...every(minuteMs, at(72), at(73))]), {
    [Number.NEGATIVE_INFINITY]: 3600,
    72: 60,
  })
})

test('a day with too many readings does not compensate for another', async t => {
  // The device had half its interval for some days, and was off for as long.
  const [nowMs, configuredMs] = [startMs + 7 * dayMs, 10 * minuteMs]
  const day = (number: number, stepMs: number) =>
    every(stepMs, startMs + number * dayMs, startMs + (number + 1) * dayMs)
  const times = [0, 1, 2].flatMap(number => day(number, 5 * minuteMs)).concat(day(3, configuredMs))
  const { completeness, received, expected } = reliabilityOf(times, nowMs, configuredMs).windows['7d']
  t.ok(Math.abs((completeness ?? 0) - 4 / 7) < 0.005, `${completeness}: three days are away`)
  t.strictSame([received, expected], [3 * 288 + 144, 7 * 144])
})

test('a window an interval short of its length is whole', async t => {
  const nowMs = startMs + 30 * dayMs
  const since = (firstMs: number) => reliabilityOf(every(hourMs, firstMs, nowMs), nowMs)
  const truncated = (firstMs: number) => since(firstMs).windows['30d'].truncated
  const few = [0, 59, 60, 61].filter(minutes => truncated(startMs + minutes * minuteMs))
  t.strictSame(few, [61])
  const { days } = since(startMs + 3 * dayMs + 18 * hourMs)
  t.strictSame(days[1], { date: '2026-01-03', completeness: null, state: null })
  t.strictSame(days[2], { date: '2026-01-04', completeness: 1, state: 'ok' })
  t.strictSame(days.at(-1), { date: '2026-01-31', completeness: null, state: null }, 'a day that has just begun')
})
