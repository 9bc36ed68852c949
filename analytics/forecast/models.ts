/** Three cheap models of a series with a day. Their mean is better than each of them (Bates and Granger 1969). */

import { extendAutoregression, fitAutoregression } from './autoregression.ts'
import { type History, horizonHours, hoursAhead } from './history.ts'
import { leastSquares } from './least-squares.ts'

/** Values of the hours ahead. */
export type Model = (history: History) => Float64Array

export const models: readonly Model[] = [dampedProfile, harmonics, smoothedProfile]

export function meanOfModels(history: History): Float64Array {
  const mean = new Float64Array(horizonHours)
  for (const model of models) {
    const values = model(history)
    for (let hour = 0; hour < horizonHours; hour++) mean[hour] = (mean[hour] as number) + (values[hour] as number)
  }
  return mean.map(sum => sum / models.length)
}

/** As 24 hours before. */
export function seasonalNaive({ values }: History): Float64Array {
  return Float64Array.from({ length: horizonHours }, (_, hour) => {
    return values[values.length - hoursPerDay + (hour % hoursPerDay)] as number
  })
}

const hoursPerDay = 24
const halfLifeHours = 7 * hoursPerDay
const memoryMax = 0.995

/** The mean day, newer days counting for more; how far the last hour is from it fades away. */
function dampedProfile(history: History): Float64Array {
  const { values, localHours } = history
  const sums = new Float64Array(hoursPerDay)
  const weights = new Float64Array(hoursPerDay)
  let weight = 1
  const decay = 2 ** (-1 / halfLifeHours)
  for (let place = values.length - 1; place >= 0; place--) {
    const hour = localHours[place] as number
    sums[hour] = (sums[hour] as number) + weight * (values[place] as number)
    weights[hour] = (weights[hour] as number) + weight
    weight *= decay
  }
  const profile = sums.map((sum, hour) => sum / (weights[hour] as number))
  const rest = values.map((value, place) => value - (profile[localHours[place] as number] as number))
  const memory = memoryOf(rest)
  let departure = rest.at(-1) as number
  return Float64Array.from(hoursAhead(history), hour => {
    departure *= memory
    return (profile[hour] as number) + departure
  })
}

function memoryOf(rest: Float64Array): number {
  let products = 0
  let squares = 0
  for (let place = 1; place < rest.length; place++) {
    products += (rest[place - 1] as number) * (rest[place] as number)
    squares += (rest[place - 1] as number) ** 2
  }
  return squares > 0 ? Math.min(memoryMax, Math.max(0, products / squares)) : 0
}

const harmonicCount = 4

/** Sinusoids of 24, 12, 8 and 6 hours, and what is left as an autoregressive process. */
function harmonics(history: History): Float64Array {
  const { values } = history
  const rows = sinusoids(values.length + horizonHours)
  const coefficients = leastSquares(rows, values)
  const fitted = (place: number) => {
    return coefficients.reduce((sum, one, term) => sum + one * (rows[term]?.[place] as number), 0)
  }
  const rest = values.map((value, place) => value - fitted(place))
  const ahead = extendAutoregression(rest, fitAutoregression(rest), horizonHours)
  return ahead.map((value, hour) => value + fitted(values.length + hour))
}

/** By term: the level, and cosine and sine of each period, at each hour. */
function sinusoids(hours: number): Float64Array[] {
  const terms = [new Float64Array(hours).fill(1)]
  for (let k = 1; k <= harmonicCount; k++) {
    const turn = (2 * Math.PI * k) / hoursPerDay
    for (const wave of [Math.cos, Math.sin]) {
      terms.push(Float64Array.from({ length: hours }, (_, hour) => wave(turn * (hour % hoursPerDay))))
    }
  }
  return terms
}

/** Of the newest day in the smoothed value of its hour. */
const dayShare = 0.3

/** Each hour of day smoothed from day to day, and what an hour differs from it as an autoregressive process. */
function smoothedProfile(history: History): Float64Array {
  const { values, localHours } = history
  const profile = new Float64Array(hoursPerDay).fill(Number.NaN)
  const rest = new Float64Array(values.length)
  for (let place = 0; place < values.length; place++) {
    const hour = localHours[place] as number
    const value = values[place] as number
    const usual = Number.isNaN(profile[hour]) ? value : (profile[hour] as number)
    rest[place] = value - usual
    profile[hour] = usual + dayShare * (value - usual)
  }
  // The first day is what the profile begins with.
  const known = rest.subarray(hoursPerDay)
  const ahead = extendAutoregression(known, fitAutoregression(known), horizonHours)
  return Float64Array.from(hoursAhead(history), (hour, place) => {
    const usual = profile[hour] as number
    const value = usual + (ahead[place] as number)
    profile[hour] = usual + dayShare * (value - usual)
    return value
  })
}
