/** A person's preferences for values and times. `client/stored-preferences.ts` stores them. */

import { signal } from '@preact/signals'
import type { Preferences } from '../../auth/accounts/preference-values.ts'
import type { Times } from '../theme/times.ts'
import { t } from '../words/words.ts'
import { createTimes } from './times.ts'

export type { Preferences }

/** The language of the browser, the units of the metrics, and the zone of the page: of the service, or of a station. */
export const noPreferences: Preferences = {
  language: null,
  temperature_unit: null,
  pressure_unit: null,
  speed_unit: null,
  time_zone: null,
}

/** The app renders its page again after a change. */
export const preferences = signal<Preferences>(noPreferences)

/** The zone of shown moments; `serviceZone` is an answer's `time_zone`. */
export function shownZone(serviceZone: string): string {
  return preferences.value.time_zone ?? serviceZone
}

/** Times on pages without a device: in the chosen zone, else in UTC like the audit and the logs. */
export function pageTimes(): Times {
  return createTimes(shownZone('UTC'))
}

/** `23 Nov 2026, 12:04:31 UTC`; `never` for null. */
export function timeText(iso: string | null): string {
  return iso === null ? t('never') : pageTimes().exact(Date.parse(iso))
}
