/**
 * Tests a series for a daily cycle by the signs of its days: a visible cycle may be too weak for the spectrum of a
 * wandering level. Each day is a vector of its hours minus the line from its midnight to the next, which removes the
 * wandering. It is divided by its root mean square, so that days have equal weights. Without a cycle a day is as likely
 * as its mirror image. So the mean square of the mean day is compared with means under random signs of the days (a
 * randomisation test, Edgington and Onghena 2007).
 */

import { bridgeGaps } from '../time/fill-gaps.ts'

const hoursPerDay = 24
const daysMin = 5
/** Hours with a value that a day needs. */
const hoursMin = 12
const draws = 400
const level = 0.02
/** Share of the variance within a day: a weaker cycle is hardly visible. */
const shareMin = 0.1

export interface DayTest {
  readonly pValue: number
  /** Share of the variance within the days, minus their lines, that the mean day explains. */
  readonly share: number
  readonly isDaily: boolean
}

/** `hourly`: means of hours, NaN where missing, `localHours` 0 … 23. Null with fewer than five days. */
export function dayTest(hourly: Float64Array, localHours: Uint8Array): DayTest | null {
  const { days, count } = daysOf(hourly, localHours)
  if (count < daysMin) return null
  const mean = new Float64Array(hoursPerDay)
  const ofMean = (factors: Float64Array) => squaresOf(meanInto(mean, days, factors), 0)
  const squares = Float64Array.from({ length: count }, (_, day) => squaresOf(days, day))
  const within = squares.reduce((sum, square) => sum + square, 0) / count
  const share = Math.min(1, ofMean(new Float64Array(count).fill(1)) / within)
  const scales = squares.map(square => 1 / Math.sqrt(square))
  const found = ofMean(scales)
  const sign = randomSigns()
  const factors = new Float64Array(count)
  let asLarge = 1
  for (let draw = 0; draw < draws; draw++) {
    for (let day = 0; day < count; day++) factors[day] = sign() * (scales[day] as number)
    if (ofMean(factors) >= found) asLarge++
  }
  const pValue = asLarge / (draws + 1)
  return { pValue, share, isDaily: pValue <= level && share >= shareMin }
}

/** Days with variation, 24 values each: the hours less the line from midnight to midnight, and less their mean. */
function daysOf(hourly: Float64Array, localHours: Uint8Array): { days: Float64Array; count: number } {
  const filled = hourly.slice()
  bridgeGaps(filled)
  const days = new Float64Array(hourly.length)
  let count = 0
  for (let start = localHours.indexOf(0); start >= 0 && start + hoursPerDay < hourly.length; start += hoursPerDay) {
    const known = hourly.subarray(start, start + hoursPerDay).filter(value => !Number.isNaN(value))
    if (known.length < hoursMin) continue
    const [from, to] = [filled[start] as number, filled[start + hoursPerDay] as number]
    const day = days.subarray(count * hoursPerDay, (count + 1) * hoursPerDay)
    for (let hour = 0; hour < hoursPerDay; hour++) {
      day[hour] = (filled[start + hour] as number) - from - ((to - from) * hour) / hoursPerDay
    }
    const mean = day.reduce((sum, value) => sum + value, 0) / hoursPerDay
    for (let hour = 0; hour < hoursPerDay; hour++) (day[hour] as number) -= mean
    if (squaresOf(days, count) > 0) count++
  }
  return { days, count }
}

/** The mean of the days, each multiplied by its factor. */
function meanInto(mean: Float64Array, days: Float64Array, factors: Float64Array): Float64Array {
  mean.fill(0)
  for (let day = 0; day < factors.length; day++) {
    const factor = (factors[day] as number) / factors.length
    const start = day * hoursPerDay
    for (let hour = 0; hour < hoursPerDay; hour++) (mean[hour] as number) += factor * (days[start + hour] as number)
  }
  return mean
}

/** The mean square of a day. */
function squaresOf(days: Float64Array, day: number): number {
  let sum = 0
  for (let place = day * hoursPerDay; place < (day + 1) * hoursPerDay; place++) sum += (days[place] as number) ** 2
  return sum / hoursPerDay
}

/** Uses a fixed seed (xorshift, Marsaglia 2003), so that the same series has the same answer. */
function randomSigns(): () => number {
  let state = 2_463_534_242
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state & 1 ? 1 : -1
  }
}
