/** Waits until every node has applied a change. */

import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { countBehind } from './node-rows.ts'
import type { ForwardStep } from './postgres-clock.ts'

export interface BarrierOptions {
  pool: Pick<pg.Pool, 'query'>
  /** Id of this node, which has applied its own changes. */
  id: string
  leaseMs: number
  /** Noted with each renewal of the lease. */
  step: Pick<ForwardStep, 'sizeMs'>
  failed: (error: unknown) => void
}

const pauseMsFirst = 5
const pauseMsMax = 50
const answerMsMax = 2_000
/** Smaller differences come from clock adjustments, not from a step. */
const stepSlackMs = 100

/**
 * Resolves when every other node has applied all earlier commits, or has no valid lease. If PostgreSQL is unavailable,
 * it resolves after the length of a lease: a node whose lease began later has read the change.
 */
export function createBarrier({ pool, id, leaseMs, step, failed }: BarrierOptions): () => Promise<void> {
  const query = (text: string, values: unknown[]) =>
    pool.query({ text, values, query_timeout: Math.min(answerMsMax, leaseMs) } as pg.QueryConfig)
  const database = { query } as unknown as Transaction

  return async () => {
    const endMs = performance.now() + leaseMs
    let seq: number | undefined
    let steppedMs = 0
    for (let pauseMs = pauseMsFirst; performance.now() < endMs; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
      try {
        const behind = await countBehind(database, id, seq, steppedMs)
        const sizeMs = step.sizeMs(behind.postgresMs)
        if (behind.count === 0 && sizeMs <= steppedMs + stepSlackMs) return
        seq = behind.seq
        if (sizeMs > steppedMs + stepSlackMs) steppedMs = sizeMs
      } catch (error) {
        failed(error)
      }
      await sleep(Math.min(pauseMs, Math.max(1, endMs - performance.now())))
    }
  }
}
