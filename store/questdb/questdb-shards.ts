/** The QuestDBs of a service, one for each shard, and how one is named where there are several. */

import type { Questdb } from './questdb.ts'

interface Numbered {
  /** From 1 on. */
  readonly number: number
}

export interface QuestdbShard<Part = Questdb> extends Numbered {
  readonly questdb: Part
}

/** What a sentence about the shard begins with: of one alone nobody asks which. */
export function shardPrefix(shards: readonly Numbered[], { number }: Numbered): string {
  return shards.length > 1 ? `shard ${number}: ` : ''
}

/** Resolves when the work has ended at each of them; rejects as that of the first where it failed, and not before all have ended. */
export async function atEachShard<Shard extends Numbered, Result>(
  shards: readonly Shard[],
  work: (shard: Shard) => Promise<Result>,
): Promise<Result[]> {
  const ended = await Promise.allSettled(shards.map(work))
  return ended.map(one => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** The error with the shard in its message, where there are several. */
export function shardFault(shards: readonly Numbered[], shard: Numbered, error: unknown): unknown {
  if (shards.length === 1) return error
  const message = error instanceof Error ? error.message : String(error)
  return new Error(`${shardPrefix(shards, shard)}${message}`, { cause: error })
}
