/** Classifies errors of PostgreSQL: an unavailable database is an outside failure, a wrong statement is a bug. */

import pg from 'pg'

/** COMMIT was sent and not answered. PostgreSQL reports its outcome by the transaction's id (`pg_xact_status`). */
export class OutcomeUnknown extends Error {
  readonly transaction: string

  constructor(transaction: string, cause: unknown) {
    super('PostgreSQL did not confirm a transaction', { cause })
    this.transaction = transaction
  }
}

/** `serialization_failure` and `deadlock_detected`: rolled back because of concurrent transactions. */
const conflictCodes: ReadonlySet<string> = new Set(['40001', '40P01'])
/**
 * SQLSTATE classes: connection lost, out of resources, shut down or cancelled, disk, not writable (a standby), idle for too long
 * in a transaction.
 */
const unavailableClasses = /^(08|53|57|58|25006|25P03)/
/** Messages of the driver, without a code, when the connection is missing or does not answer. */
const driverMessages =
  /^(Connection terminated|timeout exceeded|timeout expired|Client has encountered|Query read timeout|Cannot use a pool)/

/** True when the same work may succeed later: PostgreSQL is down, does not answer, or rejects all writes at present. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof pg.DatabaseError) return isConflict(error) || unavailableClasses.test(error.code ?? '')
  // Errors of the operating system: ECONNREFUSED, ECONNRESET, ENOENT of a socket file.
  if ('syscall' in error || error instanceof AggregateError || error instanceof OutcomeUnknown) return true
  return driverMessages.test(error.message)
}

/** PostgreSQL has rolled the transaction back in favour of another one. An immediate retry may succeed. */
export function isConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && conflictCodes.has(error.code ?? '')
}

/** SQLSTATE classes: data, integrity, program limits, damage. */
const refusalClasses = /^(22|23|54|XX)/

/** PostgreSQL always rejects these rows, though it may accept others. */
export function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && refusalClasses.test(error.code ?? '')
}

/** `cannot_connect_now`, and the operating system's codes while no server listens; ENOENT of a socket. */
const notReadyCodes = new Set(['57P03', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'ENOENT'])

/** The driver's message when the server accepted a connection and did not answer within the connect timeout. */
const connectTimeoutMessage = 'timeout expired'

/** True when the server, or its host, is starting or busy. A wrong name or password stays wrong. */
export function isNotReady(error: unknown): boolean {
  return notReadyCodes.has(errorCode(error)) || (error instanceof Error && error.message === connectTimeoutMessage)
}

/** `unique_violation` by this constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint
}

/** `foreign_key_violation` by this constraint. */
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

/** The SQLSTATE, or the operating system's error code. Empty without either. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
