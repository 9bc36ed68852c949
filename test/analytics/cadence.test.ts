import { test } from 'tap'
import { presentOf } from '../../analytics/present.ts'
import { cadenceOf, gapMsAt } from '../../analytics/reliability/cadence.ts'
import { eventsOf } from '../../analytics/reliability/events.ts'
import { estimateInterval } from '../../analytics/reliability/interval-estimate.ts'
import { differences, thin } from '../../analytics/reliability/thinning.ts'
import { burstTimes, busyDayTimes, lognormalTimes } from '../properties/worlds.ts'
import { deviation, readFixture, timesFrom } from './fixture.ts'

interface Case {
  start: number
  steps_between: number[]
  kind: string
  expected: number | null
  regularity: number | null
  gap: number | null
}

const reference = readFixture<Record<string, Case>>('cadence')
const startMs = Date.UTC(2025, 2, 29)

function timesOf({ start, steps_between }: Case): Float64Array {
  return timesFrom(startMs + start * 1000, steps_between)
}

const seconds = (ms: number | null) => (ms === null ? null : ms / 1000)

test('interval, regularity and threshold are those of the definition', async t => {
  for (const [name, expected] of Object.entries(reference)) {
    const found = cadenceOf(timesOf(expected), null)
    t.equal(found.kind, expected.kind, name)
    t.equal(found.source, expected.expected === null ? 'default' : 'estimated', name)
    t.ok(deviation(seconds(found.expectedMs), expected.expected) < 1e-12, `${name}: ${found.expectedMs}`)
    t.ok(deviation(found.regularity, expected.regularity) < 1e-12, `${name}: ${found.regularity}`)
    t.ok(deviation(seconds(found.gapMs), expected.gap) < 1e-12, `${name}: ${found.gapMs}`)
  }
})

test('losses and retries do not move the interval, jitter by 1 %, and who is not regular is told apart', async t => {
  const of = (name: string) => cadenceOf(timesOf(reference[name] as Case), null)
  for (const name of ['', ', 40 % lost', ', 60 % lost', ', 80 % lost', ', 5 % repeated', ', 40 % repeated']) {
    t.equal(of(`a minute${name}`).expectedMs, 60_000, name)
  }
  t.ok(deviation(of('ten minutes, 10 % jitter').expectedMs, 600_000) < 0.01)
  t.equal(of('ninety seconds').expectedMs, 90_000)
  for (const name of ['ten minutes, 20 % jitter', 'Poisson', 'bursts']) t.equal(of(name).kind, 'irregular', name)
  t.equal(of('a minute, then five').expectedMs, 300_000, 'a day after the change')
})

test('a configured interval is taken, with the regularity that was measured', async t => {
  const minutes = timesOf(reference['a minute'] as Case)
  const configured = { kind: 'regular', source: 'configured' }
  const stretches = [{ fromMs: Number.NEGATIVE_INFINITY, expectedMs: 30_000, gapMs: 75_000 }]
  const figures = { ...configured, expectedMs: 30_000, gapMs: 75_000, pacedGap: null, stretches }
  t.strictSame(cadenceOf(minutes, 30_000), { ...figures, regularity: 1 })
  t.equal(cadenceOf(minutes, 90_000).regularity, 0)
  const nothing = cadenceOf(new Float64Array(0), 30_000)
  t.strictSame(nothing, { ...figures, regularity: null })
})

test('bursts are one event each, and random intervals are none', async t => {
  const times = burstTimes(startMs, 30, 1)
  const events = eventsOf(times)
  t.equal(events.length, 360)
  t.match(cadenceOf(times, null), { kind: 'regular', source: 'estimated' })
  t.ok(Math.abs((cadenceOf(times, null).expectedMs ?? 0) - 7_200_000) < 120_000)
  for (const sigma of [0.5, 1.5]) {
    const random = lognormalTimes(startMs, 30, 2, sigma)
    t.equal(eventsOf(random), random, `${sigma}`)
  }
})

test('the hours of a busy day and a quiet night have gaps of their own', async t => {
  const times = busyDayTimes(startMs, 30, 3)
  const cadence = cadenceOf(times, null)
  const longestMs = cadence.gapMs ?? 0
  const gapAt = (hour: number) => gapMsAt(cadence, longestMs, startMs + hour * 3_600_000) / 60_000
  t.ok(gapAt(12) < 15, `${gapAt(12)} min at noon`)
  t.ok(gapAt(20) > 240, `${gapAt(20)} min at night`)
  t.ok(gapAt(17.999) > 240, `${gapAt(17.999)} min at the end of the day`)
  t.ok(Math.abs(gapAt(36) - gapAt(12)) < 1e-6, 'a day later')
  t.ok(longestMs / 60_000 >= gapAt(20))
  t.equal(cadenceOf(lognormalTimes(startMs, 30, 2, 1), null).pacedGap, null, 'all hours are alike')
})

test('with three readings or fewer the interval is unknown', async t => {
  const unknown = {
    kind: 'unknown',
    expectedMs: null,
    source: 'default',
    regularity: null,
    gapMs: null,
    pacedGap: null,
    stretches: [],
  }
  for (const times of [[], [5], [5, 6], [0, 60_000, 120_000], [7, 7, 7, 7, 7]]) {
    t.strictSame(cadenceOf(Float64Array.from(times), null), unknown, `${times}`)
  }
})

test('the start of a window is not in it', async t => {
  // Twenty intervals of 72 minutes are a day: without its start nineteen are left, and the week decides.
  const steps = [...new Array<number>(100).fill(600), ...new Array<number>(20).fill(4320)]
  t.equal(estimateInterval(timesFrom(startMs, steps))?.expectedMs, 600_000)
  t.equal(
    estimateInterval(timesFrom(startMs, [...steps.slice(0, -20), ...steps.slice(-20).map(value => value - 1)]))
      ?.expectedMs,
    4_319_000,
  )
})

test('thinning keeps the first, drops what follows too soon, and equal times at any distance', async t => {
  const times = Float64Array.of(0, 10, 29, 30, 30, 61, 70, 91)
  t.strictSame([...thin(times, 30)], [0, 30, 61, 91])
  t.strictSame([...thin(times, 0)], [0, 10, 29, 30, 61, 70, 91])
  t.strictSame([...differences(Float64Array.of(1, 4, 9))], [3, 5])
  t.strictSame([...differences(Float64Array.of(1))], [])
})

test('what is missing is left out, and nothing is copied when all is there', async t => {
  const timesMs = Float64Array.of(1, 2, 3)
  const present = presentOf(timesMs, Float64Array.of(0, Number.NaN, 4))
  t.strictSame(
    [[...present.timesMs], [...present.values]],
    [
      [1, 3],
      [0, 4],
    ],
  )
  t.equal(presentOf(timesMs, timesMs).timesMs, timesMs)
})
