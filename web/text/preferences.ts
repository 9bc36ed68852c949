/** What a person has chosen of how values and times are shown; `client/stored-preferences.ts` keeps it. */

import { signal } from '@preact/signals'
import type { Preferences } from '../../auth/accounts/preference-values.ts'

export type { Preferences }

/** The units of the metrics, and the zone of the page: of the service, or of a station. */
export const noPreferences: Preferences = {
  temperature_unit: null,
  pressure_unit: null,
  speed_unit: null,
  time_zone: null,
}

/** The app shows its page anew when they change. */
export const preferences = signal<Preferences>(noPreferences)

/** In which moments are shown; `serviceZone` is `time_zone` of an answer. */
export function shownZone(serviceZone: string): string {
  return preferences.value.time_zone ?? serviceZone
}
