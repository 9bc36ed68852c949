/** MSTL against statsmodels. Fixture: fixtures/mstl.py. */

import { test } from 'tap'
import { decomposeSeasons } from '../../analytics/decomposition/mstl.ts'
import { dailyStl, decompose, type Stl, weeklyStl } from '../../analytics/decomposition/stl.ts'
import { farthest, type HourlySeries, hourlySeries, readFixture } from './fixture.ts'

interface Parts {
  readonly day: number[]
  readonly week: number[]
  readonly trend: number[]
  readonly remainder: number[]
}

interface Case extends HourlySeries {
  readonly name: string
  readonly rounds: number
  /** Of the parts, each so manieth value is kept. */
  readonly every: number
  readonly range: number
  readonly plain: Parts
  readonly robust: Parts
}

const cases = readFixture<Case[]>('mstl')

function partsOf(values: Float64Array, robust: boolean, rounds: number) {
  const seasons = [dailyStl, weeklyStl].map(season => ({ ...season, robust }))
  const [day, week] = decomposeSeasons(values, seasons, rounds) as [Stl, Stl]
  return { day: day.seasonal, week: week.seasonal, trend: week.trend, remainder: week.remainder }
}

for (const robust of [false, true]) {
  test(`${robust ? 'robust' : 'plain'} MSTL is that of statsmodels`, async t => {
    let largest = 0
    for (const known of cases) {
      const found = partsOf(hourlySeries(known), robust, known.rounds)
      const expected = robust ? known.robust : known.plain
      for (const part of ['day', 'week', 'trend', 'remainder'] as const) {
        const share = farthest(found[part], expected[part], known.every) / known.range
        t.ok(share <= 1e-8, `${known.name}, ${part}: ${share} of the range`)
        largest = Math.max(largest, share)
      }
    }
    t.comment(`largest deviation: ${largest} of the range`)
  })
}

test('one season in one round is its STL, and less than two of the longest are refused', async t => {
  const values = Float64Array.from({ length: 335 }, (_, hour) => Math.sin(hour / 4) + 0.01 * ((hour * 7919) % 100))
  t.strictSame(decomposeSeasons(values, [dailyStl], 1), [decompose(values, dailyStl)])
  t.throws(() => decomposeSeasons(values, [dailyStl, weeklyStl]), RangeError)
})

test('a constant is all trend, and less than two seasons are refused', async t => {
  const { seasonal, trend, remainder } = decompose(new Float64Array(100).fill(0.1), dailyStl)
  t.ok(trend.every(value => Math.abs(value - 0.1) < 1e-15))
  t.ok([...seasonal, ...remainder].every(value => Math.abs(value) < 1e-15))
  t.throws(() => decompose(new Float64Array(47), dailyStl), RangeError)
})
