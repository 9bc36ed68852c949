/** Declares a person's units and time zone on pages. The API uses the metrics' units for everybody. */

import { z } from 'zod'

/** UCUM codes. */
export const temperatureUnits = ['Cel', '[degF]'] as const
export const pressureUnits = ['hPa', "[in_i'Hg]", 'mm[Hg]'] as const
export const speedUnits = ['m/s', 'km/h', '[kn_i]', '[mi_i]/h'] as const

/** Null means the metric's unit, or the service's time zone. */
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
