/**
 * Degree days, of the means of local days.
 *
 * Heating of the base 15.5 °C, as the Met Office and the Carbon Trust have them: Σ max(0, 15.5 − mean). Heating G20/15 of VDI 3807
 * part 1: Σ (20 − mean) over the days whose mean is below 15 °C. Cooling of the base 22 °C: Σ max(0, mean − 22).
 */

import { hoursOfDayMin } from '../decomposition/day-means.ts'
import { reasons } from '../reasons.ts'
import type { CellRange, Reasoned } from './figures.ts'

export interface DegreeDays extends Reasoned {
  /** With values in at least 18 hours; the others are left out. */
  readonly days: number
  /** In K · d. */
  readonly heating_15_5: number | null
  readonly heating_20_15: number | null
  readonly cooling_22: number | null
}

const base = 15.5
const limit = 15
const room = 20
const coolingBase = 22

/** `temperature`: means of hours in °C, NaN where missing. */
export function degreeDays(temperature: Float64Array, days: readonly CellRange[]): DegreeDays {
  const means = days.flatMap(({ from, to }) => dayMean(temperature.subarray(from, to)) ?? [])
  if (means.length === 0) {
    return { reason: reasons.fewWholeDays, days: 0, heating_15_5: null, heating_20_15: null, cooling_22: null }
  }
  const sum = (of: (mean: number) => number) => means.reduce((total, mean) => total + of(mean), 0)
  return {
    reason: null,
    days: means.length,
    heating_15_5: sum(mean => Math.max(0, base - mean)),
    heating_20_15: sum(mean => (mean < limit ? room - mean : 0)),
    cooling_22: sum(mean => Math.max(0, mean - coolingBase)),
  }
}

function dayMean(hours: Float64Array): number | undefined {
  const observed = hours.filter(value => !Number.isNaN(value))
  if (observed.length < hoursOfDayMin) return undefined
  return observed.reduce((sum, value) => sum + value, 0) / observed.length
}
