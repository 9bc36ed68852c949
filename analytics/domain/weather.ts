/**
 * Weather: pressure at sea level, frost, dew and degree days, from hourly means.
 *
 * Dew: where the temperature is at most 1 K above the dew point, what lies free and radiates at night is wet. Sources:
 * WMO-No. 8, annex 4.B (dew point) and the WMO formula of reduction to sea level.
 */

import { hoursOfDayMin } from '../decomposition/day-means.ts'
import { reasons } from '../reasons.ts'
import { dewPoint, seaLevelPressure } from '../summary/derived.ts'
import {
  type AirHours,
  byHour,
  type CellRange,
  type HoursFigure,
  hoursFigure,
  type Reasoned,
  type SpreadFigure,
  spreadFigure,
} from './figures.ts'

const dewDistanceK = 1

export interface WeatherFigures {
  readonly sea_level_pressure: SpreadFigure
  readonly frost: HoursFigure
  readonly dew: HoursFigure
  readonly degree_days: DegreeDays
}

/** `days` are ranges of the hours. `altitudeM`: metres above sea level; null while unknown. */
export function weatherFigures(hours: AirHours, days: readonly CellRange[], altitudeM: number | null): WeatherFigures {
  const { temperature, humidity, pressure } = hours
  const atSea = byHour(temperature, humidity, (degrees, percent, hour) => {
    return altitudeM === null ? Number.NaN : seaLevelPressure(pressure[hour] as number, degrees, percent, altitudeM)
  })
  const aboveDewPoint = byHour(temperature, humidity, (degrees, percent) => degrees - dewPoint(degrees, percent))
  return {
    sea_level_pressure: spreadFigure(
      { values: atSea },
      'hPa',
      altitudeM === null ? reasons.noAltitude : reasons.noHours,
    ),
    frost: hoursFigure(temperature, degrees => degrees < 0),
    dew: hoursFigure(aboveDewPoint, distance => distance <= dewDistanceK),
    degree_days: degreeDays(temperature, days),
  }
}

/**
 * Degree days, from the means of local days.
 *
 * Heating of the base 15.5 °C, as the Met Office and the Carbon Trust have them: Σ max(0, 15.5 − mean). Heating G20/15
 * of VDI 3807 part 1: Σ (20 − mean) over the days whose mean is below 15 °C. Cooling of the base 22 °C: Σ max(0, mean −
 * 22).
 */

interface DegreeDays extends Reasoned {
  /** Days with values in at least 18 hours. The others are left out. */
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
function degreeDays(temperature: Float64Array, days: readonly CellRange[]): DegreeDays {
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
