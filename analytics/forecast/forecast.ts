/** The next 48 hours of an hourly series, with prediction intervals. */

import { fillGaps } from '../time/fill-gaps.ts'
import { forecastsOf, horizonHours, knownEnd, seasonalNaive, weightedMean, weightsOf } from './models.ts'

export interface ForecastInput {
  /** Means of hours, NaN where missing. The origin is behind the last one. */
  readonly hourly: Float64Array
  /** Local hours 0 … 23 of these and of the 48 ahead. */
  readonly localHours: Uint8Array
  /** Bounds that values cannot exceed, such as 0 and 100 %. */
  readonly range?: readonly [number, number]
}

export interface Forecast {
  /** Indexed by hour ahead. */
  readonly median: Float64Array
  readonly low80: Float64Array
  readonly high80: Float64Array
  readonly low95: Float64Array
  readonly high95: Float64Array
  readonly backTest: BackTest
}

/** Covers up to 40 days. */
interface BackTest {
  readonly origins: number
  /** The mean absolute error relative to the seasonal naive forecast within the series (Hyndman and Koehler 2006). */
  readonly mase: number | null
  /** The same relative to the seasonal naive forecast at the same origins. */
  readonly maseRatio: number | null
  /** Shares of the observations within the intervals. Each interval comes from the other half of the origins. */
  readonly coverage80: number | null
  readonly coverage95: number | null
}

export const forecastDaysMin = 14
export const forecastShareMin = 0.6

/** Days from the first value to the last one, and the share of the hours since the first that have one. */
export function historyOf(hourly: Float64Array): { days: number; share: number } {
  const observed = hourly.subarray(firstKnown(hourly))
  return { days: (knownEnd(hourly) - firstKnown(hourly)) / 24, share: countOf(observed) / observed.length }
}

/** Null with less than 14 days, or values in less than 60 % of the hours. */
export function forecast({ hourly, localHours, range }: ForecastInput): Forecast | null {
  const { days, share } = historyOf(hourly)
  if (days < forecastDaysMin || share < forecastShareMin) return null
  const first = firstKnown(hourly)
  const observed = hourly.subarray(first)
  const hours = localHours.subarray(first)
  const { tests, weights } = backTest(observed, hours)
  const median = weightedMean(forecastsOf({ values: fillGaps(observed, hours), localHours: hours }), weights)
  const spread = spreadOfErrors(tests.map(({ errors }) => errors))
  const bounded = (value: number) => (range === undefined ? value : Math.min(range[1], Math.max(range[0], value)))
  const side = (share: number, end: 0 | 1) => {
    return median.map((value, hour) => bounded(value + intervalAt(spread, hour, share)[end]))
  }
  return {
    median: median.map(bounded),
    low80: side(0.8, 0),
    high80: side(0.8, 1),
    low95: side(0.95, 0),
    high95: side(0.95, 1),
    backTest: judged(tests, observed),
  }
}

function firstKnown(values: Float64Array): number {
  return values.findIndex(value => !Number.isNaN(value))
}

function countOf(values: Float64Array): number {
  return values.reduce((count, value) => (Number.isNaN(value) ? count : count + 1), 0)
}

function judged(tests: readonly OriginErrors[], observed: Float64Array): BackTest {
  const own = meanAbsolute(tests.map(({ errors }) => errors))
  const dayBefore = observed.subarray(24).map((value, hour) => value - (observed[hour] as number))
  // Rounding errors have no meaningful ratio.
  const least = 1e-9 * observed.reduce((most, value) => Math.max(most, Math.abs(value) || 0), 0)
  const ratio = (naive: number) => (naive > least ? own / naive : null)
  return {
    origins: tests.length,
    mase: ratio(meanAbsolute([dayBefore])),
    maseRatio: ratio(meanAbsolute(tests.map(({ naive }) => naive))),
    coverage80: coverage(tests, 0.8),
    coverage95: coverage(tests, 0.95),
  }
}

/** Newer and older origins in turn form the halves, so that no interval is tested with its own errors. */
function coverage(tests: readonly OriginErrors[], share: number): number | null {
  const middle = Math.floor(tests.length / 2)
  const halves = [tests.slice(0, middle), tests.slice(middle)] as const
  const held = halves.flatMap((half, place) => {
    const spread = spreadOfErrors((halves[1 - place] ?? []).map(({ errors }) => errors))
    return half.flatMap(({ errors }) => heldBy(spread, errors, share))
  })
  return held.length === 0 ? null : held.filter(Boolean).length / held.length
}

/** True for each existing error that the interval would have contained. */
function heldBy(spread: Spread, errors: Float64Array, share: number): boolean[] {
  return Array.from(errors).flatMap((error, hour) => {
    const [low, high] = intervalAt(spread, hour, share)
    return Number.isNaN(error) ? [] : error >= low && error <= high
  })
}

/**
 * The uncertainty of a forecast, from its own errors: their spread by hour ahead, which does not shrink, times the
 * quantiles of the scaled errors (split conformal prediction: Lei et al. 2018, with its correction for few errors).
 */

interface Spread {
  /** Indexed by hour ahead. */
  readonly deviations: Float64Array
  /** Scaled errors, ascending. */
  readonly sorted: Float64Array
}

/** Hours on either side over which a squared error is averaged. */
const smoothHours = 2

/** `errors`: by origin and hour ahead, NaN where missing. */
function spreadOfErrors(errors: readonly Float64Array[]): Spread {
  const deviations = new Float64Array(horizonHours)
  let largest = 0
  for (let hour = 0; hour < horizonHours; hour++) {
    largest = Math.max(largest, meanSquareAround(errors, hour))
    deviations[hour] = Math.sqrt(largest)
  }
  const divided: number[] = []
  for (const ofOrigin of errors) {
    for (let hour = 0; hour < horizonHours; hour++) {
      const error = ofOrigin[hour] as number
      if (!Number.isNaN(error) && (deviations[hour] as number) > 0) divided.push(error / (deviations[hour] as number))
    }
  }
  return { deviations, sorted: Float64Array.from(divided).sort() }
}

/** Offsets from a forecast at this hour ahead to the interval with this share. The forecast itself is inside. */
function intervalAt({ deviations, sorted }: Spread, hour: number, share: number): [number, number] {
  const deviation = deviations[hour] as number
  const tail = (1 - share) / 2
  const count = sorted.length
  if (count === 0) return [0, 0]
  const below = Math.max(0, Math.floor(tail * (count + 1)) - 1)
  const above = Math.min(count - 1, Math.ceil((1 - tail) * (count + 1)) - 1)
  return [Math.min(0, (sorted[below] as number) * deviation), Math.max(0, (sorted[above] as number) * deviation)]
}

function meanSquareAround(errors: readonly Float64Array[], hour: number): number {
  let sum = 0
  let count = 0
  for (const ofOrigin of errors) {
    for (let near = Math.max(0, hour - smoothHours); near <= Math.min(horizonHours - 1, hour + smoothHours); near++) {
      const error = ofOrigin[near] as number
      if (Number.isNaN(error)) continue
      sum += error * error
      count++
    }
  }
  return count === 0 ? 0 : sum / count
}

const hoursPerDay = 24
const testedHours = 42 * hoursPerDay
const originStepHours = 24
const originsMax = 40
/** Models need a week. */
const fitHoursMin = 7 * hoursPerDay
/** After a longer silence the last value matters as little. The limit leaves one origin for a history of 14 days. */
const silentHoursMax = 6 * hoursPerDay

interface OriginErrors {
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

interface BackTested {
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
function meanAbsolute(series: readonly Float64Array[]): number {
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
