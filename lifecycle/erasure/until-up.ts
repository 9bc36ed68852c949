/** Waits for the QuestDB of a shard, and tells of it in the report of the job. */

import { shardPrefix } from '../../store/questdb/questdb-shards.ts'
import type { ErasedShard } from './erase-in-shard.ts'
import type { EraseJob } from './erase-records.ts'

export interface UntilUpOptions {
  shards: readonly ErasedShard[]
  /** Rejects when the wait is given up. */
  pause: (ms: number) => Promise<void>
  /** Keeps what a job waits for; null for nothing any more. */
  noteDelay?: (job: EraseJob, reason: string | null) => Promise<void>
}

const pauseMs = 100

export function createUntilUp({ shards, pause, noteDelay }: UntilUpOptions) {
  const isUp = ({ questdb }: ErasedShard) => questdb.state().state === 'up'

  /** That QuestDB is away is known where there is one alone. */
  async function note(job: EraseJob | undefined): Promise<void> {
    if (job === undefined || shards.length === 1) return
    const away = shards
      .filter(shard => !isUp(shard))
      .map(shard => `${shardPrefix(shards, shard)}QuestDB is unavailable`)
    await noteDelay?.(job, away.length === 0 ? null : away.join('; '))
  }

  return async (shard: ErasedShard, job?: EraseJob): Promise<void> => {
    if (isUp(shard)) return
    await note(job)
    while (!isUp(shard)) await pause(pauseMs)
    await note(job)
  }
}
