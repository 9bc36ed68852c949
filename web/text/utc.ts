/** Times in UTC, as the audit and the logs have them. */

import { createTimes } from './times.ts'

export const times = createTimes('UTC')

/** `23 Nov 2026, 12:04:31 UTC`; `never` for null. */
export function timeText(iso: string | null): string {
  return iso === null ? 'never' : times.exact(Date.parse(iso))
}
