/** Profiles in local time against pandas on real readings. Fixture: fixtures/profiles.py. */

import { test } from 'tap'
import { circularMean, dailyProfile, extremeHours, weeklyProfile } from '../../../analytics/decomposition/profiles.ts'
import { hoursOfDay, hoursOfWeek } from '../../../analytics/time/local-days.ts'
import { createLocalTime } from '../../../analytics/time/local-time.ts'
import { demoColumn, deviation, readFixture } from '../fixture.ts'

const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs

test('daily and weekly profiles match pandas', async t => {
  for (const known of readFixture('profiles')) {
    const isKept = (_: number, place: number) => place % known.every === 0
    const times = demoColumn(known.file, 'timestamp').filter(isKept)
    const values = demoColumn(known.file, known.column).filter(isKept)
    const name = `${known.file} ${known.column} ${known.zone}`
    const weekHours = hoursOfWeek(times, createLocalTime(known.zone))
    const profile = dailyProfile(values, hoursOfDay(weekHours))
    const parts = ['n', 'mean', 'median', 'p10', 'p90'] as const
    const errors = profile.flatMap((hour, place) => parts.map(part => deviation(hour[part], known[part][place])))
    t.strictSame(profile.map(({ hour }) => hour).join(), [...profile.keys()].join())
    const weekly = weeklyProfile(values, weekHours, yearMs) ?? []
    t.strictSame([profile.length, weekly.length], [24, 7])
    for (const [place, day] of weekly.entries()) {
      errors.push(...day.map((value, hour) => deviation(value, known.weekly[place][hour])))
    }
    t.ok(Math.max(...errors) <= 1e-11, `${name}: ${Math.max(...errors)}`)
  }
})

test('the repeated hour pools into its label, the skipped one has a reading fewer', async t => {
  const counts = (from: string, cells: number) => {
    const times = Float64Array.from({ length: cells }, (_, index) => Date.parse(from) + index * 300_000)
    const hours = hoursOfDay(hoursOfWeek(times, createLocalTime('Europe/Berlin')))
    return dailyProfile(new Float64Array(cells).fill(1), hours).map(({ n }) => n)
  }
  t.strictSame(counts('2025-03-29T23:00Z', 276), [12, 12, 0, ...new Array(21).fill(12)])
  t.strictSame(counts('2025-10-25T22:00Z', 300), [12, 12, 24, ...new Array(21).fill(12)])
})

test('the week begins on Monday, also before 1970 and across the zone’s midnight', async t => {
  const hour = (text: string, zone: string) => hoursOfWeek(Float64Array.of(Date.parse(text)), createLocalTime(zone))[0]
  t.equal(hour('2026-11-16T00:00Z', 'UTC'), 0)
  t.equal(hour('2026-11-15T23:59Z', 'UTC'), 167)
  t.equal(hour('2026-11-15T23:59Z', 'Europe/Berlin'), 0)
  t.equal(hour('1969-12-29T00:00Z', 'UTC'), 0)
  t.equal(hour('1969-12-28T23:00Z', 'UTC'), 167)
})

test('a weekly profile needs three weeks', async t => {
  const times = Float64Array.from({ length: 504 }, (_, index) => index * hourMs)
  const hours = hoursOfWeek(times, createLocalTime('UTC'))
  const values = new Float64Array(504).fill(4)
  t.equal(weeklyProfile(values, hours, 504 * hourMs - 1), null)
  t.strictSame(weeklyProfile(values, hours, 504 * hourMs), new Array(7).fill(new Array(24).fill(4)))
})

test('without readings there are 24 empty hours and no peak', async t => {
  const profile = dailyProfile(Float64Array.of(Number.NaN, Number.NaN), Uint8Array.of(3, 4))
  t.equal(profile.length, 24)
  t.strictSame(profile[3], { hour: 3, n: 0, mean: null, median: null, p10: null, p90: null })
  t.strictSame(extremeHours(profile), { peak: null, trough: null })
})

test('peak and trough are the hours of the extreme means, with ties averaged circularly', async t => {
  const extremes = (mean: (hour: number) => number) => {
    const hours = Uint8Array.from({ length: 24 }, (_, hour) => hour)
    return extremeHours(dailyProfile(Float64Array.from(hours, mean), hours))
  }
  const wave = extremes(hour => Math.sin((Math.PI * (hour - 9)) / 12))
  t.strictSame(wave, { peak: 15, trough: 3 })
  const equal = extremes(hour => (hour === 23 || hour === 1 ? 9 : hour === 12 ? 1 : 5))
  t.strictSame(equal, { peak: 0, trough: 12 })
  t.equal(circularMean([23, 0]), 23.5)
  t.equal(circularMean([22, 23, 0]), 23)
  t.equal(circularMean([6, 18]), 6, 'no direction: the first stands for both')
  t.equal(circularMean([]), null)
})
