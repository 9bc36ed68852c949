/** Waits for the QuestDB of a replica, and writes that into the report of the job. */

import { replicaPrefix } from '../../../store/questdb/questdb-replicas.ts'
import type { ErasedReplica } from './erase-in-replica.ts'
import type { EraseJob } from './erase-records.ts'

export interface UntilUpOptions {
  replicas: readonly ErasedReplica[]
  /** Rejects when the wait is given up. */
  pause: (ms: number) => Promise<void>
  /** Keeps what a job waits for; null for nothing any more. */
  noteDelay?: (job: EraseJob, reason: string | null) => Promise<void>
}

const pauseMs = 100

export interface UntilUp {
  /** Resolves when the QuestDB of the replica is up; rejects when the replica is lost. */
  untilUp(replica: ErasedReplica, job?: EraseJob): Promise<void>
  /** Notes which replicas are away. */
  noteAway(job: EraseJob): Promise<void>
}

export function createUntilUp({ replicas, pause, noteDelay }: UntilUpOptions): UntilUp {
  const isUp = ({ questdb }: ErasedReplica) => questdb.state().state === 'up'

  /** That QuestDB is away is known where there is one alone. */
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
