/** Changes of level, in series whose changes are known. */

import { test } from 'tap'
import { changePoints, dailyLevels } from '../../../analytics/changes/change-points.ts'
import { autoregressive } from '../series.ts'

const days = 80
const places = Float64Array.from({ length: days }, (_, day) => day)
const noise = autoregressive(days, 0, 5)

/** Steps by their days. */
function levelsWith(steps: Readonly<Record<number, number>>) {
  const shiftAt = (day: number) =>
    Object.entries(steps).reduce((sum, [at, shift]) => sum + (day >= Number(at) ? shift : 0), 0)
  return { days: places, means: noise.map((value, day) => value + shiftAt(day)) }
}

test('several changes are found, each between its neighbours', async t => {
  const found = changePoints(levelsWith({ 32: 4, 60: 4 }))
  const places = found.map(({ day, daysBefore, daysAfter }) => `${day}: ${daysBefore}, ${daysAfter}`)
  t.strictSame(places, ['32: 32, 28', '60: 28, 20'])
  t.ok(Math.abs((found[0]?.after ?? 0) - (found[1]?.before ?? 1)) < 1e-12, 'the level between them is one')
})

test('places are days, also if some are missing', async t => {
  const levels = levelsWith({ 40: 6 })
  const isKept = (_: number, day: number) => day % 5 !== 2
  const [found] = changePoints({ days: places.filter(isKept), means: levels.means.filter(isKept) })
  t.equal(found?.day, 40)
})

test('no change is found in noise, in a constant series, in fewer than 20 days, or five days from an end', async t => {
  t.strictSame(changePoints(levelsWith({})), [])
  t.strictSame(changePoints({ days: places, means: new Float64Array(days).fill(3) }), [])
  const short = levelsWith({ 10: 9 })
  t.strictSame(changePoints({ days: short.days.subarray(0, 19), means: short.means.subarray(0, 19) }), [])
  t.ok(changePoints(levelsWith({ 78: 9 })).every(({ day }) => day <= 75))
})

test('a step without noise is one change', async t => {
  const means = places.map(day => (day < 40 ? 1 : 2))
  t.match(changePoints({ days: places, means }), [{ day: 40, before: 1, after: 2 }])
})

test('a day that lacks some hours has the level of the others', async t => {
  const localHours = Uint8Array.from({ length: 240 }, (_, hour) => hour % 24)
  const hourly = Float64Array.from(localHours, (hour, place) => {
    return place >= 100 && place < 104 ? Number.NaN : 10 + Math.sin((2 * Math.PI * hour) / 24)
  })
  const { days: found, means } = dailyLevels(hourly, localHours)
  t.strictSame([...found], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  for (const mean of means) t.ok(Math.abs(mean - 10) < 0.02)
  const holes = hourly.map((value, place) => (place >= 24 && place < 34 ? Number.NaN : value))
  t.strictSame([...dailyLevels(holes, localHours).days], [0, 2, 3, 4, 5, 6, 7, 8, 9], 'fewer than 18 hours are no day')
})
