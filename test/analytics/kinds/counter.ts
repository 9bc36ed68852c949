/** Counters against Prometheus' engine and numpy. Fixtures: fixtures/counter-prometheus.go, fixtures/counter.py. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import {
  bucketIncreases,
  counterIncrease,
  increaseAt,
  resetsMax,
  withoutNoise,
} from '../../../analytics/counter/counter-increase.ts'
import { upperBound } from '../../../analytics/lower-bound.ts'
import { localDays } from '../../../analytics/time/local-days.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { extrapolatedIncrease, extrapolatedRatePerSecond } from '../extrapolated-increase.ts'
import { deviation, type Fixture, readFixture, timesFrom } from '../fixture.ts'
import { above, bucketsBetween, found, samplesOf } from '../series.ts'

const prometheus = readFixture('counter-prometheus')
const reference = readFixture('counter')

test('increase, rate and resets of windows match Prometheus', async t => {
  let withIncrease = 0
  for (const [name, { times, values, windows }] of Object.entries<Fixture>(prometheus)) {
    const samples = { timesMs: Float64Array.from(times), values: Float64Array.from(values) }
    for (const { start, end, increase, rate, resets } of windows) {
      const window = { startMs: start, endMs: end }
      const where = `${name}, (${start}, ${end}]`
      const from = upperBound(samples.timesMs, start)
      const to = upperBound(samples.timesMs, end)
      const inside = { timesMs: samples.timesMs.subarray(from, to), values: samples.values.subarray(from, to) }
      // Prometheus counts each decrease as a reset.
      if (withoutNoise(inside).timesMs.length < inside.timesMs.length) continue
      // Prometheus subtracts the last total from the first, and loses digits of small steps on a large total.
      t.ok(deviation(extrapolatedIncrease(samples, window), increase) < 1e-9, where)
      t.ok(deviation(extrapolatedRatePerSecond(samples, window), rate) < 1e-9, where)
      t.equal(counterIncrease(inside).resets_total, resets ?? 0, where)
      if (increase !== null) withIncrease++
    }
  }
  t.ok(withIncrease > 100)
})

for (const season of ['spring', 'autumn'] as const) {
  test(`${season}: the increases of hours and local days match the interpolated total`, async t => {
    const { start, steps_between, values, increase, days, hours } = reference[season]
    const samples = { timesMs: timesFrom(start * 1000, steps_between), values: Float64Array.from(values) }
    t.ok(deviation(counterIncrease(samples).increase, increase) < 1e-12)
    t.equal(counterIncrease(samples).resets_total, 2)
    const local = localDays(createLocalTime('Europe/Berlin'), (days.edges.at(-1) ?? 0) * 1000 - 1, 4)
    const dayEdges = [...local.map(({ startMs }) => startMs), found(local.at(-1)).endMs]
    t.equal(dayEdges.map(edge => edge / 1000).join(), days.edges.join())
    for (const expected of [days, hours]) {
      const buckets = bucketsBetween(expected.edges, 1000)
      const result = bucketIncreases(samples, buckets, above(1_500_000))
      for (const [index, bucket] of result.buckets.entries()) {
        t.ok(deviation(bucket.increase, expected.increases[index] ?? null) < 1e-9, `bucket ${index}`)
        t.ok(Math.abs(bucket.covered_seconds - (expected.covered[index] ?? -1)) < 1e-6, `bucket ${index}`)
        t.equal(bucket.resets, expected.resets[index])
      }
      t.equal(result.unplaced.length, expected.unplaced.length)
      for (const [index, { start_ms, end_ms, increase }] of result.unplaced.entries()) {
        const [from, to, wanted] = expected.unplaced[index]
        t.strictSame([start_ms / 1000, end_ms / 1000], [from, to])
        t.ok(deviation(increase, wanted) < 1e-9)
      }
    }
  })
}

test('golden: a reset counts from 0', async t => {
  const samples = samplesOf({ 0: 10, 60000: 12, 120000: 3, 180000: 3, 240000: 0 })
  t.strictSame(counterIncrease(samples), {
    count: 5,
    increase: 5,
    span_seconds: 240,
    resets: [
      { after_ms: 180_000, until_ms: 240_000, value_before: 3, value_after: 0 },
      { after_ms: 60_000, until_ms: 120_000, value_before: 12, value_after: 3 },
    ],
    resets_total: 2,
  })
})

test('golden: noise is not a reset', async t => {
  const increaseOf = (...values: number[]) => {
    const { increase, resets_total } = counterIncrease(samplesOf(values))
    return [Math.round((increase as number) * 1e6) / 1e6, resets_total]
  }
  t.strictSame(increaseOf(215.7, 215.6, 215.7), [0, 0], 'a small fall that does not stay')
  t.strictSame(increaseOf(215.7, 215.6, 215.8, 215.7, 215.9), [0.2, 0])
  t.strictSame(increaseOf(3.737, 0, 3.746), [0.009, 0], 'one reading of zero')
  t.strictSame(increaseOf(100, 100.30000000000001, 100.3), [0.3, 0], 'a small fall of the last reading')
  t.strictSame(increaseOf(100, 100.30000000000001, 100.3, 100.3, 100.4), [0.4, 0], 'rounding that stays')
  const rounding = samplesOf({ 0: 100.30000000000001, 1: 100.3 })
  t.equal(counterIncrease(rounding).increase, 0, 'rounding takes nothing away')
  t.strictSame(increaseOf(100, 95, 96), [96, 1], 'a small fall that stays')
  t.strictSame(increaseOf(100, 95, 94), [95, 1], 'a small fall that stays, and another one of the last reading')
  t.strictSame(increaseOf(100, 95, 80), [175, 2], 'a small fall in front of a large one')
  t.strictSame(increaseOf(100, 90, 100), [100, 1], 'a fall of a tenth')
  t.strictSame(increaseOf(3.737, 0, 0, 3.746), [3.746, 1], 'two readings of zero')
  t.strictSame(increaseOf(3.737, 0, 0.1), [0.1, 1])
  t.strictSame(increaseOf(3.737, 0), [0, 1], 'zero at the end')
})

test('noise before a window is not in its increase', async t => {
  const samples = samplesOf({ 0: 3.7, 10: 0, 20: 3.75, 30: 3.8 })
  const { count, increase, resets_total, span_seconds } = counterIncrease(samples, 15)
  t.strictSame([count, increase?.toFixed(3), resets_total, span_seconds], [3, '0.100', 0, 0.03])
  const buckets = bucketsBetween([0, 20, 40])
  const increases = bucketIncreases(samples, buckets, above(100)).buckets.map(one => one.increase?.toFixed(3))
  t.strictSame(increases, ['0.050', '0.050'])
})

test('an empty series and one sample have no increase', async t => {
  const none = { count: 0, increase: null, span_seconds: 0, resets: [], resets_total: 0 }
  t.strictSame(counterIncrease(samplesOf({})), none)
  t.strictSame(counterIncrease(samplesOf({ 5: 7 })), { ...none, count: 1 })
  const bucket = { startMs: 0, endMs: 100 }
  const empty = { increase: null, covered_seconds: 0, increase_per_second: null, resets: 0 }
  t.strictSame(bucketIncreases(samplesOf({ 5: 7 }), [bucket], above(50)), { buckets: [empty], unplaced: [] })
  t.equal(extrapolatedIncrease(samplesOf({ 5: 7 }), bucket), null)
  t.equal(extrapolatedRatePerSecond(samplesOf({}), bucket), null)
  const missing = samplesOf({ 0: 4, 10: Number.NaN, 20: 5 })
  t.strictSame([counterIncrease(missing).count, counterIncrease(missing).increase], [2, 1])
})

test('the newest fifty resets are listed, all are counted', async t => {
  const samples = samplesOf(Array.from({ length: 201 }, (_, index) => 2 - (index % 2)))
  const { resets, resets_total } = counterIncrease(samples)
  t.strictSame([resets.length, resets_total, resets[0]?.until_ms], [resetsMax, 100, 199])
})

test('a gap across an edge belongs to no bucket, one within a bucket to it', async t => {
  const buckets = bucketsBetween([0, 100, 200])
  const over = samplesOf({ 50: 1, 150: 9, 160: 11 })
  t.strictSame(bucketIncreases(over, buckets, above(60)), {
    buckets: [
      { increase: null, covered_seconds: 0, increase_per_second: null, resets: 0 },
      { increase: 2, covered_seconds: 0.01, increase_per_second: 200, resets: 0 },
    ],
    unplaced: [{ start_ms: 50, end_ms: 150, increase: 8 }],
  })
  const divided = bucketIncreases(over, buckets, above(100)).buckets.map(({ increase }) => increase)
  t.strictSame(divided, [4, 6], 'no gap: by time')
  const within = samplesOf({ 0: 1, 100: 9 })
  const increases = bucketIncreases(within, buckets, []).buckets.map(({ increase }) => increase)
  t.strictSame(increases, [8, null], 'whatever the threshold; an end that touches is within')
})

test('small steps on a huge total, and huge steps, are all counted', async t => {
  const small = samplesOf(Array.from({ length: 1001 }, (_, index) => 2 ** 52 + index))
  t.equal(counterIncrease(small).increase, 1000)
  const huge = samplesOf({ 0: 0, 1: 1e300, 2: 0, 3: 1e-3 })
  t.equal(counterIncrease(huge).increase, 1e300)
})

const steps = fc.array(fc.record({ seconds: fc.integer({ min: 1, max: 900 }), value: fc.nat({ max: 50 }) }), {
  minLength: 2,
  maxLength: 60,
})
function made(list: readonly { seconds: number; value: number }[]) {
  const [first, ...rest] = list.map(({ seconds }) => seconds)
  return {
    timesMs: timesFrom((first ?? 0) * 1000, rest),
    values: Float64Array.from(list, ({ value }) => value),
  }
}

test("the sum of each value's increment, by the two before it, is the increase", async () => {
  fc.assert(
    fc.property(steps, list => {
      const { timesMs, values } = made(list)
      const parts = values.map((_, at) =>
        at === 0 ? 0 : increaseAt([...values.subarray(Math.max(0, at - 2), at + 1)]),
      )
      const sum = parts.reduce((total, part) => total + part, 0)
      assert.equal(sum, counterIncrease({ timesMs, values }).increase)
    }),
  )
})
