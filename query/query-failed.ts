/** External failures, thrown inside a worker and handled by its caller. */

import { QuestdbError } from '../store/questdb/client/questdb-error.ts'

export type FailureCode = 'DATABASE_AWAY' | 'TIMED_OUT' | 'TOO_LARGE' | 'CANCELLED'

export class QueryFailed extends Error {
  override name = 'QueryFailed'
  readonly code: FailureCode

  constructor(code: FailureCode, message: string) {
    super(message)
    this.code = code
  }
}

/** Failure code of the error; undefined for an internal error, such as bad SQL. */
export function failureCode(error: unknown): FailureCode | undefined {
  if (error instanceof QueryFailed) return error.code
  if (!(error instanceof QuestdbError) || error.code === 'REFUSED') return undefined
  return error.code === 'TIMED_OUT' || error.code === 'CANCELLED' ? error.code : 'DATABASE_AWAY'
}
