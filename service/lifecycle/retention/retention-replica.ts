/**
 * Runs retention in the QuestDB of one replica: finds its expired days and, at the leading node, expires further ones.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Lease } from '../../../auth/nodes/leadership.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import type { QuestdbReplica } from '../../../store/questdb/questdb-replicas.ts'
import type { Exec } from '../../../store/questdb/until-applied.ts'
import { type RawDay, readNewestMs } from './expired-days.ts'
import { Expiry, type ExpiryOptions } from './expiry.ts'
import type { RetentionNodes } from './retention-nodes.ts'
import type { SharedLock } from './shared-lock.ts'

export interface RetentionTiming {
  checkEveryMs: number
  /** Bounds the time of a reading between its check and the journal, and the error of a clock. */
  marginMs: number
  /** Longer than a query takes; with several nodes, by more than `knownMs`. */
  graceMs: number
  /** A node without messages from the others relies on QuestDB's last result for this time. */
  knownMs?: number
}

/** The used part of a replica. */
export interface ExpiringReplica
  extends QuestdbReplica<Pick<Questdb, 'ready' | 'state'>>,
    Pick<ExpiryOptions, 'exec' | 'readings' | 'archive'> {
  /** True if it has to be copied from another one before it is used again. */
  isLost?: () => boolean
}

export interface RetentionReplicaOptions extends Pick<ExpiryOptions, 'acceptedFrom' | 'marksEmptyDays'> {
  replica: ExpiringReplica
  lock: SharedLock
  monotonicMs: () => number
  nodes?: RetentionNodes | undefined
  timing: RetentionTiming
  signal: AbortSignal
}

export interface RetentionReplica {
  readonly number: number
  isUp(): boolean
  isLost(): boolean
  /** Reads expired days and days with raw readings from QuestDB. */
  look(): Promise<void>
  /** Days with raw readings at the last read; undefined before. */
  rawDays(): readonly RawDay[] | undefined
  /** Time of the newest reading, epoch milliseconds. */
  newestMs(): Promise<number>
  /** Marks earlier days, and removes and returns days marked before the grace time. Rejects with NotLeading. */
  expire(beforeMs: number): Promise<readonly RawDay[]>
  /** Epoch milliseconds. */
  expiredBeforeMs(): number
  /** True if all nodes use the same bound. */
  isKnown(): boolean
}

/** Another node expires days now. */
export class NotLeading extends Error {}

const pauseMs = 100
/** QuestDB applies accepted rows within seconds unless it has a fault. */
const waitMsMax = 600_000

export function createRetentionReplica(options: RetentionReplicaOptions): RetentionReplica {
  const { replica, nodes, timing, monotonicMs, signal } = options
  const { number, questdb, readings, archive, isLost = () => false } = replica
  /** A node that was frozen must not run statements besides the new leader's. */
  let isChanging = false
  const exec: Exec = async sql => {
    if (isChanging && nodes?.leads() === false) throw new NotLeading()
    return await replica.exec(sql)
  }
  const notifyNodes = nodes && ((beforeMs: number) => nodes.notify(number, beforeMs))
  const expiry = new Expiry({ ...options, readings, archive, exec, graceMs: timing.graceMs, notifyNodes })
  nodes?.onNotified((ofReplica, beforeMs) => {
    if (ofReplica === number) expiry.notified(beforeMs)
  })
  let isReady = false
  questdb.ready.then(
    () => {
      isReady = true
    },
    () => undefined,
  )
  let rawDays: readonly RawDay[] | undefined
  const looked = new Lease(timing.knownMs ?? 0)

  async function look(): Promise<void> {
    const done = looked.begin()
    rawDays = await expiry.look()
    done()
  }

  async function expireDays(beforeMs: number): Promise<readonly RawDay[]> {
    const endMs = monotonicMs() + waitMsMax
    const pause = async () => {
      if (monotonicMs() > endMs) throw new Error('QuestDB does not apply accepted rows')
      await sleep(pauseMs, undefined, { signal, ref: false })
    }
    await expiry.expire(beforeMs, pause)
    return await expiry.remove(pause)
  }

  return {
    number,
    isUp: () => isReady && questdb.state().state === 'up',
    isLost,
    look,
    rawDays: () => rawDays,
    newestMs: () => readNewestMs(exec),
    async expire(beforeMs) {
      isChanging = true
      try {
        return await expireDays(beforeMs)
      } finally {
        isChanging = false
      }
    },
    expiredBeforeMs: () => expiry.expiredBeforeMs,
    isKnown: () => rawDays !== undefined && (nodes === undefined || nodes.isCurrent() || looked.isValid()),
  }
}
