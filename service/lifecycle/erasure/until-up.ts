/** Waits for the QuestDB of a replica and reports that delay of the job. */

import { replicaPrefix } from '../../../store/questdb/questdb-replicas.ts'
import type { ErasedReplica } from './erase-in-replica.ts'
import type { EraseJob } from './erase-records.ts'

export interface UntilUpOptions {
  replicas: readonly ErasedReplica[]
  /** Rejects when the wait is aborted. */
  pause: (ms: number) => Promise<void>
  /** Notes the reason of a job's delay; null without one. */
  noteDelay?: (job: EraseJob, reason: string | null) => Promise<void>
}

const pauseMs = 100

export interface UntilUp {
  /** Resolves when the QuestDB of the replica is up; rejects when the replica is lost. */
  untilUp(replica: ErasedReplica, job?: EraseJob): Promise<void>
  noteAway(job: EraseJob): Promise<void>
}

export function createUntilUp({ replicas, pause, noteDelay }: UntilUpOptions): UntilUp {
  const isUp = ({ questdb }: ErasedReplica) => questdb.state().state === 'up'

  /** Other parts report a single QuestDB that is down. */
  async function noteAway(job: EraseJob): Promise<void> {
    if (replicas.length === 1) return
    const away = replicas.filter(replica => !(isUp(replica) || replica.isLost?.() === true))
    const reasons = away.map(replica => `${replicaPrefix(replicas, replica)}QuestDB is unavailable`)
    await noteDelay?.(job, reasons.length === 0 ? null : reasons.join('; '))
  }

  return {
    noteAway,
    async untilUp(replica, job) {
      while (!isUp(replica)) {
        if (replica.isLost?.() === true) throw new Error(`${replicaPrefix(replicas, replica)}it is lost`)
        await pause(pauseMs)
      }
      if (job !== undefined) await noteAway(job)
    },
  }
}
