/** Two series of directions against numpy, scipy and astropy. Fixture: fixtures/direction-agreement.py. */

import { test } from 'tap'
import { directionAgreement, directionDifferences } from '../../analytics/direction/direction-agreement.ts'
import { floats, readFixture } from './fixture.ts'

interface Case {
  a: (number | null)[]
  b: (number | null)[]
  n: number
  bias: number
  mae: number
  resultant_length: number
}

const agreementOf = (a: readonly (number | null)[], b: readonly (number | null)[]) =>
  directionAgreement(directionDifferences(floats(a), floats(b)))

test('differences by the shorter way have the references’ mean, size and length', async t => {
  const cases = Object.entries(readFixture<Record<string, Case>>('direction-agreement'))
  t.ok(cases.length > 5)
  for (const [name, { a, b, n, bias, mae, resultant_length }] of cases) {
    const found = agreementOf(a, b)
    t.equal(found.n, n, name)
    t.ok(Math.abs((found.bias ?? Number.NaN) - bias) < 1e-9, `${name}: bias ${found.bias}, not ${bias}`)
    t.ok(Math.abs((found.mae ?? Number.NaN) - mae) < 1e-9, `${name}: mae ${found.mae}, not ${mae}`)
    t.ok(
      Math.abs((found.resultant_length ?? Number.NaN) - resultant_length) < 1e-9,
      `${name}: ${found.resultant_length}`,
    )
  }
})

test('the sign of the bias is that of a − b, and exchanging them turns it', async t => {
  t.match(agreementOf([350, 0], [10, 20]), { n: 2, bias: -20, mae: 20 })
  t.match(agreementOf([10, 20], [350, 0]), { n: 2, bias: 20, mae: 20 })
})

test('without a pair there is nothing, and differences that cancel out have a size alone', async t => {
  t.strictSame(agreementOf([], []), { n: 0, bias: null, mae: null, resultant_length: null })
  t.strictSame(agreementOf([1, null], [null, 2]), { n: 0, bias: null, mae: null, resultant_length: null })
  const { n, bias, mae } = agreementOf([90, 0], [0, 90])
  t.strictSame([n, bias, mae], [2, null, 90])
  t.match(agreementOf([0, 180], [0, 0]), { n: 2, bias: null, mae: 90 })
})
