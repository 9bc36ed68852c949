/**
 * Figures of the air by profile, from hourly means: weather, indoor rooms and greenhouses.
 *
 * Dew: where the temperature is at most 1 K above the dew point, what lies free and radiates at night is wet. Sources:
 * WMO-No. 8, annex 4.B (dew point) and the WMO formula of reduction to sea level.
 */

import { hoursOfDayMin } from '../decomposition/deseasonalise.ts'
import { reasons } from '../reasons.ts'
import { dewPoint, saturationPressure, seaLevelPressure, vapourPressure } from '../summary/derived.ts'
import {
  type AirHours,
  type Band,
  type BandFigure,
  bandFigure,
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
  /** The unit is K · d. */
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

const comfortTemperature: Band = { unit: '°C', below: 20, above: 26 }
const comfortHumidity: Band = { unit: '%', below: 25, above: 60 }
const temperatureFactor = 0.7
const standardOutdoors = -5
const mouldHumidity = 80

interface MouldFigure extends HoursFigure {
  /** Number of hours with a measured outdoor temperature. */
  readonly measured_outdoor_hours: number
}

interface IndoorFigures {
  readonly temperature: BandFigure
  readonly humidity: BandFigure
  readonly mould: MouldFigure
}

/**
 * Indoor air: the time outside of comfort, and the time in which mould may grow at the coldest wall.
 *
 * Comfort: EN 16798-1 category II, 20 °C (heating) to 26 °C (cooling) of dwellings and offices with people at rest, and
 * 25 to 60 %.
 *
 * Mould: DIN 4108-2, where the relative humidity at the surface is 80 % or more. The surface is the coldest corner of a
 * wall with the temperature factor f_Rsi = 0.7 that the standard requires: T_s = T − (1 − 0.7)(T − T_out), with −5 °C
 * outdoors, as in the standard, where the device does not measure it. The room's vapour pressure applies.
 */
export function indoorFigures({ temperature, humidity, outdoorTemperature }: AirHours): IndoorFigures {
  const atWall = byHour(temperature, humidity, (degrees, percent, hour) => {
    const outdoors = outdoorTemperature[hour] as number
    return wallHumidity(degrees, percent, Number.isNaN(outdoors) ? standardOutdoors : outdoors)
  })
  const measured = atWall.filter((value, hour) => !Number.isNaN(value + (outdoorTemperature[hour] as number)))
  return {
    temperature: bandFigure({ values: temperature }, comfortTemperature),
    humidity: bandFigure({ values: humidity }, comfortHumidity),
    mould: { ...hoursFigure(atWall, percent => percent >= mouldHumidity), measured_outdoor_hours: measured.length },
  }
}

/** Relative humidity in % at the coldest wall; above 100 water condenses on it. */
function wallHumidity(temperature: number, humidity: number, outdoors: number): number {
  const surface = temperature - (1 - temperatureFactor) * (temperature - outdoors)
  return (100 * vapourPressure(temperature, humidity)) / saturationPressure(surface)
}

const deficit: Band = { unit: 'kPa', below: 0.4, above: 1.6 }
const leafBelowAirK = 1
const hPaPerKPa = 10

interface GreenhouseFigures {
  readonly vapour_pressure_deficit: BandFigure
  readonly leaf_dew: HoursFigure
}

/**
 * Greenhouse: the water that the air takes from leaves, and dew on them, from hourly means.
 *
 * Vapour-pressure deficit: FAO Irrigation and drainage paper 56, e_s(T) (1 − RH/100), with e_s of WMO-No. 8. Below 0.4
 * kPa plants hardly transpire and fungi spread, above 1.6 kPa most close their stomata. A leaf that radiates to a cold
 * roof at night is about 1 K colder than the air: it is wet where its temperature is at most the dew point.
 */
export function greenhouseFigures({ temperature, humidity }: AirHours): GreenhouseFigures {
  const aboveDewPoint = byHour(temperature, humidity, (degrees, percent) => degrees - dewPoint(degrees, percent))
  return {
    vapour_pressure_deficit: bandFigure({ values: byHour(temperature, humidity, vapourPressureDeficit) }, deficit),
    leaf_dew: hoursFigure(aboveDewPoint, distance => distance <= leafBelowAirK),
  }
}

/** The result is in kPa. */
export function vapourPressureDeficit(temperature: number, humidity: number): number {
  return (saturationPressure(temperature) - vapourPressure(temperature, humidity)) / hPaPerKPa
}
