/** Waits for the QuestDB of a shard, and tells of it in the report of the job. */

import { shardPrefix } from '../../store/questdb/questdb-shards.ts'
import { type ErasedShard, shardsWith } from './erase-in-shard.ts'
import type { EraseJob } from './erase-records.ts'

export interface UntilUpOptions {
  shards: readonly ErasedShard[]
  /** Rejects when the wait is given up. */
  pause: (ms: number) => Promise<void>
  /** Keeps what a job waits for; null for nothing any more. */
  noteDelay?: (job: EraseJob, reason: string | null) => Promise<void>
}

const pauseMs = 100

export interface UntilUp {
  /** Resolves when the QuestDB of the shard is up. */
  untilUp(shard: ErasedShard, job?: EraseJob): Promise<void>
  /** Notes which shards are away. */
  noteAway(job: EraseJob): Promise<void>
}

export function createUntilUp({ shards, pause, noteDelay }: UntilUpOptions): UntilUp {
  const isUp = ({ questdb }: ErasedShard) => questdb.state().state === 'up'

  /** That QuestDB is away is known where there is one alone. */
  async function noteAway(job: EraseJob): Promise<void> {
    if (shards.length === 1) return
    const away = shardsWith(job.rowsOf, shards).filter(shard => !isUp(shard))
    const reasons = away.map(shard => `${shardPrefix(shards, shard)}QuestDB is unavailable`)
    await noteDelay?.(job, reasons.length === 0 ? null : reasons.join('; '))
  }

  return {
    noteAway,
    async untilUp(shard, job) {
      while (!isUp(shard)) await pause(pauseMs)
      if (job !== undefined) await noteAway(job)
    },
  }
}
