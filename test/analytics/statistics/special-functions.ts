import { test } from 'tap'
import { normalQuantile975, studentTwoSidedP } from '../../../analytics/correlation/student.ts'
import { erfc, logGamma, regularisedBeta } from '../../../analytics/special-functions.ts'
import { deviation, readFixture } from '../fixture.ts'

type Row = [number, number, number, number]
const reference: Record<'erfc' | 'log_gamma' | 'beta' | 'student', Row[]> = readFixture('special-functions')

test('erfc has fourteen digits from one to the smallest of its tail', async t => {
  const worst = Math.max(...reference.erfc.map(([x, value]) => deviation(erfc(x), value)))
  t.ok(worst < 1e-14, `${worst}`)
})

test('log-gamma has fourteen digits, absolute ones near its zeros', async t => {
  const errors = reference.log_gamma.map(([x, value]) => Math.abs(logGamma(x) - value) / Math.max(1, Math.abs(value)))
  t.ok(Math.max(...errors) < 1e-14, `${Math.max(...errors)}`)
})

test('the incomplete beta function has fourteen decimals, and twelve digits far down in its tail', async t => {
  const errors = reference.beta.map(([a, b, x, value]) => Math.abs(regularisedBeta(a, b, x) - value))
  t.ok(Math.max(...errors) < 1e-14, `${Math.max(...errors)}`)
  const tail = reference.beta.filter(row => row[3] > 1e-290)
  const relative = tail.map(([a, b, x, value]) => deviation(regularisedBeta(a, b, x), value))
  t.ok(Math.max(...relative) < 1e-12, `${Math.max(...relative)}`)
})

test('a p-value matches scipy’s for any degrees of freedom, whole or not', async t => {
  const some = reference.student.filter(row => row[2] > 1e-300)
  t.ok(some.length > 250)
  const errors = some.map(([value, degrees, p]) => deviation(studentTwoSidedP(value, degrees), p))
  t.ok(Math.max(...errors) < 1e-11, `${Math.max(...errors)}`)
})

test('undefined values are NaN', async t => {
  for (const x of [0, -1, Number.NaN]) t.ok(Number.isNaN(logGamma(x)), `${x}`)
  t.ok(Number.isNaN(erfc(Number.NaN)))
  t.strictSame([erfc(Number.NEGATIVE_INFINITY), erfc(0), erfc(Number.POSITIVE_INFINITY)], [2, 1, 0])
  t.strictSame([regularisedBeta(2, 3, 0), regularisedBeta(2, 3, 1)], [0, 1])
  const outside = [regularisedBeta(0, 1, 0.5), regularisedBeta(1, -1, 0.5), regularisedBeta(1, 1, 1.5)]
  t.ok([...outside, regularisedBeta(1, 1, Number.NaN)].every(Number.isNaN))
  t.strictSame([studentTwoSidedP(0, 5), studentTwoSidedP(Number.POSITIVE_INFINITY, 5)], [1, 0])
  t.equal(studentTwoSidedP(1e200, 5), 0)
  t.ok(Number.isNaN(studentTwoSidedP(1, 0)) && Number.isNaN(studentTwoSidedP(Number.NaN, 5)))
  t.ok(deviation(erfc(normalQuantile975 / Math.SQRT2), 0.05) < 1e-14)
})
