/** Logs when QuestDB stops answering queries and when it answers again, and nothing in between. */

import type { Log } from '../store/log.ts'
import type { PoolResult } from './pool.ts'

/** Takes every result, of whichever pool. */
export type AvailabilityLog = (result: PoolResult<unknown>) => void

export function createAvailabilityLog(log: Pick<Log, 'info' | 'warn'>): AvailabilityLog {
  let isAnswering = true
  return result => {
    if (result.ok && !isAnswering) log.info('QuestDB answers queries again')
    if (result.ok) isAnswering = true
    if (result.ok || (result.code !== 'DATABASE_AWAY' && result.code !== 'TIMED_OUT')) return
    const { code, reason } = result
    if (isAnswering) log.warn({ code, reason }, 'query failed: QuestDB unavailable')
    isAnswering = false
  }
}
