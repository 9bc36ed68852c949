/**
 * Weather: pressure at sea level, frost, dew and degree days, of the means of hours.
 *
 * Dew: where the temperature is at most 1 K above the dew point, what lies free and radiates at night is wet. Sources: WMO-No. 8,
 * annex 4.B (dew point) and the WMO formula of reduction to sea level.
 */

import { reasons } from '../reasons.ts'
import { dewPoint, seaLevelPressure } from '../summary/derived.ts'
import { type DegreeDays, degreeDays } from './degree-days.ts'
import {
  type AirHours,
  byHour,
  type CellRange,
  type HoursFigure,
  hoursFigure,
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

/** `days`: of the hours. `altitudeM`: above the sea; null while it is unknown. */
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
