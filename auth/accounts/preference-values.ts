/**
 * How the pages show values and times to a person: in which units, and in which zone. Answers have the units of the metrics
 * for everybody.
 */

import { z } from 'zod'

/** By their UCUM codes. */
export const temperatureUnits = ['Cel', '[degF]'] as const
export const pressureUnits = ['hPa', "[in_i'Hg]", 'mm[Hg]'] as const
export const speedUnits = ['m/s', 'km/h', '[kn_i]', '[mi_i]/h'] as const

/** Null: the unit of the metric, or the zone of the service. */
export const Preferences = z.object({
  temperature_unit: z.enum(temperatureUnits).nullable(),
  pressure_unit: z.enum(pressureUnits).nullable(),
  speed_unit: z.enum(speedUnits).nullable(),
  time_zone: z.string().nullable(),
})
export type Preferences = Readonly<z.infer<typeof Preferences>>

export const noPreferences: Preferences = {
  temperature_unit: null,
  pressure_unit: null,
  speed_unit: null,
  time_zone: null,
}
