/** Quality flags: each test on explicit readings, and all of them against a slow implementation. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { flatLines } from '../../../analytics/quality/flat-line.ts'
import { checkQuality, flagGood, flagMissing, flagSuspect, type Quality } from '../../../analytics/quality/quality.ts'
import { type MetricSettings, qualityLimits } from '../../../analytics/quality/quality-limits.ts'
import { gapMarks } from '../../../analytics/reliability/gaps.ts'
import { runs } from '../../support/runs.ts'
import { above, hourMs, minuteMs, uniform } from '../series.ts'

const gapMs = 2.5 * minuteMs

type Metric = Parameters<typeof qualityLimits>[0]

/** Readings every minute by default. Null is missing. */
function check(
  metric: Metric,
  values: readonly (number | null)[],
  stepMs = minuteMs,
  settings: MetricSettings = {},
): Quality {
  return checkQuality(
    Float64Array.from(values, (_, index) => index * stepMs),
    Float64Array.from(values, value => value ?? Number.NaN),
    qualityLimits(metric, 0, settings),
    above((gapMs * stepMs) / minuteMs),
  )
}

function suspects({ flags }: Quality): number[] {
  return [...flags.keys()].filter(index => flags[index] === flagSuspect)
}

test('ordinary readings, and any of the battery, are good', async t => {
  const { flags, counts } = check('temperature', [20, 20.5, null, 21])
  t.strictSame([...flags], [flagGood, flagGood, flagMissing, flagGood])
  const tests = { range: 0, spike: 0, rate: 0, flat: 0, error_code: 0 }
  t.strictSame(counts, { good: 3, suspect: 0, missing: 1, tests, quantum: null, flat_hours: 3 })
  t.equal(check('battery_voltage', [4, 0, 100]).counts.good, 3)
  t.strictSame([...check('pressure', []).flags], [])
  t.equal(check('pressure', [null, null]).counts.missing, 2)
})

test('range: values outside are suspect, the bounds are not', async t => {
  t.strictSame(suspects(check('temperature', [-30.1, -30, -29], hourMs)), [0])
  t.strictSame(suspects(check('temperature', [49, 50, 50.1], hourMs)), [2])
  t.strictSame(suspects(check('pressure', [870, 869.9], hourMs)), [1])
  t.strictSame(suspects(check('pressure', [1085, 1085.1], hourMs)), [1])
})

test('spike: one reading differs from the mean of its neighbours, also below 0 °C', async t => {
  // Ten minutes apart, so that the rate of change allows the step.
  const spikes = (metric: Metric, values: (number | null)[]) => check(metric, values, 10 * minuteMs).counts.tests.spike
  t.equal(spikes('temperature', [-5, -1.9, -5]), 1)
  t.equal(spikes('temperature', [-5, -2, -5]), 0, 'exactly the limit')
  t.equal(spikes('temperature', [-34.7, -31.7, -34.7]), 0, 'the limit but for rounding')
  t.equal(spikes('temperature', [-5, 5, 15]), 0, 'a slope is no spike')
  t.equal(spikes('humidity', [50, 65.1, 50]), 1)
  t.equal(spikes('pressure', [1000, 998.9, 1000]), 1)
  t.equal(spikes('temperature', [-5, null, 0, null, -5]), 1, 'neighbours are those with a value')
  t.equal(spikes('temperature', [-5, null, null, 0, -5]), 0, 'a gap before it')
  t.equal(spikes('temperature', [-5, 0, null, null, -5]), 0, 'a gap after it')
  t.equal(spikes('temperature', [-5, 0]), 0)
})

test('rate: the later of two readings is suspect, by the time between them', async t => {
  const isFast = (metric: Metric, change: number, intervalMs: number) => {
    const { flags, counts } = check(metric, [20, 20 + change], intervalMs)
    assert.equal(flags[0], flagGood)
    return counts.tests.rate === 1
  }
  // The largest change that is slow enough, and whether a little more is fast.
  const cases: [Metric, change: number, intervalMs: number, isMoreFast: boolean, name: string][] = [
    ['temperature', 3, minuteMs, true, 'a minute'],
    ['temperature', 3, 10_000, true, 'within a minute as in a minute'],
    ['temperature', 3.1, 10 * minuteMs, true, 'linear between a minute and an hour'],
    ['temperature', 4, hourMs, true, 'an hour'],
    ['temperature', 12, 4.5 * hourMs, true, 'between 9 in three and 15 in six hours'],
    ['temperature', 25, 12 * hourMs, true, 'half a day'],
    ['temperature', 30, 19 * hourMs, false, 'too far apart to judge'],
    ['humidity', 15, minuteMs, true, 'a minute'],
    ['humidity', 15, 1.1 * minuteMs, true, 'a minute and its jitter'],
    ['humidity', 20, 5 * minuteMs, false, 'five minutes'],
  ]
  for (const [metric, change, intervalMs, isMoreFast, name] of cases) {
    for (const sign of [1, -1]) {
      t.notOk(isFast(metric, sign * change, intervalMs), `${metric}: ${name}`)
      t.equal(isFast(metric, sign * (change + 0.1), intervalMs), isMoreFast, `${metric}: ${name}`)
    }
  }
  t.strictSame(suspects(check('pressure', [1000, 1000.6, 1000.6])), [1])
})

test('flat: three hours of one value flag every reading of the run', async t => {
  const flat = (metric: Metric, values: (number | null)[]) =>
    suspects(check(metric, values, hourMs / 2, { flat_hours: 3 }))
  t.strictSame(flat('temperature', [19, 20, 20, 20, 20, 20, 20, 20, 21]), [1, 2, 3, 4, 5, 6, 7])
  t.strictSame(flat('temperature', [19, 20, 20, 20, 20, 20, 20, 21]), [], 'two hours and a half')
  t.strictSame(flat('temperature', [20.3, 20.4, 20.3, 20.4, 20.3, 20.4, 20.3, 20.4]), [], 'a tenth is a change')
  t.strictSame(flat('temperature', [20, null, 20, 20, 20, 20, 20]), [0, 2, 3, 4, 5, 6], 'one missing is no gap')
  t.strictSame(flat('temperature', [20, 20, 20, null, null, 20, 20, 20]), [], 'a gap ends the run')
  t.strictSame(flat('pressure', new Array(7).fill(1000.04)), [0, 1, 2, 3, 4, 5, 6])
  t.strictSame(flat('humidity', [50, 50.9, 50, 50.9, 50, 50.9, 50]), [0, 1, 2, 3, 4, 5, 6])
  t.strictSame(flat('humidity', new Array(48).fill(100)), [], 'fog')
  t.strictSame(flat('humidity', [...new Array(6).fill(94.9), 95, ...new Array(6).fill(94.9)]), [])
  t.strictSame(flat('battery_voltage', new Array(48).fill(4.1)), [])
})

test('a reading in several tests is one suspect', async t => {
  const { flags, counts } = check('temperature', [20, 80, 20])
  t.strictSame([...flags], [flagGood, flagSuspect, flagSuspect], 'the way down is a rate too')
  t.match(counts, { good: 1, suspect: 2, missing: 0, tests: { range: 1, spike: 1, rate: 2, flat: 0, error_code: 0 } })
})

test('a door opened on most days is not suspect, unlike frequent wild readings', async t => {
  const next = uniform(7)
  const at = Array.from({ length: 20 }, (_, day) => 144 * day + 20 + Math.floor(100 * next()))
  const month = (kept: readonly number[], openings: readonly number[]) => {
    const values = Array.from({ length: 144 * 20 }, (_, place) => 5 + 0.1 * (place % 3))
    for (const place of openings)
      for (const [after, share] of kept.entries()) (values[place + after] as number) += 9 * share
    return suspects(check('temperature', values, 10 * minuteMs))
  }
  t.strictSame(month([1, 0.5, 0.2], at), [])
  const wild = month([1], at)
  t.ok(at.every(place => wild.includes(place)))
  const seldom = month([1, 0.5, 0.2], at.slice(0, 9))
  t.ok(
    at.slice(0, 9).every(place => seldom.includes(place)),
    'nine days are not most',
  )
})

test("a device's limits apply unchanged", async t => {
  const own = (settings: MetricSettings, values: readonly number[], metric: Metric = 'temperature') =>
    check(metric, values, hourMs, settings).counts.tests
  t.match(own({ min: -80, max: -10 }, [-40, -5]), { range: 1 })
  t.match(own({ min: null }, [-60, 60]), { range: 1 }, 'one bound switched off, the other as for all')
  t.match(own({ spike: 0.4 }, [20, 20.5, 20]), { spike: 1 })
  t.match(own({ spike: null }, [20, 30, 20]), { spike: 0, rate: 2 })
  t.match(own({ rate: 6 }, [20, 27.9, 20]), { rate: 0 }, 'twice as much in a minute is twice as much in an hour')
  t.match(own({ rate: null }, [20, 40]), { rate: 0 })
  t.match(own({ max: 4 }, [3.9, 4.1], 'battery_voltage'), { range: 1 })
  const still = new Array<number>(13).fill(20)
  t.equal([12, 12.1, null].map(flat_hours => own({ flat_hours }, still).flat).join(), '13,0,0')
  t.equal(check('temperature', still, hourMs, { flat_hours: null }).counts.flat_hours, null)
  const steps = Array.from({ length: 40 }, (_, index) => 1000 + Math.floor(index / 2))
  t.match(check('pressure', steps, minuteMs).counts, { quantum: 1, tests: { rate: 0 } })
  t.match(check('pressure', steps, minuteMs, { quantum: 0.1 }).counts, { quantum: 0.1, tests: { rate: 19 } })
  t.match(check('pressure', steps, minuteMs, { rate: 0.5 }).counts.tests, { rate: 19 }, 'not raised to the step')
})

test('a pressure is judged by the altitude of its station', async t => {
  const range = (altitudeM: number | null) => qualityLimits('pressure', altitudeM).range?.map(Math.round)
  t.strictSame(range(0), [870, 1085])
  t.strictSame(range(2317), [656, 818], 'Alamosa')
  t.strictSame(range(5100), [458, 571])
  t.strictSame(range(null), [458, 1141], 'of an unknown altitude everything from the highest town to the lowest')
})

/** Half-hourly values: runs of equal values with these lengths, and the last run. */
function stretchesOf(lengths: readonly number[], last: number): number[] {
  return [...lengths, last].flatMap((length, index) => new Array<number>(length).fill(20 + (index % 7)))
}

test('a flat line is unusually long for the sensor', async t => {
  const next = uniform(8)
  const quick = Array.from({ length: 200 }, () => 1 + Math.floor(2 * next()))
  const slow = Array.from({ length: 200 }, () => 1 + Math.floor(-12 * Math.log(1 - next())))
  const found = (lengths: readonly number[], last: number) => {
    const others = { spike: null, rate: null }
    const { tests, flat_hours } = check('temperature', stretchesOf(lengths, last), hourMs / 2, others).counts
    return { flat: tests.flat, hours: flat_hours ?? 0 }
  }
  t.match(found(quick, 48), { flat: 48, hours: 3 }, 'a day, where an hour is usual')
  const { flat, hours } = found(slow, 24)
  t.equal(flat, 0, 'half a day is usual where runs of six hours are')
  t.ok(hours > 50 && hours < 120, `${hours} h: twice 6 h · ln 1000`)
  t.equal(found(slow, 400).flat, 400, 'what broke is found, and does not set the limit')
  t.match(found(slow.slice(0, 30), 1), { flat: 0 })
  const constant = check('temperature', new Array<number>(500).fill(20), hourMs)
  t.match(constant.counts, { suspect: 0, flat_hours: null })
})

test('flat lines are all stretches of three hours found by a slow search', async () => {
  const reading = fc.record({
    value: fc.integer({ min: 0, max: 4 }),
    waitMs: fc.constantFrom(hourMs / 2, hourMs, 3 * hourMs),
  })
  const readings = fc.array(reading, { maxLength: 40, size: 'max' })
  fc.assert(
    fc.property(readings, fc.constantFrom(1, 2, 3), fc.constantFrom(hourMs, 4 * hourMs), (list, limit, gapMs) => {
      const [least, below] = [0, 4]
      let timeMs = 0
      const times = Float64Array.from(list, ({ waitMs }) => (timeMs += waitMs))
      const values = Float64Array.from(list, ({ value }) => value)
      const expected = new Uint8Array(list.length)
      for (let from = 0; from < list.length; from++) {
        for (let to = from; to < list.length; to++) {
          const part = values.subarray(from, to + 1)
          const isWhole = list.slice(from + 1, to + 1).every(({ waitMs }) => waitMs <= gapMs)
          const isFlat =
            Math.max(...part) - Math.min(...part) < limit && part.every(value => value > least && value < below)
          const isLong = (times[to] ?? 0) - (times[from] ?? 0) >= 3 * hourMs
          if (isWhole && isFlat && isLong) expected.fill(1, from, to + 1)
        }
      }
      const found = flatLines(times, values, limit, [least, below], gapMarks(times, above(gapMs)), 3 * hourMs)
      assert.deepEqual(found, expected)
    }),
    runs(150, 1000),
  )
})
