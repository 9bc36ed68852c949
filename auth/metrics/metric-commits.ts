/** Serializes changes of the registry: in PostgreSQL first, then in memory. */

import type pg from 'pg'
import { createMutex } from '../../store/limits/mutex.ts'
import { OutcomeUnknown } from '../../store/postgres/postgres-errors.ts'
import { hasEnded, type Transaction } from '../../store/postgres/transaction.ts'
import { createReconciler } from '../devices/reconciler.ts'
import type { ChangeFeed } from '../nodes/change-feed.ts'
import { createTurns } from '../nodes/turns.ts'
import { ChangeInDoubt } from '../record-cache.ts'
import { TooBusy } from '../too-busy.ts'
import { metricsLock } from './metric-rows.ts'

export interface MetricCommits {
  /** Rejects with TooBusy, with ChangeInDoubt while the outcome of an earlier change is unknown, and as `work` does. */
  exclusively<Value>(work: () => Promise<Value>): Promise<Value>
  /**
   * Runs exclusively. Rejects as transactions do. After OutcomeUnknown, memory is read again before the next change.
   */
  transact<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>
  /** False while the outcome of a change is unknown. */
  reconcile(): Promise<boolean>
  close(): Promise<void>
}

export interface MetricCommitsOptions {
  pool: pg.Pool
  feed: ChangeFeed
  /** Timeout of each statement of a change. */
  stepMs: number
  /** Reads possible changes into memory. */
  readAgain: () => Promise<void>
  failed: (error: unknown) => void
}

const changesWaitingMax = 1_000

export function createMetricCommits(options: MetricCommitsOptions): MetricCommits {
  const { pool, feed, stepMs, readAgain, failed } = options
  const turns = createTurns({ feed, lock: metricsLock, pool, stepMs })
  const mutex = createMutex(changesWaitingMax)
  const reconciler = createReconciler({
    hasEnded: transaction => hasEnded(pool, transaction, stepMs),
    readSince: readAgain,
    failed,
    retryMs: 1_000,
  })

  return {
    async exclusively(work) {
      const done = await mutex.tryRun(async () => {
        if (!(await reconciler.reconcile())) throw new ChangeInDoubt('a change of a metric is not confirmed')
        return { value: await turns.run(work) }
      })
      if (done === 'full') throw new TooBusy('too many pending changes of metrics', 1)
      return done.value
    },
    async transact(work) {
      try {
        return await turns.transact(work)
      } catch (error) {
        if (error instanceof OutcomeUnknown) {
          reconciler.outcomeUnknown({ transaction: error.transaction, sequence: 0, onReconciled() {} })
        }
        throw error
      }
    },
    reconcile: reconciler.reconcile,
    async close() {
      reconciler.close()
      await mutex.idle()
    },
  }
}
