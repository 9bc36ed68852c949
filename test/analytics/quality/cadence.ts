import { test } from 'tap'
import { presentOf } from '../../../analytics/present.ts'
import { cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { differences, estimateInterval, thin } from '../../../analytics/reliability/interval-estimate.ts'
import { deviation, type Fixture, readFixture, timesFrom } from '../fixture.ts'

const reference = readFixture('cadence')
const startMs = Date.UTC(2025, 2, 29)

function timesOf({ start, steps_between }: Fixture): Float64Array {
  return timesFrom(startMs + start * 1000, steps_between)
}

const seconds = (ms: number | null) => (ms === null ? null : ms / 1000)

test('interval, regularity and threshold follow the definition', async t => {
  for (const [name, expected] of Object.entries<Fixture>(reference)) {
    const found = cadenceOf(timesOf(expected), null)
    t.equal(found.kind, expected.kind, name)
    t.equal(found.source, expected.expected === null ? 'default' : 'estimated', name)
    t.ok(deviation(seconds(found.expectedMs), expected.expected) < 1e-12, `${name}: ${found.expectedMs}`)
    t.ok(deviation(found.regularity, expected.regularity) < 1e-12, `${name}: ${found.regularity}`)
    t.ok(deviation(seconds(found.gapMs), expected.gap) < 1e-12, `${name}: ${found.gapMs}`)
  }
})

test('a configured interval is used, with the measured regularity', async t => {
  const minutes = timesOf(reference['a minute'])
  const configured = { kind: 'regular', source: 'configured' }
  const stretches = [{ fromMs: Number.NEGATIVE_INFINITY, expectedMs: 30_000, gapMs: 75_000 }]
  const figures = { ...configured, expectedMs: 30_000, gapMs: 75_000, pacedGap: null, stretches }
  t.strictSame(cadenceOf(minutes, 30_000), { ...figures, regularity: 1 })
  t.equal(cadenceOf(minutes, 90_000).regularity, 0)
  const nothing = cadenceOf(new Float64Array(0), 30_000)
  t.strictSame(nothing, { ...figures, regularity: null })
})

test('with three readings or fewer the interval is unknown', async t => {
  const nothing = { expectedMs: null, regularity: null, gapMs: null, pacedGap: null, stretches: [] }
  const unknown = { ...nothing, kind: 'unknown', source: 'default' }
  for (const times of [[], [5], [5, 6], [0, 60_000, 120_000], [7, 7, 7, 7, 7]]) {
    t.strictSame(cadenceOf(Float64Array.from(times), null), unknown, `${times}`)
  }
})

test('the start of a window is excluded', async t => {
  // Twenty intervals of 72 minutes are a day. Without its start there are nineteen, so the week decides.
  const steps = [...new Array<number>(100).fill(600), ...new Array<number>(20).fill(4320)]
  const shorter = steps.map((value, place) => (place < 100 ? value : value - 1))
  const found = [steps, shorter].map(some => estimateInterval(timesFrom(startMs, some))?.expectedMs)
  t.strictSame(found, [600_000, 4_319_000])
})

test('thinning keeps the first, drops readings that follow too soon, and equal times at any distance', async t => {
  const times = Float64Array.of(0, 10, 29, 30, 30, 61, 70, 91)
  t.strictSame([...thin(times, 30)], [0, 30, 61, 91])
  t.strictSame([...thin(times, 0)], [0, 10, 29, 30, 61, 70, 91])
  t.strictSame([...differences(Float64Array.of(1, 4, 9))], [3, 5])
  t.strictSame([...differences(Float64Array.of(1))], [])
})

test('missing readings are left out, without a copy of a complete series', async t => {
  const timesMs = Float64Array.of(1, 2, 3)
  const present = presentOf(timesMs, Float64Array.of(0, Number.NaN, 4))
  t.strictSame([...present.timesMs, ...present.values], [1, 3, 0, 4])
  t.equal(presentOf(timesMs, timesMs).timesMs, timesMs)
})
