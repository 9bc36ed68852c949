/** Which shards a query needs, and which of them are known not to answer, so that nobody waits for them. */

import { namedShard } from '../query-failed.ts'

export interface NeededShards {
  readonly shards: readonly number[]
  /** Those among them that lack what the answer needs of them. */
  readonly behind?: readonly number[]
  /** Whether an answer says of each of them that it answers. */
  readonly isEachRead: boolean
}

export interface ShardAway {
  readonly ok: false
  readonly code: 'DATABASE_AWAY'
  readonly reason: string
  readonly shard?: number
}

export interface AnsweringShards {
  /** A promise while one of them is asked. */
  awayAmong(needed: NeededShards): readonly number[] | Promise<readonly number[]>
  /** What is told of one that is away. */
  failure(shard: number | undefined): ShardAway
}

const none: readonly number[] = []

/** `answers`: whether a shard answered the last probe, and is known well enough. */
export function createAnsweringShards(
  shardCount: number,
  answers: (shard: number) => boolean | Promise<boolean>,
): AnsweringShards {
  async function asked(
    { shards, behind = none }: NeededShards,
    known: readonly (boolean | Promise<boolean>)[],
  ): Promise<readonly number[]> {
    const answering = await Promise.all(known)
    return shards.filter((shard, at) => !answering[at] || behind.includes(shard))
  }

  return {
    awayAmong(needed) {
      const known = needed.shards.map(answers)
      return known.every(answer => answer === true) ? (needed.behind ?? none) : asked(needed, known)
    },
    failure(shard) {
      // Of one alone nobody asks which.
      const named = namedShard(shardCount > 1 ? shard : undefined)
      return { ok: false, code: 'DATABASE_AWAY', reason: 'it does not answer a probe', ...named }
    },
  }
}
