/** Hampel's filter against brute force in numpy. Fixture: fixtures/hampel.py. */

import { test } from 'tap'
import { hampelClean } from '../../../analytics/quality/hampel.ts'
import { floats, readFixture } from '../fixture.ts'

function clean(values: readonly (number | null)[]): (number | null)[] {
  const cleaned = hampelClean(floats(values))
  return Array.from(cleaned, value => (Number.isNaN(value) ? null : value))
}

test('cleaned cells match brute force', async t => {
  for (const { name, values, cleaned } of readFixture('hampel')) {
    t.strictSame(clean(values), cleaned, name)
    t.notSame(values, cleaned, `${name}: there was something to clean`)
  }
})

test('the limit is 3.5 standard deviations of normal noise with that MAD', async t => {
  // Around the middle one the MAD is 1, so the limit is 5.1891.
  const around = (value: number) => Array.from({ length: 25 }, (_, cell) => (cell === 12 ? value : (cell % 3) - 1))
  t.equal(clean(around(5.189))[12], 5.189)
  t.equal(clean(around(5.1892))[12], 0)
})

test('a neighbourhood of equal values changes nothing', async t => {
  const steps = Array.from({ length: 50 }, (_, index) => (index === 25 ? 90 : 20))
  t.strictSame(clean(steps), steps)
})

test('an empty series, one cell and distant cells stay', async t => {
  t.strictSame(clean([]), [])
  t.strictSame(clean([5]), [5])
  const sparse = Array.from({ length: 60 }, (_, index) => (index % 30 === 0 ? index : null))
  t.strictSame(clean(sparse), sparse)
})
