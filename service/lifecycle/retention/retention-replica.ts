/** Retention in the QuestDB of one replica: which days have expired there, and, at the one node that does so, makes more expire. */

import { setTimeout as sleep } from 'node:timers/promises'
import { Lease } from '../../../auth/nodes/lease.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import type { QuestdbReplica } from '../../../store/questdb/questdb-replicas.ts'
import type { Exec } from '../../../store/questdb/until-applied.ts'
import { type RawDay, readNewestMs } from './expired-days.ts'
import { Expiry, type ExpiryOptions } from './expiry.ts'
import type { RetentionNodes } from './retention-nodes.ts'
import type { SharedLock } from './shared-lock.ts'

export interface RetentionTiming {
  checkEveryMs: number
  /** How long a reading may be on its way from its check to the journal, and a clock be wrong. */
  marginMs: number
  /** Longer than a query takes; where there are nodes, by more than `knownMs`. */
  graceMs: number
  /** For how long a node that hears nothing of the others goes by what QuestDB has told it. */
  knownMs?: number
}

/** What retention needs of a replica. */
export interface ExpiringReplica
  extends QuestdbReplica<Pick<Questdb, 'ready' | 'state'>>,
    Pick<ExpiryOptions, 'exec' | 'readings' | 'archive'> {
  /** Whether it has to be a new copy of another one before it is in use again. */
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
  /** Asks QuestDB which days have expired, and which have raw readings. */
  look(): Promise<void>
  /** The days that had raw readings when it last looked; undefined before. */
  rawDays(): readonly RawDay[] | undefined
  /** The time of the newest reading, epoch milliseconds. */
  newestMs(): Promise<number>
  /**
   * Marks the days before this, and removes those that were marked a while ago, which it gives. Rejects with NotLeading where
   * another node leads by now.
   */
  expire(beforeMs: number): Promise<readonly RawDay[]>
  /** Epoch milliseconds. */
  expiredBeforeMs(): number
  /** Whether that is what all nodes go by. */
  isKnown(): boolean
}

/** Another node makes days expire by now. */
export class NotLeading extends Error {}

const pauseMs = 100
/** QuestDB applies within seconds what it has taken, unless something is wrong with it. */
const waitMsMax = 600_000

export function createRetentionReplica(options: RetentionReplicaOptions): RetentionReplica {
  const { replica, nodes, timing, monotonicMs, signal } = options
  const { number, questdb, readings, archive, isLost = () => false } = replica
  /** Statements of a node that was frozen would meet those of the one that leads now. */
  let isChanging = false
  const exec: Exec = async sql => {
    if (isChanging && nodes?.leads() === false) throw new NotLeading()
    return await replica.exec(sql)
  }
  const tellNodes = nodes && ((beforeMs: number) => nodes.tell(number, beforeMs))
  const expiry = new Expiry({ ...options, readings, archive, exec, graceMs: timing.graceMs, tellNodes })
  nodes?.onTold((ofReplica, beforeMs) => {
    if (ofReplica === number) expiry.heard(beforeMs)
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
