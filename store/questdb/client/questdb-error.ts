/** Errors between the service and a QuestDB, with one set of codes for both of its protocols. */

import pg from 'pg'

/**
 * `NOT_LISTENING`: the connection is refused. `NO_ANSWER`: it broke, was silent, or a proxy says so. The request may
 * have been carried out. `CANCELLED`: aborted from this side. `ACCESS_DENIED`: the user or the password. `TIMED_OUT`:
 * QuestDB ended the statement. `TABLE_MISSING`: its tables do not exist yet. `REFUSED`: the statement or the rows
 * themselves. `FAILED`: any other answer.
 */
export type QuestdbErrorCode =
  | 'NOT_LISTENING'
  | 'NO_ANSWER'
  | 'CANCELLED'
  | 'ACCESS_DENIED'
  | 'TIMED_OUT'
  | 'TABLE_MISSING'
  | 'REFUSED'
  | 'FAILED'

export class QuestdbError extends Error {
  override name = 'QuestdbError'
  readonly code: QuestdbErrorCode

  constructor(code: QuestdbErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** True when QuestDB itself was not reached. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof QuestdbError && (error.code === 'NOT_LISTENING' || error.code === 'NO_ANSWER')
}

/** Code for an HTTP status. A proxy answers 502 and 504 when it gets no answer itself. */
export function codeOfStatus(status: number): QuestdbErrorCode | undefined {
  if (status >= 200 && status < 300) return undefined
  if (status === 401 || status === 403) return 'ACCESS_DENIED'
  if (status === 502 || status === 504) return 'NO_ANSWER'
  return status === 400 ? 'REFUSED' : 'FAILED'
}

/** Code for QuestDB's message about a statement. QuestDB has a single SQLSTATE and status for all errors, so the text decides. */
export function codeOfMessage(message: string): QuestdbErrorCode {
  if (message.includes('timeout, query aborted')) return 'TIMED_OUT'
  return message.includes('table does not exist') ? 'TABLE_MISSING' : 'REFUSED'
}

/** Converts an error of a connection or statement over the PostgreSQL protocol. QuestDB's own errors arrive as DatabaseError. */
export function questdbError(error: unknown): QuestdbError {
  if (error instanceof QuestdbError) return error
  const message = messageOf(error)
  if (error instanceof pg.DatabaseError) return new QuestdbError(codeOfMessage(message), message)
  return new QuestdbError(isConnectionRefused(error) ? 'NOT_LISTENING' : 'NO_ANSWER', message)
}

/** A name with several addresses gives an error for each. */
function isConnectionRefused(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.every(isConnectionRefused)
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED'
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}
