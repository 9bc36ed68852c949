/**
 * The quality of forecasts in the last weeks: they are computed at origins a day apart, from the data known then, and
 * compared with the observations. If the series is silent now, the same silence is simulated before each origin,
 * because the age of the last value increases the error.
 */

import { fillGaps } from '../time/fill-gaps.ts'
import { horizonHours, knownEnd } from './history.ts'
import { forecastsOf, seasonalNaive, weightedMean, weightsOf } from './models.ts'

const hoursPerDay = 24
const testedHours = 42 * hoursPerDay
const originStepHours = 24
const originsMax = 40
/** Models need a week. */
const fitHoursMin = 7 * hoursPerDay
/** After a longer silence the last value matters as little. The limit leaves one origin for a history of 14 days. */
const silentHoursMax = 6 * hoursPerDay

export interface OriginErrors {
  /** Observed minus forecast by hour ahead, NaN without an observation. */
  readonly errors: Float64Array
  /** The same for the seasonal naive forecast, which repeats the value 24 hours before. */
  readonly naive: Float64Array
}

interface Origin {
  readonly came: Float64Array
  readonly forecasts: readonly (Float64Array | undefined)[]
  /** Mean absolute errors by model. */
  readonly errors: Float64Array
  readonly naive: Float64Array
}

export interface BackTested {
  /** Newest origin first; origins without later observations are left out. */
  readonly tests: OriginErrors[]
  /** Current weights of the models. */
  readonly weights: Float64Array
}

/** `observed`: NaN where missing; `localHours` cover all hours. */
export function backTest(observed: Float64Array, localHours: Uint8Array): BackTested {
  const end = knownEnd(observed)
  const silent = Math.min(silentHoursMax, observed.length - end)
  const origins: Origin[] = []
  const oldest = Math.max(fitHoursMin + silent, end - testedHours)
  for (let origin = observed.length - horizonHours; origin >= oldest; origin -= originStepHours) {
    if (origins.length === originsMax) break
    const came = observed.subarray(origin, origin + horizonHours)
    if (came.every(Number.isNaN)) continue
    const known = observed.slice(0, origin).fill(Number.NaN, origin - silent)
    const history = { values: fillGaps(known, localHours), localHours }
    const forecasts = forecastsOf(history)
    const errorsOf = (values: Float64Array) => came.map((value, hour) => value - (values[hour] as number))
    const errors = Float64Array.from(forecasts, values => (values ? meanAbsolute([errorsOf(values)]) : Number.NaN))
    origins.push({ came, forecasts, errors, naive: errorsOf(seasonalNaive(history)) })
  }
  const tests = origins.map(({ came, forecasts, naive }, place): OriginErrors => {
    // The data known at this origin: errors of earlier origins whose hours had passed.
    const before = origins.slice(place + horizonHours / originStepHours).map(({ errors }) => errors)
    const mean = weightedMean(forecasts, weightsOf(before))
    return { errors: came.map((value, hour) => value - (mean[hour] as number)), naive }
  })
  return { tests, weights: weightsOf(origins.map(({ errors }) => errors)) }
}

/** Mean of the absolute values; NaN without any. */
export function meanAbsolute(series: readonly Float64Array[]): number {
  let sum = 0
  let count = 0
  for (const errors of series) {
    for (const error of errors) {
      if (Number.isNaN(error)) continue
      sum += Math.abs(error)
      count++
    }
  }
  return sum / count
}
