/** Times on pages without a device: in the chosen zone, else in UTC like the audit and the logs. */

import { createTimes, type Times } from '../theme/times.ts'
import { shownZone } from './preferences.ts'

let made = createTimes('UTC')

export function pageTimes(): Times {
  const zone = shownZone('UTC')
  if (made.zone !== zone) made = createTimes(zone)
  return made
}

/** `23 Nov 2026, 12:04:31 UTC`; `never` for null. */
export function timeText(iso: string | null): string {
  return iso === null ? 'never' : pageTimes().exact(Date.parse(iso))
}
