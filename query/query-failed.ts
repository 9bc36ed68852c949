/** The world's failures, thrown inside a worker and answered by its caller. */

export type FailureCode = 'DATABASE_AWAY' | 'TIMED_OUT' | 'TOO_LARGE' | 'CANCELLED'

export class QueryFailed extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string) {
    super(message)
    this.code = code
  }
}
