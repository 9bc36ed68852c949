/**
 * Ensures that one process at a time forwards a replica (store/postgres/held-lock): an older value from a second one could
 * replace a newer one. A successor also waits for QuestDB's answers (`quiesce`). A process frozen with a request half sent asks
 * its successor to send again when it resumes (`requestRewind` of state.ts).
 *
 * While PostgreSQL is unavailable no process forwards: the lock is lost, and `acquireReplica` retries until PostgreSQL is back.
 */

import type { Log } from '../../../store/log.ts'
import { acquireLock, type HeldLock, holdMs, type LockOptions } from '../../../store/postgres/held-lock.ts'
import { clearHolder, raiseEpoch, replicaRow, tryLock } from './rows.ts'
import type { ReplicaTenure } from './state.ts'

export interface ReplicaLockOptions extends Pick<LockOptions<unknown>, 'connect'> {
  replica: number
  /** Display name of this process. */
  holder: string
  log: Log
}

export interface HeldReplica extends ReplicaTenure, Omit<HeldLock<unknown>, 'taken'> {
  /** Name of the previous process, if it may still be sending. Undefined when it released the replica. */
  predecessor: string | undefined
  /** The wait before the first request: `holdMs`, or 0 without a predecessor. */
  waitMs: number
}

/** Resolves when this process has the lock. Rejects on an abort, or with an error that waiting does not fix. */
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

/** Logs each reason for standby once. */
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
