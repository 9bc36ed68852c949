/**
 * Greenhouse: the water that the air takes from leaves, and dew on them, from hourly means.
 *
 * Vapour-pressure deficit: FAO Irrigation and drainage paper 56, e_s(T) (1 − RH/100), with e_s of WMO-No. 8. Below 0.4
 * kPa plants hardly transpire and fungi spread, above 1.6 kPa most close their stomata. A leaf that radiates to a cold
 * roof at night is about 1 K colder than the air: it is wet where its temperature is at most the dew point.
 */

import { dewPoint, saturationPressure, vapourPressure } from '../summary/derived.ts'
import {
  type AirHours,
  type Band,
  type BandFigure,
  bandFigure,
  byHour,
  type HoursFigure,
  hoursFigure,
} from './figures.ts'

const deficit: Band = { unit: 'kPa', below: 0.4, above: 1.6 }
const leafBelowAirK = 1
const hPaPerKPa = 10

export interface GreenhouseFigures {
  readonly vapour_pressure_deficit: BandFigure
  readonly leaf_dew: HoursFigure
}

export function greenhouseFigures({ temperature, humidity }: AirHours): GreenhouseFigures {
  const aboveDewPoint = byHour(temperature, humidity, (degrees, percent) => degrees - dewPoint(degrees, percent))
  return {
    vapour_pressure_deficit: bandFigure({ values: byHour(temperature, humidity, vapourPressureDeficit) }, deficit),
    leaf_dew: hoursFigure(aboveDewPoint, distance => distance <= leafBelowAirK),
  }
}

/** In kPa. */
export function vapourPressureDeficit(temperature: number, humidity: number): number {
  return (saturationPressure(temperature) - vapourPressure(temperature, humidity)) / hPaPerKPa
}
