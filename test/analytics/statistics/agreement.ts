import { test } from 'tap'
import { agreementOf, orthogonalLine } from '../../../analytics/correlation/agreement.ts'

import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { deviation, floats, readFixture } from '../fixture.ts'

const nan = Number.NaN
const frame = { startMs: 0, stepMs: 3_600_000 }
const utc = createLocalTime('UTC')

const tolerances = {
  n: 0,
  bias: 1e-10,
  sd_diff: 1e-10,
  mae: 1e-10,
  rmse: 1e-10,
  pearson: 1e-10,
  n_eff: 1e-8,
  p_value: 1e-8,
  spearman: 1e-10,
  slope: 1e-9,
  intercept: 1e-9,
  lag_seconds: 0,
  lag_r: 1e-9,
} as const
const figures = Object.keys(tolerances) as (keyof typeof tolerances)[]

function hourly(a: ArrayLike<number>, b: ArrayLike<number>) {
  return agreementOf(Float64Array.from(a), Float64Array.from(b), frame, utc)
}

test('every figure matches the references', async t => {
  for (const { name, a, b, ...expected } of readFixture('agreement')) {
    const found = agreementOf(floats(a), floats(b), frame, utc)
    t.strictSame(Object.keys(found), [...Object.keys(expected), 'reason'], name)
    const wrong = figures.filter(figure => !(deviation(found[figure], expected[figure]) <= tolerances[figure]))
    t.strictSame(wrong, [], name)
    t.equal(found.verdict, expected.verdict, name)
    for (const [side, limit] of [...(expected.limits_of_agreement ?? [])].entries()) {
      t.ok(deviation(found.limits_of_agreement?.[side] ?? null, limit) < 1e-10, `${name}: ${limit}`)
    }
    const lack = expected.verdict === null ? 'too_few_independent' : 'lag_not_significant'
    t.equal(found.reason, expected.lag_seconds === null ? lack : null, name)
  }
})

test('missing figures are null, with a reason', async t => {
  const relation = { pearson: null, n_eff: null, p_value: null, spearman: null }
  const after = { slope: null, intercept: null, lag_seconds: null, lag_r: null, verdict: null }
  const nothing = { n: 0, bias: null, sd_diff: null, mae: null, rmse: null, ...relation, limits_of_agreement: null }
  const noData = { ...nothing, ...after, reason: 'no_data' }
  t.strictSame(hourly([], []), noData)
  t.strictSame(hourly([nan, nan, 1], [nan, nan, nan]), noData, 'only one has values')
  t.strictSame(hourly([1, nan, 3, nan], [nan, 2, nan, 4]), noData, 'never in one hour')
  t.strictSame(hourly([1, 2, nan, nan], [nan, nan, 3, 4]), noData, 'one after the other')

  const one = { n: 1, bias: -3, sd_diff: null, mae: 3, rmse: 3, limits_of_agreement: null }
  t.strictSame(hourly([nan, 1], [nan, 4]), { ...noData, ...one, reason: 'insufficient_data' })
  const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  const found = hourly(nine, [0, ...nine.slice(0, 8)])
  t.match(found, { bias: 1, sd_diff: 0, limits_of_agreement: [1, 1], reason: 'insufficient_data' })

  const ramp = Array.from({ length: 30 }, (_, hour) => hour)
  const constant = hourly(ramp, new Array(30).fill(4))
  t.match(constant, { ...relation, ...after, n: 30, bias: 10.5, reason: 'constant' })
  t.ok(deviation(constant.mae, (4 + 3 + 2 + 1 + (25 * 26) / 2) / 30) < 1e-12)
})

test('the orthogonal line: exact ones, in both directions, and none', async t => {
  const line = (x: number[], y: number[]) => orthogonalLine(Float64Array.from(x), Float64Array.from(y))
  t.strictSame(line([0, 1, 2], [1, 3, 5]), { slope: 2, intercept: 1 })
  t.strictSame(line([1, 3, 5], [0, 1, 2]), { slope: 0.5, intercept: -0.5 })
  t.strictSame(line([0, 1, 2], [7, 7, 7]), { slope: 0, intercept: 7 })
  t.equal(line([7, 7, 7], [0, 1, 2]), null, 'vertical')
  t.equal(line([0, 0, 2, 2], [0, 2, 0, 2]), null, 'a round cloud')
  t.equal(line([5], [5]), null)
  t.equal(line([], []), null)
})
