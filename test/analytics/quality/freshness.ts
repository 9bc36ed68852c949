/** Freshness at the limits of its states. */

import { test } from 'tap'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import {
  ageSecondsOf,
  type FreshnessInput,
  freshnessOf,
  lastValueOf,
} from '../../../analytics/reliability/freshness.ts'

const lastMs = Date.UTC(2025, 9, 26, 1)
const unknown = cadenceOf(new Float64Array(0), null)
const every = (seconds: number) => cadenceOf(new Float64Array(0), seconds * 1000)

function after(ageSeconds: number, input: Partial<FreshnessInput>) {
  const nowMs = lastMs + ageSeconds * 1000
  return freshnessOf({ lastMs, nowMs, enabled: true, cadence: unknown, ...input })
}

test('a state lasts to its limit and not a second longer', async t => {
  const limits = (name: string, cadence: FreshnessInput['cadence'], [fresh, late, stale]: [number, number, number]) => {
    const states = [fresh, fresh + 1, late, late + 1, stale, stale + 1].map(age => after(age, { cadence }).state)
    t.strictSame(states, ['fresh', 'late', 'late', 'stale', 'stale', 'offline'], name)
  }
  limits('a minute: at least a minute of grace', every(60), [120, 360, 86_400])
  limits('ten seconds', every(10), [70, 310, 86_400])
  limits('five minutes', every(300), [600, 1500, 86_400])
  limits('three hours: ten intervals are longer than a day', every(10_800), [21_600, 54_000, 108_000])
  limits('without an interval as one of 900 seconds', unknown, [1800, 4500, 86_400])
})

test('a device without readings is never seen, a disabled one paused', async t => {
  const never = { state: 'never', age_seconds: null, next_expected_ms: null, clock_skew: false }
  t.strictSame(after(0, { lastMs: null }), never)
  t.strictSame(after(0, { lastMs: null, enabled: false }), never)
  t.equal(after(5, { enabled: false }).state, 'paused')
  t.equal(after(1e7, { enabled: false }).state, 'paused')
})

test('the age and the time of the next reading are in whole seconds', async t => {
  t.strictSame(after(119.999, { cadence: every(60) }), {
    state: 'fresh',
    age_seconds: 119,
    next_expected_ms: lastMs + 60_000,
    clock_skew: false,
  })
  t.equal(after(0, {}).next_expected_ms, null)
  t.equal(ageSecondsOf(1000, 1999), 0)
})

test('a device ahead of the server has no negative age, and is reported from a minute on', async t => {
  const ahead = (seconds: number) => {
    const { state, age_seconds, clock_skew } = after(-seconds, { cadence: every(60) })
    return [state, age_seconds, clock_skew]
  }
  t.strictSame(ahead(60), ['fresh', 0, false])
  t.strictSame(ahead(61), ['fresh', 0, true])
})

test('each metric has a separate last value', async t => {
  const timesMs = Float64Array.of(1, 2, 3)
  t.strictSame(lastValueOf(timesMs, Float64Array.of(7, 8, Number.NaN)), { time_ms: 2, value: 8 })
  t.equal(lastValueOf(timesMs, new Float64Array(3).fill(Number.NaN)), null)
  t.equal(lastValueOf(new Float64Array(0), new Float64Array(0)), null)
})
