/** The world's failures, thrown inside a worker and answered by its caller. */

import { QuestdbError } from '../store/questdb/client/questdb-error.ts'

export type FailureCode = 'DATABASE_AWAY' | 'TIMED_OUT' | 'TOO_LARGE' | 'CANCELLED'

export class QueryFailed extends Error {
  override name = 'QueryFailed'
  readonly code: FailureCode
  /** Whose QuestDB failed, where there are several. */
  readonly shard: number | undefined

  constructor(code: FailureCode, message: string, shard?: number) {
    super(message)
    this.code = code
    this.shard = shard
  }
}

/** What the error means for a query; undefined for one that is ours, as bad SQL. */
export function failureCode(error: unknown): FailureCode | undefined {
  if (error instanceof QueryFailed) return error.code
  if (!(error instanceof QuestdbError) || error.code === 'REFUSED') return undefined
  return error.code === 'TIMED_OUT' || error.code === 'CANCELLED' ? error.code : 'DATABASE_AWAY'
}

/** The same failure, as one of this shard where it is one of its QuestDB. */
export function failureOfShard(shard: number, error: unknown): unknown {
  const code = failureCode(error)
  const isOfShard = code === 'DATABASE_AWAY' || code === 'TIMED_OUT'
  if (!isOfShard || (error instanceof QueryFailed && error.shard !== undefined)) return error
  return new QueryFailed(code, error instanceof Error ? error.message : String(error), shard)
}

/** Which shard a result names. */
export function shardIn(result: object): number | undefined {
  return 'shard' in result && typeof result.shard === 'number' ? result.shard : undefined
}

/** To be part of a result. */
export function namedShard(shard: number | undefined): { readonly shard?: number } {
  return shard === undefined ? {} : { shard }
}
