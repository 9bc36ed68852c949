/** How the evaluation retries and waits until it is ended. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../store/log.ts'

const pollMs = 100
const retryMs = 1000

export interface RetryPolicy {
  /** Repeats the work until it does not reject. */
  retried<Result>(work: () => Promise<Result>): Promise<Result>
  until(isSo: () => boolean): Promise<void>
}

/** Both reject when the signal aborts. */
export function createRetryPolicy(signal: AbortSignal, log: Pick<Log, 'warn'>): RetryPolicy {
  return {
    async retried(work) {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (signal.aborted) throw error
          log.warn({ err: error }, 'alerts cannot be evaluated yet, retrying')
          await sleep(retryMs, undefined, { signal })
        }
      }
    },
    async until(isSo) {
      while (!isSo()) await sleep(pollMs, undefined, { signal })
    },
  }
}
