/**
 * One process at a time forwards a replica (store/postgres/held-lock): an older value that a second one sends could replace a newer
 * one. A successor also waits for QuestDB's answers (`quiesce`). A process that was frozen with a request half sent asks its
 * successor to send again when it goes on (`requestRewind` of replica-state.ts).
 *
 * While PostgreSQL is away no process forwards: the lock is lost, and `acquireReplica` tries until PostgreSQL is back.
 */

import type { Log } from '../../store/log.ts'
import { holdMs } from '../../store/postgres/held-lock/heartbeat.ts'
import { acquireLock, type HeldLock, type LockOptions } from '../../store/postgres/held-lock/held-lock.ts'
import { clearHolder, raiseEpoch, replicaRow, tryLock } from './replica-session.ts'
import type { ReplicaTenure } from './replica-state.ts'

export interface ReplicaLockOptions extends Pick<LockOptions<unknown>, 'connect'> {
  replica: number
  /** The name of this process, for people. */
  holder: string
  log: Log
}

export interface HeldReplica extends ReplicaTenure, Omit<HeldLock<unknown>, 'taken'> {
  /** The process that had the replica before and may still be sending, by its name; undefined when it gave the replica back. */
  predecessor: string | undefined
  /** How long to wait before the first request: `holdMs`, or nothing without a predecessor. */
  waitMs: number
}

/** Resolves when this process has the lock; rejects when the signal aborts, or with an error that waiting does not mend. */
export async function acquireReplica(options: ReplicaLockOptions, signal: AbortSignal): Promise<HeldReplica> {
  const { replica, holder, connect, log } = options
  const logStandby = createStandbyLog(options)
  const { taken, ...held } = await acquireLock(
    {
      connect,
      async tryLock(session) {
        const row = await replicaRow(session, replica)
        if (row.lost === null && (await tryLock(session, replica))) return true
        logStandby(row)
        return false
      },
      take: session => raiseEpoch(session, replica, holder),
      giveBack: (session, { epoch }) => clearHolder(session, { replica, holder, epoch }),
    },
    signal,
  )
  const { epoch, predecessor } = taken
  log.info({ replica, epoch, predecessor }, 'replica acquired')
  return {
    ...held,
    replica,
    holder,
    epoch,
    predecessor,
    waitMs: predecessor === undefined ? 0 : holdMs,
  }
}

/** Logs each reason to stand by once. */
function createStandbyLog({ replica, log }: ReplicaLockOptions) {
  let logged: string | null = null
  return ({ holder, lost }: { holder: string | null; lost: string | null }) => {
    const reason = lost ?? holder
    if (reason === logged) return
    logged = reason
    if (lost !== null) log.error({ replica, reason: lost }, 'replica lost, nothing is forwarded to it')
    else if (holder !== null) log.info({ replica, holder }, 'replica held by another process, standing by')
  }
}
