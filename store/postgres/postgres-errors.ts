/** What an error of PostgreSQL means: a database that does not answer is the world's failure, a wrong statement is ours. */

import pg from 'pg'

/** COMMIT was sent and not answered. PostgreSQL tells by the transaction's id what came of it (`pg_xact_status`). */
export class OutcomeUnknown extends Error {
  readonly transaction: string

  constructor(transaction: string, cause: unknown) {
    super('PostgreSQL did not confirm a transaction', { cause })
    this.transaction = transaction
  }
}

/** `serialization_failure` and `deadlock_detected`: rolled back because of what others were doing, and not for its own sake. */
const conflictCodes: ReadonlySet<string> = new Set(['40001', '40P01'])
/**
 * Connection lost, out of resources, shut down or cancelled, disk, not writable (a standby), idle for too long in a transaction:
 * SQLSTATE classes.
 */
const unavailableClasses = /^(08|53|57|58|25006|25P03)/
/** What the driver says without a code, when the connection is not there or does not answer. */
const driverMessages =
  /^(Connection terminated|timeout exceeded|timeout expired|Client has encountered|Query read timeout|Cannot use a pool)/

/** The same work may succeed later: PostgreSQL is not there, does not answer, or takes nothing at present. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof pg.DatabaseError) return isConflict(error) || unavailableClasses.test(error.code ?? '')
  // Errors of the operating system: ECONNREFUSED, ECONNRESET, ENOENT of a socket file.
  if ('syscall' in error || error instanceof AggregateError || error instanceof OutcomeUnknown) return true
  return driverMessages.test(error.message)
}

/** PostgreSQL has rolled the transaction back in favour of another one; repeated at once, it may succeed. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && conflictCodes.has(error.code ?? '')
}

/** Data, integrity, limits of the program, damage: SQLSTATE classes. */
const refusalClasses = /^(22|23|54|XX)/

/** PostgreSQL does not take these rows, however often they are sent; others it may. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && refusalClasses.test(error.code ?? '')
}

/** `cannot_connect_now`, and what the operating system says while nobody listens; ENOENT of a socket. */
const notReadyCodes = new Set(['57P03', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'ENOENT'])

/** What the driver says when the server has taken a connection and not answered within the time to connect. */
const connectTimeoutMessage = 'timeout expired'

/** The server is only not there yet: it starts, or its host does, or is busy. A wrong name or password stays wrong. */
export function isNotReady(error: unknown): boolean {
  return notReadyCodes.has(errorCode(error)) || (error instanceof Error && error.message === connectTimeoutMessage)
}

/** `unique_violation` of this constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint
}

/** `foreign_key_violation` of this constraint. */
export function isForeignKeyViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23503' && error.constraint === constraint
}

/** `lock_not_available`: `lock_timeout` has passed. */
export function isLockTimeout(error: unknown): boolean {
  return errorCode(error) === '55P03'
}

/** `invalid_parameter_value` */
export function isInvalidParameter(error: unknown): boolean {
  return errorCode(error) === '22023'
}

/** The SQLSTATE, or the code of an error of the operating system; empty where there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
