/**
 * What a forecast would have been worth in the last weeks: it is made anew at origins a day apart, from what was
 * known then, and compared with what came.
 */

import { type History, horizonHours } from './history.ts'
import { meanOfModels, seasonalNaive } from './models.ts'

const hoursPerDay = 24
const testedHours = 42 * hoursPerDay
const originStepHours = 24
const originsMax = 40
/** A model wants a week. */
const fitHoursMin = 7 * hoursPerDay

export interface OriginErrors {
  /** Observed less forecast by hour ahead, NaN where nothing was observed. */
  readonly errors: Float64Array
  /** The same of the seasonal naive forecast: as 24 hours before. */
  readonly naive: Float64Array
}

/** Newest origin first. `observed`: as the history's values, NaN where missing. */
export function backTest({ values, localHours }: History, observed: Float64Array): OriginErrors[] {
  const tests: OriginErrors[] = []
  const oldest = Math.max(fitHoursMin, values.length - testedHours)
  for (let origin = values.length - horizonHours; origin >= oldest; origin -= originStepHours) {
    if (tests.length === originsMax) break
    const history = { values: values.subarray(0, origin), localHours }
    const came = observed.subarray(origin, origin + horizonHours)
    const [mean, naive] = [meanOfModels(history), seasonalNaive(history)]
    tests.push({
      errors: came.map((value, hour) => value - (mean[hour] as number)),
      naive: came.map((value, hour) => value - (naive[hour] as number)),
    })
  }
  return tests
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
