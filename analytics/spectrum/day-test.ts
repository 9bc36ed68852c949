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
  const days = daysOf(hourly, localHours)
  if (days.length < daysMin) return null
  const within = days.reduce((sum, day) => sum + squaresOf(day), 0) / days.length
  const share = Math.min(1, squaresOf(meanDay(days)) / within)
  const scaled = days.map(day => day.map(value => value / Math.sqrt(squaresOf(day))))
  const found = squaresOf(meanDay(scaled))
  const sign = randomSigns()
  let asLarge = 1
  for (let draw = 0; draw < draws; draw++) {
    if (squaresOf(meanDay(scaled, sign)) >= found) asLarge++
  }
  const pValue = asLarge / (draws + 1)
  return { pValue, share, isDaily: pValue <= level && share >= shareMin }
}

/** Days with variation. */
function daysOf(hourly: Float64Array, localHours: Uint8Array): Float64Array[] {
  const filled = hourly.slice()
  bridgeGaps(filled)
  const days: Float64Array[] = []
  for (let start = localHours.indexOf(0); start >= 0 && start + hoursPerDay < hourly.length; start += hoursPerDay) {
    const known = hourly.subarray(start, start + hoursPerDay).filter(value => !Number.isNaN(value))
    if (known.length < hoursMin) continue
    const [from, to] = [filled[start] as number, filled[start + hoursPerDay] as number]
    const day = Float64Array.from({ length: hoursPerDay }, (_, hour) => {
      return (filled[start + hour] as number) - from - ((to - from) * hour) / hoursPerDay
    })
    const mean = day.reduce((sum, value) => sum + value, 0) / hoursPerDay
    const centred = day.map(value => value - mean)
    if (squaresOf(centred) > 0) days.push(centred)
  }
  return days
}

function meanDay(days: readonly Float64Array[], sign: () => number = () => 1): Float64Array {
  const mean = new Float64Array(hoursPerDay)
  for (const day of days) {
    const factor = sign() / days.length
    for (let hour = 0; hour < hoursPerDay; hour++) mean[hour] = (mean[hour] as number) + factor * (day[hour] as number)
  }
  return mean
}

function squaresOf(day: Float64Array): number {
  return day.reduce((sum, value) => sum + value * value, 0) / hoursPerDay
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
