/** Remaining days of batteries, against external figures and explicit definitions. */

import { test } from 'tap'
import { batteryDays, sinceJump } from '../../../analytics/battery/battery-state.ts'
import type { DailyMean } from '../../../analytics/battery/line.ts'

const percent = { end: 0, daysMax: 10_000 }
const series = (means: readonly number[], from = 0): DailyMean[] => means.map((mean, at) => ({ day: from + at, mean }))
const near = (value: number | undefined, wanted: number, share = 0.002) => Math.abs((value ?? NaN) / wanted - 1) < share

// numpy 2.4.6 and statsmodels 0.15.0: OLS, with the days at which get_prediction's conf_int (of the mean, alpha 0.05) reaches the end.
const references: Record<string, { days: DailyMean[]; end: number; left: readonly number[]; perDay: number }> = {
  percent: {
    days: series([80.2, 78.9, 78.1, 76.8, 76.3, 74.7, 74.4, 73.1], 20_000),
    end: 0,
    left: [74.07840772, 67.00983487, 82.72045119],
    perDay: -0.9869047619,
  },
  gaps: {
    days: [0, 1, 2, 5, 6, 9, 13, 14, 15, 20, 29].map((day, at) => {
      return { day, mean: [62.1, 61, 61.4, 58.9, 57.2, 56.8, 52.9, 53.3, 51.7, 49, 42.2][at] ?? Number.NaN }
    }),
    end: 0,
    left: [62.7478479136, 57.6087506063, 68.6206081834],
    perDay: -0.677482309975,
  },
  'volts whose fall is hardly certain': {
    days: series([3.31, 3.24, 3.3, 3.22, 3.27, 3.21, 3.25, 3.18, 3.26, 3.19]),
    end: 3,
    left: [22.0529801325, 8.65201383642, 5852.2716977],
    perDay: -0.00915151515152,
  },
  'below the end already': {
    days: series([2.15, 2.12, 2.08, 2.06, 2.01, 1.99, 1.95]),
    end: 2,
    left: [0, 0, 0],
    perDay: -0.0332142857143,
  },
}

test('days left and their interval match the reference', async t => {
  for (const [name, { days, end, left, perDay }] of Object.entries(references)) {
    const found = batteryDays(days, { ...percent, end })
    const pairs = [found?.daysLeft, found?.low, found?.high].map(
      (value, at) => [value, left[at] ?? Number.NaN] as const,
    )
    for (const [value, wanted] of pairs) t.ok(value === wanted || near(value, wanted, 1e-8), `${name}: ${value}`)
    t.ok(near(found?.perDay, perDay, 1e-9), name)
  }
})

test('the interval is wider for autocorrelated days', async t => {
  const noise = [0.4, -0.3, 0.1, -0.5, 0.3, -0.1, 0.5, -0.4]
  const widthOf = (offsets: readonly number[]) => {
    const found = batteryDays(series(offsets.map((offset, at) => 60 - at + offset)), percent)
    return (found?.high ?? Number.NaN) - (found?.low ?? Number.NaN)
  }
  // The same offsets, first apart and then adjacent.
  const apart = Array.from({ length: 24 }, (_, at) => noise[at % 8] ?? 0)
  const ascending = noise.toSorted((a, b) => a - b)
  const wave = [0, 2, 4, 6, 7, 5, 3, 1].map(place => ascending[place] ?? 0)
  const waves = [...wave, ...wave, ...wave]
  t.ok(widthOf(waves) > 1.5 * widthOf(apart), `${widthOf(waves)} and ${widthOf(apart)}`)
  const slow = Array.from({ length: 30 }, (_, at) => 60 - at + 10 * Math.sin(at / 3))
  t.equal(batteryDays(series(slow), percent), undefined, 'too few count as independent')
})

test('the days of a charge in whole percent, a staircase, are estimated', async t => {
  const hours = (day: number) => Array.from({ length: 24 }, (_, hour) => Math.round(10 - 0.1 * (day + hour / 24)))
  const stairs = Array.from({ length: 30 }, (_, day) => hours(day).reduce((sum, value) => sum + value) / 24)
  const found = batteryDays(series(stairs), percent)
  // The true value is 70.5: the charge of 10 has fallen for 100 days.
  t.ok(found !== undefined && found.low < 70.5 && found.high > 70.5, JSON.stringify(found))
})

test('without enough days, a significant decline or a line there is no estimate', async t => {
  const none: Record<string, readonly number[]> = {
    'six days': [90, 89, 88, 87, 86, 85],
    'no day': [],
    'no number': [90, 89, Number.NaN, 88, 87, 86, 85, 84],
    level: Array.from({ length: 30 }, () => 80),
    rising: Array.from({ length: 30 }, (_, at) => 50 + at / 10),
    noise: [80, 71, 79, 70, 80, 72, 78, 71, 79, 70],
  }
  for (const [name, means] of Object.entries(none)) t.equal(batteryDays(series(means), percent), undefined, name)
  const straight = series([90, 89, 88, 87, 86, 85, 84])
  t.equal(batteryDays(straight, { ...percent, daysMax: 83 }), undefined, 'too far away')
  t.equal(batteryDays(straight, { ...percent, daysMax: 84 })?.daysLeft, 84)
  const thirds = batteryDays(series(Array.from({ length: 30 }, (_, at) => 20 - at / 3)), percent)
  t.ok(near(thirds?.high, 31, 1e-6), 'rounding errors are no noise')
})

test('only the days since the last jump count', async t => {
  const before = Array.from({ length: 12 }, (_, at) => 40 - 3 * at)
  const after = Array.from({ length: 10 }, (_, at) => 100 - at)
  const isJump = (from: number, to: number) => to - from > 10
  const leftOf = (means: readonly number[]) => batteryDays(sinceJump(series(means), isJump), percent)
  t.ok(near(leftOf([...before, ...after])?.daysLeft, 91))
  t.equal(leftOf([...before, ...after.slice(0, 7)]), undefined, 'too few since')
  // The battery was charged during a day, so its mean lies between.
  t.ok(near(leftOf([...before, 50, ...after])?.daysLeft, 91, 1e-9))
  const voltage = batteryDays(series([3.1, 3.05, 3, 2.95, 2.9, 2.85, 2.8, 2.75]), { ...percent, end: 2.4 })
  t.ok(near(voltage?.daysLeft, 7))
  t.equal(batteryDays(series([5, 4, 3, 2, 1, 0, -1, -2]), percent)?.daysLeft, 0, 'it has ended')
})
