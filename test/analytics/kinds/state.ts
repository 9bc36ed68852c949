/** States by hand, against a check of every second, and by their sums. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { type Cadence, cadenceOf } from '../../../analytics/reliability/cadence.ts'
import { stateDurations, stateEpisodes } from '../../../analytics/state/state-durations.ts'
import { type StateInput, stateRuns } from '../../../analytics/state/state-runs.ts'
import { bucketsBetween, everySeconds, samplesOf } from '../series.ts'

const unknown: Cadence = cadenceOf(new Float64Array(0), null)

/** States by their times in seconds. */
function input(states: Readonly<Record<number, number>>, cadence: Cadence, nowSeconds: number): StateInput {
  return { ...samplesOf(states, 1000), cadence, nowMs: nowSeconds * 1000 }
}

/** State, from and to in seconds, oldest first. */
function episodesOf(of: StateInput): string[] {
  const { episodes } = stateEpisodes(stateRuns(of), 1000)
  return episodes.toReversed().map(({ state, start_ms, end_ms }) => `${state} ${start_ms / 1000} ${end_ms / 1000}`)
}

test('golden: a state lasts to the next sample, over a gap for E, and to now for as long', async t => {
  const cadence = everySeconds(60)
  const door = input({ 0: 0, 60: 0, 120: 1, 240: 1, 1000: 0 }, cadence, 1100)
  t.strictSame(episodesOf(door), ['0 0 120', '1 120 300', 'null 300 1000', '0 1000 1100'])
  t.strictSame(episodesOf({ ...door, nowMs: 2_000_000 }).slice(-2), ['0 1000 1060', 'null 1060 2000'])
  const { last_change, changes_total, episodes, episodes_total } = stateEpisodes(stateRuns(door), 2)
  t.strictSame(last_change, { at_ms: 1_000_000, from: 1, to: 0 }, 'also over a gap')
  t.strictSame([changes_total, episodes_total, episodes.length], [2, 4, 2])
  const [newest, before] = [
    { state: 0, ongoing: true, duration_seconds: 100 },
    { state: null, duration_seconds: 700 },
  ]
  t.match(episodes, [newest, before])
  const [hour] = stateDurations(stateRuns(door), bucketsBetween([0, 3600], 1000))
  t.strictSame(hour, {
    states: [
      { state: 0, seconds: 220, share: 220 / 400 },
      { state: 1, seconds: 180, share: 180 / 400 },
    ],
    known_seconds: 400,
    unknown_seconds: 700,
    known_share: 400 / 1100,
    changes: 2,
  })
})

test('without an interval a state lasts as long as a device is fresh by default, or as stated', async t => {
  const once = input({ 0: 3 }, unknown, 10_000)
  t.strictSame(episodesOf(once), ['3 0 900', 'null 900 10000'])
  t.strictSame(episodesOf({ ...once, nowMs: 2_250_000 }), ['3 0 2250'])
  t.strictSame(episodesOf({ ...once, holdMaxMs: 5_000_000 }), ['3 0 5000', 'null 5000 10000'])
  t.strictSame(episodesOf({ ...once, holdMaxMs: 86_400_000 }), ['3 0 10000'])
  t.strictSame(episodesOf({ ...once, holdMaxMs: 0 }), ['null 0 10000'])
})

test('the rule follows the cadence of its time', async t => {
  const stretches = [
    { fromMs: Number.NEGATIVE_INFINITY, expectedMs: 600_000, gapMs: 1_500_000 },
    { fromMs: 2_000_000, expectedMs: 60_000, gapMs: 150_000 },
  ]
  const changed = { ...unknown, kind: 'regular' as const, stretches }
  const samples = input({ 0: 1, 1400: 1, 2000: 1, 3400: 1 }, changed, 3400)
  t.strictSame(episodesOf(samples), ['1 0 2060', 'null 2060 3400'])
})

test('values other than whole numbers from 0 to 255 are counted, and unknown until the next sample', async t => {
  const samples = input({ 0: 1, 10: 0.5, 20: -1, 30: 256, 40: Number.NaN, 50: 255, 60: 0 }, everySeconds(10), 70)
  const { count, refused } = stateRuns(samples)
  t.strictSame([count, refused], [3, 3])
  t.strictSame(episodesOf(samples), ['1 0 10', 'null 10 50', '255 50 60', '0 60 70'])
  t.equal(stateEpisodes(stateRuns(samples), 1).changes_total, 2, 'from 1 to 255, and to 0')
})

test('edges: an empty series, one sample at now, and a limit of no episodes', async t => {
  const none = stateRuns(input({}, everySeconds(60), 3600))
  t.strictSame(stateEpisodes(none, 5), { episodes: [], episodes_total: 0, changes_total: 0, last_change: null })
  const [hour, later] = stateDurations(none, bucketsBetween([0, 3600, 7200], 1000))
  const empty = { states: [], known_seconds: 0, unknown_seconds: 3600, known_share: 0, changes: 0 }
  t.strictSame(hour, empty)
  t.strictSame(later, { ...empty, unknown_seconds: 0, known_share: null }, 'a bucket that has not begun')
  t.strictSame(episodesOf(input({ 60: 1 }, everySeconds(60), 60)), [])
  t.throws(() => stateEpisodes(none, 0), RangeError)
})

const lists = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 1, 2, 7, 0.5, Number.NaN)), {
  maxLength: 30,
})

test('each second has the state of the last recent sample', async () => {
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 20 }), fc.integer({ min: 0, max: 60 }), (list, expected, rest) => {
      let seconds = 0
      const pairs = list.map(([step, value]): [number, number] => {
        seconds += step
        return [seconds, value]
      })
      const nowSeconds = seconds + rest
      const runs = stateRuns(input(Object.fromEntries(pairs), everySeconds(expected), nowSeconds))
      // Applies the rule second by second.
      const present = pairs.filter(([, value]) => !Number.isNaN(value))
      const stateAt = (second: number): number | null => {
        const place = present.findLastIndex(([at]) => at <= second)
        const [at, value] = present[place] ?? [0, 0.5]
        const nextAt = present[place + 1]?.[0] ?? nowSeconds
        const holdSeconds = nextAt - at <= 2.5 * expected ? nextAt - at : expected
        return Number.isInteger(value) && second < at + holdSeconds ? value : null
      }
      const edges = [0, 7, 50, 51, 200, 2000]
      for (const [index, durations] of stateDurations(runs, bucketsBetween(edges, 1000)).entries()) {
        const [from, to] = [edges[index] as number, Math.min(edges[index + 1] as number, nowSeconds)]
        const counts = new Map<number, number>()
        for (let second = from; second < to; second++) {
          const state = stateAt(second)
          if (state !== null) counts.set(state, (counts.get(state) ?? 0) + 1)
        }
        const { states, known_seconds, unknown_seconds } = durations
        assert.deepEqual(
          states.map(({ state, seconds }) => [state, seconds]),
          [...counts].toSorted(([a], [b]) => a - b),
        )
        assert.equal(known_seconds + unknown_seconds, Math.max(0, to - from))
      }
    }),
  )
})
