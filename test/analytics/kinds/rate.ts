/** Quantities of intervals against pandas. Fixture: fixtures/rate.py. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { compensatedSum } from '../../../analytics/compensated-sum.ts'
import { bucketSums, greatestSum } from '../../../analytics/rate/bucket-sums.ts'
import { type Cadence, cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { deviation, readFixture, timesFrom } from '../fixture.ts'
import { bucketsBetween, everySeconds, found, samplesOf } from '../series.ts'

const reference = readFixture('rate')
const never = Number.POSITIVE_INFINITY
const unknown: Cadence = cadenceOf(new Float64Array(0), null)

for (const season of ['spring', 'autumn'] as const) {
  const { start, steps_between, values, days, hours } = reference[season]
  const samples = { timesMs: timesFrom(start * 1000, steps_between), values: Float64Array.from(values) }

  test(`${season}: sums of hours and local days match pandas`, async t => {
    const input = { ...samples, cadence: everySeconds(300), nowMs: never }
    for (const { edges, sums, max, counts } of [days, hours]) {
      for (const [index, bucket] of bucketSums(input, bucketsBetween(edges, 1000)).entries()) {
        t.ok(deviation(bucket.sum, sums[index] ?? null) < 1e-12, `bucket ${index}`)
        t.strictSame([bucket.max, bucket.count], [max[index], counts[index]], `bucket ${index}`)
        const expected = ((edges[index + 1] as number) - (edges[index] as number)) / 300
        t.equal(bucket.coverage, Math.min(1, bucket.count / expected))
        t.equal(bucket.missing, Math.max(0, expected - bucket.count))
      }
    }
  })
}

test('an amount belongs to the bucket in which its interval ends, without interpolation', async t => {
  const rain = samplesOf({ 0: 9, 300000: 1, 600000: 2, 600001: 4 })
  const input = { ...rain, cadence: everySeconds(100), nowMs: 1_000_000 }
  const [first, second] = bucketSums(input, bucketsBetween([0, 600_000, 1_200_000]))
  const figures = { count: 2, sum: 3, max: 2, max_at_ms: 600_000, coverage: 2 / 6, missing: 4, valid: false }
  t.strictSame(first, figures)
  t.match(second, { sum: 4, coverage: 0, missing: 4 }, 'a retry is no arrival; four are due so far')
})

test('edges: an empty series, a missing value, an unknown or irregular interval, a future bucket', async t => {
  const empty = { count: 0, sum: null, max: null, max_at_ms: null }
  const buckets = bucketsBetween([0, 600_000])
  const of = (cadence: Cadence, values: Record<number, number>, nowMs = never) =>
    bucketSums({ ...samplesOf(values), cadence, nowMs }, buckets)[0]
  t.strictSame(of(everySeconds(300), { 5: Number.NaN }), { ...empty, coverage: 0, missing: 2, valid: false })
  const none = { coverage: null, missing: null, valid: false }
  t.strictSame(of(unknown, {}), { ...empty, ...none })
  t.strictSame(of(everySeconds(300), {}, 0), { ...empty, ...none })
  const one = { count: 1, sum: 7, max: 7, max_at_ms: 5 }
  t.strictSame(of({ ...everySeconds(300), kind: 'irregular' }, { 5: 7 }), { ...one, ...none })
  t.equal(greatestSum(samplesOf({}), 1), null)
  t.strictSame(greatestSum(samplesOf({ 5: 7 }), 60), { sum: 7, start_ms: -55, end_ms: 5, count: 1 })
  t.throws(() => greatestSum(samplesOf({}), 0), RangeError)
})

test('sums keep small amounts beside huge ones', async t => {
  t.equal(compensatedSum(Float64Array.of(1e100, 1, -1e100)), 1)
  const tenths = new Float64Array(1_000_000).fill(0.1)
  t.equal(compensatedSum(tenths), 100_000)
  const windows = samplesOf({ 0: 1e16, 60: 0.2, 120: 0.4 })
  const later = { timesMs: windows.timesMs.subarray(1), values: windows.values.subarray(1) }
  t.equal(greatestSum(later, 100)?.sum, 0.2 + 0.4)
  t.equal(greatestSum(windows, 30)?.sum, 1e16)
})

const amounts = fc.array(fc.tuple(fc.integer({ min: 1, max: 900 }), fc.nat({ max: 40 })), {
  minLength: 1,
  maxLength: 60,
})

function made(list: readonly (readonly [seconds: number, amount: number])[]) {
  const [first, ...rest] = list.map(([seconds]) => seconds)
  return { timesMs: timesFrom((first ?? 0) * 1000, rest), values: Float64Array.from(list, ([, amount]) => amount / 10) }
}

test('the greatest sum of a window matches all windows tried', async () => {
  fc.assert(
    fc.property(amounts, fc.integer({ min: 1, max: 3600 }), (list, seconds) => {
      const { timesMs, values } = made(list)
      const greatest = found(greatestSum({ timesMs, values }, seconds * 1000))
      const sums = timesMs.map(endMs =>
        values.reduce((sum, value, index) => {
          const agoMs = endMs - (timesMs[index] as number)
          return agoMs >= 0 && agoMs < seconds * 1000 ? sum + value : sum
        }, 0),
      )
      assert.ok(Math.abs(greatest.sum - Math.max(0, ...sums)) < 1e-9)
    }),
  )
})
