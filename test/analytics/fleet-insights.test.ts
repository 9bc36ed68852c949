/** Batteries and odd ones of a fleet, against figures that were computed elsewhere and definitions written out. */

import fc from 'fast-check'
import { test } from 'tap'
import { batteryDays, type DailyMean } from '../../analytics/fleet/battery-days.ts'
import { oddOnesOut } from '../../analytics/fleet/odd-ones-out.ts'

const percent = { end: 0, jump: 10 }
const series = (means: readonly number[], from = 0): DailyMean[] => means.map((mean, at) => ({ day: from + at, mean }))
const near = (value: number | undefined, wanted: number, share = 0.002) => Math.abs((value ?? NaN) / wanted - 1) < share

test('a straight line ends where it ends, without an interval', async t => {
  const found = batteryDays(series(Array.from({ length: 30 }, (_, at) => 90 - at / 2)), percent)
  t.ok(near(found?.daysLeft, 151) && near(found?.low, 151) && near(found?.high, 151))
  t.ok(near(found?.perDay, -0.5))
})

test('the interval is that of the slope', async t => {
  // The textbook's sums; 2.4469 is the two-sided 95 % quantile of Student's t for 6 degrees of freedom.
  const means = [80.2, 78.9, 78.1, 76.8, 76.3, 74.7, 74.4, 73.1]
  const x = [0, 1, 2, 3, 4, 5, 6, 7]
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value) / values.length
  const sxx = x.reduce((sum, at) => sum + (at - 3.5) ** 2, 0)
  const slope = x.reduce((sum, at) => sum + (at - 3.5) * ((means[at] ?? 0) - mean(means)), 0) / sxx
  const residuals = x.reduce((sum, at) => sum + ((means[at] ?? 0) - mean(means) - slope * (at - 3.5)) ** 2, 0)
  const error = 2.4469 * Math.sqrt(residuals / 6 / sxx)
  const left = mean(means) + slope * 3.5
  const found = batteryDays(series(means, 20_000), percent)
  t.ok(near(found?.daysLeft, left / -slope))
  t.ok(near(found?.low, left / (error - slope)))
  t.ok(near(found?.high, left / -(slope + error)))
})

test('nothing is said without enough days, a slope that is surely downwards, or a line', async t => {
  t.equal(batteryDays(series([90, 89, 88, 87, 86, 85]), percent), undefined, 'six days')
  t.equal(batteryDays([], percent), undefined)
  t.equal(batteryDays(series(Array.from({ length: 30 }, () => 80)), percent), undefined, 'level')
  t.equal(batteryDays(series(Array.from({ length: 30 }, (_, at) => 50 + at / 10)), percent), undefined, 'rising')
  t.equal(batteryDays(series([80, 71, 79, 70, 80, 72, 78, 71, 79, 70]), percent), undefined, 'noise')
})

test('only the days since the last jump count', async t => {
  const before = Array.from({ length: 12 }, (_, at) => 40 - 3 * at)
  const after = Array.from({ length: 10 }, (_, at) => 100 - at)
  t.ok(near(batteryDays(series([...before, ...after]), percent)?.daysLeft, 91))
  t.equal(batteryDays(series([...before, ...after.slice(0, 5)]), percent), undefined, 'too few since')
  const voltage = batteryDays(series([3.1, 3.05, 3, 2.95, 2.9, 2.85, 2.8, 2.75]), { end: 2.4, jump: 0.2 })
  t.ok(near(voltage?.daysLeft, 7))
  t.equal(batteryDays(series([5, 4, 3, 2, 1, 0, -1, -2]), percent)?.daysLeft, 0, 'it has ended')
})

test('the days left do not hang on where the days are counted from', async () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 9, noNaN: true }), { minLength: 7, maxLength: 30 }), noise => {
      const means = noise.map((value, at) => 100 - 2 * at + value)
      const [one, other] = [series(means), series(means, 20_500)].map(days => batteryDays(days, percent))
      return one === undefined ? other === undefined : near(other?.daysLeft, one.daysLeft, 1e-6)
    }),
    { numRuns: 300 },
  )
})

test('the odd ones are those beyond 3.5 of the modified z-score', async t => {
  // The distances from 2.45 have the median 0.15, so 8.3 scores 0.6745 · 5.85 / 0.15.
  const values = [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3]
  const found = oddOnesOut(values)
  t.equal(found?.median, 2.45)
  t.strictSame(
    found?.odd.map(({ index, score }) => [index, Math.round(score * 100) / 100]),
    [
      [9, 26.31],
      [8, 25.86],
    ],
  )
  t.equal(oddOnesOut(values.slice(3)), undefined, 'seven are too few')
  t.equal(oddOnesOut([1, 1, 1, 1, 1, 1, 2, 100]), undefined, 'half of them are the same')
  t.strictSame(oddOnesOut([1, 2, 3, 4, 5, 6, 7, 8])?.odd, [])
  t.strictSame(values, [2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3], 'the values stay as they are')
})
