/** Two series of directions against numpy, scipy and astropy. Fixture: fixtures/direction-agreement.py. */

import { test } from 'tap'
import { directionAgreement, directionDifferences } from '../../../analytics/direction/circular-summary.ts'
import { type Fixture, floats, readFixture } from '../fixture.ts'

const agreementOf = (a: readonly (number | null)[], b: readonly (number | null)[]) =>
  directionAgreement(directionDifferences(floats(a), floats(b)))

test('differences by the shorter way match the references’ mean, size and length', async t => {
  for (const [name, { a, b, ...expected }] of Object.entries<Fixture>(readFixture('direction-agreement'))) {
    const found = agreementOf(a, b)
    t.equal(found.n, expected.n, name)
    for (const figure of ['bias', 'mae', 'resultant_length'] as const) {
      t.ok(Math.abs((found[figure] ?? Number.NaN) - expected[figure]) < 1e-9, `${name}: ${figure} ${found[figure]}`)
    }
  }
})

test('the bias has the sign of a − b', async t => {
  t.match(agreementOf([350, 0], [10, 20]), { n: 2, bias: -20, mae: 20 })
  t.match(agreementOf([10, 20], [350, 0]), { n: 2, bias: 20, mae: 20 })
})

test('differences that cancel out have only a size', async t => {
  t.strictSame(agreementOf([], []), { n: 0, bias: null, mae: null, resultant_length: null })
  t.equal(agreementOf([1, null], [null, 2]).n, 0)
  const { n, bias, mae } = agreementOf([90, 0], [0, 90])
  t.strictSame([n, bias, mae], [2, null, 90])
  t.match(agreementOf([0, 180], [0, 0]), { n: 2, bias: null, mae: 90 })
})
