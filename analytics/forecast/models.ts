/**
 * Cheap models of a series with a day and, from three weeks on, with a week. Their mean is better than each of them
 * (Bates and Granger 1969), weighted by their past errors.
 */

import { leastSquares } from './least-squares.ts'

/*
 * An autoregressive process about 0: coefficients by Yule and Walker's equations, solved by Levinson's recursion, of the
 * order with the smallest AIC (Brockwell and Davis, Time Series: Theory and Methods, 8.1 and 9.3).
 */

const orderMax = 26

/** Coefficients of the last value, the one before it, …; empty for a constant series. */
export function fitAutoregression(values: Float64Array): Float64Array {
  const order = Math.min(orderMax, Math.floor(values.length / 4))
  const covariances = Float64Array.from({ length: order + 1 }, (_, lag) => covariance(values, lag))
  let variance = covariances[0] as number
  let coefficients = new Float64Array(0)
  let best = coefficients
  let bestAic = aicOf(values.length, variance, 0)
  for (let p = 1; p <= order && variance > 0; p++) {
    let partial = covariances[p] as number
    for (let j = 1; j < p; j++) partial -= (coefficients[j - 1] as number) * (covariances[p - j] as number)
    const last = partial / variance
    const next = new Float64Array(p)
    for (let j = 1; j < p; j++) {
      next[j - 1] = (coefficients[j - 1] as number) - last * (coefficients[p - j - 1] as number)
    }
    next[p - 1] = last
    coefficients = next
    variance *= 1 - last * last
    const aic = aicOf(values.length, variance, p)
    if (aic < bestAic) {
      best = coefficients
      bestAic = aic
    }
  }
  return best
}

/** The next values, each from the values before it. */
export function extendAutoregression(values: Float64Array, coefficients: Float64Array, count: number): Float64Array {
  const order = coefficients.length
  const all = new Float64Array(order + count)
  all.set(values.subarray(values.length - order))
  for (let place = order; place < all.length; place++) {
    let next = 0
    for (let lag = 1; lag <= order; lag++) next += (coefficients[lag - 1] as number) * (all[place - lag] as number)
    all[place] = next
  }
  return all.subarray(order)
}

/** Divided by the number of values at each lag, so that the process is stationary. */
function covariance(values: Float64Array, lag: number): number {
  let sum = 0
  for (let place = lag; place < values.length; place++) {
    sum += (values[place] as number) * (values[place - lag] as number)
  }
  return sum / values.length
}

function aicOf(count: number, variance: number, order: number): number {
  return variance > 0 ? count * Math.log(variance) + 2 * (order + 1) : Number.POSITIVE_INFINITY
}

const hoursPerDay = 24
const hoursPerWeek = 7 * hoursPerDay

interface Model {
  readonly ahead: (history: History) => Float64Array
  readonly hoursMin: number
}

export const models: readonly Model[] = [
  { ahead: dampedProfile, hoursMin: 0 },
  { ahead: harmonics, hoursMin: 0 },
  { ahead: history => smoothedProfile(history, history.localHours, hoursPerDay), hoursMin: 0 },
  { ahead: history => smoothedProfile(history, weekPlaces(history), hoursPerWeek), hoursMin: 3 * hoursPerWeek },
  { ahead: history => repeated(history, hoursPerWeek), hoursMin: 3 * hoursPerWeek },
  { ahead: history => repeated(history, hoursPerDay), hoursMin: 3 * hoursPerWeek },
]

/** Each model has a forecast, which is undefined where the history is too short for it. */
export function forecastsOf(history: History): (Float64Array | undefined)[] {
  return models.map(({ ahead, hoursMin }) => (history.values.length < hoursMin ? undefined : ahead(history)))
}

/** The newest tests that determine the weights; fewer do not suffice. */
const weighedMax = 20
const weighedMin = 8
const weightPower = 4
/** A gain that is not chance: with a smaller one, further models made the intervals of the stations 1.6 % worse. */
const gainMax = 0.85

/**
 * Weights by model. `errors`: by test, newest first, the mean absolute error of each model, NaN without one. The models
 * for any history have equal weights, unless one of the further ones has less than 0.85 of their least error: then all
 * have 1/MAE⁴.
 */
export function weightsOf(errors: readonly Float64Array[]): Float64Array {
  const means = models.map((_, model) => {
    const known = errors.slice(0, weighedMax).map(one => one[model] as number)
    const there = known.filter(error => !Number.isNaN(error))
    return there.length < weighedMin ? Number.NaN : there.reduce((sum, error) => sum + error, 0) / there.length
  })
  const leastOf = (isFurther: boolean) => {
    const some = means.filter((mean, model) => (models[model]?.hoursMin !== 0) === isFurther && !Number.isNaN(mean))
    return some.reduce((least, mean) => Math.min(least, mean), Number.POSITIVE_INFINITY)
  }
  const [least, ofFurther] = [leastOf(false), leastOf(true)]
  if (!(ofFurther < gainMax * least)) return Float64Array.from(models, ({ hoursMin }) => Number(hoursMin === 0))
  return Float64Array.from(means, mean => (mean > 0 ? (ofFurther / mean) ** weightPower : Number(mean === 0)))
}

export function weightedMean(forecasts: readonly (Float64Array | undefined)[], weights: Float64Array): Float64Array {
  const mean = new Float64Array(horizonHours)
  let sum = 0
  for (const [model, values] of forecasts.entries()) {
    const weight = weights[model] as number
    if (values === undefined || weight === 0) continue
    sum += weight
    for (let hour = 0; hour < horizonHours; hour++) {
      mean[hour] = (mean[hour] as number) + weight * (values[hour] as number)
    }
  }
  return mean.map(value => value / sum)
}

/** Repeats the values 24 hours before. */
export function seasonalNaive({ values }: History): Float64Array {
  return Float64Array.from({ length: horizonHours }, (_, hour) => {
    return values[values.length - hoursPerDay + (hour % hoursPerDay)] as number
  })
}

const halfLifeHours = 7 * hoursPerDay
const memoryMax = 0.995

/** The mean day, weighted towards newer days. The deviation of the last hour from it decays. */
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

/** Sinusoids of 24, 12, 8 and 6 hours, with the remainder as an autoregressive process. */
function harmonics({ values }: History): Float64Array {
  const wave = waveOf(values)
  const rest = values.map((value, place) => value - (wave[place % hoursPerDay] as number))
  const ahead = extendAutoregression(rest, fitAutoregression(rest), horizonHours)
  return ahead.map((value, hour) => value + (wave[(values.length + hour) % hoursPerDay] as number))
}

/**
 * The level and the sinusoids by least squares, at each hour from the first one on. They repeat each day, so that the
 * fit is one to the mean of each hour of day, weighted by the number of its values.
 */
function waveOf(values: Float64Array): Float64Array {
  const sums = new Float64Array(hoursPerDay)
  const roots = Float64Array.from(sums, (_, hour) => Math.sqrt(Math.ceil((values.length - hour) / hoursPerDay)))
  for (let place = 0; place < values.length; place++) (sums[place % hoursPerDay] as number) += values[place] as number
  const weighted = sinusoids.map(term => term.map((value, hour) => value * (roots[hour] as number)))
  const coefficients = leastSquares(
    weighted,
    sums.map((sum, hour) => sum / (roots[hour] as number)),
  )
  return sums.map((_, hour) => {
    return coefficients.reduce((sum, one, term) => sum + one * (sinusoids[term]?.[hour] as number), 0)
  })
}

/** The level, and cosine and sine of each period, at each hour of a day. */
const sinusoids: readonly Float64Array[] = [
  new Float64Array(hoursPerDay).fill(1),
  ...Array.from({ length: 2 * harmonicCount }, (_, term) => {
    const turn = (2 * Math.PI * (1 + (term >> 1))) / hoursPerDay
    const wave = term % 2 === 0 ? Math.cos : Math.sin
    return Float64Array.from({ length: hoursPerDay }, (_, hour) => wave(turn * hour))
  }),
]

/** Share of the newest value in the smoothed one. */
const newestShare = 0.3

/** Exponential smoothing of each hour of a day or a week, with the deviations as an autoregressive process. */
function smoothedProfile({ values }: History, places: Uint8Array, period: number): Float64Array {
  const profile = new Float64Array(period).fill(Number.NaN)
  const rest = new Float64Array(values.length)
  const usualAt = (at: number, value: number) => {
    const usual = profile[places[at] as number] as number
    return Number.isNaN(usual) ? value : usual
  }
  const smooth = (at: number, value: number) => {
    const usual = usualAt(at, value)
    profile[places[at] as number] = usual + newestShare * (value - usual)
  }
  for (let at = 0; at < values.length; at++) {
    const value = values[at] as number
    rest[at] = value - usualAt(at, value)
    smooth(at, value)
  }
  // The first period initialises the profile.
  const known = rest.subarray(period)
  const ahead = extendAutoregression(known, fitAutoregression(known), horizonHours)
  return ahead.map((departure, hour) => {
    const at = values.length + hour
    const value = usualAt(at, 0) + departure
    smooth(at, value)
    return value
  })
}

/** Hours of the week, counted from the first one. */
function weekPlaces({ values }: History): Uint8Array {
  return Uint8Array.from({ length: values.length + horizonHours }, (_, hour) => hour % hoursPerWeek)
}

/** Repeats the previous period, with the differences as an autoregressive process. */
function repeated({ values }: History, period: number): Float64Array {
  const changes = values.subarray(period).map((value, at) => value - (values[at] as number))
  const ahead = extendAutoregression(changes, fitAutoregression(changes), horizonHours)
  const all = new Float64Array(period + horizonHours)
  all.set(values.subarray(values.length - period))
  for (let hour = 0; hour < horizonHours; hour++) all[period + hour] = (all[hour] as number) + (ahead[hour] as number)
  return all.subarray(period)
}

/** The input of a forecast. */

interface History {
  /** Hours up to the origin, complete. */
  readonly values: Float64Array
  /** Local hours 0 … 23 of these and of the hours ahead. */
  readonly localHours: Uint8Array
}

export const horizonHours = 48

function hoursAhead({ values, localHours }: History): Uint8Array {
  return localHours.subarray(values.length, values.length + horizonHours)
}

/** The index behind the last value; NaN are missing. */
export function knownEnd(values: Float64Array): number {
  return values.findLastIndex(value => !Number.isNaN(value)) + 1
}
