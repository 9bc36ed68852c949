/** MSTL against statsmodels. Fixture: fixtures/mstl.py. */

import { test } from 'tap'
import { planLoess } from '../../../analytics/decomposition/loess.ts'
import { dailyStl, decompose, type Stl, weeklyStl } from '../../../analytics/decomposition/stl.ts'
import { decomposeSeasons } from '../../../analytics/decomposition/strength.ts'
import { farthest, hourlySeries, readFixture } from '../fixture.ts'

const cases = readFixture('mstl')

function partsOf(values: Float64Array, robust: boolean, rounds: number) {
  const seasons = [dailyStl, weeklyStl].map(season => ({ ...season, robust }))
  const [day, week] = decomposeSeasons(values, seasons, rounds) as [Stl, Stl]
  return { day: day.seasonal, week: week.seasonal, trend: week.trend, remainder: week.remainder }
}

for (const robust of [false, true]) {
  test(`${robust ? 'robust' : 'plain'} MSTL matches statsmodels`, async t => {
    for (const known of cases) {
      const found = partsOf(hourlySeries(known), robust, known.rounds)
      const expected = robust ? known.robust : known.plain
      for (const part of ['day', 'week', 'trend', 'remainder'] as const) {
        const share = farthest(found[part], expected[part], known.every) / known.range
        t.ok(share <= 1e-8, `${known.name}, ${part}: ${share} of the range`)
      }
    }
  })
}

test('a window of Loess must be odd and at least 3', async t => {
  t.throws(() => planLoess(0, 3), RangeError)
  t.throws(() => planLoess(5, 4), RangeError)
  t.throws(() => planLoess(5, 1), RangeError)
})

test('one season in one round is its STL', async t => {
  const values = Float64Array.from({ length: 335 }, (_, hour) => Math.sin(hour / 4) + 0.01 * ((hour * 7919) % 100))
  t.strictSame(decomposeSeasons(values, [dailyStl], 1), [decompose(values, dailyStl)])
  t.throws(() => decomposeSeasons(values, [dailyStl, weeklyStl]), RangeError)
})

test('a constant of at least two seasons is all trend', async t => {
  const { seasonal, trend, remainder } = decompose(new Float64Array(100).fill(0.1), dailyStl)
  t.ok(trend.every(value => Math.abs(value - 0.1) < 1e-15))
  t.ok([...seasonal, ...remainder].every(value => Math.abs(value) < 1e-15))
  t.throws(() => decompose(new Float64Array(47), dailyStl), RangeError)
})
