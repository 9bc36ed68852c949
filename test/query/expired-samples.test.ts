/** Samples that stand for expired values: the hour has the figures that it had. */

import fc from 'fast-check'
import { test } from 'tap'
import { counterIncrease } from '../../analytics/counter/counter-increase.ts'
import { expiredSamples } from '../../query/kinds/expired-samples.ts'
import type { KeptHours } from '../../query/questdb/measurements-source.ts'
import { keptHoursOf } from './kept-hours.ts'

const startMs = Date.UTC(2026, 0, 1)

/** Of these values, one a minute. */
function keptOf(values: readonly number[]): KeptHours {
  const timesMs = Float64Array.from(values, (_, index) => startMs + index * 60_000)
  return keptHoursOf({ timesMs, values: Float64Array.from(values) })
}

const valuesOf = (value: fc.Arbitrary<number>) => fc.array(value, { minLength: 1, maxLength: 12 })
const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b))
const asserted = (values: fc.Arbitrary<number[]>, holds: (values: number[]) => boolean) =>
  fc.assert(fc.property(values, holds), { numRuns: 500 })

test('as many samples as there were values, from the first to the last of them', async t => {
  asserted(valuesOf(fc.nat(5)), values => {
    return (['counter', 'rate', 'state'] as const).every(kind => {
      const kept = keptOf(values)
      const { timesMs } = expiredSamples(kind, kept, 12)
      const isAscending = timesMs.every((timeMs, index) => index === 0 || timeMs > (timesMs[index - 1] as number))
      const ends = timesMs[0] === startMs && (timesMs.at(-1) as number) * 1000 === kept.columns.last_ts[0]
      return timesMs.length === values.length && isAscending && ends
    })
  })
  for (const kind of ['gauge', 'direction'] as const) t.equal(expiredSamples(kind, keptOf([1, 2]), 12).values.length, 0)
  t.throws(() => expiredSamples('counter', keptOf([1, 2, 3]), 2), { code: 'TOO_LARGE' })
})

test('a counter has grown by what it had, and ends where it ended', async t => {
  asserted(valuesOf(fc.nat(1000)), values => {
    const kept = keptOf(values)
    const samples = expiredSamples('counter', kept, 12)
    const { increase, resets_total: resets } = counterIncrease(samples)
    const had = counterIncrease({ timesMs: samples.timesMs, values: Float64Array.from(values) })
    const ends = samples.values[0] === values[0] && isNear(samples.values.at(-1) as number, values.at(-1) as number)
    return ends && isNear(increase ?? 0, had.increase ?? 0) && resets <= had.resets_total
  })
  t.pass('of 500 hours')
})

test('a counter has grown by what it had over hours, noise at the edge of one included', async t => {
  const increaseOf = (values: readonly number[]) => {
    const timesMs = Float64Array.from(values, (_, index) => startMs + index * 900_000)
    const samples = { timesMs, values: Float64Array.from(values) }
    const standIns = expiredSamples('counter', keptHoursOf(samples), values.length)
    const { increase, resets_total } = counterIncrease(standIns)
    const had = counterIncrease(samples)
    t.ok(isNear(increase ?? 0, had.increase ?? 0), `${values}: ${increase}, not ${had.increase}`)
    t.equal(resets_total, had.resets_total, `resets of ${values}`)
  }
  const [low, high] = [[1, 2, 3, 3.7] as const, [3.746, 3.8, 3.9, 4] as const]
  for (const noise of [0, 3.69]) {
    increaseOf([...low, noise, ...high])
    increaseOf([...low.slice(0, 3), noise, ...high])
    increaseOf([1, noise, 3.7, 3.8, ...high])
    increaseOf([3.7, noise, 3.7, noise, 3.7, noise, 3.7, noise, 3.75])
    increaseOf([...low, noise, 3.746, 3.8, 0, 3.9, 4])
    const falls = noise === 0 ? [0, 0.1] : [3.84, 3.83]
    increaseOf([...low, 3.75, 3.8, 3.85, ...falls, 3.835, 3.84, 3.85])
  }
  increaseOf([10, 11, 1, 12, 13])
  increaseOf([10, 10, 0, 0, 3, 4, 5, 6])
})

test('amounts have the sum that they had, the first one and the largest', async t => {
  asserted(valuesOf(fc.nat(1000)), values => {
    const samples = expiredSamples('rate', keptOf(values), 12).values
    const sum = samples.reduce((total, value) => total + value, 0)
    const had = values.reduce((total, value) => total + value, 0)
    return samples[0] === values[0] && isNear(sum, had) && isNear(Math.max(...samples), Math.max(...values))
  })
  t.pass('of 500 hours')
})

test('a state that held stays, and one that changed is known at both ends alone', async t => {
  t.strictSame([...expiredSamples('state', keptOf([1, 1, 1, 1]), 12).values], [1, 1, 1, 1])
  t.strictSame([...expiredSamples('state', keptOf([0, 1, 0, 2]), 12).values], [0, -1, -1, 2])
})
