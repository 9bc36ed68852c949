/** Declares the published state of retention. */

import type { Log } from '../../../store/log.ts'
import type { WaitingDays } from './due-days.ts'
import { dayText } from './expired-days.ts'

export interface RetentionState {
  days: number | undefined
  /** The oldest day with raw readings, epoch milliseconds; undefined until it is known, and without readings. */
  oldestDayMs: number | undefined
  /** Days whose raw readings were removed since the start. */
  expiredDays: number
  /** Epoch milliseconds; undefined before the first run. */
  lastRunMs: number | undefined
  /** Error of the last run. */
  fault: string | undefined
  /** Due days that stay until a person confirms, or their condition is met. */
  waiting: WaitingDays | undefined
}

export const stateAtStart = (days: number | undefined): RetentionState => ({
  days,
  oldestDayMs: undefined,
  expiredDays: 0,
  lastRunMs: undefined,
  fault: undefined,
  waiting: undefined,
})

export function logWaiting(log: Log, waiting: WaitingDays | undefined): void {
  if (waiting === undefined) {
    log.info('no raw readings are pending expiry any more')
    return
  }
  const { fromMs, beforeMs, days, reason } = waiting
  const fields = { days, from: dayText(fromMs), before: dayText(beforeMs) }
  const remedy = `if the clock is right: barograph retention confirm ${fields.before}`
  if (reason === 'archive_unavailable')
    log.warn(fields, 'raw readings are due and stay, since the archive is unavailable')
  else if (reason === 'several_days')
    log.warn(fields, `raw readings of several days are due at once and stay; ${remedy}`)
  else log.warn(fields, `raw readings are due and stay, since no newer readings came; ${remedy}`)
}
