/** Logs when QuestDB stops answering queries and when it answers again. */

import type { Log } from '../store/log.ts'
import type { PoolResult } from './pool.ts'

/** Takes every result of every pool. */
export type AvailabilityLog = (result: PoolResult<unknown>) => void

export function createAvailabilityLog(log: Pick<Log, 'info' | 'warn'>): AvailabilityLog {
  let isAway = false
  return result => {
    if (result.ok) {
      if (isAway) log.info('QuestDB answers queries again')
      isAway = false
      return
    }
    const { code, reason } = result
    if (code !== 'DATABASE_AWAY' && code !== 'TIMED_OUT') return
    if (!isAway) log.warn({ code, reason }, 'query failed: QuestDB unavailable')
    isAway = true
  }
}
