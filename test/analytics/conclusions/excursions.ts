/** Excursions with figures by hand: length, extent, silences, days, and the state before the range. */

import { test } from 'tap'
import { findExcursions, holdsUntil } from '../../../analytics/excursions/excursions.ts'
import { briefRuns, isByChance } from '../../../analytics/findings/from-gauges.ts'
import { hourMs, minuteMs } from '../series.ts'

interface Asked {
  above?: number | null
  below?: number | null
  forMinutes?: number
  gapMinutes?: number
  /** Minutes from 0 on. */
  end?: number
  /** The start of the second day. */
  midnight?: number
  /** A value at minute -30. */
  before?: number
}

/** Readings by the minute. */
function excursionsOf(readings: Readonly<Record<number, number>>, asked: Asked = {}) {
  const { above = 8, below = null, forMinutes = 0, gapMinutes = 60, end = 600, midnight = end } = asked
  const days = [
    { startMs: 0, endMs: midnight * minuteMs },
    ...(midnight < end ? [{ startMs: midnight * minuteMs, endMs: end * minuteMs }] : []),
  ]
  const earlier = asked.before === undefined ? [] : [[-30, asked.before] as const]
  const pairs = [...earlier, ...Object.entries(readings)]
  const samples = {
    timesMs: Float64Array.from(pairs, ([minute]) => Number(minute) * minuteMs),
    values: Float64Array.from(pairs, ([, value]) => value),
  }
  const gaps = gapMinutes === 0 ? [] : [{ fromMs: Number.NEGATIVE_INFINITY, gapMs: gapMinutes * minuteMs }]
  const range = { startMs: 0, endMs: end * minuteMs }
  const found = findExcursions(samples, { above, below, forMs: forMinutes * minuteMs, gaps, ...range, days })
  const inMinutes = (value: number) => value / minuteMs
  return {
    episodes: found.episodes.map(({ startMs, endMs, distanceMs, silenceMs, ...episode }) => ({
      ...episode,
      start: inMinutes(startMs),
      end: inMinutes(endMs),
      distance: inMinutes(distanceMs),
      silence: inMinutes(silenceMs),
    })),
    days: found.days.map(({ count, longestMs, lengthMs, distanceMs, silenceMs, coveredMs }) => {
      return [count, ...[longestMs, lengthMs, distanceMs, silenceMs, coveredMs].map(inMinutes)]
    }),
  }
}

test('a value lasts until the next one', async t => {
  const { episodes, days } = excursionsOf({ 0: 5, 30: 9, 40: 12, 60: 7, 90: 8, 120: 5 })
  t.strictSame(episodes, [
    { direction: 'above', extreme: 12, isOngoing: false, start: 30, end: 60, distance: 90, silence: 0 },
  ])
  // The last one lasts for an hour.
  t.strictSame(days, [[1, 30, 30, 90, 420, 180]])
})

test('a silence ends an excursion when its last value expires', async t => {
  const { episodes, days } = excursionsOf({ 0: 9, 200: 10, 250: 5, 300: 5 })
  t.match(episodes, [
    { start: 0, end: 60, silence: 140, isOngoing: false, distance: 60 },
    { start: 200, end: 250, silence: 0, distance: 100 },
  ])
  t.strictSame(days, [[2, 60, 110, 160, 140 + 240, 220]])
})

test('an excursion includes its part before the range and at its end', async t => {
  const { episodes, days } = excursionsOf({ 20: 5, 70: 5, 110: 10 }, { before: 9, end: 150 })
  t.match(episodes, [
    { start: 0, end: 20, distance: 20, isOngoing: false },
    { start: 110, end: 150, distance: 80, isOngoing: true, silence: 0 },
  ])
  t.strictSame(days, [[2, 40, 60, 100, 0, 150]])
  t.strictSame(excursionsOf({}, { before: 9, gapMinutes: 20 }).episodes, [], 'it was over')
  t.strictSame(excursionsOf({ 700: 9 }).episodes, [], 'it is behind the range')
  t.strictSame(excursionsOf({}).days, [[0, 0, 0, 0, 600, 0]])
})

test('short excursions do not count, by the last reading beyond', async t => {
  const readings = { 0: 5, 50: 9, 79: 9, 90: 5, 120: 9, 150: 9, 170: 5 }
  t.match(excursionsOf(readings, { forMinutes: 30 }).episodes, [{ start: 120, end: 170 }])
  t.equal(excursionsOf(readings, { forMinutes: 29 }).episodes.length, 2)
})

test('both thresholds: a change of sides makes two excursions', async t => {
  const { episodes } = excursionsOf({ 0: 9, 10: 1, 20: 5 }, { below: 2 })
  t.match(episodes, [
    { direction: 'above', start: 0, end: 10, extreme: 9 },
    { direction: 'below', start: 10, end: 20, extreme: 1, distance: 10 },
  ])
  t.strictSame(excursionsOf({ 0: 8 }).episodes, [], 'the threshold itself is not beyond')
})

test('days have their parts', async t => {
  const readings = { 0: 5, 50: 9, 100: 9, 150: 5 }
  t.strictSame(excursionsOf(readings, { end: 210, midnight: 90 }).days, [
    [1, 40, 40, 40, 0, 90],
    [0, 60, 60, 60, 0, 120],
  ])
})

test('with an unknown interval a value lasts for an hour', async t => {
  t.match(excursionsOf({ 0: 9 }, { gapMinutes: 0 }).episodes, [{ start: 0, end: hourMs / minuteMs }])
})

test('rarely sampled short excursions do not follow each other so often by chance', t => {
  /** A week of readings every ten minutes. `warm`: indices of readings beyond 8. */
  const samplesOf = (warm: readonly number[], silences: readonly number[]) => ({
    timesMs: Float64Array.from({ length: 1008 }, (_, at) => {
      return 10 * minuteMs * (at + 12 * silences.filter(place => place <= at).length)
    }),
    values: Float64Array.from({ length: 1008 }, (_, at) => (warm.includes(at) ? 9 : 5)),
  })
  /** `silences`: indices that follow two hours without a reading. */
  const isSeenByChance = (warm: readonly number[], length: number, silences: readonly number[] = []) => {
    const samples = samplesOf([...warm, ...Array.from({ length }, (_, at) => 900 + at)], silences)
    const gaps = [{ fromMs: Number.NEGATIVE_INFINITY, gapMs: hourMs }]
    const endMs = (samples.timesMs.at(-1) as number) + 10 * minuteMs
    const range = { startMs: 0, endMs }
    const asked = { above: 8, below: null, forMs: 30 * minuteMs, gaps, ...range, days: [range] }
    const found = findExcursions(samples, asked)
    const untilMs = holdsUntil(samples.timesMs, { gaps, endMs })
    const brief = briefRuns(samples, 30 * minuteMs, { isBeyond: value => value > 8, untilMs })
    return found.episodes
      .filter(({ startMs }) => startMs === samples.timesMs[900])
      .map(one => isByChance(samples, one, brief))
  }
  const every = (step: number, length: number) =>
    Array.from({ length: Math.floor(880 / step) }, (_, at) =>
      Array.from({ length }, (_, next) => at * step + next),
    ).flat()
  t.strictSame(isSeenByChance([], 4), [false], 'without brief ones')
  t.strictSame(isSeenByChance(every(10, 1), 4), [false], 'brief ones that are never seen twice')
  // 44 single ones and 22 pairs: 66 runs of 88 readings, p = 1/4. 66 p^3 = 1.03, 66 p^5 = 0.064, 66 p^6 = 0.016.
  const often = [...every(20, 1), ...every(40, 2).map(at => at + 10)]
  t.strictSame(isSeenByChance(often, 4), [true])
  t.strictSame(isSeenByChance(often, 6), [true])
  t.strictSame(isSeenByChance(often, 7), [false])
  t.strictSame(isSeenByChance(every(10, 3), 4), [false], 'ones that are seen whole')
  // 88 runs of 110 readings, p = 1/5. With a silence within each pair, as many runs as readings.
  const quarter = [...every(10, 1), ...every(40, 2)]
  t.strictSame(isSeenByChance(quarter, 4), [true])
  const silences = every(40, 1).map(at => at + 1)
  t.strictSame(isSeenByChance(quarter, 4, silences), [false], 'a silence parts two of them')
  t.end()
})
