/** Declares a person's language, units and time zone on pages. The API uses English and the metrics' units for everybody. */

import { z } from 'zod'

/** UCUM codes. */
export const temperatureUnits = ['Cel', '[degF]'] as const
export const pressureUnits = ['hPa', "[in_i'Hg]", 'mm[Hg]'] as const
export const speedUnits = ['m/s', 'km/h', '[kn_i]', '[mi_i]/h'] as const

/** Languages of the pages. */
export const languages = ['en', 'de'] as const
export const languageNames = { en: 'English', de: 'Deutsch' } as const

/** Null means the browser's language, the metric's unit, or the service's time zone. */
export const Preferences = z.object({
  language: z.enum(languages).nullable(),
  temperature_unit: z.enum(temperatureUnits).nullable(),
  pressure_unit: z.enum(pressureUnits).nullable(),
  speed_unit: z.enum(speedUnits).nullable(),
  time_zone: z.string().nullable(),
})
export type Preferences = Readonly<z.infer<typeof Preferences>>

export const noPreferences: Preferences = {
  language: null,
  temperature_unit: null,
  pressure_unit: null,
  speed_unit: null,
  time_zone: null,
}
