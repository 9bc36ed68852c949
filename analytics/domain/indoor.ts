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

import { saturationPressure, vapourPressure } from '../summary/derived.ts'
import {
  type AirHours,
  type Band,
  type BandFigure,
  bandFigure,
  byHour,
  type HoursFigure,
  hoursFigure,
} from './figures.ts'

const comfortTemperature: Band = { unit: '°C', below: 20, above: 26 }
const comfortHumidity: Band = { unit: '%', below: 25, above: 60 }
const temperatureFactor = 0.7
const standardOutdoors = -5
const mouldHumidity = 80

interface MouldFigure extends HoursFigure {
  /** Number of hours with a measured outdoor temperature. */
  readonly measured_outdoor_hours: number
}

export interface IndoorFigures {
  readonly temperature: BandFigure
  readonly humidity: BandFigure
  readonly mould: MouldFigure
}

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
